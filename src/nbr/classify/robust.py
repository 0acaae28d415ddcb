"""A classifier whose label provably cannot change inside an L2 ball (sections 4.2 to 4.4)."""

from __future__ import annotations

from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from nbr import registry
from nbr.calculus import Groups
from nbr.classify.candidates import FEW, candidates, chosen, comparison_file
from nbr.classify.cautious import cautious
from nbr.classify.checks import check_epsilon
from nbr.classify.doubt import Doubt, SeenInputs, features
from nbr.classify.doubting import doubt, learnable, passed
from nbr.classify.estimator import BeliefEstimator
from nbr.classify.evaluation import Evaluation, Scored, check_combine, evaluate
from nbr.classify.experts import Experts
from nbr.classify.familiarity import Familiarity, familiarity
from nbr.classify.inputs import Pictures, progress
from nbr.classify.intervals import MOST_LABELS, discounted, in_label
from nbr.classify.layouts import Layout
from nbr.classify.modules import BareScores, Logits
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, TrainingSample, recipe_of
from nbr.classify.rejection import Rejection
from nbr.classify.rules import NonexpansiveRules
from nbr.classify.storage import (
    centre_from,
    centre_of,
    centred,
    frames_from,
    header,
    networks,
    number_like,
    restored,
    written,
)
from nbr.errors import NbrError
from nbr.lipschitz import Fixed
from nbr.progress import Watcher
from nbr.training import here

Array = NDArray[Any]
OVER_RULES = ("share", "scale", "belief")
FURTHEST = 8.0  # times epsilon: no larger radius is looked for


@registry.kind("model", "robust")
class RobustClassifier(Pictures, BeliefEstimator):
    """Nonexpansive networks and memorised examples, each a rule with a degree of belief; a scikit-learn estimator.

    Most uses need three settings: `epsilon`, `random_state`, and for pictures `box` or `preparation`.

    Args:
        epsilon: The L2 radius to be robust at, in the units of the inputs. "auto" takes a quarter of the usual distance
            to the nearest example of another label.
        frames: What networks distinguish: "rest" is each label from all others, with `networks` networks for each
            label; "pairs" is one network for each pair of labels; "auto" is the former for two labels, the latter
            for more.
        networks: The number of networks for each label, for frames of the kind "rest".
        width: The units of each layer that all networks share; even.
        depth: The number of dense layers that all networks share.
        head: The units of the layer that each network has for itself; even.
        epochs: The number of passes over the examples; "auto" makes 120, or 30 with local layers.
        batch_size: The number of examples in a training step.
        learning_rate: The learning rate of the networks.
        beta: How far scores are lowered in training, in epsilons.
        gamma: Examples are memorised if the networks classify them by a margin of less than `gamma` epsilons.
        omega: The weight of accuracy, beside robustness, while beliefs are learned.
        memories: Whether to memorise examples that the networks do not classify.
        linear: Whether to compare the networks with a linear rule on a quarter of the examples, and keep the rule if
            it is as good; "auto" does so for up to 5,000 examples, which doubles the time.
        local: Whether the first layers look at neighbouring pixels, with one small matrix for all places, instead of
            `depth` dense ones; "auto" does so for pictures in colour, and for those of more than 32 x 32 pixels.
        augment: How strongly pictures are changed at random in training; 0 leaves them unchanged.
        box: The lowest and the highest value of an input, such as (0, 1): black and white of pictures.
        preparation: How picture files are prepared: "none", "scale" for files of any size, "digits" as MNIST was made.
        combine: How rules are combined: "scaled" or "exact".
        discount: Whether to believe rules only to the degree to which an input is similar to the examples, and of
            pictures also to the degree to which labels of damaged ones are right.
        held_out: The share of the examples that is used to calibrate probabilities and to set the threshold of
            `reject`.
        random_state: The seed of all randomness.
        n_jobs: The number of processes that classify inputs.
        checkpoint: A file for checkpoints; a run that was stopped continues from it.
        verbose: Whether to show progress on stderr.
    """

    conflict_tells = False  # networks of one training hardly ever contradict each other
    doubt_: Doubt | None = None  # of pictures, where it was learned

    def __init__(
        self,
        epsilon: float | str = 2.0,
        *,
        frames: str = "auto",
        networks: int = 7,
        width: int = 384,
        depth: int = 5,
        head: int = 64,
        epochs: int | str = "auto",
        batch_size: int = 256,
        learning_rate: float = 0.1,
        beta: float = 1.1,
        gamma: float = 0.0,
        omega: float = 0.5,
        memories: bool = True,
        linear: bool | str = "auto",
        local: bool | str = "auto",
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
        self.linear = linear
        self.local = local
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
        """Train in three steps: networks, then scales and memories, then beliefs.

        Args:
            X: Inputs: vectors of shape (n, size), or pictures of shape (n, height, width) or (n, height, width,
                channels).
            y: Labels, shape (n,).
            sample_weight: The weight of each input, shape (n,).
        """
        check_combine(self.combine)
        every = self._sample(X, y, sample_weight)
        recipe = recipe_of(self, every)
        sample, held = every.split(self.held_out, recipe.seed)
        watch = progress(self.verbose)
        path = None if self.checkpoint is None else Path(self.checkpoint)
        plain, layered = candidates(recipe, _layout(recipe, sample.kinds), sample.kinds)
        one, worth = layered, dict[str, float]()
        if self.linear is True or (self.linear == "auto" and len(sample.points) <= FEW):
            one, worth = chosen((plain, layered), sample, self.combine, watch, path)
        self.rules_ = one.rules(sample, watch, path)
        if self.combine == "cautious":
            self.rules_ = cautious(self.rules_, sample if held is None else held)
        self.familiarity_ = familiarity(sample, recipe.seed) if self.discount else None
        self.recipe_ = asdict(recipe) | ({"worth": worth} if worth else {})
        self.sharpness_, self.doubt_, self.rejection_ = 1.0, None, None
        self._learn_doubt(sample, held, recipe.seed, watch)
        if held is not None:
            self.calibrate(held.points.numpy(), self.classes_[held.labels.numpy()])
        if path is not None and here().first:
            path.unlink(missing_ok=True)
            comparison_file(path).unlink(missing_ok=True)
        return self

    def _learn_doubt(self, sample: TrainingSample, held: TrainingSample | None, seed: int, watch: Watcher) -> None:
        """How often labels are right of damaged pictures, and which inputs to pass on."""
        rules, known, values = self._rules(), self.familiarity_, self.values_
        if known is not None and values is not None and learnable(sample, values):
            self.doubt_ = doubt(sample, rules, known, values, seed, self.combine, watch)
            points, truth = passed(sample if held is None else held, values, seed)
        elif held is not None:
            points, truth = held.points.double(), held.labels
        else:
            return
        found = evaluate(rules, points, self.combine)
        told, scores = {"radius": found.radius(self._furthest)}, found.scores()
        if rules.labels <= MOST_LABELS:
            degree = self._familiar(points, found, scores) if self.discount else None
            told["belief"] = in_label(discounted(found.intervals(), degree), scores)
        self.rejection_ = Rejection.of(told, scores.argmax(dim=1) == truth)

    def _familiar(self, points: Tensor, found: Evaluation, scores: Tensor) -> Tensor | None:
        if self.doubt_ is None or self.familiarity_ is None or not isinstance(found, Scored):
            return super()._familiar(points, found, scores)
        return self.doubt_.degree(features(self.familiarity_, SeenInputs.by(self._rules(), points, found)))

    def margin(self, X: ArrayLike) -> Array:
        """For two labels, log Pl of the second minus that of the first.

        Args:
            X: Inputs, as in `predict`.
        """
        return self.decision_function(X)

    def contents(self) -> dict[str, int]:
        """The number of networks, memories and weights."""
        rules = self._rules()
        kind = "linear rules" if rules.networks.linear else "networks"
        return {kind: rules.first_memory, "memories": len(rules.memories), "weights": rules.networks.weights}

    def cautious(self, X: ArrayLike, y: ArrayLike) -> RobustClassifier:
        """The same networks with `combine="cautious"`: of all rules against a label only the strongest counts.

        Memories are left out.

        Args:
            X: Inputs to learn the weights of the rules from, best ones that the networks were not trained on.
            y: Their labels, shape (n,).
        """
        found = self.without_memories()
        found.combine = "cautious"
        truth = torch.from_numpy(np.searchsorted(self.classes_, np.asarray(y)))
        found.rules_ = cautious(self._rules(), TrainingSample(self._points(X), truth, self.shape_))
        return found

    def without_memories(self) -> RobustClassifier:
        """The same classifier without its memories."""
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
        for name in ("familiarity", "doubt", "rejection"):
            if (part := getattr(self, f"{name}_")) is not None:
                tensors |= registry.joined(part.tensors(), name)
        return header(self), {**tensors, **centred(self), **written(rules.networks.module())}

    @classmethod
    def from_spec(cls, model: registry.Spec, parts: registry.Parts) -> RobustClassifier:
        """The inverse of `spec`; the first files had two labels, and the one that a rule speaks for as `side`."""
        tensors, found = parts.tensors, restored(cls, model)
        labels = len(found.classes_)
        values = {name: number_like(tensors[name]).double() for name in (*OVER_RULES, "reach")}
        fixed = Fixed.taking(networks(tensors))
        frames = Groups(frames_from(tensors, labels))
        found.rules_ = NonexpansiveRules(frames, networks=fixed, memories=number_like(tensors["memories"]), **values)
        if found.rules_.labels != labels or fixed.inputs != found.n_features_in_:
            told = f"{found.rules_.labels} labels and inputs of {fixed.inputs} numbers"
            raise NbrError(f"rules about {told} in a classifier of {labels} and {found.n_features_in_}")
        found.centre_ = centre_from(tensors, found.n_features_in_)
        found.familiarity_ = Familiarity.restored(parts.below("familiarity").tensors, found.n_features_in_, labels)
        found.doubt_ = Doubt.restored(parts.below("doubt").tensors, found.familiarity_, labels)
        found.rejection_ = Rejection.restored(parts.below("rejection").tensors)
        check_epsilon(found.recipe_.get("epsilon") if found.epsilon == "auto" else found.epsilon)
        return found

    def as_module(self) -> nn.Module:
        """The map from inputs to log Pl of all labels as a torch module with gradients, for attacks."""
        return Logits(self._rules(), self.combine, centre_of(self))

    def raw_module(self) -> nn.Module:
        """The map from inputs to the scores of each label's rules, without sigmoids and logarithms, for attacks."""
        return BareScores(self._rules(), centre_of(self))

    def _evaluate(self, X: ArrayLike) -> Evaluation:
        return evaluate(self._rules(), self._points(X), check_combine(self.combine))

    def _kinds(self) -> list[str]:
        rules = self._rules()
        kind = "linear rule" if rules.networks.linear else "network"
        return [kind] * rules.first_memory + ["memory"] * len(rules.memories)

    @property
    def _furthest(self) -> float:
        return FURTHEST * check_epsilon(self.recipe_.get("epsilon") if self.epsilon == "auto" else self.epsilon)

    def _rules(self) -> NonexpansiveRules:
        check_is_fitted(self, "rules_")
        return self.rules_


def _layout(recipe: Recipe, labels: int) -> Layout:
    return Pairs(labels) if recipe.frames == "pairs" else Experts(labels, recipe.networks)
