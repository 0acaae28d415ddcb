"""How often every value of every variable is, all at once: one contraction, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbr.density.contracted import network
from nbr.density.stacked import Density
from nbr.errors import NbrError, install
from nbr.factors import Unfit, Values
from nbr.factors.order import SECONDS
from nbr.language import Expression, stated
from nbr.world import Real, Variable

if TYPE_CHECKING:
    import pandas as pd

Given = str | Expression | None
Conditions = Given | Sequence[Given]


def marginals(density: Density, given: Conditions = None, seconds: float = SECONDS) -> pd.DataFrame:
    """A row for each value of each variable under each condition: given, variable, value, probability.

    Numbers come in the pieces that rules and conditions tell apart. The probability is empty where the condition has
    none. `seconds` go at most into an order of summing, which is kept for the next time.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError(f"a table of marginals needs pandas: {install('learn')}") from None
    said = [given] if given is None or isinstance(given, str | Expression) else list(given)
    conditions = [None if each is None else stated(each, density.world, "condition") for each in said]
    try:
        tables = network(density, [each for each in conditions if each is not None], seconds)
    except Unfit as error:
        raise NbrError(f"not all values can be weighed at once: {error}; ask for one with probability") from None
    found = tables.marginals(conditions)
    words = {name: shown(density.world.variables[name], each) for name, each in tables.values.items()}
    rows = [
        (None if each is None else str(each), name, value, share)
        for place, each in enumerate(said)
        for name, shares in found.items()
        for value, share in zip(words[name], shares[place].tolist(), strict=True)
    ]
    return pd.DataFrame(rows, columns=["given", "variable", "value", "probability"])


def shown(variable: Variable, values: Values) -> list[str]:
    """Each value in words: a label, a number, or a piece of a number as a comparison."""
    if not isinstance(variable, Real):
        return [variable.show(code) for code in values.codes.tolist()]
    found = []
    for (piece,) in values.allowed:
        low, high = float(piece[0]), float(piece[1])
        if low == high:
            found.append(variable.show(low))
        else:
            ends = [sign + variable.show(end) for sign, end in ((">", low), ("<", high)) if math.isfinite(end)]
            found.append(", ".join(ends) or "any")
    return found
