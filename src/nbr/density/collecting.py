"""What to collect next: the column that, recorded in more rows, would narrow what is known of a probability most.

Surveys that have few columns in common leave much open. A column that one of them has could be recorded in the rows of
another too, and would then be shared. What the range and `open` would be is worked out from the model, as if the new
cells bore it out: its distribution stays as it is, and only which columns were seen together changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

import torch

from nbr import clock
from nbr.density.single import Asked, Probability, Words, check
from nbr.density.sums import Ratio
from nbr.errors import NbrError
from nbr.model import Model
from nbr.tables import Together
from nbr.ways import SHARES
from nbr.world import World

DRAWS = 4096  # points of the prior, by which columns are put in order
PIECES = 8  # that a number is cut into for that
LEAST = 1e-9  # of a width or a variance that is more than rounding

Range = tuple[float, float]


@dataclass(frozen=True)
class Collectable:
    """A column to record in more rows, and what would then be known.

    `beside` are the columns that these rows show already, and `rows` is how many there are, None where that is not
    known. `range` and `open` are those of `Probability`.
    """

    column: str
    beside: tuple[str, ...]
    rows: int | None
    range: Range | None
    open: Range | None

    @property
    def width(self) -> float:
        """Of the range, or where the model does not know its rows, of what stays open."""
        return _width(self.range or self.open)

    def __lt__(self, other: Collectable) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[float, float, int, str]:
        """The narrowest first; of those that are as narrow, what leaves least open, by the fewest new cells."""
        return round(self.width, 9), _width(self.open), self.rows or 0, self.column

    def as_json(self) -> dict[str, object]:
        return {
            "column": self.column,
            "beside": list(self.beside),
            "rows": self.rows,
            "range": None if self.range is None else list(self.range),
            "open": None if self.open is None else list(self.open),
        }


@dataclass(frozen=True)
class Collecting:
    """What is known of a probability `now`, and the candidates that would narrow it, the narrowest first.

    `left` is how many more there was no time for; those least related to the question come last.
    """

    now: Probability
    candidates: tuple[Collectable, ...]
    left: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "question": self.now.question,
            "given": self.now.given,
            "now": self.now.as_json(),
            "candidates": [each.as_json() for each in self.candidates],
            "left": self.left,
        }

    def __str__(self) -> str:
        head = str(self.now)
        if not self.candidates:
            return f"{head}; nothing to collect narrows it"
        best = self.candidates[0]
        ends = best.range or best.open
        told = "" if ends is None else f": [{ends[0]:.4f}, {ends[1]:.4f}]"
        return f"{head}; {best.column} beside {', '.join(best.beside)} would narrow it most{told}"


def collecting(
    model: Model,
    question: Words,
    given: Words | None,
    among: Collection[str] | None = None,
    *,
    budget: float = 10.0,
    seed: int = 0,
) -> Collecting:
    """Every column that some rows do not show, recorded in them too, by how narrow the range would be."""
    check(budget, seed)
    deadline = clock.now() + budget
    for name in among or ():
        model.world.column(name)
    if model.seen is None or not model.seen.views:
        raise NbrError("the model does not know which columns were seen together: learn it from tables")
    asked = Asked.of(model, question, given, SHARES["known now"] * budget, seed)
    if not asked.certain:
        raise NbrError("evidence with a degree: what to collect is worked out under conditions that are certain")
    now, reads = asked.probability(clock.now() + SHARES["known now"] * budget), asked.ratio.names
    choices = _choices(model.seen, reads, among)
    if len(choices) > 1:
        related = _related(model, asked.ratio, {name for _, name in choices}, seed)
        choices.sort(key=lambda each: (each[1] not in reads, -related[each[1]]))
    found: list[Collectable] = []
    for at, name in choices:
        if found and clock.now() > deadline:
            break
        found.append(_candidate(asked, at, name, deadline))
    before = _width(now.range or now.open)
    useful = sorted(each for each in found if each.width < before - LEAST)
    return Collecting(now, tuple(useful), len(choices) - len(found))


def _width(found: Range | None) -> float:
    return 1.0 if found is None else found[1] - found[0]


def _choices(seen: Together, reads: frozenset[str], among: Collection[str] | None) -> list[tuple[int, str]]:
    """Views, and columns of others that could be recorded beside them, as far as they can matter."""
    known = sorted(frozenset().union(*seen.views))
    together = any(reads <= frozenset(view) for view in seen.views)
    return [
        (at, name)
        for (at, view), name in itertools.product(enumerate(seen.views), known)
        if name not in view and (among is None or name in among) and (name in reads or not together)
    ]


def _related(model: Model, ratio: Ratio, names: Collection[str], seed: int) -> dict[str, float]:
    """How much a column tells of the question and of the condition: the share of the variance of either, multiplied."""
    points = model.base.sample(DRAWS, torch.Generator().manual_seed(seed))
    said = [each for each in (ratio.question, ratio.condition) if each is not None]
    held = torch.stack([each.holds(model.world, points).double() for each in said])
    whole = held.var(dim=1, correction=0).clamp(min=LEAST)
    found = {}
    for name in names:
        codes = points[:, model.world.column(name)]
        if model.world.variables[name].numeric:
            cuts = torch.linspace(0, 1, PIECES + 1, dtype=torch.float64)[1:-1]
            codes = torch.bucketize(codes, codes.quantile(cuts)).double()
        value = torch.unique(codes, return_inverse=True)[1]
        rows = value.bincount().double()
        means = torch.zeros(len(held), len(rows), dtype=torch.float64).index_add(1, value, held) / rows
        told = ((means - held.mean(dim=1, keepdim=True)) ** 2 @ rows) / len(codes) / whole
        found[name] = float(told.prod())
    return found


def _candidate(asked: Asked, view: int, column: str, deadline: float) -> Collectable:
    """What would be known with a column recorded in the rows of a view too."""
    seen = asked.model.seen
    assert seen is not None
    told = asked.seeing(with_column(seen, view, column, asked.model.world)).probability(deadline)
    return Collectable(column, seen.views[view], seen.counts[view], told.range, told.open)


def with_column(seen: Together, view: int, column: str, world: World) -> Together:
    """What was seen together once a column is recorded in the rows of a view too.

    >>> seen = Together((("x0", "x1"), ("x1", "x2")), (500, 80))
    >>> with_column(seen, 1, "x0", World.bits(3))
    Together(views=(('x0', 'x1', 'x2'), ('x0', 'x1')), rows=(80, 500), dispersion=1.0)
    """
    rows = {frozenset(each): number for each, number in zip(seen.views, seen.counts, strict=True)}
    before = frozenset(seen.views[view])
    wider, mine = before | {column}, rows.pop(before)
    more = rows.get(wider, 0)  # where others show all of that already, they are rows of the same
    rows = {wider: None if mine is None or more is None else mine + more} | {
        each: number for each, number in rows.items() if each != wider
    }
    views = tuple(tuple(name for name in world.names if name in each) for each in rows)
    return replace(seen, views=views, rows=None if seen.rows is None else tuple(rows.values()))
