"""Examples that a classifier is measured on: of a collection, of class folders, or of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr import datasets
from nbr.classify import FILE, PREPARED, folders
from nbr.errors import NbrError, suggest
from nbr.tables import Grid, grid, problems, texts

Array = NDArray[Any]
COLLECTED = {"mnist": "mnist", "fashion-mnist": "fashion_mnist", "cifar-10": "cifar10"}  # functions of datasets
NUMBERS = "numbers"


@dataclass(frozen=True)
class AttackExamples:
    """Inputs with the numbers of their labels, others among which attacks may start, and what they are."""

    inputs: Array
    codes: Array
    others: Array
    other_codes: Array
    noun: str  # what one calls them
    proved_of: str
    notes: list[str]


def examples(classifier: Any, data: str, label: str | None = None, jobs: int | None = None) -> AttackExamples:
    """The examples of a name: mnist, fashion-mnist, cifar-10, a folder, or a CSV or Parquet file."""
    if data in COLLECTED and not Path(data).exists():
        return _collected(classifier, data)
    if Path(data).is_dir():
        return _from_folders(classifier, Path(data), jobs)
    if Path(data).is_file():
        return _from_table(classifier, Path(data), label)
    kinds = f"{', '.join(COLLECTED)}, a folder with a sub-folder of pictures for each label, or a CSV or Parquet file"
    raise NbrError(f"unknown data {data!r}: there is no such file; data are {kinds}")


def _collected(classifier: Any, data: str) -> AttackExamples:
    labels = classifier.classes_.tolist()
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in labels):
        told = " from ".join(map(repr, labels[:4]))
        raise NbrError(f"{data} has the labels 0 to 9, and the classifier knows {told}; give your pictures with --data")
    load = getattr(datasets, COLLECTED[data])
    (X, y), (Z, z) = load(labels, "train"), load(labels, "test")
    if X[0].size != classifier.n_features_in_ or not set(labels) <= set(np.unique(z).tolist()):
        raise NbrError(f"the classifier was not made for {data}: its inputs or labels differ")
    codes, others = np.searchsorted(classifier.classes_, z), np.searchsorted(classifier.classes_, y)
    return AttackExamples(Z, codes, X, others, "test images", PREPARED, [])


def _from_folders(classifier: Any, folder: Path, jobs: int | None) -> AttackExamples:
    why = classifier.preparation_.refusal()
    if why is not None:
        raise NbrError(f"{folder} holds pictures, and the classifier takes none: {why}")
    files = folders.listed(folder)
    codes = _codes(classifier, files.labels, f"{folder}: the folder")
    pile = folders.read(files, classifier.preparation_, jobs)
    return _examples(pile.pixels, codes, "pictures", FILE if pile.stretch == 1 else PREPARED, pile.notes)


def _from_table(classifier: Any, path: Path, label: str | None) -> AttackExamples:
    """Rows of a table: one column is the label, the others are what the classifier takes, in their order."""
    table = grid(path, 1)
    last = label if label is not None else table.names[-1]
    if last not in table.names:
        raise NbrError(f"{path}: there is no column {last!r}" + suggest(last, table.names))
    names, wanted = [name for name in table.names if name != last], int(classifier.n_features_in_)
    if len(names) != wanted:
        raise NbrError(f"{path}: {len(names)} columns beside the label {last!r}, and the classifier takes {wanted}")
    if not table.rows:
        raise NbrError(f"{path}: there are no rows")
    codes = _codes(classifier, table.columns[table.names.index(last)].tolist(), f"{path}: the label")
    X = np.stack([_numbers(table, name) for name in names], axis=1)
    shape = classifier.shape_
    X = X if shape is None else X.reshape(len(X), *shape)
    return _examples(X, codes, "rows", NUMBERS if shape is None else PREPARED, list(table.notes))


def _numbers(table: Grid, name: str) -> Array:
    cells = table.columns[table.names.index(name)].tolist()
    found = [texts.number(cell) for cell in cells]
    wrong = [row for row, value in enumerate(found) if value is None]
    problems([f"{table.place(row, name)}: {cells[row]!r} is not a number" for row in wrong])
    return np.array(found, dtype=np.float64)


def _examples(X: Array, codes: Array, noun: str, proved_of: str, notes: list[str]) -> AttackExamples:
    """Examples that are also where attacks on the others start."""
    if len(np.unique(codes)) < 2:
        raise NbrError(f"all {noun} have the same label; an attack also needs some of another label to start from")
    return AttackExamples(X, codes, X, codes, noun, proved_of, notes)


def _codes(classifier: Any, labels: Sequence[str], where: str) -> Array:
    """The numbers of labels that are written as texts."""
    known = {str(label): code for code, label in enumerate(classifier.classes_.tolist())}
    found = []
    for label in labels:
        value = texts.number(label)
        written = label if label in known or value is None or value % 1 else str(int(value))  # 1.0 is the label 1
        if written not in known:
            raise NbrError(f"{where} {label!r} is not a label of the classifier" + suggest(label, known))
        found.append(known[written])
    return np.array(found)
