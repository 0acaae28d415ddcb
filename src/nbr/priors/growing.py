"""How many trees, and how fine: as held-out rows say; and the prior that a table gets when nobody names one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

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

    How many trees there are, and how many states a number has, is chosen by the rows of `valid`; without one by a tenth
    of the rows, and then all are learned from.
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
    best = _chosen([Learner(train, columns(train, each)) for each in finer], held, amounts, seed).model
    return best if valid is not None else _more(Learner(table, best.columns), best, LAST)


def relearned(model: Trees, table: Table) -> Trees:
    """A mixture learned from other rows, such as all there are: as many trees, and numbers cut as finely."""
    most = max((column.size for column in model.columns if column.numbers is not None), default=0)
    states = next((each for each in STATES if each + 1 >= most), STATES[-1])
    learner = Learner(table, columns(table, states))
    return _more(learner, learner.fitted(learner.shares(model, table.codes)), LAST)


def auto(table: Table, valid: Table | None = None, seed: int = 0) -> tuple[Prior, str]:
    """The prior that a table gets when nobody names one, and a sentence that says why.

    Uniform where every point of the world can be listed: rules then carry all that is known. A mixture of trees
    where they cannot.
    """
    listed = listing(table.world, LISTED)
    if listed is not None:
        return uniform(table.world), f"uniform prior: the world has only {listed.count:,} points, rules can say it all"
    found = trees(table, valid=valid, seed=seed)
    several = "a tree of columns" if len(found.trees) == 1 else f"a mixture of {len(found.trees)} trees of columns"
    return found, f"prior: {several}, chosen on held-out rows; the world has too many points to list"


def _finer(real: int) -> tuple[int, ...]:
    """How many states so many numbers may have."""
    most = WIDEST // max(real, 1)
    return tuple(each for each in STATES if each <= most) or STATES[:1] if real else STATES[:1]


def _chosen(learners: Sequence[Learner], held: Table, amounts: Sequence[int], seed: int) -> Chosen:
    """The best of a few trees for each way to cut numbers; then more of them for the best way."""
    few, more = (amounts[:FEW], amounts[FEW:]) if len(learners) > 1 else ((), amounts)
    parts = [Rows.of(learner.columns, held.codes) for learner in learners]
    tried = [
        [_stopped(learner, rows, each, seed) for each in few] for learner, rows in zip(learners, parts, strict=True)
    ]
    at = max(range(len(tried)), key=lambda each: max((found.score for found in tried[each]), default=0.0))
    return _grown(learners[at], parts[at], tried[at], more, seed)


def _grown(learner: Learner, held: Rows, tried: Sequence[Chosen], amounts: Sequence[int], seed: int) -> Chosen:
    """More trees while held-out rows gain; two sizes without gain end it."""
    best, late, need = None, 0, max(GAIN, LEAST / float(held.weights.sum()))
    for found in chain(tried, (_stopped(learner, held, amount, seed) for amount in amounts)):
        better = best is None or found.score > best.score + need
        late, best = (0, found) if better else (late + 1, best)
        if late == 2:
            break
    assert best is not None
    return best


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
