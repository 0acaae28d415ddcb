"""Answering along a line of variables: rules that read only neighbours are walked past, one variable at a time."""

from __future__ import annotations

from collections.abc import Callable

from nbr.asking import by_statements
from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome, of_formula
from nbr.calculus import Estimate, WalkedEstimate
from nbr.encodings import Path
from nbr.ways import Attempt, Cost, Limits, Unfit, Way

WHY = "rules lie along a line of variables"


class LineStates(Way[AskedPart, Outcome]):
    """Exactly, where states are few."""

    name = "frontier"

    def unfit(self, asked: AskedPart) -> str | None:
        if asked.no_statements or asked.sharing:
            return asked.no_statements or asked.sharing
        return None if asked.crisp else "only crisp rules can be walked past, along a line of variables"

    def cost(self, asked: AskedPart) -> Cost:
        return Cost(0.2)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome | None:
        return self.attempt(asked)(limits)

    def attempt(self, asked: AskedPart) -> Attempt[Outcome]:
        """The line is drawn once, when it is first needed."""
        kept: list[Path | None] = []

        def run(limits: Limits) -> Outcome | None:
            if not kept:
                kept.append(Path.of(asked.folded.model, *asked.stated))
            path = kept[0]
            if path is None:
                raise Unfit("its rules do not lie along a line of variables")
            return _told(asked, self._walk(path), limits)

        return run

    def _walk(self, path: Path) -> Callable[[Limits], Estimate | None]:
        return path.exact


class LineInterval(LineStates):
    """As narrow as time allows, where states are many: walks that keep some of them, drawn at random."""

    proves = False

    def _walk(self, path: Path) -> Callable[[Limits], Estimate | None]:
        return path.bounded


def _told(asked: AskedPart, walk: Callable[[Limits], Estimate | None], limits: Limits) -> Outcome | None:
    found = walk(limits)
    if found is None:
        return None
    if float(found.high[2]) == 0:
        return by_statements.counted(asked, limits)  # says what contradicts what
    return of_formula(found, found.sure if isinstance(found, WalkedEstimate) else None, WHY)
