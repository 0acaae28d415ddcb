"""The commands about classifiers and their data: pictures in, labels with intervals and proofs out."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nbr import datasets
from nbr.app.screen import bar
from nbr.classify import FILE, MOST_LABELS, PREPARED, BeliefEstimator, Prepared, Verdict
from nbr.errors import NbrError, suggest
from nbr.kinds import load
from nbr.parallel import mapped, pieces

Report = dict[str, Any]
Read = tuple[Path, Prepared]
CERTIFIED = ("picture", "label", "proved_radius", "proved_of", "prepared_shape", "warnings")
SHOWN = 5  # rules of each picture
EVERY = 1 << 30  # rules
CHUNK = 64  # pictures looked at together
USUAL, STRANGE = 0.8, 0.5  # degrees of familiarity: 96 and 99 of 100 examples are above them


def data(name: str, folder: Path | None) -> Report:
    if name not in datasets.COLLECTIONS:
        raise NbrError(f"unknown data {name!r}" + suggest(name, datasets.COLLECTIONS))
    found = datasets.locate(datasets.COLLECTIONS[name], folder, aside)
    return {"data": name, "folder": str(found.folder), "origin": found.origin}


def shown_data(report: Report) -> str:
    lines = [f"{report['data']} is in {report['folder']}, every file checked by its sha256"]
    return "\n".join([*lines, *(f"  {name:<26}{origin}" for name, origin in report["origin"].items())])


def classify(
    paths: list[Path], model: str, explain: bool = False, jobs: int | None = None, reject: float | None = None
) -> tuple[list[Report], int]:
    """A report for each picture that can be read, and how many cannot, which are told on stderr.

    With `reject`, the share of labels that shall be right, it says which pictures to pass on.
    """
    chunks = [paths[some] for some in pieces(len(paths), CHUNK)]
    found: list[Report] = []
    for told, words in mapped(partial(_looked_at, classifier_of(model), explain, reject), chunks, jobs):
        found += told
        for line in words:
            aside(line)
    return found, len(paths) - len(found)


def _looked_at(
    classifier: Any, explain: bool, reject: float | None, paths: list[Path]
) -> tuple[list[Report], list[str]]:
    """Reports on some pictures, and what is to be told of them and of those that cannot be read."""
    read: list[Read] = []
    words, preparation = [], classifier.preparation_
    for path in paths:
        try:
            read.append((path, preparation.read(path)))
        except NbrError as error:
            words.append(f"nbr: {' '.join(str(error).split())}")
    words += [f"{path}: {note}" for path, prepared in read for note in prepared.notes]
    if not read:
        return [], words
    found = (_explained if explain else reports)(classifier, read)
    if reject is not None:
        passed = classifier.reject(np.stack([prepared.pixels for _, prepared in read]), reject)
        found = [{**report, "rejected": bool(each)} for report, each in zip(found, passed, strict=True)]
    return found, words


def _explained(classifier: Any, read: list[Read]) -> list[Report]:
    """Reports with the weights of all rules by their kind, and the nearest change found that gives another label."""
    from nbr.robustness import nearest_changes, rule_totals

    X = np.stack([prepared.pixels for _, prepared in read])
    found = classifier.verdict(X, reasons=EVERY)
    told = _reports(classifier, read, found)
    changes = nearest_changes(classifier, X, found, classifier.values_)
    for row, report in enumerate(told):
        change = None if changes is None else changes[row]
        report["weights"] = [
            {"kind": kind, "speaks_for": label, "weight": weight}
            for (kind, label), weight in rule_totals(found.reasons[row]).items()
        ]
        report["looked_for_a_change"] = changes is not None
        turned = None if change is None else [rule + 1 for rule in change.turned]
        of = FILE if read[row][1].stretch == 1 else PREPARED
        report["change"] = change and {"label": change.label, "distance": change.distance, "of": of, "turned": turned}
    return told


def reports(classifier: Any, read: list[Read]) -> list[Report]:
    """What the classifier says about pictures, from one evaluation of all of them."""
    return _reports(classifier, read, classifier.verdict(np.stack([prepared.pixels for _, prepared in read])))


def _reports(classifier: Any, read: list[Read], found: Verdict) -> list[Report]:
    """What the classifier said about pictures; of a file, lengths are those of changes of the file."""
    names = classifier.classes_.tolist()

    def reasons(row: int, prepared: Prepared) -> list[Report]:
        kept = [(each, each.proved_radius) for each in found.reasons[row][:SHOWN]]
        own = [None if radius is None else prepared.proved(radius) for _, radius in kept]
        parts = zip(kept, own, strict=True)
        return [{**asdict(each), "rule": each.rule + 1, "proved_radius": radius} for (each, _), radius in parts]

    def report(row: int, path: Path, prepared: Prepared) -> Report:
        told = None if found.intervals is None else found.intervals[row].tolist()
        radius = None if found.radius is None else float(found.radius[row])
        return {
            "picture": str(path),
            "label": found.labels[row].item() if isinstance(found.labels[row], np.generic) else found.labels[row],
            "intervals": None if told is None else {str(name): told[k] for k, name in enumerate(names)},
            "conflict": None if found.conflict is None else float(found.conflict[row]),
            "conflict_tells": classifier.conflict_tells,
            "familiarity": None if found.familiarity is None else float(found.familiarity[row]),
            "proved_radius": None if radius is None else prepared.proved(radius),
            "proved_of": prepared.proved_of,
            "prepared_radius": radius,
            "prepared_shape": None if classifier.shape_ is None else list(classifier.shape_),
            "rules": reasons(row, prepared),
            "warnings": prepared.notes,
        }

    return [report(row, path, prepared) for row, (path, prepared) in enumerate(read)]


def shown(report: Report) -> str:
    """A verdict for reading."""
    passed = (
        ", better passed on to a person: too few labels of similar pictures were right"
        if report.get("rejected")
        else ""
    )
    lines = [f"{report['picture']}: {report['label']}{passed}", ""]
    if report["intervals"] is None:
        lines.append(f"  no intervals: they are computed for up to {MOST_LABELS} labels")
    else:
        for name, (low, high) in report["intervals"].items():
            lines.append(f"  {name:<6}[{low:.4f}, {high:.4f}]  {bar((low, low), (high, high))}")
        lines += ["", f"  conflict {report['conflict']:.4f}"] if report["conflict_tells"] else [""]
    if report["familiarity"] is not None:
        lines.append(f"  {likeness(report['familiarity'])}")
    lines += [f"  {proof(report)}", "", "  rules that counted most       weight   for   its own proved radius"]
    for rule in report["rules"]:
        name, radius = f"{rule['kind']} {rule['rule']}", rule["proved_radius"]
        own = "none" if radius is None else f"{radius:.3f}"
        lines.append(f"    {name:<28}{rule['weight']:>6.3f}   {rule['speaks_for']!s:<5} {own}")
    return "\n".join(lines + (why(report) if "weights" in report else []))


def why(report: Report) -> list[str]:
    """What all rules of a kind add up to, and what would have to change."""
    lines = ["", "  all rules of a kind           weight   for"]
    for each in report["weights"]:
        lines.append(f"    {each['kind']:<28}{each['weight']:>6.3f}   {each['speaks_for']}")
    change, lines = report["change"], [*lines, "", "  what would have to change"]
    if change is None:
        looked = "was found" if report["looked_for_a_change"] else "was looked for: its rules give no gradients"
        return [*lines, f"    no change that gives another label {looked}"]
    found = f"a change of the {change['of']} of L2 length {change['distance']:.4f} was found"
    lines.append(f"    {found} that gives {change['label']}")
    kinds = {rule["rule"]: rule["kind"] for rule in report["rules"]}
    turned = [f"{kinds[rule]} {rule}" for rule in change["turned"] if rule in kinds]
    if turned:
        lines.append(f"    then {' and '.join(turned)} no longer speak{'s' * (len(turned) == 1)} for {report['label']}")
    return lines


def likeness(degree: float) -> str:
    """How far an input is like the examples, in words."""
    told = f"familiarity {degree:.2f}"
    if degree >= USUAL:
        return f"{told}: like the examples that the classifier was trained on"
    if degree >= STRANGE:
        return f"{told}: unusual among the examples, so the rules are believed less"
    return f"{told}: unlike the examples, so what it shows is not known"


def proof(report: Report) -> str:
    """The certificate in a line."""
    if report["proved_radius"] is None:
        return "nothing is proved: not every rule has two groups of labels and a Lipschitz constant"
    if report["proved_radius"] <= 0:
        return "nothing is proved: the margin is too small"
    radius = f"{_down(report['proved_radius'])}"
    if report["proved_of"] == FILE:
        return f"proved of the file: no change of its pixels of L2 length {radius} or less gives another label"
    height, width = report["prepared_shape"][:2]
    told = f"the prepared {width} x {height} picture, not of the file"
    return f"proved of {told}: no change of L2 length {radius} or less gives another label"


def _down(radius: float) -> str:
    """Four digits, never more than was proved."""
    return f"{math.floor(radius * 1e4) / 1e4:.4f}"


def certified(report: Report) -> str:
    """The label and its certificate in a line."""
    return f"{report['picture']}: {report['label']}; {proof(report)}"


def classifier_of(model: str) -> Any:
    """A classifier of pictures, which says itself what is done to a file."""
    found = estimator_of(model)
    why = found.preparation_.refusal()
    if why is not None:
        raise NbrError(f"{model} is not a classifier of pictures: {why}")
    return found


def estimator_of(model: str) -> Any:
    """A classifier of whatever it may be."""
    found = load(model)
    if not isinstance(found, BeliefEstimator):
        raise NbrError(f"{model} is not a classifier")
    return found


def aside(words: str) -> None:
    """A line beside the answer."""
    print(words, file=sys.stderr, flush=True)
