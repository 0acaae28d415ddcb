"""Class folders: a folder with a sub-folder for each label, which holds picture files of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nbr.classify import pictures
from nbr.classify.preparation import CHANNELS, Preparation, Prepared
from nbr.errors import NbrError
from nbr.parallel import mapped, pieces

Result = TypeVar("Result")
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
class Survey:
    """How many files have which height and width, and how many show colours."""

    sizes: Counter[tuple[int, int]]
    coloured: int

    def shape(self, longest: int) -> tuple[int, ...]:
        """What to scale them to: the usual size, smaller if its longer side has too many pixels."""
        (height, width), _ = min(self.sizes.items(), key=lambda each: (-each[1], each[0]))
        factor = min(1.0, longest / max(height, width))
        tall, wide = max(1, round(height * factor)), max(1, round(width * factor))
        return (tall, wide, CHANNELS) if self.coloured else (tall, wide)

    def words(self) -> str:
        """In a line."""
        (height, width), most = self.sizes.most_common(1)[0]
        more = len(self.sizes) - 1
        others = f" and {more} other size{'s' * (more > 1)}" if more else ""
        tones = f"{self.coloured:,} of them in colour" if self.coloured else "grey"
        return f"{self.sizes.total():,} pictures, {most:,} of {width} x {height}{others}, {tones}"


@dataclass(frozen=True)
class Pile:
    """Pictures as a classifier takes them, (n, height, width), and what was done to how many of them."""

    prepared: list[Prepared]

    @property
    def pixels(self) -> NDArray[Any]:
        return np.stack([each.pixels for each in self.prepared])

    @property
    def notes(self) -> list[str]:
        said = Counter(note for each in self.prepared for note in each.notes)
        return [f"{count:,} of {len(self.prepared):,} pictures: {note}" for note, count in said.most_common()]

    @property
    def stretch(self) -> float | None:
        """The largest; None where it is not known of one of them."""
        every = [each.stretch for each in self.prepared]
        return None if None in every else max(each for each in every if each is not None)


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


def survey(files: Files, jobs: int | None = None) -> Survey:
    """A first look at every file."""
    found = _each(_seen, files, jobs)
    return Survey(Counter(size for size, _ in found), sum(coloured for _, coloured in found))


def read(files: Files, preparation: Preparation, jobs: int | None = None) -> Pile:
    """Every file as a classifier takes it."""
    return Pile(_each(preparation.read, files, jobs))


def _each(look: Callable[[Path], Result], files: Files, jobs: int | None) -> list[Result]:
    """What is made of each file; those that cannot be read are one error."""
    chunks = [files.paths[some] for some in pieces(len(files.paths), CHUNK)]
    found, broken = [], []
    for looked, wrong in mapped(partial(_looked, look), chunks, jobs):
        found += looked
        broken += wrong
    if broken:
        more = f"; and {len(broken) - TOLD} more" if len(broken) > TOLD else ""
        raise NbrError("; ".join(broken[:TOLD]) + more)
    return found


def _looked(look: Callable[[Path], Result], paths: Sequence[Path]) -> tuple[list[Result], list[str]]:
    found, wrong = [], []
    for path in paths:
        try:
            found.append(look(path))
        except NbrError as error:
            wrong.append(str(error))
    return found, wrong


def _seen(path: Path) -> tuple[tuple[int, int], bool]:
    """Height and width, and whether a pixel is not grey."""
    pixels = pictures.read(path)
    height, width = pixels.levels.shape[:2]
    return (height, width), pixels.colour and bool(np.ptp(pixels.levels, axis=2).any())


def _picture(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and not path.name.startswith(".") and path.is_file()
