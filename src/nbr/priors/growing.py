"""The mixture of trees of a table, and the prior that a table gets when nobody names one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import torch

from nbr.errors import NbrError
from nbr.points import numbered_points
from nbr.priors.base import Prior
from nbr.priors.columns import Column
from nbr.priors.dependent import dependent
from nbr.priors.em import StateRows, TreeLearner, columns
from nbr.priors.grouped import Grouped
from nbr.priors.groups import BROKEN, ColumnGroup, grouped
from nbr.priors.independent import uniform
from nbr.priors.mixture import Trees
from nbr.priors.search import PATIENCE, Cutting, KeptMixtures, MixtureSearch
from nbr.progress import Progress, Watcher, silent
from nbr.tables import Table

Mixture: TypeAlias = Trees | Grouped

LISTED = 1 << 15  # points of a world that is small enough for a uniform prior: more take rules minutes to learn
STATES = (8, 16, 32)  # of a number
WIDEST = 2048  # states of all numbers, where there are many columns of them
COMPONENTS = (0, 1, 2, 4, 8, 16, 32, 64)  # 0: every column by itself
LAST = 3  # rounds on all rows, held-out ones too
HELD_OUT = 0.1
FEWEST = 20  # rows from which some can be held out
FOLDED = 600  # rows up to which all are held out in turn: a tenth of them would say little
FOLDS = 5
SEEN = 1 << 26  # cells of rows by states, at the most
ROOM = 1 << 25  # numbers in the tables of all trees


def trees(
    table: Table,
    components: int | None = None,
    *,
    states: int | None = None,
    valid: Table | None = None,
    seed: int = 0,
    watch: Watcher = silent,
    kept: KeptMixtures | None = None,
    together: bool = True,
    deadline: float = math.inf,
) -> Mixture:
    """A mixture of trees of columns, learned from a table with holes.

    How many trees there are, how many states a number has, and how many mixtures from other starts are averaged, is
    chosen by the rows of `valid`; without one by a tenth of the rows, and then all are learned from. With `components`
    there are as many trees, of one start. A run that was stopped goes on with what is `kept`. Columns that are one
    variable are one node of the trees, unless `together` is False. After the `deadline` nothing more is tried.
    """
    groups = dependent(table) if together else []
    if not groups:
        return _trees(table, components, states, valid, seed, watch, kept, deadline)
    held = None if valid is None else grouped(valid, groups)
    found = _trees(grouped(table, groups), components, states, held, seed, watch, kept, deadline)
    return _above(table, groups, found)


def _trees(
    table: Table,
    components: int | None,
    states: int | None,
    valid: Table | None,
    seed: int,
    watch: Watcher,
    kept: KeptMixtures | None,
    deadline: float,
) -> Trees:
    if not len(table) or (components is not None and components < 1) or (states is not None and states < 2):
        raise NbrError("a mixture of trees needs rows, at least 1 tree, and at least 2 states of a number")
    real = sum(variable.numeric for variable in table.world.variables.values())
    finer = (states,) if states else _finer(real)
    amounts = (components,) if components else COMPONENTS
    train, held = (table, valid) if valid is not None else _split(table, seed)
    if held is None:
        learner = TreeLearner(table, columns(table, finer[0]))
        return _more(learner, learner.fitted(learner.start(max(1, amounts[0]), seed)), PATIENCE)
    ways = [_way(number, train, held, each, seed) for number, each in enumerate(finer)]
    best = MixtureSearch(seed, watch, kept, deadline).best(ways, _fitting(amounts, ways), several=components is None)
    if valid is not None:
        return best
    learner = TreeLearner(table, best.columns)
    return _last(learner, best.parts(), watch)


def _above(table: Table, groups: Sequence[ColumnGroup], trees: Trees) -> Grouped:
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
    cut = columns(table, states)
    table = _some(table, cut)
    learner = TreeLearner(table, cut)
    if model.alone:  # which held-out rows chose
        return learner.alone()
    parts = [learner.fitted(learner.shares(part, table.codes)) for part in model.parts()]
    return _last(learner, parts, watch)


def auto(
    table: Table,
    valid: Table | None = None,
    seed: int = 0,
    watch: Watcher = silent,
    kept: KeptMixtures | None = None,
    deadline: float = math.inf,
) -> tuple[Prior, str]:
    """The prior that a table gets when nobody names one, and a sentence that says why.

    Uniform where every point of the world can be listed: rules then carry all that is known. A mixture of trees
    where they cannot.
    """
    listed = numbered_points(table.world, LISTED)
    if listed is not None:
        return uniform(
            table.world
        ), f"uniform: the world has only {listed.count:,} points, so rules can express everything"
    found = trees(table, valid=valid, seed=seed, watch=watch, kept=kept, deadline=deadline)
    return found, f"{found}, chosen on held-out rows; the world has too many points to list"


def _way(number: int, train: Table, held: Table, states: int, seed: int) -> Cutting:
    """Numbers in so many states, judged by held-out rows; few rows are held out in turn."""
    cut = columns(train, states)
    learner = TreeLearner(_some(train, cut, seed), cut)
    if len(train) + len(held) > FOLDED or len(train) + len(held) < FEWEST:
        return Cutting(number, learner, ((learner, StateRows.of(learner.columns, held.codes)),))
    every = torch.cat([train.codes, held.codes])
    fold = torch.randperm(len(every), generator=torch.Generator().manual_seed(seed)) % FOLDS
    folds = []
    for out in range(FOLDS):
        part = Table(train.world, every[fold != out])
        one = TreeLearner(part, columns(part, states))
        folds.append((one, StateRows.of(one.columns, every[fold == out])))
    return Cutting(number, learner, tuple(folds))


def _some(table: Table, cut: Sequence[Column], seed: int = 0) -> Table:
    """As many rows as memory has room for, drawn at random."""
    most = SEEN // sum(column.size for column in cut)
    if len(table) <= most:
        return table
    order = torch.randperm(len(table), generator=torch.Generator().manual_seed(seed))
    return table.part(order[:most].sort().values)


def _fitting(amounts: Sequence[int], ways: Sequence[Cutting]) -> list[int]:
    """As many trees as memory has room for; at least the first amount."""
    size = max(len(way.learner.columns) * way.learner.valid.shape[1] ** 2 for way in ways)
    return [each for at, each in enumerate(amounts) if not at or each * size <= ROOM]


def _finer(real: int) -> tuple[int, ...]:
    """How many states so many numbers may have."""
    most = WIDEST // max(real, 1)
    return tuple(each for each in STATES if each <= most) or STATES[:1] if real else STATES[:1]


def _last(learner: TreeLearner, parts: Sequence[Trees], watch: Watcher) -> Trees:
    """A few more rounds for each part of an average."""
    found = []
    for number, part in enumerate(parts, 1):
        found.append(_more(learner, part, LAST))
        watch(Progress("prior, learned anew", number, len(parts), ended=number == len(parts)))
    return Trees.average(found)


def _more(learner: TreeLearner, model: Trees, rounds: int) -> Trees:
    for _ in range(rounds):
        model, _ = learner.improve(model)
    return model


def _split(table: Table, seed: int) -> tuple[Table, Table | None]:
    if len(table) < FEWEST:
        return table, None
    order = torch.randperm(len(table), generator=torch.Generator().manual_seed(seed))
    held = round(HELD_OUT * len(table))
    return table.part(order[held:].sort().values), table.part(order[:held].sort().values)
