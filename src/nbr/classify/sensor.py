"""A classifier as a sensor: what it has seen becomes evidence about a variable, bounded where its rules are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nbr import registry
from nbr.calculus import keep_probability
from nbr.classify.estimator import BeliefEstimator
from nbr.classify.evaluation import Scored
from nbr.classify.preparation import Preparation
from nbr.classify.robust import RobustClassifier
from nbr.classify.rules import evidence
from nbr.errors import NbrError
from nbr.rules import LEAST_LOG, NAMED, Evidence, PlainEvidence


@registry.kind("sensor", "classifier")
class Sensor:
    """A classifier attached to variables whose values are its labels, so that pictures become rules.

    The evidence of a classifier of this package is what its rules state, without memories. The evidence of any other
    classifier is pl_b = p_b / max p, and comes without a proof.

    Args:
        classifier: A classifier of this package, one of scikit-learn with `predict_proba`, or a torch module that gives
            logits.
        labels: The labels of a torch module, in the order of its outputs.
        shape: The shape of one input of a torch module.
    """

    def __init__(
        self, classifier: Any, *, labels: Sequence[object] | None = None, shape: Sequence[int] | None = None
    ) -> None:
        self.classifier = classifier
        self._judge = classifier.without_memories() if isinstance(classifier, RobustClassifier) else classifier
        self.name: str | None = None
        if isinstance(classifier, nn.Module):
            if labels is None or shape is None:
                raise NbrError("a torch module needs its labels and the shape of one input: labels=, shape=")
            self._shape: tuple[int, ...] = tuple(shape)
        else:
            known = getattr(classifier, "classes_", None)
            if known is None or not (isinstance(classifier, BeliefEstimator) or hasattr(classifier, "predict_proba")):
                told = "a trained classifier with predict_proba, or a torch module"
                raise NbrError(f"a sensor is {told}, not {type(classifier).__name__}")
            labels = np.asarray(known).tolist() if labels is None else labels
            own = getattr(classifier, "shape_", None) if shape is None else shape
            self._shape = (int(classifier.n_features_in_),) if own is None else tuple(own)
        self._labels = tuple(map(_word, labels or ()))
        if len(set(self._labels)) < max(2, len(self._labels)):
            raise NbrError("a sensor needs two labels or more, all different")

    @classmethod
    def of(cls, classifier: Any, name: str) -> Sensor:
        """The sensor of a classifier with a name, by which files know it."""
        found = cls(classifier)
        found.name = name
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels

    def batch(self, inputs: Any) -> tuple[Any, bool]:
        """Inputs with an axis for the batch in front, and whether they had one; the name of a file is one input."""
        if isinstance(inputs, str | PathLike):
            return self.read(str(inputs))[None], False
        found = inputs.detach().cpu().numpy() if isinstance(inputs, Tensor) else np.asarray(inputs)
        if found.dtype.kind not in "biuf":
            raise NbrError(f"pictures are arrays of numbers or names of files, not {str(inputs)[:60]!r}")
        if found.shape == self._shape:
            return found[None], False
        if found.shape[1:] == self._shape and len(found):
            return found, True
        told = " x ".join(map(str, self._shape))
        raise NbrError(f"the sensor takes inputs of {told} numbers, or a batch of them, not of shape {found.shape}")

    def read(self, path: str) -> Any:
        """A picture file as one input, prepared as the classifier does it."""
        if self.preparation is None:
            raise NbrError(f"{path}: this sensor takes arrays, not files")
        return self.preparation.read(path).pixels

    @property
    def preparation(self) -> Preparation | None:
        """What is done to a file before it is looked at; None where it takes arrays alone."""
        found: Preparation | None = getattr(self.classifier, "preparation_", None)
        return found

    def look(self, inputs: Any) -> Evidence:
        """The evidence of a batch of inputs."""
        if isinstance(self.classifier, nn.Module):
            return PlainEvidence.of(self._labels, self._logits(inputs))
        if isinstance(self.classifier, BeliefEstimator):
            found = self._judge._evaluate(inputs)
            if isinstance(found, Scored):
                return ScoredEvidence(self._labels, found)
            return PlainEvidence.of(self._labels, found.scores())
        chances = np.asarray(self.classifier.predict_proba(inputs), dtype=np.float64)
        return PlainEvidence.of(self._labels, torch.from_numpy(chances).log())

    def _logits(self, inputs: Any) -> Tensor:
        module = self.classifier
        first = next(module.parameters(), torch.zeros(0))
        training = module.training
        module.eval()
        with torch.no_grad():
            found: Tensor = module(torch.as_tensor(inputs, dtype=first.dtype, device=first.device)).cpu()
        module.train(training)
        if found.shape != (len(inputs), len(self._labels)):
            told = f"{len(inputs)} inputs and {len(self._labels)} labels"
            raise NbrError(f"the module gives numbers of shape {tuple(found.shape)} for {told}")
        return found

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """Its name, or all that the classifier is made of."""
        if self.name is not None:
            return {"sensor": NAMED, "name": self.name}, {}
        if not isinstance(self.classifier, BeliefEstimator):
            raise NbrError(f"a sensor made of {type(self.classifier).__name__} cannot be saved; classifiers of nbr can")
        said, tensors = self.classifier.spec()
        return {"sensor": "classifier", **said}, tensors

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], parts: registry.Parts) -> Sensor:
        """The inverse of `spec`, where that is not a name."""
        model = {key: value for key, value in spec.items() if key != "sensor"}
        return cls(registry.find("model", model.get("classifier")).from_spec(model, parts))

    def __repr__(self) -> str:
        return f"Sensor({self.name or type(self.classifier).__name__}, {len(self._labels)} labels)"


def _word(label: object) -> str:
    return str(int(label)) if isinstance(label, bool) else str(label)


@dataclass(frozen=True, eq=False)
class ScoredEvidence:
    """What rules with scores say of a label: all objections to it together, or of cautious rules the strongest."""

    labels: tuple[str, ...]
    found: Scored

    @property
    def log_plausibility(self) -> Tensor:
        values = self.found.values
        return self._clamped([self._told(values[:, rules], label) for label, rules in enumerate(self._rules)])

    def within(self, distance: Tensor) -> tuple[Tensor, Tensor]:
        """Every score moved by as much as it can against a label, or for it, float64 at either end included."""
        values = self.found.values
        own = self.found.slack(values.new_zeros(len(values), 1))
        low, high = [], []
        far = self.found.slack(distance.reshape(-1, len(values)).amax(dim=0)[:, None])  # grows with the distance
        steepness = self.found.steepness()
        for label, rules in enumerate(self._rules):
            rank = self.found.groups.rank[label, rules]
            move = distance[..., None] * steepness[rules] + (own + far)[:, rules]
            low.append(self._told(values[:, rules] - rank * move, label))
            high.append(self._told(values[:, rules] + rank * move, label))
        return self._clamped(low), self._clamped(high)

    def words(self, row: int, label: int) -> str:
        """The rule that objects most, by what it tells apart."""
        rules = self._rules[label]
        weights = self.found.groups.rank[label, rules] * self.found.rules.weights(self.found.values[[row]])[0, rules]
        table = self.found.groups.table[rules[int(weights.argmin())]].tolist()
        sides = [[name for name, group in zip(self.labels, table, strict=True) if group == side] for side in (1, 0)]
        return "network " + " against ".join("/".join(side) if len(side) < 4 else "the rest" for side in sides)

    def only(self, rows: Sequence[int]) -> ScoredEvidence:
        some, found = torch.as_tensor(rows, dtype=torch.long), self.found

        def slack(within: Tensor) -> Tensor:
            whole = within.new_zeros(len(found.values), 1)
            whole[some] = within.expand(len(some), 1)
            return found.slack(whole)[some]

        return replace(self, found=replace(found, values=found.values[some], slack=slack))

    @property
    def _rules(self) -> list[Tensor]:
        """The rules that judge each label."""
        return [row.nonzero()[:, 0] for row in self.found.groups.rank]

    def _told(self, scores: Tensor, label: int) -> Tensor:
        """log pl of a label by the scores of the rules that judge it: (..., n)."""
        rules, own = self.found.rules, self._rules[label]
        rank, belief = self.found.groups.rank[label, own], rules.belief[own]
        if self.found.combine == "exact":
            curve = torch.sigmoid(rules.scale[own] * scores)
            grade = torch.where(scores >= 0, curve, 0.5 - rules.share[own] * (0.5 - curve))
            return keep_probability(torch.where(rank > 0, grade, 1 - grade), belief).log()
        objections = (rank * evidence(scores, rules.scale[own], rules.share[own], belief)).clamp(max=0)
        return objections.amin(dim=-1) if self.found.combine == "cautious" else objections.sum(dim=-1)

    def _clamped(self, columns: list[Tensor]) -> Tensor:
        return torch.stack(columns, dim=-1).clamp(LEAST_LOG, 0.0)
