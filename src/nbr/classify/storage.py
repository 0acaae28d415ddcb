"""What the files of all classifiers have in common: settings, labels, nonexpansive networks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from nbr import registry
from nbr.classify.preparation import checked
from nbr.errors import NbrError
from nbr.lipschitz import Dense, MaxMin

Classifier = TypeVar("Classifier")


def header(classifier: Any) -> registry.Spec:
    """Settings, labels and shape of inputs of a trained classifier."""
    check_is_fitted(classifier)
    classes = classifier.classes_
    if classes.dtype.kind not in "iubU" and not all(isinstance(label, str) for label in classes):
        raise NbrError(f"labels that are saved are whole numbers or strings, not {classes.dtype}")
    left_out = ("checkpoint", "verbose", "rules", "n_jobs")
    settings = {name: value for name, value in classifier.get_params(deep=False).items() if name not in left_out}
    seed = settings["random_state"]
    settings["random_state"] = seed if isinstance(seed, int) else None
    return {
        "classifier": registry.name_of("model", classifier),
        "settings": settings,
        "recipe": getattr(classifier, "recipe_", {}),
        "classes": classes.tolist(),
        "features": classifier.n_features_in_,
        "shape": classifier.shape_,
        "values": classifier.values_,
        "figures": getattr(classifier, "figures_", {}),
        **({"sharpness": classifier.sharpness_} if classifier.sharpness_ != 1 else {}),
    }


def restored(cls: type[Classifier], model: Mapping[str, Any]) -> Classifier:
    """The inverse of `header`."""
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in model["settings"].items()}
    found: Any = cls(**settings)
    found.classes_ = np.array(model["classes"])
    found.n_features_in_ = int(model["features"])
    found.shape_ = None if model["shape"] is None else tuple(map(int, model["shape"]))
    if found.shape_ is not None and (
        math.prod(found.shape_) != found.n_features_in_ or len(found.shape_) not in (2, 3)
    ):
        raise NbrError("the parts of the classifier do not fit together")
    _prepare(found, model)
    found.recipe_, found.figures_ = model["recipe"], model["figures"]
    if "sharpness" in model:
        found.sharpness_ = float(model["sharpness"])
    if not found.sharpness_ > 0:
        raise NbrError("the parts of the classifier do not fit together")
    if found.classes_.ndim != 1 or len(found.classes_) < 2:
        raise NbrError("the parts of the classifier do not fit together")
    return found  # type: ignore[no-any-return]


def _prepare(found: Any, model: Mapping[str, Any]) -> None:
    """What is done to picture files. Files that do not say it were written when all were read as digits of MNIST:
    those that were made from MNIST go on so, others take pictures as they were trained on them, as they are."""
    if "preparation" not in model["settings"] and model["figures"].get("data") == "mnist":
        found.preparation = "digits"
    checked(found.preparation, found.shape_)
    box = (0.0, 1.0) if found.box is None else found.box
    values = model.get("values", None if found.shape_ is None else box)
    plain = values is None or (len(values) == 2 and all(isinstance(each, int | float) for each in values))
    if not plain or (values is not None and not -math.inf < values[0] < values[1] < math.inf):
        raise NbrError("the parts of the classifier do not fit together")
    found.values_ = None if values is None else (float(values[0]), float(values[1]))


def written(network: nn.Module) -> registry.Tensors:
    """The layers of a nonexpansive network."""
    layers = [layer for layer in network.modules() if isinstance(layer, Dense)]
    tensors: registry.Tensors = {}
    for number, layer in enumerate(layers):
        tensors[f"networks.{number}.weight"] = layer.weight.detach().float()
        tensors[f"networks.{number}.bias"] = layer.bias.detach().float()
    return tensors


def networks(tensors: Mapping[str, Tensor]) -> nn.Sequential:
    """The inverse of `written`."""
    layers: list[nn.Module] = []
    before: tuple[int, int] | None = None  # how many networks had how many outputs
    number = 0
    while f"networks.{number}.weight" in tensors:
        weight, bias = tensors[f"networks.{number}.weight"], tensors[f"networks.{number}.bias"]
        count, outputs, inputs = weight.shape
        if bias.shape != (count, 1, outputs) or before not in (None, (1, inputs), (count, inputs)):
            raise NbrError("the weights of a network do not fit together")
        before = (count, outputs)
        layer = Dense.__new__(Dense)
        nn.Module.__init__(layer)
        layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
        layers += [layer, MaxMin()]
        number += 1
    return nn.Sequential(*layers[:-1])
