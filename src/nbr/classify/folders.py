"""Class folders: a folder with a sub-folder for each label, which holds picture files of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.classify.preparation import Preparation, Prepared
from nbr.errors import NbrError
from nbr.parallel import mapped, pieces

ENDINGS = frozenset([".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".pgm", ".ppm"])
CHUNK = 64  # files that a process reads at a time
TOLD = 3  # files that an error names


@dataclass(frozen=True)
class Files:
    """Picture files and the label of each, in the order of their names."""

    paths: list[Path]
    labels: list[str]

    @property
    def known(self) -> list[str]:
        """The labels, each once."""
        return sorted(set(self.labels))

    def only(self, rows: Sequence[int]) -> Files:
        return Files([self.paths[row] for row in rows], [self.labels[row] for row in rows])


@dataclass(frozen=True)
class Pile:
    """Pictures as a classifier takes them, (n, height, width), and what was done to how many of them."""

    pixels: NDArray[Any]
    notes: list[str]
    stretch: float | None  # the largest; None where it is not known of one of them


def listed(folder: Path) -> Files:
    """What lies in class folders; what is hidden or no picture by its ending is passed over."""
    if not folder.is_dir():
        raise NbrError(f"{folder} is not a folder; class folders have a sub-folder for each label")
    parts = sorted(part for part in folder.iterdir() if part.is_dir() and not part.name.startswith("."))
    if not parts:
        raise NbrError(f"{folder} has no sub-folders; class folders have one for each label, with its pictures")
    paths, labels = [], []
    for part in parts:
        found = sorted(path for path in part.iterdir() if _picture(path))
        if not found:
            raise NbrError(f"{part} has no pictures ({', '.join(sorted(ENDINGS))})")
        paths += found
        labels += [part.name] * len(found)
    return Files(paths, labels)


def read(files: Files, preparation: Preparation, jobs: int | None = None) -> Pile:
    """Every file as a classifier takes it; those that cannot be read are one error."""
    chunks = [files.paths[some] for some in pieces(len(files.paths), CHUNK)]
    found = [each for part in mapped(partial(_read, preparation), chunks, jobs) for each in part]
    broken = [each for each in found if isinstance(each, str)]
    if broken:
        more = f"; and {len(broken) - TOLD} more" if len(broken) > TOLD else ""
        raise NbrError("; ".join(broken[:TOLD]) + more)
    prepared = [each for each in found if isinstance(each, Prepared)]
    said = Counter(note for each in prepared for note in each.notes)
    every = [each.stretch for each in prepared]
    stretch = None if None in every else max(each for each in every if each is not None)
    return Pile(
        np.stack([each.pixels for each in prepared]),
        [f"{count:,} of {len(prepared):,} pictures: {note}" for note, count in said.most_common()],
        stretch,
    )


def _read(preparation: Preparation, paths: Sequence[Path]) -> list[Prepared | str]:
    return [_one(preparation, path) for path in paths]


def _one(preparation: Preparation, path: Path) -> Prepared | str:
    try:
        return preparation.read(path)
    except NbrError as error:
        return str(error)


def _picture(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and not path.name.startswith(".") and path.is_file()
