"""The command that samples: rows of a model, some at a time, to the screen or to a file of any length."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import torch

from nbr import tables
from nbr.app.counting import chunks_of
from nbr.app.guarding import guarded_frame
from nbr.density import DrawnPoints, Sampler
from nbr.kinds import load_reasoner
from nbr.parallel import mapped, pieces, seeded
from nbr.storage import writing
from nbr.tables import ENDINGS

if TYPE_CHECKING:
    import pandas as pd

ROWS = 1 << 16  # drawn at a time, from a seed of their own


def sample(
    model: Path,
    count: int,
    given: str | None,
    output: Path | None,
    seed: int,
    as_json: bool,
    jobs: int | None = None,
    guard: bool = False,
) -> str:
    """Rows as text, or nothing where they went to a file: CSV, or Parquet by its ending."""
    reasoner = load_reasoner(model)
    if as_json or count < ROWS:
        table = reasoner.sample(count, given, seed=seed)
        if as_json:
            return json.dumps({"rows": table.to_dict("records"), **table.attrs}, default=float) + "\n"
        parts: Iterator[pd.DataFrame] = iter([table])
    else:
        sampler = Sampler(*reasoner.model.observing(given))
        chunks = [(seeded(seed, at), some.stop - some.start) for at, some in enumerate(pieces(count, ROWS))]
        drawn = mapped(partial(_drawn, sampler), chunks, jobs, chunks_of(f"times {ROWS:,} rows"))
        parts = (
            tables.frame(reasoner.world, each.points, method=each.method, acceptance=each.acceptance) for each in drawn
        )
    told = _told(parts, count)
    return _written(map(guarded_frame, told) if guard else told, output)


def _drawn(sampler: Sampler, chunk: tuple[int, int]) -> DrawnPoints:
    return sampler.draw(chunk[1], torch.Generator().manual_seed(chunk[0]))


def _told(parts: Iterator[pd.DataFrame], count: int) -> Iterator[pd.DataFrame]:
    """The same parts; how the first came about is told."""
    for at, part in enumerate(parts):
        if at == 0:
            method = f"{part.attrs['method']}, {part.attrs['acceptance']:.3g} of the prior's points kept"
            print(f"{count:,} rows: {method}", file=sys.stderr, flush=True)
        yield part


def _written(parts: Iterator[pd.DataFrame], output: Path | None) -> str:
    if output is None:
        return "".join(part.to_csv(index=False, header=at == 0) for at, part in enumerate(parts))
    with writing(output) as file, (_parquet if output.suffix.lower() in ENDINGS else _csv)(file) as write:
        for part in parts:
            write(part)
    return ""


@contextmanager
def _csv(file: BinaryIO) -> Iterator[Callable[[pd.DataFrame], None]]:
    written = 0

    def write(part: pd.DataFrame) -> None:
        nonlocal written
        file.write(part.to_csv(index=False, header=written == 0).encode())
        written += 1

    yield write


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Callable[[pd.DataFrame], None]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened: list[pq.ParquetWriter] = []

    def write(part: pd.DataFrame) -> None:
        table = pa.Table.from_pandas(part, preserve_index=False).replace_schema_metadata()
        if not opened:
            opened.append(pq.ParquetWriter(file, table.schema))
        opened[0].write_table(table)

    yield write
    for each in opened:
        each.close()
