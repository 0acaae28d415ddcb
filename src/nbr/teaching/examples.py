"""Examples to learn from: rows of pictures, each with what is known of it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nbr.classify import Preparation, folders
from nbr.errors import NbrError, suggest
from nbr.rules import sensor_values
from nbr.world import World

SAYS, BELIEF = "says", "belief"  # columns that say what is known, and how far it is believed
LONGEST = 32  # pixels of a side that picture files are scaled to
Told = Mapping[str, Any] | str | PathLike[str]


@dataclass(frozen=True)
class Examples:
    """Pictures, each once: (pictures, *shape); for each variable which of them each row has; and what is said."""

    pool: Tensor
    where: Mapping[str, Tensor]  # (rows,) for each sensed variable
    texts: tuple[str, ...]  # one for each row, or one for all
    columns: Mapping[str, Sequence[object]]
    beliefs: Tensor  # (rows,)
    number: Tensor  # of each row in the table, from 1: (rows,)

    def __len__(self) -> int:
        return len(self.beliefs)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.pool.shape[1:])

    @property
    def looks(self) -> int:
        """Pictures in all rows together."""
        return len(self) * len(self.where)

    @classmethod
    def of(cls, world: World, told: Told, says: str | Sequence[str] | None, jobs: int | None = None) -> Examples:
        """From columns by name, a DataFrame, or a CSV with names of files, beside which these are looked for."""
        folder = Path(".")
        if isinstance(told, str | PathLike):
            folder, told = Path(told).parent, _table(Path(told))
        columns: dict[str, Any] = {str(name): told[name] for name in told}
        if says is None and SAYS not in columns:
            raise NbrError(f"examples need a column {SAYS!r} with what is known of each, or one statement for all")
        said = columns.pop(SAYS, None) if says is None else says
        sensed = [name for name in columns if name in world.variables]
        if not sensed:
            raise NbrError(
                f"no column of the examples has the name of a variable; these are {', '.join(world.names[:9])}"
            )
        for name in columns:
            if name not in world.variables and name != BELIEF and _are_files(columns[name]):
                raise NbrError(
                    f"{name!r} is not a variable, but its column names pictures" + suggest(name, world.names)
                )
        rows = len(columns[sensed[0]])
        for name, column in columns.items():
            if len(column) != rows:
                raise NbrError(f"the examples have {rows} rows of {sensed[0]!r} and {len(column)} of {name!r}")
        if not rows:
            raise NbrError("there are no examples")
        texts = (said,) if isinstance(said, str) else tuple(_text(row, each) for row, each in enumerate(said, 1))
        if not isinstance(said, str) and len(texts) != rows:
            raise NbrError(f"there are {rows} examples, and {len(texts)} statements about them")
        beliefs = _beliefs(columns.pop(BELIEF)) if BELIEF in columns else torch.ones(rows, dtype=torch.float64)
        for name in sensed:
            sensor_values(name, world.variables[name])  # an error where it has none that could be told apart
        number = torch.arange(1, rows + 1)
        pool, where = _pictures({name: columns.pop(name) for name in sensed}, folder, jobs)
        return cls(pool, where, texts, {name: list(column) for name, column in columns.items()}, beliefs, number)

    def only(self, rows: Tensor) -> Examples:
        """Some of the rows."""
        places = rows.tolist()
        texts = self.texts if len(self.texts) == 1 else tuple(self.texts[row] for row in places)
        columns = {name: [column[row] for row in places] for name, column in self.columns.items()}
        where = {name: each[rows] for name, each in self.where.items()}
        return Examples(self.pool, where, texts, columns, self.beliefs[rows], self.number[rows])


def _table(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NbrError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(set(header)) < len(header) or not header:
        raise NbrError(f"{path}: the first line has a name for each column, and all different")
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise NbrError(f"{path}: row {number} has {len(row)} cells, and there are {len(header)} columns")
    return {name.strip(): [row[place].strip() for row in rows] for place, name in enumerate(header)}


def _text(row: int, said: object) -> str:
    if not isinstance(said, str) or not said.strip():
        raise NbrError(f"row {row} says nothing: {SAYS!r} is a statement, such as d1 + d2 = 7, not {said!r:.60}")
    return said


def _beliefs(column: Sequence[object]) -> Tensor:
    found = []
    for row, told in enumerate(column, 1):
        try:
            belief = float(told)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            belief = -1.0
        if not 0 < belief <= 1:
            raise NbrError(f"row {row}: the belief of a statement must be above 0 and at most 1, not {told!r:.60}")
        found.append(belief)
    return torch.tensor(found, dtype=torch.float64)


def _pictures(columns: Mapping[str, Any], folder: Path, jobs: int | None) -> tuple[Tensor, dict[str, Tensor]]:
    """Every different picture once, and where each column has which."""
    named = {name: _is_names(column) for name, column in columns.items()}
    if any(named.values()):
        if not all(named.values()):
            raise NbrError("all columns of pictures must be arrays, or all must be file names")
        return _read(columns, folder, jobs)
    arrays = {name: _array(name, column) for name, column in columns.items()}
    shapes = {each.shape[1:] for each in arrays.values()}
    if len(shapes) > 1:
        told = " and of ".join(" x ".join(map(str, shape)) for shape in sorted(shapes))
        raise NbrError(f"all pictures must have one shape, not {told}")
    known: dict[bytes, int] = {}
    where = {
        name: torch.tensor([known.setdefault(each.tobytes(), len(known)) for each in array])
        for name, array in arrays.items()
    }
    shape = next(iter(shapes))
    pool = np.stack([np.frombuffer(content, dtype=np.float32).reshape(shape) for content in known])
    return torch.from_numpy(pool), where


def _is_names(column: Any) -> bool:
    return (not hasattr(column, "ndim") and any(isinstance(each, str | PathLike) for each in column)) or (
        getattr(column, "ndim", 2) == 1 and any(isinstance(each, str | PathLike) for each in column)
    )


def _are_files(column: Any) -> bool:
    first = next(iter(column), None)
    return isinstance(first, str | PathLike) and Path(first).suffix.lower() in folders.ENDINGS


def _array(name: str, column: Any) -> Any:
    found = np.ascontiguousarray(column.detach().cpu().numpy() if isinstance(column, Tensor) else column)
    if found.dtype.kind not in "biuf" or found.ndim < 2:
        raise NbrError(f"the column {name!r} of a variable has a picture in each row: arrays, or names of files")
    if found.dtype.kind in "iu" and found.max() > 1:
        raise NbrError(
            f"pixels of pictures are from 0 to 1, and {name!r} has {found.max()}: divide them, by 255 perhaps"
        )
    found = found.astype(np.float32)
    if not np.isfinite(found).all():
        raise NbrError(f"a picture of {name!r} has pixels that are not finite numbers")
    return found


def _read(columns: Mapping[str, Sequence[Any]], folder: Path, jobs: int | None) -> tuple[Tensor, dict[str, Tensor]]:
    known: dict[str, int] = {}
    where = {}
    for name, column in columns.items():
        for row, file in enumerate(column, 1):
            if not isinstance(file, str | PathLike) or not str(file).strip():
                raise NbrError(f"row {row} has no picture of {name!r}")
            if str(file) not in known and not (folder / file).is_file():
                raise NbrError(f"row {row}: there is no picture {folder / file} of {name!r}")
            known.setdefault(str(file), len(known))
        where[name] = torch.tensor([known[str(file)] for file in column])
    files = folders.Files([folder / file for file in known], [""] * len(known))
    preparation = Preparation("scale", folders.survey(files, jobs).shape(LONGEST), (0.0, 1.0))
    return torch.from_numpy(folders.read(files, preparation, jobs).pixels).float(), where
