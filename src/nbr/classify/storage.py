"""Trained classifiers as plain data and tensors, for .nbr files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nbr.classify.bodies import Bodies
from nbr.classify.robust import RobustClassifier
from nbr.errors import NbrError
from nbr.files import save_parts
from nbr.lipschitz import Dense, MaxMin

RULES = ("side", "share", "scale", "belief")


def save(classifier: RobustClassifier, path: str | PathLike[str]) -> None:
    """Write a trained classifier to a .nbr file."""
    save_parts(*pack(classifier), path)


def pack(classifier: RobustClassifier) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """A trained classifier as plain data and tensors."""
    bodies = classifier._bodies()
    classes = classifier.classes_
    if classes.dtype.kind not in "iubU" and not all(isinstance(label, str) for label in classes):
        raise NbrError(f"labels that are saved are whole numbers or strings, not {classes.dtype}")
    settings = {name: value for name, value in classifier.get_params().items() if name not in ("checkpoint", "verbose")}
    seed = settings["random_state"]
    settings["random_state"] = seed if isinstance(seed, int) else None
    model = {
        "classifier": "robust",
        "settings": settings,
        "recipe": classifier.recipe_,
        "classes": classes.tolist(),
        "features": classifier.n_features_in_,
        "shape": classifier.shape_,
        "figures": getattr(classifier, "figures_", {}),
    }
    tensors = {name: getattr(bodies, name) for name in (*RULES, "reach")}
    tensors["memories"] = bodies.memories.float()
    layers = [layer for layer in bodies.networks.modules() if isinstance(layer, Dense)]
    for number, layer in enumerate(layers):
        tensors[f"networks.{number}.weight"] = layer.weight.detach().float()
        tensors[f"networks.{number}.bias"] = layer.bias.detach().float()
    return model, {name: tensor.contiguous() for name, tensor in tensors.items()}


def unpack(model: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> RobustClassifier:
    """The inverse of `pack`."""
    if model["classifier"] != "robust":
        raise NbrError(f"unknown classifier {model['classifier']!r}")
    settings = dict(model["settings"])
    if settings.get("box") is not None:
        settings["box"] = tuple(settings["box"])
    found = RobustClassifier(**settings)
    found.classes_ = np.array(model["classes"])
    found.n_features_in_ = int(model["features"])
    found.shape_ = None if model["shape"] is None else (int(model["shape"][0]), int(model["shape"][1]))
    found.recipe_, found.figures_ = model["recipe"], model["figures"]
    found.bodies_ = Bodies(
        _networks(tensors), tensors["memories"], tensors["reach"], *(tensors[name] for name in RULES)
    )
    _check(found)
    return found


def _networks(tensors: Mapping[str, Tensor]) -> nn.Sequential:
    layers: list[nn.Module] = []
    number = 0
    while f"networks.{number}.weight" in tensors:
        weight, bias = tensors[f"networks.{number}.weight"], tensors[f"networks.{number}.bias"]
        count, outputs, _ = weight.shape
        if bias.shape != (count, 1, outputs):
            raise NbrError("the weights of a network do not fit together")
        layer = Dense.__new__(Dense)
        nn.Module.__init__(layer)
        layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
        layers += [layer, MaxMin()]
        number += 1
    return nn.Sequential(*layers[:-1])


def _check(classifier: RobustClassifier) -> None:
    """Parts that a hand-made file may have got wrong are found here rather than when somebody asks."""
    bodies = classifier.bodies_
    with torch.no_grad():
        scores = bodies.scores(torch.zeros(1, classifier.n_features_in_, dtype=torch.float64))
    rules = scores.shape[1]
    lengths = {len(getattr(bodies, name)) for name in RULES}
    sound = all(bool(getattr(bodies, name).isfinite().all()) for name in ("share", "scale", "belief", "reach"))
    within = bool(((bodies.belief >= 0) & (bodies.belief <= 1) & (bodies.scale > 0)).all())
    if lengths != {rules} or not (sound and within) or len(classifier.classes_) != 2:
        raise NbrError("the parts of the classifier do not fit together")
