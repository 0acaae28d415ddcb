"""What can be asked of a classifier that is served: a picture in, labels with intervals, proofs and attacks out."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nbr.app import classifying, screen
from nbr.app.serving import bodies
from nbr.app.serving.reasoning import Misread
from nbr.classify import PREPARED, BeliefEstimator, Preparation, Prepared, RobustClassifier
from nbr.errors import NbrError
from nbr.robustness import Attempt, Descent, Target

Report = dict[str, Any]
Array = NDArray[Any]
SAMPLES, LOOKED_AT = 10, 150  # examples to start from, and among how many of those remembered they are looked for
STEPS = 20  # of the attack: more of them bring little, and somebody is waiting
SHOWN = ("label", "proved_radius", "proved_of", "warnings")
NUMBERS = "numbers"  # what is proved of inputs that are no pictures


class Judged:
    """A classifier behind an API. Asking does not change it, so that threads may share it."""

    def __init__(self, classifier: BeliefEstimator, name: str, side: int) -> None:
        self.classifier, self.name, self.side = classifier, name, side
        self.shape: tuple[int, ...] | None = getattr(classifier, "shape_", None)

    def model(self) -> Report:
        """Labels, the shape of inputs, and recorded figures."""
        told = screen.classifier_json(self.classifier)
        return {
            "name": self.name,
            "kind": "classifier",
            "labels": told["labels"],
            "pictures": self.classifier.preparation_.refusal() is None,
            "preparation": {**self.classifier.preparation_.as_json(), "words": self.classifier.preparation_.words()},
            "shape": None if self.shape is None else list(self.shape),
            "inputs": int(self.classifier.n_features_in_),
            "contents": self.classifier.contents(),
            "figures": told["figures"],
            "attack": hasattr(self.classifier, "as_module"),
            "samples": [{"label": label, "image": self._shades(numbers)} for label, numbers in self.samples],
        }

    @cached_property
    def samples(self) -> list[tuple[str, Array]]:
        """Some examples of each label that the classifier remembers, with the label that it gives them."""
        if self.shape is None or not isinstance(self.classifier, RobustClassifier) or self.classifier.values_ is None:
            return []
        remembered = self.classifier.rules_.memories[:LOOKED_AT].double().numpy()
        if not len(remembered):
            return []
        remembered = remembered[np.argsort(-self.classifier.certified_radius(remembered), kind="stable")]  # clear ones
        labels = self.classifier.predict(remembered)
        each = max(1, SAMPLES // len(self.classifier.classes_))
        of = {str(label): remembered[labels == label][:each] for label in self.classifier.classes_}
        return [(label, numbers.reshape(self.shape)) for label, several in of.items() for numbers in several]

    def classify(self, body: bodies.Picture, budget: float) -> Report:
        """The label, intervals, conflict, proved radius and the rules that counted most, with what they remember."""
        return self._told(body, self._input(body))

    def classify_many(self, body: bodies.PicturesBody, budget: float) -> Report:
        """The same of several pictures, in order; an error says which of them is wrong."""
        read = [self._one_of(body, at) for at in range(len(body.pictures))]
        return {"pictures": [self._told(*each) for each in zip(body.pictures, read, strict=True)]}

    def _one_of(self, body: bodies.PicturesBody, at: int) -> Prepared:
        try:
            return self._input(body.pictures[at])
        except NbrError as error:
            raise Misread.of(f"pictures.{at}", error) from None

    def _told(self, body: bodies.Picture, prepared: Prepared) -> Report:
        (report,) = classifying.reports(self.classifier, [(Path("picture"), prepared)])
        if body.picture is None:
            report["proved_of"] = PREPARED if self.shape is not None else NUMBERS
        told = [{**rule, "image": self._remembered(rule)} for rule in report["rules"]]
        kept = {key: value for key, value in report.items() if key != "picture"}
        return {**kept, "rules": told, "image": self._shades(prepared.pixels)}

    def certify(self, body: bodies.Picture, budget: float) -> Report:
        """The label and its proved radius."""
        found = self.classify(body, budget)
        return {key: found[key] for key in SHOWN}

    def attack(self, body: bodies.Picture, budget: float) -> Report:
        """The nearest input with another label that a short descent finds; there may be nearer ones."""
        if not hasattr(self.classifier, "as_module"):
            raise NbrError("this classifier has no gradients that an attack could follow")
        numbers = self._input(body).pixels
        inputs = torch.from_numpy(numbers[None])
        label = int(np.argmax(self.classifier.classes_ == self.classifier.predict(numbers[None])[0]))
        low, high = getattr(self.classifier, "box", None) or (-math.inf, math.inf)
        raw = self.classifier.raw_module() if isinstance(self.classifier, RobustClassifier) else None
        target = Target(self.classifier.as_module(), low, high, raw)
        found = Descent().run(target, Attempt(inputs, torch.tensor([label])), STEPS)
        distance = float(found.distance[0])
        if not math.isfinite(distance):
            return {"label": None, "distance": None, "image": None}
        changed = found.inputs[0].numpy()
        other = self.classifier.classes_[_other(target, found.inputs, label)].item()
        return {"label": other, "distance": distance, "image": self._shades(changed)}

    def _input(self, body: bodies.Picture) -> Prepared:
        """What a request shows, as the classifier takes it, and what was done to get there."""
        if sum(each is not None for each in (body.picture, body.numbers, body.sample)) != 1:
            raise NbrError("give either a picture, numbers or the number of a sample")
        if body.sample is not None:
            if body.sample >= len(self.samples):
                raise NbrError(f"there is no sample {body.sample}: the classifier has {len(self.samples)}")
            return Prepared(self.samples[body.sample][1], [])
        if body.numbers is not None:
            wanted = int(self.classifier.n_features_in_)
            if len(body.numbers) != wanted:
                raise NbrError(f"the classifier takes {wanted} numbers, not {len(body.numbers)}")
            numbers = np.array(body.numbers, dtype=np.float64)
            return Prepared(numbers if self.shape is None else numbers.reshape(self.shape), [])
        preparation: Preparation = self.classifier.preparation_
        if preparation.refusal() is not None:
            raise NbrError(f"this classifier takes no picture files, give numbers: {preparation.refusal()}")
        return preparation.decode(bodies.content(body.picture or ""), self.side)

    def _remembered(self, rule: Report) -> list[int] | None:
        """The example that a memory rule remembers, if it is a picture."""
        if rule["kind"] != "memory" or self.shape is None or not isinstance(self.classifier, RobustClassifier):
            return None
        rules = self.classifier.rules_
        return self._shades(rules.memories[rule["rule"] - 1 - rules.first_memory].double().numpy())

    def _shades(self, numbers: Array) -> list[int] | None:
        """Pixels from 0, black, to 255, white, row by row; None where that is not known."""
        if self.shape is None or self.classifier.values_ is None:
            return None
        black, white = self.classifier.values_
        shades = np.round(255 * (numbers - black) / (white - black))
        found: list[int] = np.clip(shades, 0, 255).astype(int).ravel().tolist()
        return found


def _other(target: Target, inputs: torch.Tensor, label: int) -> int:
    """The most plausible label other than one: where two are alike, the attack counts that as lost."""
    with torch.no_grad():
        logits = target.logits(inputs)[0]
    logits[label] = -torch.inf
    return int(logits.argmax())
