"""The most plausible points where rules share sources, as weighted MaxSAT: a maximum over points of sums over sources.

Of what a point breaks, -log P_keep is a sum over rules that are there each for itself and over sources:

    nested    -log(1 - rho b) of the firmest broken rule b: a step at each belief
    distinct  -log(1 - rho + rho exp(-w)), w the sum of -log(1 - b) over broken rules, of a choice -log(1 - sum of b)

The last is concave in w, so that it is the smallest of its chords between any w that are taken: a lower bound, in which
a solver chooses a chord for each source. Where that is too low for the point it finds, w there is taken too.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from nbr import clock
from nbr.asking.likeliest import PARTS, Cell, Ranked, Weights, encoded, masses_of, unlikely
from nbr.calculus import Selectors, Sharing, detached, sat
from nbr.clock import OutOfTime
from nbr.encodings import Encoder, StatementEncoding
from nbr.factors import codes_of_values
from nbr.language import Expression, compares_numbers
from nbr.model import Model
from nbr.ways import Limits, Unfit

CHOICES = 8  # possibilities of one choice, up to which all sets of them are told apart
SURE = 40.0  # the weight of a rule believed to 1 in a source that may be unreliable: exp(-40) is nothing
NEAR = 1e-9  # between what a point costs and the least that any may
Soft = tuple[tuple[int, ...], float]  # a clause, and what it costs to break it


@dataclass
class Concave:
    """A distinct source that may be unreliable: what a point breaks costs f(w)."""

    reliability: float
    parts: list[Soft]  # what adds to w where it is broken
    taken: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        whole = math.fsum(weight for _, weight in self.parts)
        self.taken = sorted({0.0, min((weight for _, weight in self.parts), default=0.0), whole})

    def cost(self, weight: float) -> float:
        return -math.log1p(-self.reliability * -math.expm1(-weight))

    def chords(self) -> Iterator[tuple[float, float]]:
        """The cost where nothing is broken, and the slope of each."""
        for start, end in pairwise(self.taken):
            slope = (self.cost(end) - self.cost(start)) / (end - start)
            yield max(0.0, self.cost(start) - slope * start), slope

    def broken(self, true: set[int]) -> float:
        return math.fsum(weight for clause, weight in self.parts if not _holds(clause, true))

    def refined(self, true: set[int]) -> float:
        """How far the chords were below what a point costs; they are exact there from now on."""
        weight = self.broken(true)
        gap = self.cost(weight) - min(start + slope * weight for start, slope in self.chords())
        if gap > NEAR / 100 and weight not in self.taken:
            insort(self.taken, weight)
        return gap


def unfit(model: Model) -> str | None:
    """Why rules of sources are no such sum."""
    if model.closed:
        return "variables are closed"
    if not isinstance(model.presence, Selectors):
        return "rules share no source"
    if model.prior is not None and sum(bool(body.rules) for body in model.bodies) > 1:
        return "the prior has rules of its own"
    if any(len(choice) > CHOICES for group in model.presence.groups for choice in group.choices):
        return f"a choice has more than {CHOICES} possibilities"
    if any(rule.levels() != [1.0] for rule in model.rules):
        return "not all rules are statements"
    return StatementEncoding.unfit(model)


def by_maxsat(model: Model, condition: Expression | None, count: int, limits: Limits) -> Ranked:
    """The best points, each found excluded from the next search; beside a prior what it has in their values counts too.

    They count as exact if none can be better. `Unfit` where they cannot be said to a solver.
    """
    presence = detached(model.presence if model.prior is None else model.likeliest)
    assert isinstance(presence, Selectors)
    weights = Weights.of(model, condition)
    statements = [each for rule in model.rules if (each := rule.at_least(1.0)) is not None]
    if compares_numbers([*statements, *weights.said]):
        raise Unfit("numbers are compared with each other")
    parts = codes_of_values(model.world, [*statements, *weights.said], {})
    try:
        with clock.until(limits.deadline):
            masses = masses_of(weights.prior, parts)
            encoder, literals = encoded(weights, statements, parts)
            fixed, sources = _costs(presence, encoder, [encoder.literal(each) for each in statements])
            rare = [((-encoder.both(there),), cost) for there, cost in unlikely(literals, masses)]
    except OutOfTime:
        raise Unfit("it takes too long") from None
    found, known = list[tuple[float, Cell]](), list[Soft]()
    while len(found) < count:
        true, exact = _least(encoder, [*fixed, *rare, *known], sources, limits)
        if true is None:
            return Ranked(parts, found, masses, None, exact)
        cell = {name: [_holds((one,), true) for one in each].index(True) for name, each in literals.items()}
        likely = math.fsum(float(table[tuple(cell[name] for name in names)].log()) for names, table in masses)
        found.append((likely - _cost(fixed, sources, true), cell))
        known.append((tuple(-literals[name][at] for name, at in cell.items()), math.inf))
        if not exact:
            return Ranked(parts, found, masses, None, False)
    return Ranked(parts, found, masses, None, True)


def _costs(presence: Selectors, encoder: Encoder, holds: Sequence[int]) -> tuple[list[Soft], list[Concave]]:
    """What it costs to break rules: clauses each by itself, and sources that may be unreliable."""
    beliefs = presence.beliefs.tolist()
    fixed: list[Soft] = [((holds[rule],), _weight(beliefs[rule])) for rule in presence.free if beliefs[rule] > 0]
    sources: list[Concave] = []
    for group in presence.groups:
        reliability = float(presence.reliable(group))
        if group.nested:
            fixed += _steps(encoder, group, reliability, beliefs, holds)
            continue
        parts = list(_parts(group, beliefs, holds))
        if reliability == 1:
            fixed += parts
        elif reliability > 0 and parts:
            sources.append(Concave(reliability, [(clause, min(weight, SURE)) for clause, weight in parts]))
    return fixed, sources


def _cost(fixed: Sequence[Soft], sources: Sequence[Concave], true: set[int]) -> float:
    exactly = math.fsum(weight for clause, weight in fixed if not _holds(clause, true))
    return exactly + math.fsum(each.cost(each.broken(true)) for each in sources)


def _least(
    encoder: Encoder, fixed: Sequence[Soft], sources: Sequence[Concave], limits: Limits
) -> tuple[set[int] | None, bool]:
    """The numbers that are true where the cost is least, if any was found, and whether nothing can cost less."""
    best: tuple[float, set[int]] | None = None
    while (true := _solved(encoder, fixed, sources, limits)) is not None:
        exactly = _cost(fixed, sources, true)
        if best is None or exactly < best[0]:
            best = exactly, true
        if math.fsum(each.refined(true) for each in sources) <= NEAR:
            return best[1], True
    return (None, clock.now() < limits.deadline) if best is None else (best[1], False)


def _weight(belief: float) -> float:
    return math.inf if belief >= 1 else -math.log1p(-belief)


def _steps(
    encoder: Encoder, group: Sharing, reliability: float, beliefs: Sequence[float], holds: Sequence[int]
) -> list[Soft]:
    """A nested source: all rules of at least some belief hold, or what the step up to that belief costs."""
    found, before = list[Soft](), 0.0
    for level in sorted({beliefs[rule] for rule in group.members if beliefs[rule] > 0}):
        whole = _weight(reliability * level)
        every = encoder.both([holds[rule] for rule in group.members if beliefs[rule] >= level])
        found.append(((every,), whole - before))
        before = whole
        if math.isinf(whole):
            break
    return found


def _parts(group: Sharing, beliefs: Sequence[float], holds: Sequence[int]) -> Iterator[Soft]:
    """Rules of a source, and sets of possibilities of each choice: what it costs to break just these."""
    for rule in group.plain:
        if beliefs[rule] > 0:
            yield (holds[rule],), _weight(beliefs[rule])
    for choice in group.choices:
        for size in range(1, len(choice) + 1):
            for some in combinations(choice, size):
                chance = min(1.0, math.fsum(beliefs[rule] for rule in some))
                if chance > 0:
                    clause = tuple(holds[rule] if rule in some else -holds[rule] for rule in choice)
                    yield clause, _weight(chance)


def _holds(clause: Sequence[int], true: set[int]) -> bool:
    return any((literal > 0) == (abs(literal) in true) for literal in clause)


def _solved(encoder: Encoder, fixed: Sequence[Soft], sources: Sequence[Concave], limits: Limits) -> set[int] | None:
    """The numbers that are true where rules and one chord of each source cost least; None if time is up."""
    from pysat.examples.rc2 import RC2Stratified
    from pysat.formula import WCNF

    problem = WCNF()
    for clause in encoder.clauses:
        problem.append(list(clause))
    soft, spare = list(fixed), encoder.count
    for each in sources:
        chords = list(each.chords())
        chosen = list(range(spare + 1, spare + 1 + len(chords)))
        spare += len(chords)
        problem.append(chosen)
        for number, (start, slope) in zip(chosen, chords, strict=True):
            soft.append(((-number,), start))
            soft += [((-number, *clause), slope * weight) for clause, weight in each.parts]
    for clause, weight in soft:
        if math.isinf(weight):
            problem.append(list(clause))
        elif weight * PARTS >= 1:
            problem.append(list(clause), weight=round(weight * PARTS))
    solver = RC2Stratified(problem, solver="g4")  # without strata it may not end
    found = sat.beside(lambda: solver.compute(expect_interrupt=True), solver.interrupt, limits.deadline)
    solver.delete()
    return None if found is None else {literal for literal in found if literal > 0}
