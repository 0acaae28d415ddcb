"""What the files of all classifiers have in common: settings, labels, nonexpansive networks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from nbr import registry
from nbr.classify.checks import check_box, is_number
from nbr.classify.evaluation import check_combine
from nbr.classify.frames import against_rest
from nbr.classify.pictures import LARGEST_SIDE
from nbr.classify.preparation import checked_preparation
from nbr.errors import NbrError
from nbr.lipschitz import Dense, Local, MaxMin

Classifier = TypeVar("Classifier")
LEFT_OUT = ("checkpoint", "verbose", "rules", "n_jobs")  # settings of a run, not of what it made


def header(classifier: Any) -> registry.Spec:
    """Settings, labels and shape of inputs of a trained classifier."""
    check_is_fitted(classifier)
    classes = classifier.classes_
    if classes.dtype.kind not in "iubU" and not all(isinstance(label, str) for label in classes):
        raise NbrError(f"labels that are saved are whole numbers or strings, not {classes.dtype}")
    settings = {name: value for name, value in classifier.get_params(deep=False).items() if name not in LEFT_OUT}
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
    settings = _table(model, "settings")
    known = set(inspect.signature(cls).parameters) - set(LEFT_OUT)
    for name in settings:
        if name not in known:
            raise NbrError(f"the file has a setting {name!r}, which {cls.__name__} does not read from files")
    found: Any = cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()})
    found.classes_ = _labels(model["classes"])
    found.n_features_in_, found.shape_ = _inputs(model["features"], model["shape"])
    found.recipe_, found.figures_ = _table(model, "recipe"), _table(model, "figures")
    sharpness = model.get("sharpness", 1.0)
    if not is_number(sharpness) or not sharpness > 0:
        raise NbrError(f"the sharpness of a classifier's probabilities must be a number above 0, not {sharpness!r}")
    found.sharpness_ = float(sharpness)
    check_box(found.box)
    check_combine(found.combine)
    _prepare(found, model)
    return found  # type: ignore[no-any-return]


def _table(model: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = model[name]
    if not isinstance(found, dict):
        raise NbrError(f"the {name} of a classifier must be a table of names, not {found!r:.60}")
    return found


def _labels(given: object) -> Any:
    """At least two different labels in order, whole numbers, truth values or texts."""
    alike = isinstance(given, list) and any(all(type(label) is kind for label in given) for kind in (bool, int, str))
    if not isinstance(given, list) or not alike or len(given) < 2 or given != sorted(set(given)):
        raise NbrError("the labels of a classifier are two or more different numbers or texts, in order")
    found = np.array(given)
    if found.dtype.kind not in "iubU":
        raise NbrError("a label of a classifier is too large a number")
    return found


def _inputs(features: object, shape: object) -> tuple[int, tuple[int, ...] | None]:
    if type(features) is not int or features < 1:
        raise NbrError(f"a classifier's inputs have a size above 0, not {features!r:.60}")
    if shape is None:
        return features, None
    sides = tuple(shape) if isinstance(shape, list | tuple) else ()
    sound = len(sides) in (2, 3) and all(type(side) is int and side > 0 for side in sides)
    if not sound or math.prod(sides) != features:
        raise NbrError(f"pictures of shape {shape!r:.60} do not have {features} values")
    return features, sides


def _prepare(found: Any, model: Mapping[str, Any]) -> None:
    """What is done to picture files. Files that do not say it were written when all were read as digits of MNIST:
    those that were made from MNIST go on so, others take pictures as they were trained on them, as they are."""
    if "preparation" not in model["settings"] and model["figures"].get("data") == "mnist":
        found.preparation = "digits"
    checked_preparation(found.preparation, found.shape_)
    box = (0.0, 1.0) if found.box is None else found.box
    values = model.get("values", None if found.shape_ is None else box)
    plain = values is None or (isinstance(values, list | tuple) and len(values) == 2 and all(map(is_number, values)))
    if not plain or (values is not None and not -math.inf < values[0] < values[1] < math.inf):
        raise NbrError(f"the values of pictures lie between two numbers, the lower one first, not {values!r:.60}")
    found.values_ = None if values is None else (float(values[0]), float(values[1]))


def centre_of(classifier: Any) -> Tensor | None:
    """What a classifier takes from its inputs, if anything."""
    return None if classifier.centre_ is None else torch.from_numpy(classifier.centre_)


def centred(classifier: Any) -> registry.Tensors:
    """The same for a file."""
    found = centre_of(classifier)
    return {} if found is None else {"centre": found}


def centre_from(tensors: Mapping[str, Tensor], size: int) -> NDArray[Any] | None:
    """The inverse of `centred`."""
    if "centre" not in tensors:
        return None
    found = number_like(tensors["centre"]).double()
    if found.shape != (size,) or not bool(found.isfinite().all()):
        raise NbrError(f"the centre of a classifier is {size} finite numbers")
    return found.numpy()


def frames_from(tensors: Mapping[str, Tensor], labels: int) -> Tensor:
    """Frames of rules; the first files had two labels, and the one that a rule speaks for as `side`."""
    if "groups" in tensors:
        return tensors["groups"].long()
    side = tensors["side"].long()
    if side.dim() != 1 or bool(((side < 0) | (side >= labels)).any()):
        raise NbrError(f"a rule speaks for a label that is none of {labels}")
    return against_rest(side, labels)


def written(network: nn.Module) -> registry.Tensors:
    """The layers of a nonexpansive network; of local ones also the picture that they read, and how."""
    layers = [layer for layer in network.children() if isinstance(layer, Dense | Local)]
    tensors: registry.Tensors = {}
    for number, layer in enumerate(layers):
        if isinstance(layer, Local):
            plan = (*layer.size, layer.channels, layer.block, int(layer.shifted))
            tensors[f"networks.{number}.local"] = torch.tensor(plan, dtype=torch.int32)
        matrix = layer.mix if isinstance(layer, Local) else layer
        tensors[f"networks.{number}.weight"] = matrix.weight.detach().float()
        tensors[f"networks.{number}.bias"] = matrix.bias.detach().float()
    return tensors


def networks(tensors: Mapping[str, Tensor]) -> nn.Sequential:
    """The inverse of `written`; what their bound assumes is checked where they are asked, by `Fixed`."""
    layers: list[nn.Module] = []
    plans = [name for name in tensors if name.startswith("networks.") and name.endswith(".local")]
    names = [name for name in tensors if name.startswith("networks.") and name not in plans]
    for number in range(len(names) // 2):
        weight, bias = (tensors.get(f"networks.{number}.{part}") for part in ("weight", "bias"))
        if weight is None or bias is None:
            raise NbrError(f"layer {number + 1} of a network has no weights, or no biases")
        matrix = Dense.of(number_like(weight), number_like(bias))
        if number < len(plans):
            layers += [_local(tensors.get(f"networks.{number}.local"), matrix, number), MaxMin()]
        else:
            layers += [*([nn.Flatten()] if number and number == len(plans) else []), matrix, MaxMin()]
    if not layers or len(names) % 2:
        raise NbrError(f"a network needs weights and biases for each layer, and there are {len(names)} tensors")
    return nn.Sequential(*layers[:-1])


def _local(plan: Tensor | None, matrix: Dense, number: int) -> Local:
    """A layer of pictures; local ones come first."""
    where = f"layer {number + 1} of a network"
    if plan is None or plan.shape != (5,) or plan.is_floating_point():
        raise NbrError(f"{where} needs a picture's height, width and channels, its blocks, and whether it shifts")
    height, width, channels, block, shifted = map(int, plan)
    if not all(1 <= side <= LARGEST_SIDE for side in (height, width, channels, block)) or shifted not in (0, 1):
        raise NbrError(
            f"{where} reads pictures of {height} x {width} x {channels} in blocks of {block}, which is not one"
        )
    return Local.of(matrix, (height, width), channels, block, bool(shifted))


def number_like(tensor: Tensor) -> Tensor:
    """A tensor of a file that has to hold numbers with a fraction."""
    if not tensor.is_floating_point():
        raise NbrError(f"a tensor of a classifier has whole numbers, {tensor.dtype}, where it needs others")
    return tensor
