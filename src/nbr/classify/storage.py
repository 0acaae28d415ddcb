"""Trained classifiers as plain data and tensors, for .nbr files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from nbr.classify.bodies import Bodies
from nbr.classify.nonexpansive import NonexpansiveClassifier
from nbr.classify.robust import RobustClassifier
from nbr.errors import NbrError
from nbr.files import save_parts
from nbr.lipschitz import Dense, MaxMin, bound

RULES = ("side", "share", "scale", "belief")
Classifier = RobustClassifier | NonexpansiveClassifier
KINDS: dict[str, type[Classifier]] = {"robust": RobustClassifier, "nonexpansive": NonexpansiveClassifier}


def save(classifier: Classifier, path: str | PathLike[str]) -> None:
    """Write a trained classifier to a .nbr file."""
    save_parts(*pack(classifier), path)


def pack(classifier: Classifier) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """A trained classifier as plain data and tensors."""
    check_is_fitted(classifier)
    classes = classifier.classes_
    if classes.dtype.kind not in "iubU" and not all(isinstance(label, str) for label in classes):
        raise NbrError(f"labels that are saved are whole numbers or strings, not {classes.dtype}")
    settings = {name: value for name, value in classifier.get_params().items() if name not in ("checkpoint", "verbose")}
    seed = settings["random_state"]
    settings["random_state"] = seed if isinstance(seed, int) else None
    model = {
        "classifier": next(name for name, kind in KINDS.items() if type(classifier) is kind),
        "settings": settings,
        "recipe": classifier.recipe_,
        "classes": classes.tolist(),
        "features": classifier.n_features_in_,
        "shape": classifier.shape_,
        "figures": getattr(classifier, "figures_", {}),
    }
    tensors: dict[str, Tensor] = {}
    network = classifier.bodies_.networks if isinstance(classifier, RobustClassifier) else classifier.network_
    if isinstance(classifier, RobustClassifier):
        tensors = {name: getattr(classifier.bodies_, name) for name in (*RULES, "reach")}
        tensors["memories"] = classifier.bodies_.memories.float()
    layers = [layer for layer in network.modules() if isinstance(layer, Dense)]
    for number, layer in enumerate(layers):
        tensors[f"networks.{number}.weight"] = layer.weight.detach().float()
        tensors[f"networks.{number}.bias"] = layer.bias.detach().float()
    return model, {name: tensor.contiguous() for name, tensor in tensors.items()}


def unpack(model: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Classifier:
    """The inverse of `pack`."""
    if model["classifier"] not in KINDS:
        raise NbrError(f"unknown classifier {model['classifier']!r}")
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in model["settings"].items()
    }
    found = KINDS[model["classifier"]](**settings)
    found.classes_ = np.array(model["classes"])
    found.n_features_in_ = int(model["features"])
    found.shape_ = None if model["shape"] is None else (int(model["shape"][0]), int(model["shape"][1]))
    found.recipe_, found.figures_ = model["recipe"], model["figures"]
    network = _networks(tensors)
    if isinstance(found, NonexpansiveClassifier):
        found.network_, found.lipschitz_ = network, float(bound(network))
        found.decision_function(np.zeros((1, found.n_features_in_)) + _inside(found))
    else:
        parts = (tensors[name] for name in RULES)
        found.bodies_ = Bodies(network, tensors["memories"], tensors["reach"], *parts)
        _check(found)
    if len(found.classes_) != 2:
        raise NbrError("the parts of the classifier do not fit together")
    return found


def _inside(classifier: Classifier) -> float:
    """A value that inputs may have."""
    return 0.0 if classifier.box is None else classifier.box[0]


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
    if lengths != {rules} or not (sound and within):
        raise NbrError("the parts of the classifier do not fit together")
