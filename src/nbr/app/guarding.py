"""Cells that a spreadsheet would run as a formula, written so that it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbr.tables import texts

if TYPE_CHECKING:
    import pandas as pd

STARTS = ("=", "+", "-", "@", "\t", "\r")


def guarded(cell: str) -> str:
    """An apostrophe before a text that starts like a formula; numbers stay.

    >>> [guarded(cell) for cell in ("=1+1", "@sum", "-5", "-5%", "-", "a=b", "+49 30", "")]
    ["'=1+1", "'@sum", '-5', '-5%', "'-", 'a=b', "'+49 30", '']
    """
    return "'" + cell if cell.startswith(STARTS) and texts.number(cell.strip()) is None else cell


def guarded_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The same for a table, its column names included."""
    texts_of = {name: str(name) for name in frame.columns}
    found = frame.map(lambda value: guarded(value) if isinstance(value, str) else value)
    return found.rename(columns={name: guarded(said) for name, said in texts_of.items()})
