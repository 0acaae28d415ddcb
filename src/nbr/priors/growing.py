"""The mixture of trees of a table, and the prior that a table gets when nobody names one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch

from nbr.errors import NbrError
from nbr.points.numbered import listing
from nbr.priors.base import Prior
from nbr.priors.dependent import dependent
from nbr.priors.em import Learner, columns
from nbr.priors.grouped import Grouped
from nbr.priors.groups import BROKEN, Group, grouped
from nbr.priors.independent import uniform
from nbr.priors.mixture import Trees
from nbr.priors.search import PATIENCE, Kept, Search
from nbr.progress import Progress, Watcher, silent
from nbr.tables import Table

Mixture: TypeAlias = Trees | Grouped

LISTED = 1 << 17  # points of a world that is small enough for a uniform prior
STATES = (8, 16, 32)  # of a number
WIDEST = 2048  # states of all numbers, where there are many columns of them
COMPONENTS = (1, 2, 4, 8, 16, 32, 64)
LAST = 3  # rounds on all rows, held-out ones too
HELD_OUT = 0.1
FEWEST = 20  # rows from which some can be held out


def trees(
    table: Table,
    components: int | None = None,
    *,
    states: int | None = None,
    valid: Table | None = None,
    seed: int = 0,
    watch: Watcher = silent,
    kept: Kept | None = None,
    together: bool = True,
) -> Mixture:
    """A mixture of trees of columns, learned from a table with holes.

    How many trees there are, how many states a number has, and how many mixtures from other starts are averaged, is
    chosen by the rows of `valid`; without one by a tenth of the rows, and then all are learned from. With `components`
    there are as many trees, of one start. A run that was stopped goes on with what is `kept`. Columns that are one
    variable are one node of the trees, unless `together` is False.
    """
    groups = dependent(table) if together else []
    if not groups:
        return _trees(table, components, states, valid, seed, watch, kept)
    held = None if valid is None else grouped(valid, groups)
    found = _trees(grouped(table, groups), components, states, held, seed, watch, kept)
    return _above(table, groups, found)


def _trees(
    table: Table,
    components: int | None,
    states: int | None,
    valid: Table | None,
    seed: int,
    watch: Watcher,
    kept: Kept | None,
) -> Trees:
    if not len(table) or (components is not None and components < 1) or (states is not None and states < 2):
        raise NbrError("a mixture of trees needs rows, at least 1 tree, and at least 2 states of a number")
    real = sum(variable.numeric for variable in table.world.variables.values())
    finer = (states,) if states else _finer(real)
    amounts = (components,) if components else COMPONENTS
    train, held = (table, valid) if valid is not None else _split(table, seed)
    if held is None:
        learner = Learner(table, columns(table, finer[0]))
        return _more(learner, learner.fitted(learner.start(amounts[0], seed)), PATIENCE)
    learners = [Learner(train, columns(train, each)) for each in finer]
    best = Search(held, seed, watch, kept).best(learners, amounts, several=components is None)
    if valid is not None:
        return best
    learner = Learner(table, best.columns)
    return _last(learner, best.parts(), watch)


def _above(table: Table, groups: Sequence[Group], trees: Trees) -> Grouped:
    """Trees over groups, in which a row may break a pattern as often as half a row did more than were seen to."""
    rate, first = BROKEN / (table.rows + 1), len(trees.columns) - len(groups)
    for tree in trees.trees:
        for at, group in enumerate(groups, first):
            tree.table[at] *= 1 - rate
            tree.table[at, :, group.size - 1] += rate
    return Grouped(table.world, groups, trees)


def relearned(model: Mixture, table: Table, watch: Watcher = silent) -> Mixture:
    """A mixture learned from other rows, such as all there are: as many trees, and numbers cut as finely."""
    if isinstance(model, Grouped):
        return _above(table, model.groups, _relearned(model.trees, grouped(table, model.groups), watch))
    return _relearned(model, table, watch)


def _relearned(model: Trees, table: Table, watch: Watcher) -> Trees:
    most = max((column.size for column in model.columns if column.numbers is not None), default=0)
    states = next((each for each in STATES if each + 1 >= most), STATES[-1])
    learner = Learner(table, columns(table, states))
    parts = [learner.fitted(learner.shares(part, table.codes)) for part in model.parts()]
    return _last(learner, parts, watch)


def auto(
    table: Table,
    valid: Table | None = None,
    seed: int = 0,
    watch: Watcher = silent,
    kept: Kept | None = None,
) -> tuple[Prior, str]:
    """The prior that a table gets when nobody names one, and a sentence that says why.

    Uniform where every point of the world can be listed: rules then carry all that is known. A mixture of trees
    where they cannot.
    """
    listed = listing(table.world, LISTED)
    if listed is not None:
        return uniform(table.world), f"uniform prior: the world has only {listed.count:,} points, rules can say it all"
    found = trees(table, valid=valid, seed=seed, watch=watch, kept=kept)
    return found, f"prior: {found}, chosen on held-out rows; the world has too many points to list"


def _finer(real: int) -> tuple[int, ...]:
    """How many states so many numbers may have."""
    most = WIDEST // max(real, 1)
    return tuple(each for each in STATES if each <= most) or STATES[:1] if real else STATES[:1]


def _last(learner: Learner, parts: Sequence[Trees], watch: Watcher) -> Trees:
    """A few more rounds for each part of an average."""
    found = []
    for number, part in enumerate(parts, 1):
        found.append(_more(learner, part, LAST))
        watch(Progress("prior, learned anew", number, len(parts), ended=number == len(parts)))
    return Trees.average(found)


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
