"""`nbr attack`: what the attacks leave of a classifier, beside what is proved of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from nbr.app.classifying import aside, estimator_of
from nbr.app.examples import AttackExamples, examples
from nbr.classify import RobustClassifier
from nbr.errors import NbrError
from nbr.progress import reporter
from nbr.robustness import Measured, Stages, Subject, Target, measure, nearest_others, percent_interval, steps_of

Report = dict[str, Any]
BOXLESS = ("PGD", "DDN", "margin")  # attacks that know how to go beyond the box


def run(
    model: str,
    data: str,
    epsilon: float,
    budget: str,
    names: list[str],
    images: int | None,
    output: Path,
    worst_only: bool,
    seed: int,
    jobs: int | None = None,
    label: str | None = None,
) -> Report:
    if not epsilon > 0:
        raise NbrError(f"epsilon must be above 0, not {epsilon:g}")
    steps = steps_of(budget, names)
    classifier = _attackable(model)
    shown = examples(classifier, data, label, jobs)
    for note in shown.notes:
        aside(f"{data}: {note}")
    subject = _subject(classifier, shown, images, seed, jobs)
    found = measure(subject, steps, epsilon, output, reporter(True), skip_broken=worst_only, seed=seed, jobs=jobs)
    about = {"data": data, "noun": shown.noun, "proved_of": shown.proved_of, "box": list(_box(classifier, shown))}
    report = {"model": model, **about, **_report(found, budget, steps, worst_only)}
    boxless = {name: stages for name, stages in steps.items() if name in BOXLESS}
    if boxless:
        report |= _without_box(subject, found, boxless, output / "without-box", seed, report, jobs)
    return report


def _without_box(
    subject: Subject,
    found: Measured,
    steps: Mapping[str, Stages],
    folder: Path,
    seed: int,
    report: Report,
    jobs: int | None,
) -> Report:
    """What is left where inputs may have any value: attacks go on with the images that were left in the box."""
    left = found.right & ~found.broken
    if not bool(left.any()):
        return {"attacked_without_box": 0.0}
    parts = {name: getattr(subject, name)[left] for name in ("images", "labels", "radius", "starts")}
    wide = replace(subject, target=subject.target.without_box(), **parts)
    further = measure(wide, steps, found.epsilon, folder, reporter(True), skip_broken=True, seed=seed, jobs=jobs)
    broken = report["broken_within_their_proved_radius"] + _unproved(further)
    share = int((~further.broken).sum()) / len(left)
    return {"attacked_without_box": share, "broken_within_their_proved_radius": broken}


def _subject(classifier: Any, found: AttackExamples, images: int | None, seed: int, jobs: int | None) -> Subject:
    """A classifier with inputs of its labels, and starting points among others."""
    Z, z = found.inputs, found.codes
    if images is not None:
        if not 0 < images <= len(Z):
            raise NbrError(f"there are {len(Z)} {found.noun}, so --images is 1 to {len(Z)}")
        chosen = torch.randperm(len(Z), generator=torch.Generator().manual_seed(seed))[:images].sort().values.numpy()
        Z, z = Z[chosen], z[chosen]
    raw = classifier.raw_module() if isinstance(classifier, RobustClassifier) else None
    target = Target(classifier.as_module(), *_box(classifier, found), raw, raw)
    tested, truth, train = torch.from_numpy(Z), torch.from_numpy(z), torch.from_numpy(found.others)
    radius = torch.from_numpy(classifier.set_params(n_jobs=jobs).certified_radius(Z))
    starts = nearest_others(tested, truth, train, torch.from_numpy(found.other_codes), target)
    return Subject(target, tested, truth, radius, starts)


def _box(classifier: Any, found: AttackExamples) -> tuple[float, float]:
    """What values inputs may have: as the classifier was told, from black to white, or as all examples have them."""
    box: tuple[float, float] | None = classifier.box or classifier.values_
    return box or (float(found.others.min()), float(found.others.max()))


def _attackable(model: str) -> Any:
    classifier = estimator_of(model)
    if not hasattr(classifier, "as_module"):
        kind = type(classifier).__name__
        raise NbrError(f"{model} is a {kind}; RobustClassifier and NonexpansiveClassifier can be attacked")
    return classifier


def _report(found: Measured, budget: str, steps: Mapping[str, Stages], worst_only: bool) -> Report:
    count = len(found.right)
    return {
        "images": count,
        "epsilon": found.epsilon,
        "budget": budget,
        "steps": steps,
        "natural": found.natural,
        "proved": found.proved,
        **({"left_after": _one_by_one(found)} if worst_only else {"left_by": _alone(found)}),
        "attacked": found.attacked,
        "broken_within_their_proved_radius": _unproved(found),
    }


def _unproved(found: Measured) -> int:
    """Images that were broken within the radius that is proved of them: not one, or there is a mistake."""
    proved = found.right & (found.radius > 0)
    return int((proved & (found.nearest <= found.radius)).sum())


def _alone(found: Measured) -> dict[str, float]:
    """What each attack leaves."""
    return {name: found.left_by(name) for name in found.distance}


def _one_by_one(found: Measured) -> dict[str, float]:
    """What is left after each attack and those before it, each of which only saw what was left to it."""
    left, told = found.right.clone(), {}
    for name, far in found.distance.items():
        left &= ~(far <= found.epsilon)
        told[name] = float(left.double().mean())
    return told


def shown(report: Report) -> str:
    """A table for reading."""
    head = (
        f"{report['model']}: {report['images']:,} {report['noun']}, L2 {report['epsilon']:g}, budget {report['budget']}"
    )
    head += "; 95% intervals in brackets"
    lines = [head, ""]
    rows = [("natural", report["natural"])]
    rows += [(f"left by {name}", share) for name, share in report.get("left_by", {}).items()]
    rows += [(f"left after {name}", share) for name, share in report.get("left_after", {}).items()]
    rows.append(("left by all attacks", report["attacked"]))
    if "attacked_without_box" in report:
        rows.append(("left without the box", report["attacked_without_box"]))
    rows.append(("proved", report["proved"]))
    for name, share in rows:
        lines.append(f"  {name:<22}{100 * share:6.1f} %   ({percent_interval(share, report['images'])})")
    broken = report["broken_within_their_proved_radius"]
    verdict = "no image was broken within its proved radius" if not broken else f"{broken} PROVED IMAGES WERE BROKEN"
    lines += ["", f"  {verdict}", f"  lengths and proofs are of the {report['proved_of']}"]
    if "attacked_without_box" in report:
        lines.append("  without the box: inputs may leave their range, which the proof does not use")
    return "\n".join(lines)
