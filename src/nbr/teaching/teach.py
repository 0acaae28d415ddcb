"""`nbr.train`: a model and examples in, the model with sensors that have learned out."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nbr.errors import NbrError
from nbr.model import Model
from nbr.progress import Watcher, reporter
from nbr.reasoner import Reasoner
from nbr.rules import Rule, label_columns, sensor_values
from nbr.teaching.architectures import named, usual
from nbr.teaching.doubt import SURE, Left, left_open
from nbr.teaching.examples import Examples, Told
from nbr.teaching.network import NetworkSensor
from nbr.teaching.statements import Statements
from nbr.teaching.training import SensorLearner, Teaching, TeachSettings
from nbr.world import Real, World

Asked = str | nn.Module | None
ROWS = 512  # examples that are judged at a time


def train(
    model: Reasoner,
    examples: Told | Examples,
    says: str | Sequence[str] | None = None,
    *,
    network: Asked | Mapping[str, Asked] = None,
    beliefs: bool = False,
    epochs: float | None = None,
    batch: int = TeachSettings.batch,
    rate: float = TeachSettings.rate,
    shift: int | None = None,
    augment: float = TeachSettings.augment,
    groups: int | None = None,
    seed: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    verbose: bool | Watcher = False,
) -> Reasoner:
    """Train sensors from statements about pictures, so that the statements become as likely as the model allows.

    With `groups`, pictures are clustered into that many groups without labels, and each group gets the set of labels
    that do not break a statement. If that leaves labels open, sensors answer with the set of labels of the picture's
    group; `notes` of the sensors, which `nbr show` prints, say what is open and which picture to label next.
    Otherwise sensors learn from the labels of the groups first, and then from the statements.

    Args:
        model: The variables and rules that connect pictures with statements.
        examples: A column of pictures, arrays or file names, for each variable that is seen; a DataFrame, a dict, or a
            CSV file, next to which the picture files are looked for. A column "says" has a statement for each row,
            and a column "belief" the degree to which it is believed.
        says: The statements instead of the column "says": one for each row, or one for all rows, in which names of
            columns of whole numbers may be used, as in "10*a1 + a0 + 10*b1 + b0 = s".
        network: The name of an architecture ("lenet", "convolutional", "dense", or "nonexpansive", which has proofs), a
            torch module that gives a number for each label, or one of these for each variable. Variables with the same
            values share a network. None continues with the sensors that the model has.
        beliefs: Whether to learn the beliefs of rules, too, where they are above 0 and below 1.
        epochs: The number of passes over the examples.
        batch: The number of pictures in a training step.
        rate: The learning rate.
        shift: The number of pixels by which pictures are shifted at random.
        augment: The strength of small random turns, slants, sizes and shifts of pictures besides; at 1, turns of up to
            10 degrees and sizes of up to 10% more or less; at 0, none.
        groups: The number of groups of similar pictures.
        seed: The seed of all randomness.
        checkpoint: A folder for checkpoints; a run that was stopped continues from it.
        verbose: True shows progress on stderr; a function is called with the progress.

    Returns:
        The model with trained sensors.
    """
    known = model.model
    known.alone("sensors learn from statements")
    if not isinstance(examples, Examples):
        examples = Examples.of(known.world, examples, says)
    settings = TeachSettings(
        epochs=None if epochs is None else _positive("epochs", epochs),
        batch=_count(batch),
        rate=_positive("rate", rate),
        shift=shift,
        augment=0.0 if augment == 0 else _positive("augment", augment),
        seed=seed,
    )
    if groups is not None:
        left = left_open(known, examples, groups, seed)
        if left.words:
            return Reasoner.of(_doubting(known, examples, left, network, settings, checkpoint, reporter(verbose)))
        start = None if checkpoint is None else Path(f"{checkpoint}.start")
        known = _doubting(known, examples, left, network, settings, start, reporter(verbose))
        network = None  # it goes on from what groups show, where it might have ended in another solution
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = _networks(known, examples, network)
    rules = [rule for rule in known.rules if 0 < rule.degree < 1] if beliefs else []
    learner = SensorLearner({name: each for name, (each, _) in made.items()}, rules)
    path = None if checkpoint is None else Path(checkpoint)
    Teaching(known, examples, learner, settings, path).run(reporter(verbose))
    if path is not None:
        path.unlink(missing_ok=True)
    return Reasoner.of(_finished(known, examples, made, learner))


def _doubting(
    model: Model,
    examples: Examples,
    left: Left,
    network: Asked | Mapping[str, Asked],
    settings: TeachSettings,
    checkpoint: str | PathLike[str] | None,
    watch: Watcher,
) -> Model:
    """Sensors that tell kinds of pictures apart: taught which kind each picture is of, almost certainly."""
    if isinstance(network, Mapping) or (left.words and isinstance(network, nn.Module)):
        raise NbrError("where labels are open, a network distinguishes groups of pictures: give the name of one")
    if len(left.possible) == 1:
        raise NbrError(f"{left.words[0]}, and a sensor needs two labels or more")
    sure = torch.full((len(left.kind),), SURE, dtype=torch.float64)
    told = Examples(
        examples.pool, {"seen": left.pictures}, ("seen = kind",), {"kind": left.kind.tolist()}, sure, left.pictures
    )
    taught = train(
        Reasoner(World(seen=Real(0, len(left.possible) - 1, step=1))),
        told,
        network=network,
        epochs=settings.epochs,
        batch=settings.batch,
        rate=settings.rate,
        shift=settings.shift,
        augment=settings.augment,
        seed=settings.seed,
        checkpoint=checkpoint,
        verbose=watch,
    )
    seen = taught.model.sensors["seen"]
    assert isinstance(seen, NetworkSensor)
    first = next(iter(examples.where))
    labels = sensor_values(first, model.world.variables[first])
    possible = left.possible if left.words else None
    sensor = NetworkSensor(seen.network, seen.architecture, labels, examples.shape, possible=possible, notes=left.words)
    return replace(model, sensors={**model.sensors, **dict.fromkeys(examples.where, sensor)})


def _networks(
    model: Model, examples: Examples, asked: Asked | Mapping[str, Asked]
) -> dict[str, tuple[nn.Module, str | None]]:
    """A network for each variable, and its name if it is one of ours; the same for variables with the same values."""
    found: dict[str, tuple[nn.Module, str | None]] = {}
    shared: dict[object, tuple[nn.Module, str | None]] = {}
    for name in examples.where:
        own = asked.get(name) if isinstance(asked, Mapping) else asked
        labels = sensor_values(name, model.world.variables[name])
        before = model.sensors.get(name)
        key = (labels, own if isinstance(own, str | None) else id(own), id(before) if own is None else None)
        if key not in shared:
            shared[key] = _network(before, own, examples, labels)
        found[name] = shared[key]
    return found


def _network(before: object, asked: Asked, examples: Examples, labels: Sequence[str]) -> tuple[nn.Module, str | None]:
    if asked is None and before is not None:
        if not isinstance(before, NetworkSensor):
            raise NbrError(
                f"the sensor {before!r} is not a network that can be trained further: name the network to train"
            )
        if before.shape != examples.shape or before.labels != tuple(labels):
            raise NbrError(f"the sensor {before!r} has other inputs or other labels")
        return copy.deepcopy(before.network).requires_grad_(True), before.architecture
    if isinstance(asked, nn.Module):
        _check(asked, examples, labels)
        return copy.deepcopy(asked).requires_grad_(True), None
    if asked is not None and not isinstance(asked, str):
        raise NbrError(f"a network is a name, such as 'lenet', or a torch module, not {asked!r:.60}")
    name = asked or usual(examples.shape)
    return named(name, examples.shape, len(labels)), name


def _check(network: nn.Module, examples: Examples, labels: Sequence[str]) -> None:
    """That it takes such pictures and gives a number for each label."""
    asked = copy.deepcopy(network).eval()
    try:
        with torch.no_grad():
            shape = tuple(asked(examples.pool[:2]).shape)
    except (RuntimeError, ValueError, TypeError) as error:
        told = " x ".join(map(str, examples.shape))
        raise NbrError(f"the network does not take pictures of {told}: {' '.join(str(error).split())[:120]}") from None
    if shape != (min(2, len(examples.pool)), len(labels)):
        raise NbrError(f"the network gives {shape} for {min(2, len(examples.pool))} pictures of {len(labels)} labels")


def _finished(
    model: Model, examples: Examples, made: Mapping[str, tuple[nn.Module, str | None]], learner: SensorLearner
) -> Model:
    moved: dict[Rule, float] = {rule: float(belief.detach()) for rule, belief in learner.beliefs().items()}
    rules = [rule.with_belief(moved[rule]) if rule in moved else rule for rule in model.rules]
    each: dict[int, NetworkSensor] = {}
    sensors = dict(model.sensors)
    for name, (network, called) in made.items():
        labels = sensor_values(name, model.world.variables[name])
        if id(network) not in each:
            each[id(network)] = NetworkSensor(network, called, labels, examples.shape)
        sensors[name] = each[id(network)]
    return replace(model, rules=tuple(rules), sensors=sensors)


def agreement(model: Reasoner, examples: Examples) -> tuple[float, float]:
    """Of how many examples what is read, picture by picture, agrees with what was said; and nats a statement."""
    known = model.model
    said = Statements.of(known, examples.texts, examples.columns, list(examples.where), len(examples))
    agree, nats = [], []
    for rows in torch.arange(len(examples)).split(ROWS):
        logs = {}
        for name, where in examples.where.items():
            evidence = known.sensors[name].look(examples.pool[where[rows]].numpy())
            place = label_columns(name, known.world.variables[name], evidence.labels)
            logs[name] = evidence.log_plausibility[:, place]
        nats.append(-said.log_likelihood(logs, rows))
        agree.append(said.hold(logs, rows))
    return float(torch.cat(agree).double().mean()), float(torch.cat(nats).mean())


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise NbrError(f"{name} must be a number above 0, not {value!r:.60}")
    return float(value)


def _count(batch: Any) -> int:
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise NbrError(f"batch must be a number of pictures, at least 1, not {batch!r:.60}")
    return batch
