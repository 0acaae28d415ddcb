"""What a way of answering found out about one part of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nbr.calculus import Estimate, Interval

SUMS = ((0.0, 1.0),) * 3


class Contradiction(Exception):
    """Rules that must hold leave no point of the condition; without any rule, the condition itself has none."""

    def __init__(self, rules: Sequence[int]) -> None:
        super().__init__(rules)
        self.rules = tuple(rules)


@dataclass(frozen=True)
class Outcome:
    """Bounds on E f_Q / E f_C, on E f_N / E f_C and on E f_C, and how they came about."""

    plausibility: Interval
    doubt: Interval
    whole: Interval
    kind: str  # "proved" or "95%"
    engine: str
    points: int | None = None  # how many were gone through
    finer: bool = False  # whether a finer grid would tell more
    sure: Outcome | None = None  # bounds that hold for certain, beside a 95% interval
    notes: tuple[str, ...] = ()  # what is missing that would make it better
    why: str = ""  # why this way was taken
    sums: tuple[Interval, Interval, Interval] = SUMS  # bounds on E f_Q, E f_N and E f_C, where they are known

    @property
    def width(self) -> float:
        return max(high - low for low, high in (self.plausibility, self.doubt, self.whole))

    @property
    def exact(self) -> bool:
        return self.kind == "proved" and self.width == 0

    def narrowed(self, other: Outcome) -> Outcome:
        """What both prove: of the expectations, of their ratios, and of the ratios of what both say of them."""
        for one in (self, other):
            if one.exact:
                return one
        first, second = sorted((self, other), key=lambda each: each.width)
        sums = tuple(map(_shared, first.sums, second.sums))
        found = replace(
            first,
            plausibility=_shared(_shared(first.plausibility, second.plausibility), _ratio(sums[0], sums[2])),
            doubt=_shared(_shared(first.doubt, second.doubt), _ratio(sums[1], sums[2])),
            whole=_shared(_shared(first.whole, second.whole), sums[2]),
            sums=sums,  # type: ignore[arg-type]
        )
        both = found.width < first.width and first.engine != second.engine
        return replace(found, engine=f"{first.engine} and {second.engine}") if both else found

    def beside(self, proved: Outcome) -> Outcome:
        """An interval that holds 95 times in 100, with what is certain beside it."""
        return replace(self, sure=proved if self.sure is None else proved.narrowed(self.sure))


def _shared(one: Interval, other: Interval) -> Interval:
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else ((low + high) / 2,) * 2  # only rounding puts them in the wrong order


def _ratio(part: Interval, whole: Interval) -> Interval:
    """Bounds on the ratio of two expectations, of which the second is the larger."""
    low = min(part[0] / whole[1], 1.0) if whole[1] > 0 else 0.0
    return low, (min(part[1] / whole[0], 1.0) if whole[0] > 0 else 1.0)


UNKNOWN = Outcome((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), "proved", "none", why="there was no time to examine it")


def of_formula(estimate: Estimate, sure: Estimate | None = None, why: str = "") -> Outcome:
    """From the expectations of points for the question, against it, and all."""
    proved = estimate.kind == "proved"
    return Outcome(
        plausibility=estimate.ratio(0, 2),
        doubt=estimate.ratio(1, 2),
        whole=estimate.bounds(2),
        kind=estimate.kind,
        engine=estimate.engine,
        sure=None if sure is None else of_formula(sure),
        why=why,
        sums=(estimate.bounds(0), estimate.bounds(1), estimate.bounds(2)) if proved else SUMS,
    )
