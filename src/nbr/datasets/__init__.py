"""The pictures that the classifiers are measured on: MNIST and Fashion-MNIST, checked by sha256."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.datasets.idx import read
from nbr.datasets.sources import COLLECTIONS, Collection, locate
from nbr.errors import NbrError

__all__ = ["COLLECTIONS", "Collection", "fashion_mnist", "locate", "mnist"]

Pictures = tuple[NDArray[np.float64], NDArray[Any]]


def mnist(
    labels: Sequence[int] | None = None, part: str = "train", folder: str | PathLike[str] | None = None
) -> Pictures:
    """Handwritten digits: pictures (n, 28, 28) with pixels in [0, 1], and their labels.

    `labels` chooses digits, `part` is "train" or "test". The files are looked for in `folder`, then in the cache; what
    is missing is fetched once.
    """
    return _pictures("mnist", labels, part, folder)


def fashion_mnist(
    labels: Sequence[int] | None = None, part: str = "train", folder: str | PathLike[str] | None = None
) -> Pictures:
    """Pictures of clothes in the form of MNIST; pullover is 2 and coat is 4."""
    return _pictures("fashion-mnist", labels, part, folder)


def _pictures(
    name: str, labels: Sequence[int] | None, part: str, folder: str | PathLike[str] | None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if part not in ("train", "test"):
        raise NbrError(f"part is 'train' or 'test', not {part!r}")
    found = locate(COLLECTIONS[name], None if folder is None else Path(folder)).folder
    stem = "train" if part == "train" else "t10k"
    images = read(found / f"{stem}-images-idx3-ubyte")
    truth = read(found / f"{stem}-labels-idx1-ubyte").astype(np.int64)
    if labels is not None:
        wanted = np.isin(truth, list(labels))
        images, truth = images[wanted], truth[wanted]
    return images / 255.0, truth
