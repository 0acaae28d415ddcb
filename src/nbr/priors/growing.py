"""How many trees, and how fine: as held-out rows say; and the prior that a table gets when nobody names one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
STATES = (4, 8, 16)  # of a number
COMPONENTS = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 80  # of expectation and maximisation
GAIN = 1e-4  # nats a row; a round that gains less counts as none
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
    real = any(isinstance(variable, Real) for variable in table.world.variables.values())
    finer = (states,) if states else STATES if real else STATES[:1]
    amounts = (components,) if components else COMPONENTS
    train, held = (table, valid) if valid is not None else _split(table, seed)
    if held is None:
        learner = Learner(table, columns(table, finer[0]))
        return _more(learner, learner.fitted(learner.start(amounts[0], seed)), PATIENCE)
    found = [_grown(Learner(train, columns(train, each)), held, amounts, seed) for each in finer]
    best = max(found, key=lambda each: each.score).model
    return best if valid is not None else _more(Learner(table, best.columns), best, LAST)


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


def _grown(learner: Learner, held: Table, amounts: Sequence[int], seed: int) -> Chosen:
    """More trees while held-out rows gain; two sizes without gain end it."""
    rows, best, late = Rows.of(learner.columns, held.codes), None, 0
    for amount in amounts:
        found = _stopped(learner, rows, amount, seed)
        late = 0 if best is None or found.score > best.score + GAIN else late + 1
        best = found if best is None or found.score > best.score + GAIN else best
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
