"""How often: P(Q | C) of rules and a prior, exactly where points can be listed or summed, else by draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from nbr import clock
from nbr.density import ranges
from nbr.density.behind import Under, rows_under
from nbr.density.estimate import Estimated
from nbr.density.left_open import Open, left_open, wider
from nbr.density.sums import Ratio, value
from nbr.errors import NbrError
from nbr.language import Expression, as_statement
from nbr.model import Model
from nbr.tables import Together
from nbr.ways import SHARES

Words = str | Expression


@dataclass(frozen=True)
class Probability:
    """The probability of a question under a condition, in the distribution of prior and rules.

    `range` is a 95% range: what the number of rows that the model was learned from, and columns that were never seen
    together, leave possible. `rows` is the number of rows that meet the condition, the smallest such number if
    several sets of columns are involved. Both are None if the model does not know its rows.

    `value` is the model's estimate, and `error` half the width of a 95% interval for its computation, 0 where it is
    exact. Both are None if nothing reliable was computed; `note` then says what was tried. `open` is the range over all
    distributions that agree with the model on every set of columns seen together, and `open_error` how much to widen
    either end so that 95 of 100 such ranges contain the probability; None where it is not known.
    """

    question: str
    given: str | None
    value: float | None
    error: float | None
    exact: bool
    open: tuple[float, float] | None
    method: str
    note: str = ""
    open_error: tuple[float, float] | None = None
    range: tuple[float, float] | None = None
    rows: float | None = None

    @property
    def widened(self) -> tuple[float, float] | None:
        """`open`, widened by `open_error`, if that is known."""
        return wider(self.open, self.open_error)

    @property
    def words(self) -> str:
        """The value and its error."""
        if self.value is None or self.error is None:
            return "between 0 and 1, not computed"
        return f"{self.value:.4f}" + ("" if self.exact else f" ± {self.error:.4f}")

    def as_json(self) -> dict[str, object]:
        return {
            "range": None if self.range is None else list(self.range),
            "rows": self.rows,
            "value": self.value,
            "error": self.error,
            "exact": self.exact,
            "open": None if self.open is None else list(self.open),
            "open_error": None if self.open_error is None else list(self.open_error),
            "method": self.method,
            "note": self.note,
        }

    def __str__(self) -> str:
        asked = self.question + (f" | {self.given}" if self.given else "")
        if self.range is not None and self.rows is not None:
            low, high = self.range
            asked += f": [{low:.4f}, {high:.4f}] (95%, {self.rows:,.0f} rows)"
        how = self.words + (" (exact)" if self.exact else " (95%)" if self.value is not None else "")
        left = "" if self.open is None else f", open [{self.open[0]:.4f}, {self.open[1]:.4f}]"
        return f"{asked}: {how}{left}"


@dataclass(frozen=True)
class Asked:
    """A question, its value, and the rows under its condition; what was seen together says what is left to tell."""

    model: Model
    certain: bool  # whether no evidence has a degree
    ratio: Ratio
    said: tuple[str, str | None]
    found: Estimated
    rest: Under

    @classmethod
    def of(cls, model: Model, question: Words, given: Words | None, budget: float, seed: int) -> Asked:
        """The value within its share of a budget, in seconds."""
        asked = as_statement(question, model.world, "question")
        observing, condition = model.observing(given)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            ratio = Ratio(observing, asked, condition, generator)
            found = value(ratio, SHARES["asked frequency"] * budget if model.seen else budget)
            rest = rows_under(model, observing, condition, generator, SHARES["rows behind"] * budget)
        said = str(question), None if given is None else str(given)
        return cls(model, observing is model, ratio, said, found, rest)

    def seeing(self, seen: Together) -> Asked:
        """The same had other columns been seen together."""
        return replace(self, model=replace(self.model, seen=seen), rest=replace(self.rest, seen=seen))

    def probability(self, deadline: float) -> Probability:
        """What there is to tell, with what stays open as far as it is found by then."""
        found, model, names = self.found, self.model, self.ratio.names
        rows = self.rest.rows(names)
        with torch.no_grad():
            if self.certain or model.seen is None:
                ratio = self.ratio
                left = left_open(model, ratio.question, ratio.condition, found.value, deadline, ratio.generator)
            elif self.rest.together(names):
                left = Open(None if found.value is None else (found.value, found.value))
            else:
                left = Open(None, "what stays open under evidence with a degree is not computed")
        question, given = self.said
        return Probability(
            question=question,
            given=given,
            value=found.value,
            error=found.error,
            exact=found.exact,
            open=left.range,
            method=found.method,
            note="; ".join(each for each in (found.reason, left.note) if each),
            open_error=left.error,
            range=_range(model, found, left, rows),
            rows=rows,
        )


def check(budget: float, seed: int) -> None:
    """Raise an error unless there are seconds to spend and the seed is one."""
    if not isinstance(budget, int | float) or not budget > 0:
        raise NbrError(f"the budget must be a number of seconds above 0, not {budget}")
    if not isinstance(seed, int) or not 0 <= seed < 1 << 63:
        raise NbrError(f"the seed must be a whole number from 0 to 2^63, not {seed}")


def probability(
    model: Model,
    question: Words,
    given: Words | None,
    *,
    budget: float = 10.0,
    seed: int = 0,
) -> Probability:
    """P(Q | C) under P_0 P_keep, and the range that columns never seen together leave open."""
    start = clock.now()
    check(budget, seed)
    asked = Asked.of(model, question, given, budget, seed)
    return asked.probability(start + budget)


def _range(model: Model, found: Estimated, left: Open, rows: float | None) -> tuple[float, float] | None:
    """The range to tell; None too where not even what stays open is known."""
    if left.range is None and left.note:
        return None
    ends = None
    if found.value is not None and found.error is not None:
        ends = max(0.0, found.value - found.error), min(1.0, found.value + found.error)
    worth = None if rows is None or model.seen is None else rows / model.seen.dispersion
    return ranges.told(ends, left.range, left.widened, worth)


def probability_or_reason(model: Model, question: object, given: object, budget: float, seed: int) -> Probability | str:
    """The probability, or the reason why there is none.

    An answer does not need it: a condition of probability 0, say, may still be asked about.
    """
    try:
        return probability(model, question, given, budget=budget, seed=seed)  # type: ignore[arg-type]
    except NbrError as error:
        return str(error)
