"""What a query finds in a SQLite or DuckDB file, some rows at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nbr.errors import NbrError, install
from nbr.tables.table import SAMPLE

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 50_000  # rows at a time
READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)  # all that a query may do
MARKS = {"SQLite": (0, b"SQLite format 3\0"), "DuckDB": (8, b"DUCK")}


def queried(path: Path, query: str, seed: int = 0) -> pd.DataFrame:
    """The rows of a query; of more than can be learned from, as many as can, drawn at random.

    Args:
        path: a SQLite or DuckDB file, which is opened for reading alone
        query: a select statement
        seed: decides which rows are drawn
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError(f"reading a database needs pandas: {install('learn')}") from None
    random = np.random.default_rng(seed)
    found, keys = pd.DataFrame(), np.zeros(0)
    for names, rows in _rows(path, query):
        part = pd.DataFrame(rows, columns=names, dtype=object)
        found = part if not len(found) else pd.concat([found, part], ignore_index=True)
        keys = np.concatenate([keys, random.random(len(part))])
        if len(found) > SAMPLE:
            kept = np.sort(keys.argpartition(SAMPLE)[:SAMPLE])
            found, keys = found.iloc[kept].reset_index(drop=True), keys[kept]
    return found


def _rows(path: Path, query: str) -> Iterator[tuple[list[str], list[Any]]]:
    kind = _kind(path)
    if kind == "DuckDB":
        yield from _duck(path, query)
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY)
            yield from _fetched(connection.execute(query))
    except sqlite3.Error as error:
        raise NbrError(f"{path}: {error}; a query is one select statement") from None


def _duck(path: Path, query: str) -> Iterator[tuple[list[str], list[Any]]]:
    try:
        import duckdb
    except ModuleNotFoundError:
        raise NbrError(f"{path} is a DuckDB file, which needs duckdb: {install('database')}") from None
    try:
        with closing(duckdb.connect(str(path), read_only=True)) as connection:
            connection.execute("set enable_external_access = false; set lock_configuration = true")
            yield from _fetched(connection.execute(query))
    except duckdb.Error as error:
        raise NbrError(f"{path}: {str(error).splitlines()[0]}; a query is one select statement") from None


def _fetched(cursor: Any) -> Iterator[tuple[list[str], list[Any]]]:
    if cursor.description is None:
        raise NbrError("the query gives no rows: it is one select statement")
    names = [each[0] for each in cursor.description]
    rows = cursor.fetchmany(CHUNK)
    yield names, rows
    while rows := cursor.fetchmany(CHUNK):
        yield names, rows


def _kind(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise NbrError(f"cannot read {path}: {error.strerror or error}") from None
    for kind, (start, mark) in MARKS.items():
        if head[start : start + len(mark)] == mark:
            return kind
    raise NbrError(f"{path} is neither a SQLite nor a DuckDB file, and --query asks one")
