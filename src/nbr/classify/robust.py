"""A classifier whose label provably cannot change inside an L2 ball (sections 4.2 to 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from nbr import registry
from nbr.classify.beliefs import believe
from nbr.classify.cautious import cautious
from nbr.classify.checks import check_epsilon
from nbr.classify.estimator import BeliefEstimator
from nbr.classify.evaluation import Evaluation, check_combine, evaluate
from nbr.classify.experts import Experts
from nbr.classify.familiarity import Familiarity, familiarity
from nbr.classify.frames import against_rest
from nbr.classify.inputs import Pictures, progress
from nbr.classify.layouts import Layout
from nbr.classify.memories import memorise
from nbr.classify.modules import BareScores, Logits
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, Sample, suggested
from nbr.classify.rules import NonexpansiveRules
from nbr.classify.storage import header, networks, number_like, restored, written
from nbr.errors import NbrError, suggest
from nbr.inference.batch import Groups
from nbr.lipschitz import Fixed
from nbr.training import here

Array = NDArray[Any]
OVER_RULES = ("share", "scale", "belief")
FRAMES = ("auto", "rest", "pairs")
FURTHEST = 8.0  # times epsilon: no larger radius is looked for


@registry.kind("model", "robust")
class RobustClassifier(Pictures, BeliefEstimator):
    """Nonexpansive networks and memorised examples, each a rule with a degree of belief.

    With `frames="rest"`, as for two labels, there are `networks` networks for each label, with `depth` layers of
    `width` units in common and one of `head` units of their own. Each tells one kind of examples of its label from all
    others. With `frames="pairs"`, as for more labels, there is one such network for each pair of labels. What no
    network takes is memorised. `epsilon` is the radius to be robust at, in the units of the inputs; "auto" takes a
    quarter of the usual distance to the nearest example of another label. On a share `held_out` of the rows, which are
    not trained on, probabilities are calibrated. Inputs are vectors (n, size), pictures (n, height, width) or
    (n, height, width, channels); `box=(0, 1)` says what values they may have. `preparation` is what is done to picture
    files: "none", "scale" for files of any size, or "digits" as MNIST was made. Pictures are changed a little at random
    while training, by the strength `augment`. With `discount` rules are believed as far as an input is like the
    examples. `checkpoint` names a file from which a run that was stopped goes on. Inputs are judged in `n_jobs`
    processes.
    """

    def __init__(
        self,
        epsilon: float | str = 2.0,
        *,
        frames: str = "auto",
        networks: int = 7,
        width: int = 384,
        depth: int = 5,
        head: int = 64,
        epochs: int = 120,
        batch_size: int = 256,
        learning_rate: float = 0.1,
        beta: float = 1.1,
        gamma: float = 0.0,
        omega: float = 0.5,
        memories: bool = True,
        augment: float = 0.5,
        box: tuple[float, float] | None = None,
        preparation: str = "none",
        combine: str = "scaled",
        discount: bool = True,
        held_out: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: str | PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.frames = frames
        self.networks = networks
        self.width = width
        self.depth = depth
        self.head = head
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.beta = beta
        self.gamma = gamma
        self.omega = omega
        self.memories = memories
        self.augment = augment
        self.box = box
        self.preparation = preparation
        self.combine = combine
        self.discount = discount
        self.held_out = held_out
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RobustClassifier:
        """Train in three steps: networks, then scales and memories, then beliefs."""
        check_combine(self.combine)
        every = self._sample(X, y, sample_weight)
        recipe = self._recipe(every)
        sample, held = every.split(self.held_out, recipe.seed)
        layout = _layout(recipe, sample.kinds)
        watch = progress(self.verbose)
        path = None if self.checkpoint is None else Path(self.checkpoint)
        networks = layout.train(sample, recipe, watch, path)
        rules, memory = memorise(sample, networks, layout, recipe)
        self.rules_ = believe(sample, rules, memory, recipe, watch)
        if self.combine == "cautious":
            self.rules_ = cautious(self.rules_, sample if held is None else held)
        self.familiarity_ = familiarity(sample, recipe.seed) if self.discount else None
        self.recipe_ = asdict(recipe)
        self.sharpness_ = 1.0
        if held is not None:
            self.calibrate(held.points.numpy(), self.classes_[held.labels.numpy()])
        if path is not None and here().first:
            path.unlink(missing_ok=True)
        return self

    def margin(self, X: ArrayLike) -> Array:
        """The same as `decision_function`: for two labels log Pl of the second minus that of the first."""
        return self.decision_function(X)

    def contents(self) -> dict[str, int]:
        """How many networks, memories and weights there are."""
        rules = self._rules()
        return {"networks": rules.first_memory, "memories": len(rules.memories), "weights": rules.networks.weights}

    def cautious(self, X: ArrayLike, y: ArrayLike) -> RobustClassifier:
        """The same networks with `combine="cautious"`: of all that object to a label the strongest counts.

        How much an objection weighs is learned from inputs and labels, best ones that the networks were not trained on.
        Memories have no part in it.
        """
        found = self.without_memories()
        found.combine = "cautious"
        truth = torch.from_numpy(np.searchsorted(self.classes_, np.asarray(y)))
        found.rules_ = cautious(self._rules(), Sample(self._points(X), truth, self.shape_))
        return found

    def without_memories(self) -> RobustClassifier:
        """The same classifier with its networks alone."""
        found = self.__class__(**self.get_params())
        found.__dict__.update(self.__dict__)
        rules = self._rules()
        found.rules_ = rules.only(torch.arange(len(rules)) < rules.first_memory)
        return found

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The trained classifier as plain data and tensors, for a file."""
        rules = self._rules()
        tensors = {name: getattr(rules, name) for name in (*OVER_RULES, "reach")}
        tensors |= {"groups": rules.groups.table.to(torch.int8), "memories": rules.memories.float()}
        known = {} if self.familiarity_ is None else registry.joined(self.familiarity_.tensors(), "familiarity")
        return header(self), {**tensors, **written(rules.networks.module()), **known}

    @classmethod
    def from_spec(cls, model: registry.Spec, parts: registry.Parts) -> RobustClassifier:
        """The inverse of `spec`; the first files had two labels, and the one that a rule speaks for as `side`."""
        tensors, found = parts.tensors, restored(cls, model)
        labels = len(found.classes_)
        values = {name: number_like(tensors[name]).double() for name in (*OVER_RULES, "reach")}
        fixed = Fixed.taking(networks(tensors))
        frames = Groups(_frames(tensors, labels))
        found.rules_ = NonexpansiveRules(frames, networks=fixed, memories=number_like(tensors["memories"]), **values)
        if found.rules_.labels != labels or fixed.inputs != found.n_features_in_:
            told = f"{found.rules_.labels} labels and inputs of {fixed.inputs} numbers"
            raise NbrError(f"rules about {told} in a classifier of {labels} and {found.n_features_in_}")
        found.familiarity_ = Familiarity.restored(parts.below("familiarity").tensors, found.n_features_in_, labels)
        check_epsilon(found.recipe_.get("epsilon") if found.epsilon == "auto" else found.epsilon)
        return found

    def as_module(self) -> nn.Module:
        """From inputs to log Pl of all labels as a torch module, with gradients: for those who want to attack it."""
        return Logits(self._rules(), self.combine)

    def raw_module(self) -> nn.Module:
        """From inputs to bare scores G_i of each label's rules: similar decisions, without sigmoids and logs."""
        return BareScores(self._rules())

    def _evaluate(self, X: ArrayLike) -> Evaluation:
        return evaluate(self._rules(), self._points(X), check_combine(self.combine))

    def _kinds(self) -> list[str]:
        rules = self._rules()
        return ["network"] * rules.first_memory + ["memory"] * len(rules.memories)

    @property
    def _furthest(self) -> float:
        return FURTHEST * check_epsilon(self.recipe_.get("epsilon") if self.epsilon == "auto" else self.epsilon)

    def _rules(self) -> NonexpansiveRules:
        check_is_fitted(self, "rules_")
        return self.rules_

    def _recipe(self, sample: Sample) -> Recipe:
        epsilon = suggested(sample) if self.epsilon == "auto" else self.epsilon
        if not 0 <= self.held_out < 1:
            raise NbrError(f"held_out is a share from 0 up to 1, not {self.held_out!r}")
        for name in ("networks", "width", "depth", "head", "epochs", "batch_size", "learning_rate", "beta"):
            if not getattr(self, name) > 0:
                raise NbrError(f"{name} is above 0, not {getattr(self, name)!r}")
        if self.frames not in FRAMES:
            raise NbrError(f"unknown frames {self.frames!r}" + suggest(str(self.frames), FRAMES))
        few = len(self.classes_) == 2
        return Recipe(
            epsilon=check_epsilon(epsilon),
            frames=("rest" if few else "pairs") if self.frames == "auto" else self.frames,
            networks=self.networks,
            width=self.width,
            depth=self.depth,
            head=self.head,
            epochs=self.epochs,
            batch=self.batch_size,
            rate=self.learning_rate,
            beta=self.beta,
            gamma=self.gamma,
            omega=self.omega,
            memories=self.memories,
            augment=self.augment,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )


def _layout(recipe: Recipe, labels: int) -> Layout:
    return Pairs(labels) if recipe.frames == "pairs" else Experts(labels, recipe.networks)


def _frames(tensors: Mapping[str, Tensor], labels: int) -> Tensor:
    if "groups" in tensors:
        return tensors["groups"].long()
    side = tensors["side"].long()
    if side.dim() != 1 or bool(((side < 0) | (side >= labels)).any()):
        raise NbrError(f"a rule speaks for a label that is none of {labels}")
    return against_rest(side, labels)
