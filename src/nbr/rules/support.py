"""What rows say of a rule that was learned from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nbr.errors import NbrError, suggest


@dataclass(frozen=True)
class Support:
    """The rows behind a rule: with them its belief can be checked by counting.

    `rows` speak of the rule: they show all that it reads, and meet its premise if it has one. In `held` of them it
    holds. Where its belief is a lower limit at the confidence `level`, `likeliest` is the belief of maximum likelihood,
    by which frequencies are counted. `usual` is how often the conclusion of an implication holds in all rows.

    >>> Support(rows=150, held=126, likeliest=0.8, level=0.95, usual=0.7).lift
    1.2
    """

    rows: float
    held: float
    likeliest: float
    level: float | None
    usual: float | None = None

    @property
    def confidence(self) -> float | None:
        """Of an implication how often it holds where its premise does, as association rules have it; else how often."""
        return self.held / self.rows if self.rows else None

    @property
    def lift(self) -> float | None:
        """How many times as often as usual its conclusion holds where its premise does."""
        if self.confidence is None or not self.usual:
            return None
        return round(self.confidence / self.usual, 12)

    def carried(self, belief: float, part: float) -> Support:
        """The support of a statement that carries `part` of a rule with this support and that belief.

        Statements of one rule multiply: their 1 - b do as that of the rule, at the likeliest belief too.
        """
        share = math.log1p(-part) / math.log1p(-belief) if 0 < part < 1 and 0 < belief < 1 else float(part > 0)
        return replace(self, likeliest=1 - (1 - self.likeliest) ** share)

    def plain(self) -> dict[str, float]:
        """For a file: what is not known is left out."""
        each = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in each.items() if value is not None}

    @classmethod
    def read(cls, found: object) -> Support:
        """The inverse of `plain`."""
        needed, known = {"rows", "held", "likeliest"}, tuple(cls.__dataclass_fields__)
        if not isinstance(found, Mapping) or not needed <= set(found):
            raise NbrError("'support' is a table with rows, held and likeliest")
        for name, value in found.items():
            if name not in known:
                raise NbrError(f"unknown entry {name!r} in 'support'" + suggest(str(name), known))
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise NbrError(f"{name!r} in 'support' must be a number, not {value!r}")
        support = cls(**{"level": None, **found})
        if not 0 <= support.held <= support.rows or not 0 <= support.likeliest <= 1:
            raise NbrError("'support' needs held from 0 to rows, and likeliest from 0 to 1")
        return support
