"""What would have to change for a classifier to say something else: the nearest such input that was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from nbr.classify import Array, BeliefEstimator, NonexpansiveClassifier, Reason, RobustClassifier, Verdict
from nbr.robustness.base import Attempt
from nbr.robustness.margin_attacks import Descent
from nbr.robustness.target import Target

STEPS = 300  # of the attack that looks for it
COUNTS = 0.01  # of all weights of an input, from which on a rule counts


@dataclass(frozen=True)
class Change:
    """An input with another label, its L2 distance, and the rules, from 0, that spoke for the old label and turned."""

    label: Any
    distance: float
    turned: tuple[int, ...]
    changed: Array


def nearest_changes(
    classifier: BeliefEstimator, X: Array, before: Verdict, box: tuple[float, float]
) -> list[Change | None] | None:
    """For each input the nearest one that was found with another label; None for all if the rules give no gradients.

    It is looked for down the gradients of the margin, so the label may well be lost nearer by: only the proved radius
    says that it is not. `before` has the reasons of all rules.
    """
    if not isinstance(classifier, RobustClassifier | NonexpansiveClassifier):
        return None
    raw = classifier.raw_module() if isinstance(classifier, RobustClassifier) else None
    target = Target(classifier.as_module(), *box, raw)
    inputs = torch.as_tensor(X, dtype=torch.float64)
    labels = target.logits(inputs).argmax(dim=1).detach()
    found = Descent().run(target, Attempt(inputs, labels), STEPS)
    reached = found.distance.isfinite()
    after = classifier.verdict(found.inputs.numpy(), reasons=len(before.reasons[0]))
    names = classifier.classes_.tolist()

    def one(row: int) -> Change | None:
        if not bool(reached[row]):
            return None
        logits = target.logits(found.inputs[row : row + 1])[0].detach()
        logits[labels[row]] = -torch.inf  # a tie counts as lost
        turned = _turned(before.reasons[row], after.reasons[row], names[int(labels[row])])
        return Change(names[int(logits.argmax())], float(found.distance[row]), turned, found.inputs[row].numpy())

    return [one(row) for row in range(len(inputs))]


def _turned(before: Sequence[Reason], after: Sequence[Reason], label: Any) -> tuple[int, ...]:
    """The rules that counted for a label and no longer do, those that counted most first."""
    now = {each.rule: each.speaks_for for each in after}
    whole = sum(each.weight for each in before)
    told = [each for each in before if each.speaks_for == label and each.weight >= COUNTS * whole]
    return tuple(each.rule for each in sorted(told, key=lambda each: -each.weight) if now[each.rule] != label)


def rule_totals(reasons: Sequence[Reason]) -> dict[tuple[str, Any], float]:
    """The weights of all rules of a kind for a label, added up; the largest first."""
    found: dict[tuple[str, Any], float] = defaultdict(float)
    for each in reasons:
        found[each.kind, each.speaks_for] += each.weight
    return dict(sorted(found.items(), key=lambda item: -item[1]))
