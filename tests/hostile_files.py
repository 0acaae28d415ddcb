"""Model files that somebody made by hand, checksum and all: small models, and ways to change them.

What must hold of them is in `hostile_verdicts`.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import safetensors.torch
import torch
from torch import Tensor, nn

import nbr
from nbr import priors, tables
from nbr.calculus.batch import Groups
from nbr.classify import frames
from nbr.classify.familiarity import familiarity
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import TrainingSample
from nbr.classify.rules import NonexpansiveRules
from nbr.density.learned import Learned
from nbr.lipschitz import Fixed, dense
from nbr.rules.code_network import CodeNetwork
from nbr.rules.codec import Codec
from nbr.storage import container

Spec = dict[str, Any]
Parts = dict[str, Tensor]
Model = tuple[Spec, Parts]
Change = Callable[[Spec, Parts, random.Random], None]
SIZE = 6  # of the inputs of small classifiers


def content(model: Model) -> bytes:
    """The file of plain data and tensors, with the checksum that it should have."""
    spec, tensors = model
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    header = {"format": container.FORMAT, "checksum": container.checksum(spec, tensors), "model": spec}
    return safetensors.torch.save(tensors, metadata={container.KEY: json.dumps(header)})


# Small models of every kind


def _robust(table: Tensor, combine: str, memories: int = 4, seed: int = 0) -> nbr.RobustClassifier:
    dice = torch.Generator().manual_seed(seed)
    count, labels = table.shape
    network = dense(SIZE, [6, 4], count, shared=1, seed=seed)
    with torch.no_grad():
        for value in network.parameters():
            if value.shape[1] == 1 and value.dim() == 3:
                value.add_(0.3 * torch.randn(value.shape, generator=dice))
    found = nbr.RobustClassifier(0.5, combine=combine, box=(-50, 50))
    found.classes_, found.n_features_in_, found.shape_ = np.arange(labels), SIZE, (2, 3)
    found.recipe_ = {"epsilon": 0.5}
    kept = torch.arange(memories) % labels
    draw = torch.rand(4, count + memories, generator=dice, dtype=torch.float64)
    found.rules_ = NonexpansiveRules(
        Groups(torch.cat([table, frames.against_rest(kept, labels)])),
        0.2 + 0.8 * draw[0],
        1 + 6 * draw[1],
        0.5 + 0.49 * draw[2],
        Fixed(network),
        torch.randn(memories, SIZE, generator=dice),
        0.5 + draw[3, count:],
    )
    points = torch.randn(60, SIZE, generator=dice)
    found.familiarity_ = familiarity(TrainingSample(points, torch.arange(60) % labels, None), 0)
    return found


def _nonexpansive(seed: int = 0) -> nbr.NonexpansiveClassifier:
    dice = np.random.default_rng(seed)
    X = dice.normal(size=(60, SIZE))
    settings = {"widths": (6, 4), "epochs": 2, "batch_size": 32, "random_state": 0}
    return nbr.NonexpansiveClassifier(0.3, **settings).fit(X, (X[:, 0] > 0).astype(int))


def _belief(kind: str) -> nbr.BeliefClassifier:
    dice = np.random.default_rng(1)
    X, y = dice.normal(size=(90, SIZE)), dice.integers(0, 3, 90)
    X[:, 0] += 2 * y
    one = {"widths": (6, 4), "epochs": 2, "batch_size": 32, "random_state": 0}
    rules = [(nbr.NonexpansiveClassifier(0.3, **one), frame) for frame in frames.pairs([0, 1, 2])]
    return nbr.BeliefClassifier(rules if kind == "networks" else None, steps=30, random_state=0).fit(X, y)


@cache
def classifiers() -> dict[str, Model]:
    """Of all kinds, as plain data and tensors."""
    rest = frames.against_rest(torch.tensor([0, 0, 1, 1]), 2)
    made = {
        "robust": _robust(rest, "scaled"),
        "robust, exact": _robust(rest, "exact", seed=1),
        "robust, pairs": _robust(Pairs(3).table, "scaled", seed=2),
        "robust, pairs, exact": _robust(Pairs(3).table, "exact", seed=3),
        "robust, no memories": _robust(rest, "scaled", memories=0, seed=4),
        "nonexpansive": _nonexpansive(),
        "belief of networks": _belief("networks"),
        "belief of regressions": _belief("regressions"),
    }
    return {name: model.spec() for name, model in made.items()}


def _table() -> pd.DataFrame:
    dice = np.random.default_rng(0)
    a = dice.integers(0, 2, 300)
    frame = {"a": a, "b": dice.choice(["u", "v", "w"], 300), "c": np.round(dice.gamma(2, 2, 300) + 3 * a, 1)}
    return pd.DataFrame({**frame, "d": np.where(dice.random(300) < 0.8, a, 1 - a)})


def _network(inputs: int, outputs: int = 1, seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(inputs, 4), nn.ReLU(), nn.Linear(4, outputs))


@cache
def reasoners() -> dict[str, Model]:
    """Rules of all kinds, priors of all kinds, and what other models generate as a prior."""
    world = nbr.World(a=nbr.Bit(), b=nbr.Choice("u", "v", "w"), c=nbr.Real(0, 40), d=nbr.Bit())
    bits = nbr.World.bits(3)
    clauses = [nbr.Clause("a -> b=u", 0.9), nbr.Clause("c>=5 | d", 0.4, name="law"), nbr.Clause("a & ~d", 0.2)]
    two = _network(2, 2)
    networks = [nbr.Neural(["x0", "x1"], two, 0.7), nbr.Neural(["x0", "x1"], two, 0.3, output=1)]
    memory = nbr.Memory({"x0": 1, "x2": 0}, 0.5, 0.6, sharpness=4.0)
    latent = nbr.World(u=nbr.Real(-3, 3), v=nbr.Real(-3, 3))
    codec = Codec(bits, latent, _network(2, 3, 1), _network(3, 2, 2))
    coded = [CodeNetwork(["x0"], _network(2, 1, 3), 0.5, codec), nbr.Clause("u>=0", 0.3)]
    table = tables.read(_table(), world)
    whole = tables.read(pd.DataFrame(np.random.default_rng(0).integers(0, 2, (40, 3)), columns=bits.names), bits)
    trees = priors.trees(table, 2, states=6, seed=0)
    normal = [torch.ones(2), torch.ones(3), torch.tensor([12.0, 5.0]), torch.tensor([0.9, 0.1])]
    views = {"views": [["a", "b"], ["c", "d"]], "view_rows": [100, 200]}
    inner = nbr.Reasoner(bits, [nbr.Clause("x0 -> x1", 0.8)], prior=priors.marginals(whole))
    made = {
        "clauses": nbr.Reasoner(world, clauses),
        "networks and a memory": nbr.Reasoner(bits, [*networks, memory]),
        "a memory of a number": nbr.Reasoner(world, [nbr.Memory({"a": 1, "c": 7.5}, 0.3, 0.5), clauses[0]]),
        "a code": nbr.Reasoner(bits, coded, latent=latent, decoder=codec.decoder, encoder=codec.encoder),
        "independent": nbr.Reasoner(world, clauses[:2], prior=priors.marginals(table), **views),
        "normal": nbr.Reasoner(world, clauses, prior=priors.Independent(world, normal)),
        "empirical": nbr.Reasoner(bits, [memory], prior=priors.Empirical(whole)),
        "trees": nbr.Reasoner(world, clauses[:1], prior=trees, **views),
        "average of trees": nbr.Reasoner(
            world, (), prior=priors.Trees.average([trees, priors.trees(table, 2, states=6, seed=1)])
        ),
        "learned": nbr.Reasoner(bits, networks, prior=Learned(inner.model)),
    }
    return {name: model.spec() for name, model in made.items()}


# Ways to change them


def _some(parts: Parts, dice: random.Random) -> str:
    return dice.choice(sorted(parts)) if parts else ""


def _entry(value: float) -> Change:
    def change(spec: Spec, parts: Parts, dice: random.Random) -> None:
        name = _some(parts, dice)
        if name and parts[name].numel() and parts[name].is_floating_point():
            parts[name] = parts[name].clone()
            parts[name].view(-1)[dice.randrange(parts[name].numel())] = value

    return change


def _tensor(function: Callable[[Tensor, random.Random], Tensor]) -> Change:
    def change(spec: Spec, parts: Parts, dice: random.Random) -> None:
        name = _some(parts, dice)
        if name:
            parts[name] = function(parts[name], dice)

    return change


def _kept(tensor: Tensor, dice: random.Random) -> Tensor:
    """Without the last of some dimension."""
    if not tensor.dim():
        return tensor[None]
    at = dice.randrange(tensor.dim())
    return tensor.narrow(at, 0, max(0, tensor.shape[at] - 1))


def _doubled(tensor: Tensor, dice: random.Random) -> Tensor:
    return torch.cat([tensor, tensor], dim=dice.randrange(tensor.dim())) if tensor.dim() else tensor


def _drop(spec: Spec, parts: Parts, dice: random.Random) -> None:
    parts.pop(_some(parts, dice), None)


def _extra(spec: Spec, parts: Parts, dice: random.Random) -> None:
    name = _some(parts, dice)
    if name:
        parts[name.replace("0", "7") if dice.random() < 0.5 else f"{name}.more"] = parts[name].clone()


def _swap(spec: Spec, parts: Parts, dice: random.Random) -> None:
    first, second = _some(parts, dice), _some(parts, dice)
    if first:
        parts[first], parts[second] = parts[second], parts[first]


TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool]
TENSORS: dict[str, Change] = {
    **{f"an entry is {value}": _entry(value) for value in (math.nan, math.inf, -math.inf, 0.0, -1.0, 1.0, 2.0, 1e30)},
    **{
        f"times {factor:g}": _tensor(lambda tensor, dice, factor=factor: tensor * factor)
        for factor in (10, -1, 0, 1e-3, 1e15, 1e-40, 1e300)
    },
    "noise": _tensor(
        lambda t, dice: t + torch.randn(t.shape, generator=torch.Generator().manual_seed(dice.randrange(99)))
    ),
    "shifted": _tensor(lambda t, dice: t + dice.choice([1, -1])),
    "rounded": _tensor(lambda t, dice: t.round() if t.is_floating_point() else t),
    "transposed": _tensor(lambda t, dice: t.mT if t.dim() > 1 else t),
    "reversed": _tensor(lambda t, dice: t.flip(0) if t.dim() else t),
    "flat": _tensor(lambda t, dice: t.flatten()),
    "one more dimension": _tensor(lambda t, dice: t[None]),
    "one less": _tensor(_kept),
    "doubled": _tensor(_doubled),
    "empty": _tensor(lambda t, dice: t[:0] if t.dim() else torch.zeros(0)),
    "empty and huge": _tensor(lambda t, dice: torch.empty(0, 1 << 40)),
    "another type": _tensor(lambda t, dice: t.to(dice.choice(TYPES))),
    "dropped": _drop,
    "one too many": _extra,
    "swapped": _swap,
}
VALUES: list[Callable[[], Any]] = [
    *(lambda value=value: value for value in (None, True, False, 0, -1, 1, 2, 3.5, 1e300, -1e300, 10**18, 10**400)),
    *(lambda value=value: value for value in (math.nan, math.inf, "", "x", "x" * 10_000, "1", "x0..x9", "a\nb")),
    *(lambda value=value: copy.deepcopy(value) for value in ([], {}, [[]], [1, 2], ["a", "b"], {"a": 1}, [None])),
    lambda: json.loads("[" * 60 + "]" * 60),
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in inside] + [each for key, part in inside for each in _places(part, (*path, key))]


def _plain(function: Callable[[Any, Any, random.Random], None]) -> Change:
    def change(spec: Spec, parts: Parts, dice: random.Random) -> None:
        places = _places(spec)
        if places:
            *path, key = dice.choice(places)
            holder: Any = spec
            for step in path:
                holder = holder[step]
            function(holder, key, dice)

    return change


def _replaced(holder: Any, key: Any, dice: random.Random) -> None:
    holder[key] = dice.choice(VALUES)()


def _deleted(holder: Any, key: Any, dice: random.Random) -> None:
    del holder[key]


def _moved(holder: Any, key: Any, dice: random.Random) -> None:
    if isinstance(holder[key], (int, float)):
        holder[key] = dice.choice([holder[key] * 10, -holder[key], holder[key] + 1, holder[key] / 2])
    elif isinstance(holder[key], list):
        dice.shuffle(holder[key])
    elif isinstance(holder[key], str):
        holder[key] = holder[key][::-1]


def _repeated(holder: Any, key: Any, dice: random.Random) -> None:
    if isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[f"{key} too"] = copy.deepcopy(holder[key])


PLAIN: dict[str, Change] = {
    "a value replaced": _plain(_replaced),
    "a value deleted": _plain(_deleted),
    "a value changed": _plain(_moved),
    "a value twice": _plain(_repeated),
}


def odd(spec: Spec, parts: Parts, dice: random.Random) -> None:
    """One unit less in a hidden layer, and one input less in the next: all shapes fit, and MaxMin gets an odd width."""
    layers = sorted(name.removesuffix("weight") for name in parts if name.endswith("weight") and parts[name].dim() == 3)
    hidden = [layer for layer in layers if parts[f"{layer}weight"].shape[1] > 1 and f"{_next(layer)}weight" in parts]
    if hidden:
        layer = dice.choice(hidden)
        parts[f"{layer}weight"], parts[f"{layer}bias"] = (
            parts[f"{layer}weight"][:, :-1],
            parts[f"{layer}bias"][..., :-1],
        )
        parts[f"{_next(layer)}weight"] = parts[f"{_next(layer)}weight"][..., :-1]


def _next(layer: str) -> str:
    head, number, _ = layer.rsplit(".", 2)
    return f"{head}.{int(number) + 1}."


def _middle(spec: Spec, parts: Parts, dice: random.Random) -> None:
    """A layer is missing in the middle."""
    for part in ("weight", "bias"):
        parts.pop(f"networks.1.{part}", None)


def _set(*path: Any, to: Any) -> Change:
    """An entry of the plain data, in this model and in those within it."""

    def change(spec: Spec, parts: Parts, dice: random.Random) -> None:
        for model in [spec, *(rule for rule in spec.get("rules", []) if isinstance(rule, dict))]:
            holder: Any = model
            for step in path[:-1]:
                holder = holder.get(step, {}) if isinstance(holder, dict) else {}
            if isinstance(holder, dict):
                holder[path[-1]] = copy.deepcopy(to)

    return change


def _all(name: str, to: float) -> Change:
    """A tensor over rules, all of it or one entry."""

    def change(spec: Spec, parts: Parts, dice: random.Random) -> None:
        for key in parts:
            if key.rsplit(".", 1)[-1] in (name, f"{name}s") and parts[key].dim() == 1 and len(parts[key]):
                parts[key] = torch.full_like(parts[key], to) if dice.random() < 0.5 else parts[key].clone()
                parts[key][dice.randrange(len(parts[key]))] = to

    return change


def _labels(function: Callable[[list[Any]], list[Any]]) -> Change:
    def change(spec: Spec, parts: Parts, dice: random.Random) -> None:
        if isinstance(spec.get("classes"), list):
            spec["classes"] = function(spec["classes"])

    return change


AIMED: dict[str, Change] = {
    "odd width": odd,
    "a layer missing": _middle,
    "labels swapped": _labels(lambda labels: labels[::-1]),
    "labels alike": _labels(lambda labels: [labels[0]] * len(labels)),
    "one label less": _labels(lambda labels: labels[:-1]),
    "labels of two kinds": _labels(lambda labels: [*labels[:-1], "x"]),
    "labels too large": _labels(lambda labels: [*labels[:-1], 10**30]),
    **{f"scale {to:g}": _all("scale", to) for to in (-1.0, 0.0, 1e300, 1e-320, 1e12)},
    **{f"belief {to:.17g}": _all("belief", to) for to in (1.0, 1 - 1e-16, 1 + 1e-12, -0.1, math.nan, 0.0)},
    **{f"share {to:g}": _all("share", to) for to in (0.0, 1.0, 2.0, -1.0)},
    **{f"reach {to:g}": _all("reach", to) for to in (1e300, -1e300, 1e18, 0.0)},
    **{f"epsilon {to}": _set("settings", "epsilon", to=to) for to in ("auto", -1.0, 0, math.inf, 1e300, 1e-300, "x")},
    **{
        f"box {to}": _set("settings", "box", to=to)
        for to in ([1, 0], [0, 0], [math.nan, 1], [0], "01", [-1e300, 1e300])
    },
    **{f"combine {to}": _set("settings", "combine", to=to) for to in ("exact", "scaled", "both", 3)},
    **{f"sharpness {to}": _set("sharpness", to=to) for to in (0, -1, math.inf, "1", 1e300)},
    **{f"features {to}": _set("features", to=to) for to in (0, -1, 5, 10**9, 10**18, 6.0)},
    **{f"shape {to}": _set("shape", to=to) for to in ([3, 2], [6, 1], [2, 2], [0, 0], [-2, -3], None, [2, 3, 1])},
    "processes": _set("settings", "n_jobs", to=4000),
    "a checkpoint": _set("settings", "checkpoint", to="elsewhere"),
    "a recipe without epsilon": _set("recipe", to={}),
    "classified as a reasoner": _set("classifier", to="reasoner"),
    "classified as belief": _set("classifier", to="belief"),
}
CHANGES = {**TENSORS, **PLAIN, **AIMED}


def changed(model: Model, dice: random.Random) -> tuple[Model, str]:
    """The model with one to three changes, and their names."""
    spec, parts = copy.deepcopy(model[0]), dict(model[1])
    family = dice.choice([TENSORS, PLAIN, AIMED if "classifier" in spec else PLAIN])
    names = [dice.choice(sorted(family))]
    names += [dice.choice(sorted(CHANGES)) for _ in range(dice.choice([0, 0, 0, 1, 2]))]
    for name in names:
        try:
            CHANGES[name](spec, parts, dice)
        except (RuntimeError, TypeError, KeyError, AttributeError, OverflowError, ValueError):
            continue  # not for what an earlier change made of it
    return (spec, parts), ", ".join(names)
