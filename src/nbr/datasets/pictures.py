"""The pictures that the classifiers are measured on: MNIST, Fashion-MNIST and CIFAR-10, checked by sha256."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.datasets.idx import read
from nbr.datasets.sources import COLLECTIONS, locate
from nbr.errors import NbrError, install

Pictures = tuple[NDArray[np.float64], NDArray[Any]]


def mnist(
    labels: Sequence[int] | None = None, part: str = "train", folder: str | PathLike[str] | None = None
) -> Pictures:
    """Handwritten digits.

    Args:
        labels: The digits to keep; None for all.
        part: "train" or "test".
        folder: A folder that may already have the files; then the cache is searched, and what is missing downloaded.

    Returns:
        Pictures, shape (n, 28, 28), with pixels from 0 to 1, and their labels, shape (n,).
    """
    return _pictures("mnist", labels, part, folder)


def fashion_mnist(
    labels: Sequence[int] | None = None, part: str = "train", folder: str | PathLike[str] | None = None
) -> Pictures:
    """Pictures of clothes in the form of MNIST; pullover is 2 and coat is 4.

    Args:
        labels: The labels to keep; None for all.
        part: "train" or "test".
        folder: A folder that may already have the files.

    Returns:
        Pictures, shape (n, 28, 28), with pixels from 0 to 1, and their labels, shape (n,).
    """
    return _pictures("fashion-mnist", labels, part, folder)


def cifar10(
    labels: Sequence[int] | None = None, part: str = "train", folder: str | PathLike[str] | None = None
) -> Pictures:
    """Colour photographs of ten kinds: airplane, automobile, bird, cat, deer, dog, frog, horse, ship and truck, from 0.

    Args:
        labels: The labels to keep; None for all.
        part: "train" or "test".
        folder: A folder that may already have the files.

    Returns:
        Pictures, shape (n, 32, 32, 3), with pixels from 0 to 1, and their labels, shape (n,).
    """
    found = _folder("cifar-10", part, folder)
    stems = [f"data_batch_{number}" for number in range(1, 6)] if part == "train" else ["test_batch"]
    levels = np.concatenate([_rows(found / f"{stem}.png") for stem in stems])
    truth = np.array(json.loads((found / f"{part}_lables.json").read_text()), dtype=np.int64)
    return _chosen(levels.reshape(-1, 32, 32, 3), truth, labels)


def _rows(path: Path) -> NDArray[Any]:
    """A picture file with a picture of the collection in each row."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise NbrError(f"pictures need Pillow: {install('classify')}") from None
    with Image.open(path) as file:
        return np.asarray(file.convert("RGB"))


def _pictures(
    name: str, labels: Sequence[int] | None, part: str, folder: str | PathLike[str] | None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    found, stem = _folder(name, part, folder), "train" if part == "train" else "t10k"
    images = read(found / f"{stem}-images-idx3-ubyte")
    truth = read(found / f"{stem}-labels-idx1-ubyte").astype(np.int64)
    return _chosen(images, truth, labels)


def _folder(name: str, part: str, folder: str | PathLike[str] | None) -> Path:
    if part not in ("train", "test"):
        raise NbrError(f"part is 'train' or 'test', not {part!r}")
    return locate(COLLECTIONS[name], None if folder is None else Path(folder)).folder


def _chosen(images: NDArray[Any], truth: NDArray[Any], labels: Sequence[int] | None) -> Pictures:
    """Pictures of some labels, levels from 0 to 1."""
    if labels is not None:
        wanted = np.isin(truth, list(labels))
        images, truth = images[wanted], truth[wanted]
    return images / 255.0, truth
