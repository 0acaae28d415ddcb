"""The commands about classifiers and their data: pictures in, labels with intervals and proofs out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from nbr import datasets
from nbr.app.screen import bar
from nbr.classify import pictures
from nbr.classify.robust import RobustClassifier
from nbr.errors import NbrError, suggest
from nbr.kinds import load

Report = dict[str, Any]


def data(name: str, folder: Path | None) -> Report:
    if name not in datasets.COLLECTIONS:
        raise NbrError(f"unknown data {name!r}" + suggest(name, datasets.COLLECTIONS))
    found = datasets.locate(datasets.COLLECTIONS[name], folder, lambda words: print(words, file=sys.stderr, flush=True))
    return {"data": name, "folder": str(found.folder), "origin": found.origin}


def shown_data(report: Report) -> str:
    lines = [f"{report['data']} is in {report['folder']}, every file checked by its sha256"]
    return "\n".join([*lines, *(f"  {name:<26}{origin}" for name, origin in report["origin"].items())])


def classify(paths: list[Path], model: str) -> list[Report]:
    classifier = classifier_of(model)
    read = [pictures.read(path) for path in paths]
    for path, (_, said) in zip(paths, read, strict=True):
        for words in said:
            print(f"{path}: {words}", file=sys.stderr)
    X = np.stack([picture for picture, _ in read])
    labels, intervals, conflict = classifier.predict(X), classifier.belief(X), classifier.conflict(X)
    radius, reasons = classifier.certified_radius(X), classifier.reasons(X)
    bodies, own = classifier.bodies_, classifier.rule_radius(X)
    networks = len(bodies.side) - len(bodies.memories)
    names = [_plain(name) for name in classifier.classes_]
    return [
        {
            "picture": str(path),
            "label": _plain(labels[number]),
            "intervals": {str(name): intervals[number, side].tolist() for side, name in enumerate(names)},
            "conflict": float(conflict[number]),
            "proved_radius": float(radius[number]),
            "rules": [
                {
                    "rule": rule + 1,
                    "kind": "network" if rule < networks else "memory",
                    "speaks_for": names[int(weight > 0)],
                    "weight": abs(weight),
                    "proved_radius": float(own[number, rule]),
                }
                for rule, weight in reasons[number]
            ],
            "warnings": read[number][1],
        }
        for number, path in enumerate(paths)
    ]


def shown(report: Report) -> str:
    """A verdict for reading."""
    lines = [f"{report['picture']}: {report['label']}", ""]
    for name, (low, high) in report["intervals"].items():
        lines.append(f"  {name:<6}[{low:.4f}, {high:.4f}]  {bar((low, low), (high, high))}")
    lines += ["", f"  conflict {report['conflict']:.4f}", f"  {proof(report)}", ""]
    lines.append("  rules that counted most       weight   for   its own proved radius")
    for rule in report["rules"]:
        name = f"{rule['kind']} {rule['rule']}"
        lines.append(f"    {name:<28}{rule['weight']:>6.3f}   {rule['speaks_for']!s:<5} {rule['proved_radius']:.3f}")
    return "\n".join(lines)


def proof(report: Report) -> str:
    """The certificate in a line."""
    if report["proved_radius"] <= 0:
        return "nothing is proved: the margin is too small"
    return f"proved: no change of L2 length {report['proved_radius']:.4f} or less gives another label"


def classifier_of(model: str) -> RobustClassifier:
    found = load(model)
    if not isinstance(found, RobustClassifier):
        raise NbrError(f"{model} is not a classifier")
    if found.shape_ != (pictures.SIDE, pictures.SIDE):
        raise NbrError(f"{model} is not a classifier of pictures of {pictures.SIDE} x {pictures.SIDE}")
    return found


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
