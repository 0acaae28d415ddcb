"""The most plausible point: the one at which E[mu_Y(z)] is largest; beside a prior, P_0 P_keep.

A point's plausibility is E[mu_Y(z)] over a number that is the same for all points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from nbr.asking import question as asking
from nbr.asking.likeliest import Ranked
from nbr.asking.listed_best import log_degrees, open_beside
from nbr.asking.maxima import MAXIMA, WantedPoints
from nbr.asking.question import AskSettings, Proposition
from nbr.asking.ranking import Stretch
from nbr.encodings import Set
from nbr.errors import NbrError
from nbr.language import Constant, Expression
from nbr.model import Model
from nbr.points import world_cells
from nbr.ways import Limits, auto

ROUNDING = 1e-9
MOST = 10_000  # points at a time
TOLD = 0.5  # seconds, at the least, for finding out why there is no point
AT_ONCE = 4096  # points
BROKEN = 0.5  # a fuzzy rule counts as broken below this grade


@dataclass(frozen=True)
class Best:
    """The most plausible point, and the next best ones in `others` if they were requested.

    `point` has a value for every variable, `degree` is E[mu_Y(z)] there, `broken` the numbers of the rules that it
    breaks, `open` the variables of which another value would be as good, and `probability` its probability given the
    condition, for a model with a prior.
    """

    point: dict[str, str]
    degree: float
    broken: tuple[int, ...]  # numbers of the rules that it breaks, from 1
    open: tuple[str, ...]  # variables of which another value alone would do as well
    exact: bool  # whether no point can be more plausible, or beside a prior likelier
    log_degree: float  # the logarithm of the degree, which may itself be too small for a number
    given: str | None = None
    probability: float | None = None  # beside a prior, if the sum over all points is known
    pieces: dict[str, str] = field(default_factory=dict)  # in which numbers may be anywhere, beside a prior
    others: tuple[Best, ...] = ()

    @property
    def points(self) -> list[dict[str, str]]:
        """This point and the next best ones."""
        return [self.point, *(each.point for each in self.others)]

    def as_json(self) -> dict[str, object]:
        every = (self, *self.others)
        return {
            "given": self.given,
            "point": self.point,
            "degree": self.degree,
            "probability": self.probability,
            "pieces": self.pieces,
            "broken": list(self.broken),
            "open": list(self.open),
            "exact": self.exact,
            "points": self.points,
            "degrees": [each.degree for each in every],
            "probabilities": [each.probability for each in every],
        }


def best(model: Model, given: Proposition | None, count: int, settings: AskSettings) -> Best:
    """The most plausible points; with a prior, the likeliest by prior times rules.

    Where no way to these fits, or time is up, one point by the rules alone, which does not count as exact.
    """
    if not isinstance(count, int) or not 1 <= count <= MOST:
        raise NbrError(f"the count of points must be a whole number from 1 to {MOST:,}, not {count}")
    limits = Limits.within(settings.budget, settings.tolerance, settings.seed)
    words = None if given is None else asking.words_of(given)
    model, condition = asking.under_condition(model, given)
    with torch.no_grad():
        result = auto(MAXIMA, WantedPoints(model, condition, count), replace(limits, tolerance=0.0))
        ranked = None if result.found is None else result.found.ranked
        if ranked is not None:
            found = [_told(model, condition, ranked, place) for place in range(len(ranked.cells))]
        elif result.found is not None and result.found.point is not None:
            exact = result.found.exact and model.prior is None and count == 1
            found = [_at(model, condition, result.found.point, exact)]
        else:
            found = []
    if not found or found[0].log_degree == -math.inf:
        left = replace(settings, budget=max(limits.left, TOLD))
        asking.ask(model, Constant(True), condition, left)  # says what contradicts what
        if ranked is not None and ranked.exact and model.prior is not None:
            raise NbrError("the condition has probability 0" if given is not None else "no point has a probability")
        hint = "".join(f"; {each}" for each in (*result.missing, *dict.fromkeys(result.unfit)))
        raise NbrError(f"no point with a plausibility above 0 was found in the time given{hint}")
    first, *others = [replace(each, given=words) for each in found]
    return replace(first, others=tuple(others))


def _at(model: Model, condition: Set | None, point: Tensor, exact: bool) -> Best:
    log = float(log_degrees(model, condition, point[None]))
    grades = model.grades_of_observed(point[None])
    return Best(
        point=model.world.show(point),
        degree=math.exp(log),
        broken=tuple((grades[0] < BROKEN).nonzero().flatten().add(1).tolist()),
        open=_open(model, condition, point, log),
        exact=exact,
        log_degree=log,
    )


def _told(model: Model, condition: Set | None, ranked: Ranked, place: int) -> Best:
    log, cell = ranked.cells[place]
    found = _at(model, condition, ranked.point(cell), ranked.exact)
    if model.prior is None:
        return found
    pieces = {}
    for name, variable in model.world.variables.items():
        if variable.numeric:
            ((low, high),) = ranked.values[name].allowed[cell[name]]
            if low < high:
                ends = (max(float(low), variable.low), min(float(high), variable.high))
                pieces[name] = Stretch(*ends, math.isfinite(low), math.isfinite(high)).shown(variable)
    likely = None if ranked.total is None else math.exp(min(0.0, log - ranked.total))
    as_good = open_beside(model, condition, ranked, cell)
    return replace(found, probability=likely, pieces=pieces, open=as_good)


def _open(model: Model, condition: Set | None, point: Tensor, log: float) -> tuple[str, ...]:
    """The variables that could change alone without making the point less plausible."""
    world = model.world
    cuts: dict[str, set[float]] = {}
    named = [*(rule.cuts() for rule in model.rules)] if model.codec is None else []
    if isinstance(condition, Expression):
        named.append(condition.cuts(world))
    for each in named:
        for name, numbers in each.items():
            cuts.setdefault(name, set()).update(numbers)
    near, columns = [point[None, :][:0]], [torch.zeros(0, dtype=torch.long)]
    for column, values in enumerate(world_cells(world, cuts, (), 1).centres):
        others = values[values != point[column]]
        near.append(point.repeat(len(others), 1))
        near[-1][:, column] = others
        columns.append(torch.full_like(others, column, dtype=torch.long))
    parts = zip(torch.cat(near).split(AT_ONCE), torch.cat(columns).split(AT_ONCE), strict=True)
    as_good = [of[log_degrees(model, condition, some) >= log - ROUNDING] for some, of in parts]
    return tuple(world.names[column] for column in torch.cat(as_good).unique().tolist())
