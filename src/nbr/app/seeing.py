"""Readings on the command line: one or a table of them, and the proof of each."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nbr.app.opening import Files, named
from nbr.classify import EPS, FILE, PREPARED, Prepared
from nbr.errors import NbrError, suggest
from nbr.kinds import load_reasoner
from nbr.seeing import readings


def table(path: Path) -> list[Files]:
    """The rows of `--see-table`: a column for each variable, with names of files as seen from where the table is."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NbrError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    names = [name.strip() for name in header]
    if not rows or len(set(names)) < len(names):
        raise NbrError(
            f"{path}: the first line must name each variable once, and every other line a picture for each of them"
        )
    for number, row in enumerate(rows, 2):
        cells = [cell.strip() for cell in row] + [""] * (len(names) - len(row))
        if len(cells) > len(names) or "" in cells:
            missing = (
                "more cells than variables" if len(cells) > len(names) else f"no picture of {_lacking(names, cells)!r}"
            )
            raise NbrError(f"{path}: line {number} has {missing}")
    return [{name: str(path.parent / cell.strip()) for name, cell in zip(names, row, strict=True)} for row in rows]


def _lacking(names: Sequence[str], cells: Sequence[str]) -> str:
    return names[list(cells).index("")]


class SightRows:
    """Rows of pictures as a model sees them."""

    def __init__(self, model: Path, rows: Sequence[Files], given: str | None = None) -> None:
        reasoner, self.names = load_reasoner(model), list(rows[0])
        sensors = reasoner.model.sensors
        for name in self.names:
            if name not in sensors:
                raise NbrError(f"{model}: {name!r} has no sensor" + suggest(name, sensors))
        self.prepared = []
        for line, row in enumerate(rows, 2):
            place = f"line {line}: " if len(rows) > 1 else ""
            self.prepared.append({name: _prepared(sensors[name], name, path, place) for name, path in row.items()})
        seen = reasoner.see({name: np.stack([row[name].pixels for row in self.prepared]) for name in self.names})
        assert isinstance(seen, readings.Readings)
        self.readings = seen.given(given)

    def best(self) -> list[dict[str, Any]]:
        """The point of each row, and what it costs."""
        points = self.readings.points()
        return [
            {"point": each, "log_degree": cost} for each, cost in zip(points, self.readings.log_degrees(), strict=True)
        ]

    def proved(self, each: bool) -> list[dict[str, Any]]:
        """The reading of each row, and how far its pictures, or files, may be changed."""
        found = zip(self.readings.points(), self.readings.certified_radius(each).tolist(), self.prepared, strict=True)
        return [
            {"reading": {name: point[name] for name in self.names}, **told(radius, list(row.values()), each)}
            for point, radius, row in found
        ]


def _prepared(sensor: Any, name: str, path: str, place: str) -> Prepared:
    preparation = getattr(sensor, "preparation", None)
    if preparation is None:
        raise NbrError(f"{place}the picture of {name!r}: {path}: this sensor takes arrays, not files")
    try:
        found: Prepared = preparation.read(path)
    except NbrError as error:
        raise NbrError(f"{place}the picture of {name!r}: {error}") from None
    return found


def told(radius: float, pictures: Sequence[Prepared], each: bool) -> dict[str, Any]:
    """A radius as one of the files, where all are prepared by maps that stretch no change by more than is known."""
    stretches = [picture.stretch for picture in pictures]
    of = FILE if None not in stretches else PREPARED
    if of == FILE:
        off = 2 * max(picture.slack for picture in pictures) * (1 if each else math.sqrt(len(pictures)))
        radius = max(0.0, (radius - off) / max(stretch or 0.0 for stretch in stretches) * (1 - 8 * EPS))
    whole = None if radius == math.inf else radius
    return {"radius": whole, "budget": "each" if each else "total", "proved_of": of}


def certified(
    model: Path, see: list[str] | None, files: Path | None, given: str | None, each: bool, as_json: bool
) -> str:
    """What `nbr certify --model M --see ..` prints."""
    found = SightRows(model, table(files) if files is not None else [named(see or [])], given).proved(each)
    if as_json:
        return json.dumps({"readings": found} if files is not None else found[0])
    return "\n".join(map(_line, found))


def best(model: Path, files: Path, given: str | None, as_json: bool) -> str:
    """What `nbr best MODEL --see-table FILES` prints: a line for each row, as CSV."""
    found = SightRows(model, table(files), given).best()
    if as_json:
        return json.dumps({"readings": found})
    lines = [",".join([*found[0]["point"], "log_degree"])]
    return "\n".join([*lines, *(",".join([*each["point"].values(), f"{each['log_degree']:.4f}"]) for each in found)])


def _line(found: Mapping[str, Any]) -> str:
    reading = ", ".join(f"{name}={value}" for name, value in found["reading"].items())
    of = "pictures" if found["proved_of"] == FILE else "prepared pictures, not of the files"
    if found["radius"] == 0:
        return f"{reading}; nothing is proved: another reading is as good, or nearly so"
    change = "change of every picture" if found["budget"] == "each" else "change of all of them together"
    if found["radius"] is None:
        return f"{reading}; proved of the {of}: no {change} gives another reading, however large"
    length = f"{math.floor(found['radius'] * 1e4) / 1e4:.4f}"  # never more than was proved
    return f"{reading}; proved of the {of}: no {change} of L2 length {length} or less gives another reading"
