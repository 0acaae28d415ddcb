"""What a way of answering found out about one part of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nbr.inference import Estimate
from nbr.inference.problem import Interval


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

    @property
    def width(self) -> float:
        return max(high - low for low, high in (self.plausibility, self.doubt, self.whole))

    @property
    def exact(self) -> bool:
        return self.kind == "proved" and self.width == 0


UNKNOWN = Outcome((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), "proved", "none", why="there was no time to look at it at all")


def of_formula(estimate: Estimate, sure: Estimate | None = None, notes: tuple[str, ...] = ()) -> Outcome:
    """From the expectations of points for the question, against it, and all."""
    return Outcome(
        plausibility=estimate.ratio(0, 2),
        doubt=estimate.ratio(1, 2),
        whole=estimate.bounds(2),
        kind=estimate.kind,
        engine=estimate.engine,
        sure=None if sure is None else of_formula(sure),
        notes=notes,
    )
