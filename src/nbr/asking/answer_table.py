"""Many answers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbr.asking.answer import Answer
from nbr.errors import NbrError

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("question", "given", "belief", "plausibility", "conflict", "exact")


def answer_table(answers: Sequence[Answer]) -> pd.DataFrame:
    """A row for each answer."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError("a table of answers needs pandas: pip install 'nbr[learn]'") from None
    return pd.DataFrame({name: [getattr(answer, name) for answer in answers] for name in COLUMNS})
