"""Many answers as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbr.asking.answer import Answer
from nbr.errors import NbrError, install

if TYPE_CHECKING:
    import pandas as pd

ANSWER_COLUMNS = ("question", "given", "belief", "plausibility", "conflict", "exact")
PROBABILITY_COLUMNS = ("probability", "probability_error")  # of a model with a prior


def answer_table(answers: Sequence[Answer], often: Sequence[tuple[float, float] | None] | None = None) -> pd.DataFrame:
    """A row for each answer; with how often, two more columns, empty where there is no probability."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError(f"a table of answers needs pandas: {install('learn')}") from None
    columns = {name: [getattr(answer, name) for answer in answers] for name in ANSWER_COLUMNS}
    if often is not None:
        pairs = [(math.nan, math.nan) if each is None else each for each in often]
        columns |= {name: [pair[place] for pair in pairs] for place, name in enumerate(PROBABILITY_COLUMNS)}
    return pd.DataFrame(columns)
