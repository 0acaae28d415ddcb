"""How many trees, and how fine: as held-out rows say; and the prior that a table gets when nobody names one.

Expectation and maximisation ends elsewhere from each start. The average of several such mixtures is one again, with a
log-likelihood above the mean of theirs, and mostly above the best of them; rounds that all of its trees go through
together would undo that, so that each part is learned by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch

from nbr.errors import NbrError
from nbr.points.numbered import listing
from nbr.priors.base import Prior
from nbr.priors.em import Learner, Rows, columns
from nbr.priors.independent import uniform
from nbr.priors.mixture import Trees
from nbr.tables import Table
from nbr.world import Real

LISTED = 1 << 17  # points of a world that is small enough for a uniform prior
STATES = (8, 16, 32)  # of a number
WIDEST = 2048  # states of all numbers, where there are many columns of them
COMPONENTS = (1, 2, 4, 8, 16, 32, 64)
STARTS = 8  # mixtures of as many trees, at the most
MOST = 256  # trees in all of them
FEW = 3  # of these amounts of trees say how fine numbers are cut
ROUNDS = 80  # of expectation and maximisation
GAIN = 1e-4  # nats a row; a round that gains less counts as none
LEAST = 1.0  # nats that all held-out rows together have to gain by more trees
PATIENCE = 5  # rounds without gain on held-out rows, and then no more
LAST = 3  # rounds on all rows, held-out ones too
HELD_OUT = 0.1
FEWEST = 20  # rows from which some can be held out


@dataclass(frozen=True)
class Chosen:
    """A mixture, how many rounds it took, and its mean log-likelihood of a held-out row."""

    model: Trees
    rounds: int
    score: float


def trees(
    table: Table, components: int | None = None, *, states: int | None = None, valid: Table | None = None, seed: int = 0
) -> Trees:
    """A mixture of trees of columns, learned from a table with holes.

    How many trees there are, how many states a number has, and how many mixtures from other starts are averaged, is
    chosen by the rows of `valid`; without one by a tenth of the rows, and then all are learned from. With `components`
    there are as many trees, of one start.
    """
    if not len(table) or (components is not None and components < 1) or (states is not None and states < 2):
        raise NbrError("a mixture of trees needs rows, at least 1 tree, and at least 2 states of a number")
    real = sum(isinstance(variable, Real) for variable in table.world.variables.values())
    finer = (states,) if states else _finer(real)
    amounts = (components,) if components else COMPONENTS
    train, held = (table, valid) if valid is not None else _split(table, seed)
    if held is None:
        learner = Learner(table, columns(table, finer[0]))
        return _more(learner, learner.fitted(learner.start(amounts[0], seed)), PATIENCE)
    best = _chosen([Learner(train, columns(train, each)) for each in finer], held, amounts, seed, components is None)
    if valid is not None:
        return best
    learner = Learner(table, best.columns)
    return Trees.average([_more(learner, part, LAST) for part in best.parts()])


def relearned(model: Trees, table: Table) -> Trees:
    """A mixture learned from other rows, such as all there are: as many trees, and numbers cut as finely."""
    most = max((column.size for column in model.columns if column.numbers is not None), default=0)
    states = next((each for each in STATES if each + 1 >= most), STATES[-1])
    learner = Learner(table, columns(table, states))
    return Trees.average(
        [_more(learner, learner.fitted(learner.shares(part, table.codes)), LAST) for part in model.parts()]
    )


def auto(table: Table, valid: Table | None = None, seed: int = 0) -> tuple[Prior, str]:
    """The prior that a table gets when nobody names one, and a sentence that says why.

    Uniform where every point of the world can be listed: rules then carry all that is known. A mixture of trees
    where they cannot.
    """
    listed = listing(table.world, LISTED)
    if listed is not None:
        return uniform(table.world), f"uniform prior: the world has only {listed.count:,} points, rules can say it all"
    found = trees(table, valid=valid, seed=seed)
    return found, f"prior: {found}, chosen on held-out rows; the world has too many points to list"


def _finer(real: int) -> tuple[int, ...]:
    """How many states so many numbers may have."""
    most = WIDEST // max(real, 1)
    return tuple(each for each in STATES if each <= most) or STATES[:1] if real else STATES[:1]


def _chosen(learners: Sequence[Learner], held: Table, amounts: Sequence[int], seed: int, several: bool = True) -> Trees:
    """The best of a few trees for each way to cut numbers; more of them for the best way; then `several` starts."""
    few, more = (amounts[:FEW], amounts[FEW:]) if len(learners) > 1 else ((), amounts)
    parts = [Rows.of(learner.columns, held.codes) for learner in learners]
    tried = [
        [_stopped(learner, rows, each, seed) for each in few] for learner, rows in zip(learners, parts, strict=True)
    ]
    at = max(range(len(tried)), key=lambda each: max((found.score for found in tried[each]), default=0.0))
    best = _grown(learners[at], parts[at], tried[at], more, seed)
    return _averaged(learners[at], parts[at], best, seed) if several else best.model


def _grown(learner: Learner, held: Rows, tried: Sequence[Chosen], amounts: Sequence[int], seed: int) -> Chosen:
    """More trees while held-out rows gain; two sizes without gain end it."""
    best, late, need = None, 0, _needed(held)
    for found in chain(tried, (_stopped(learner, held, amount, seed) for amount in amounts)):
        better = best is None or found.score > best.score + need
        late, best = (0, found) if better else (late + 1, best)
        if late == 2:
            break
    assert best is not None
    return best


def _averaged(learner: Learner, held: Rows, first: Chosen, seed: int) -> Trees:
    """The average of mixtures from more and more starts, the best on held-out rows; a single tree has but one.

    Two without gain end it.
    """
    parts, each, late = [first.model], len(first.model.trees), 0
    best, score = first.model, first.score
    while 1 < each <= MOST // (len(parts) + 1) and len(parts) < STARTS and late < 2:
        parts.append(_stopped(learner, held, each, _another(seed, len(parts))).model)
        together = Trees.average(parts)
        late, found = late + 1, held.mean(together)
        if found > score + _needed(held):
            best, score, late = together, found, 0
    return best


def _another(seed: int, number: int) -> int:
    """A seed for one more start; of larger ones torch takes the last 32 bits only."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _needed(held: Rows) -> float:
    """What held-out rows have to gain by more trees, in nats a row."""
    return max(GAIN, LEAST / float(held.weights.sum()))


def _stopped(learner: Learner, held: Rows, components: int, seed: int) -> Chosen:
    """Rounds until held-out rows have not gained for long; the best on the way."""
    model = learner.fitted(learner.start(components, seed))
    best = Chosen(model, 0, held.mean(model))
    alone = components == 1 and learner.complete  # a single tree of complete rows is found at once
    for number in range(1, 1 if alone else ROUNDS + 1):
        model, _ = learner.improve(model)
        score = held.mean(model)
        if score > best.score + GAIN:
            best = Chosen(model, number, score)
        elif number - best.rounds >= PATIENCE:
            break
    return best


def _more(learner: Learner, model: Trees, rounds: int) -> Trees:
    for _ in range(rounds):
        model, _ = learner.improve(model)
    return model


def _split(table: Table, seed: int) -> tuple[Table, Table | None]:
    if len(table) < FEWEST:
        return table, None
    order = torch.randperm(len(table), generator=torch.Generator().manual_seed(seed))
    held = round(HELD_OUT * len(table))
    return table.part(order[held:].sort().values), table.part(order[:held].sort().values)
