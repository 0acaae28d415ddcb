"""What asking returns."""

from __future__ import annotations

from dataclasses import dataclass

from nbr.inference.problem import Interval


@dataclass(frozen=True)
class Bounds:
    """Between which numbers an answer lies: `kind` is "proved", or "95%" for a confidence interval."""

    belief: Interval
    plausibility: Interval
    conflict: Interval
    kind: str

    def __getitem__(self, name: str) -> object:
        return self.as_json()[name]

    def as_json(self) -> dict[str, object]:
        intervals = {"belief": self.belief, "plausibility": self.plausibility, "conflict": self.conflict}
        return {**{name: list(ends) for name, ends in intervals.items()}, "kind": self.kind}


@dataclass(frozen=True)
class Answer:
    """Belief is the evidence for, plausibility what the evidence does not speak against.

    The gap between them is what the model does not know. Conflict is the part of the evidence that
    contradicts itself or the condition. When not `exact`, each number is the middle of its bounds.
    """

    question: str
    given: str | None
    bounds: Bounds
    exact: bool
    engine: str
    rules: int
    points: int

    @property
    def belief(self) -> float:
        return _middle(self.bounds.belief)

    @property
    def plausibility(self) -> float:
        return _middle(self.bounds.plausibility)

    @property
    def conflict(self) -> float:
        return _middle(self.bounds.conflict)

    @property
    def ignorance(self) -> float:
        """How much of the answer is unknown: the gap between plausibility and belief."""
        return self.plausibility - self.belief

    def as_json(self) -> dict[str, object]:
        return {
            "question": self.question,
            "given": self.given,
            "belief": self.belief,
            "plausibility": self.plausibility,
            "conflict": self.conflict,
            "exact": self.exact,
            "bounds": self.bounds.as_json(),
            "engine": self.engine,
            "rules": self.rules,
            "points": self.points,
        }

    def __str__(self) -> str:
        asked = self.question + (f" | {self.given}" if self.given else "")
        how = "exact" if self.exact else f"not exact, {self.bounds.kind} bounds"
        return f"{asked}: [{self.belief:.4f}, {self.plausibility:.4f}], conflict {self.conflict:.4f} ({how})"


def _middle(interval: Interval) -> float:
    low, high = interval
    return low if low == high else (low + high) / 2
