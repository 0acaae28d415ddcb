"""A classifier for two labels whose label provably cannot change inside an L2 ball (sections 4.2 to 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from nbr import registry
from nbr.classify.bodies import Bodies
from nbr.classify.certificate import radius
from nbr.classify.degrees import believe
from nbr.classify.experts import experts
from nbr.classify.inputs import Pictures, progress
from nbr.classify.judgements import Judgements
from nbr.classify.memories import memorise
from nbr.classify.recipe import Recipe
from nbr.classify.storage import header, networks, restored, written
from nbr.errors import NbrError
from nbr.storage import container

Array = NDArray[Any]
SAVED = ("side", "share", "scale", "belief")
FURTHEST = 8.0  # times epsilon: no larger radius is looked for


@registry.kind("model", "robust")
class RobustClassifier(Pictures, Judgements):
    """Nonexpansive networks and memorised examples, each a rule with a degree of belief.

    There are `networks` networks for each label, with `depth` layers of `width` units in common and one of `head` units
    of their own. Each tells one kind of examples of its label from all of the other label; what no network takes is
    memorised. `epsilon` is the radius to be robust at, in the units of the inputs. Inputs are vectors (n, size) or
    pictures (n, height, width); `box=(0, 1)` says what values they may have. Pictures are changed a little at random
    while training, by the strength `augment`. `checkpoint` names a file from which a run that was stopped goes on.
    """

    def __init__(
        self,
        epsilon: float = 2.0,
        *,
        networks: int = 7,
        width: int = 384,
        depth: int = 5,
        head: int = 64,
        epochs: int = 120,
        batch_size: int = 256,
        beta: float = 1.1,
        gamma: float = 0.0,
        omega: float = 0.5,
        memories: bool = True,
        augment: float = 0.5,
        box: tuple[float, float] | None = None,
        combine: str = "scaled",
        random_state: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.networks = networks
        self.width = width
        self.depth = depth
        self.head = head
        self.epochs = epochs
        self.batch_size = batch_size
        self.beta = beta
        self.gamma = gamma
        self.omega = omega
        self.memories = memories
        self.augment = augment
        self.box = box
        self.combine = combine
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> RobustClassifier:
        """Train in three steps: networks, then scales and memories, then beliefs."""
        self._method()
        sample = self._sample(X, y)
        recipe = self._recipe()
        watch = progress(self.verbose)
        path = None if self.checkpoint is None else Path(self.checkpoint)
        networks = experts(sample, recipe, watch, path)
        bodies, memory = memorise(sample, networks, recipe)
        self.bodies_ = believe(sample, bodies, memory, recipe, watch)
        self.recipe_ = asdict(recipe)
        if path is not None:
            path.unlink(missing_ok=True)
        return self

    def certified_radius(self, X: ArrayLike) -> Array:
        """A radius for each input: no perturbation of at most that L2 length changes its label. Sound in float64."""
        bodies = self._bodies()
        found = []
        for points in self._points(X).split(256):
            scores = self._told(points)
            parts = (bodies.signs, self._steepness(), bodies.slack(points), self._margin, FURTHEST * self.epsilon)
            found.append(radius(scores, *parts))
        return torch.cat(found).numpy()

    def rule_radius(self, X: ArrayLike) -> Array:
        """For each input and rule, the radius within which the rule goes on speaking for the same label: (n, rules)."""
        bodies, points = self._bodies(), self._points(X)
        scores = self._told(points).abs() - bodies.slack(points)
        return (scores.clamp(min=0) / self._steepness()).numpy()

    def margin(self, X: ArrayLike) -> Array:
        """log Pl of the second label minus that of the first: the same as `decision_function`."""
        return self.decision_function(X)

    def reasons(self, X: ArrayLike, most: int = 5) -> list[list[tuple[int, float]]]:
        """The rules that count most for each input: their numbers, and what each adds for the second label."""
        bodies = self._bodies()
        weights = bodies.weights(self._told(self._points(X)))
        top = weights.abs().topk(min(most, weights.shape[1]), dim=1).indices
        return [[(int(rule), float(row[rule])) for rule in chosen] for row, chosen in zip(weights, top, strict=True)]

    def without_memories(self) -> RobustClassifier:
        """The same classifier with its networks alone."""
        found = self.__class__(**self.get_params())
        found.__dict__.update(self.__dict__)
        found.__dict__.pop("steepness_", None)
        rules = len(self._bodies().side)
        found.bodies_ = self.bodies_.take(torch.arange(rules) < rules - len(self.bodies_.memories))
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trained classifier to a .nbr file, which `nbr.load` reads."""
        container.save(self, path)

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The trained classifier as plain data and tensors, for a file."""
        model, bodies = header(self), self._bodies()
        tensors = {name: getattr(bodies, name) for name in (*SAVED, "reach")}
        return model, {**tensors, "memories": bodies.memories.float(), **written(bodies.networks)}

    @classmethod
    def from_spec(cls, model: registry.Spec, parts: registry.Parts) -> RobustClassifier:
        """The inverse of `spec`."""
        tensors, found = parts.tensors, restored(cls, model)
        rules = (tensors[name] for name in SAVED)
        found.bodies_ = Bodies(networks(tensors), tensors["memories"], tensors["reach"], *rules)
        _check(found)
        return found

    def as_module(self) -> nn.Module:
        """From inputs to log Pl of both labels as a torch module, with gradients: for those who want to attack it."""
        self._bodies().networks.requires_grad_(False)  # gradients of inputs are wanted alone
        return _Logits(self)

    def raw_module(self) -> nn.Module:
        """From inputs to the largest score G_i of each label's rules: similar decisions, without sigmoids and logs."""
        self._bodies().networks.requires_grad_(False)
        return _Raw(self)

    def _told(self, points: Tensor) -> Tensor:
        with torch.no_grad():
            return self._bodies().scores(points)

    def _margin(self, scores: Tensor) -> Tensor:
        if self.combine == "scaled":
            return self.bodies_.margin(scores)
        told = self._method().labels(self.bodies_.label_grades(scores), self.bodies_.belief, [])
        difference: Tensor = told[:, 1] - told[:, 0]
        return difference

    def _scores(self, X: ArrayLike) -> Tensor:
        """Half the margin for one label and minus half for the other: log Pl up to a constant."""
        margin = self._margin(self._told(self._points(X)))
        return torch.stack([-margin / 2, margin / 2], dim=1)

    def _evidence(self, X: ArrayLike) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
        bodies = self._bodies()
        grades = bodies.label_grades(self._told(self._points(X)))
        return grades, bodies.belief, [torch.tensor([0, 1])] * len(bodies.belief)

    def _steepness(self) -> Tensor:
        """Bounds on the Lipschitz constants, computed once."""
        if not hasattr(self, "steepness_"):
            self.steepness_ = self.bodies_.steepness()
        return self.steepness_

    def _bodies(self) -> Bodies:
        check_is_fitted(self, "bodies_")
        return self.bodies_

    def _recipe(self) -> Recipe:
        for name in ("epsilon", "networks", "width", "depth", "head", "epochs", "batch_size", "beta"):
            if not getattr(self, name) > 0:
                raise NbrError(f"{name} is above 0, not {getattr(self, name)!r}")
        return Recipe(
            epsilon=float(self.epsilon),
            networks=self.networks,
            width=self.width,
            depth=self.depth,
            head=self.head,
            epochs=self.epochs,
            batch=self.batch_size,
            beta=self.beta,
            gamma=self.gamma,
            omega=self.omega,
            memories=self.memories,
            augment=self.augment,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class _Logits(nn.Module):
    """log Pl of both labels, up to a constant, in the precision of the input."""

    def __init__(self, classifier: RobustClassifier) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, inputs: Tensor) -> Tensor:
        margin = self.classifier._margin(self.classifier._bodies().scores(inputs.flatten(1)))
        return torch.stack([-margin / 2, margin / 2], dim=1)


class _Raw(nn.Module):
    """The largest score of the rules of each label."""

    def __init__(self, classifier: RobustClassifier) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, inputs: Tensor) -> Tensor:
        bodies = self.classifier._bodies()
        scores = bodies.scores(inputs.flatten(1))
        return torch.stack([scores[:, bodies.side == side].amax(dim=1) for side in (0, 1)], dim=1)


def _check(classifier: RobustClassifier) -> None:
    """Parts that a hand-made file may have got wrong are found here rather than when somebody asks."""
    bodies = classifier.bodies_
    with torch.no_grad():
        scores = bodies.scores(torch.zeros(1, classifier.n_features_in_, dtype=torch.float64))
    rules = scores.shape[1]
    lengths = {len(getattr(bodies, name)) for name in SAVED}
    sound = all(bool(getattr(bodies, name).isfinite().all()) for name in ("share", "scale", "belief", "reach"))
    within = bool(((bodies.belief >= 0) & (bodies.belief <= 1) & (bodies.scale > 0)).all())
    if lengths != {rules} or not (sound and within):
        raise NbrError("the parts of the classifier do not fit together")
