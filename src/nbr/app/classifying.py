"""The commands about classifiers and their data: pictures in, labels with intervals and proofs out."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nbr import datasets
from nbr.app.screen import bar
from nbr.classify import pictures
from nbr.classify.estimator import BeliefEstimator
from nbr.classify.intervals import MOST_LABELS
from nbr.errors import NbrError, suggest
from nbr.kinds import load

Report = dict[str, Any]


def data(name: str, folder: Path | None) -> Report:
    if name not in datasets.COLLECTIONS:
        raise NbrError(f"unknown data {name!r}" + suggest(name, datasets.COLLECTIONS))
    found = datasets.locate(datasets.COLLECTIONS[name], folder, _aside)
    return {"data": name, "folder": str(found.folder), "origin": found.origin}


def shown_data(report: Report) -> str:
    lines = [f"{report['data']} is in {report['folder']}, every file checked by its sha256"]
    return "\n".join([*lines, *(f"  {name:<26}{origin}" for name, origin in report["origin"].items())])


def classify(paths: list[Path], model: str) -> tuple[list[Report], int]:
    """A report for each picture that can be read, and how many cannot, which are told on stderr."""
    classifier = classifier_of(model)
    read = []
    for path in paths:
        try:
            read.append((path, *pictures.read(path)))
        except NbrError as error:
            _aside(f"nbr: {' '.join(str(error).split())}")
    for path, _, warnings in read:
        for words in warnings:
            _aside(f"{path}: {words}")
    failed = len(paths) - len(read)
    return (reports(classifier, read) if read else []), failed


def reports(classifier: Any, read: list[tuple[Path, Any, list[str]]]) -> list[Report]:
    """What the classifier says about pictures, from one evaluation of all of them."""
    found = classifier.verdict(np.stack([picture for _, picture, _ in read]))
    names = classifier.classes_.tolist()

    def reasons(row: int) -> list[Report]:
        return [{**asdict(each), "rule": each.rule + 1} for each in found.reasons[row]]

    def report(row: int, path: Path, warnings: list[str]) -> Report:
        told = None if found.intervals is None else found.intervals[row].tolist()
        return {
            "picture": str(path),
            "label": found.labels[row].item() if isinstance(found.labels[row], np.generic) else found.labels[row],
            "intervals": None if told is None else {str(name): told[k] for k, name in enumerate(names)},
            "conflict": None if found.conflict is None else float(found.conflict[row]),
            "proved_radius": None if found.radius is None else float(found.radius[row]),
            "rules": reasons(row),
            "warnings": warnings,
        }

    return [report(row, path, warnings) for row, (path, _, warnings) in enumerate(read)]


def shown(report: Report) -> str:
    """A verdict for reading."""
    lines = [f"{report['picture']}: {report['label']}", ""]
    if report["intervals"] is None:
        lines.append(f"  no intervals: they are for up to {MOST_LABELS} labels")
    else:
        for name, (low, high) in report["intervals"].items():
            lines.append(f"  {name:<6}[{low:.4f}, {high:.4f}]  {bar((low, low), (high, high))}")
        lines += ["", f"  conflict {report['conflict']:.4f}"]
    lines += [f"  {proof(report)}", "", "  rules that counted most       weight   for   its own proved radius"]
    for rule in report["rules"]:
        name, radius = f"{rule['kind']} {rule['rule']}", rule["proved_radius"]
        own = "none" if radius is None else f"{radius:.3f}"
        lines.append(f"    {name:<28}{rule['weight']:>6.3f}   {rule['speaks_for']!s:<5} {own}")
    return "\n".join(lines)


def proof(report: Report) -> str:
    """The certificate in a line."""
    if report["proved_radius"] is None:
        return "nothing is proved: not every rule has two groups of labels and a Lipschitz constant"
    if report["proved_radius"] <= 0:
        return "nothing is proved: the margin is too small"
    return f"proved: no change of L2 length {report['proved_radius']:.4f} or less gives another label"


def certified(report: Report) -> str:
    """The label and its certificate in a line."""
    return f"{report['picture']}: {report['label']}; {proof(report)}"


def classifier_of(model: str) -> Any:
    """A classifier of pictures as MNIST has them."""
    found = load(model)
    if not isinstance(found, BeliefEstimator):
        raise NbrError(f"{model} is not a classifier")
    if found.shape_ != (pictures.SIDE, pictures.SIDE):
        raise NbrError(f"{model} is not a classifier of pictures of {pictures.SIDE} x {pictures.SIDE}")
    return found


def _aside(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
