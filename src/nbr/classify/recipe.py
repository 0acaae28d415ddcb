"""What the training of a robust classifier is told: its settings and its examples."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nbr.classify.augment import random_maps, warped
from nbr.classify.checks import check_epsilon
from nbr.errors import NbrError, suggest
from nbr.progress import Watcher
from nbr.training import ALONE, Process

__all__ = ["Recipe", "TrainingSample", "Watcher", "recipe_of", "suggested_epsilon"]
FRAMES = ("auto", "rest", "pairs")
ALIKE = ("networks", "width", "depth", "head", "beta", "gamma", "omega", "memories", "augment")  # by name
DENSE_EPOCHS, LOCAL_EPOCHS = 120, 30  # by default; a pass through local layers takes several times as long
ENOUGH = 12_000  # examples for scales and beliefs
ASKED = 2000  # examples whose nearest others a radius is suggested from
NARROW, GREY = 8, 32 * 32  # pictures of fewer pixels on a side, or of so many grey ones, get dense layers by default
CLOSE_SHARE = (
    0.25  # of the distance to the nearest example of another label: half of it is the most that could be proved
)


@dataclass(frozen=True)
class Recipe:
    """Settings of the three steps; lengths are in units of the input."""

    epsilon: float = 2.0  # the radius to be robust at
    frames: str = "rest"  # what networks tell apart: each label from the rest, or pairs of labels
    networks: int = 7  # for each label, where they tell it from the rest
    width: int = 384  # of the layers that all networks share
    depth: int = 5  # how many these are
    head: int = 64  # width of the layer that each network has of its own
    epochs: int = 120
    batch: int = 256
    rate: float = 0.1
    beta: float = 1.1  # times epsilon: what the first step lowers and raises scores by
    plain: float = 0.15  # weight of being right at all in the first step
    late: float = 3.0  # times plain, once settled
    shift: float = 0.5  # times epsilon: the same in the second step
    sharpness: float = 8.0  # divided by epsilon: s of the first step
    gamma: float = 0.0  # times epsilon: what the best network must reach, or the example is memorised
    settled: float = 0.9  # share of the first step after which being right counts more, and memory may take examples
    augment: float = 0.5  # strength of changes to pictures
    omega: float = 0.5  # weight of the unmoved cross-entropy in the third step
    memories: bool = True
    local: bool = False  # whether the first layers look at neighbouring pixels
    seed: int = 0

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def weight_of_right(self, epoch: int) -> float:
        """The weight of being right at all in an epoch of the first step."""
        return self.plain * (self.late if self.is_settled(epoch) else 1.0)

    def is_settled(self, epoch: int) -> bool:
        return epoch >= self.settled * self.epochs


def recipe_of(settings: Any, sample: TrainingSample) -> Recipe:
    """The settings of a `RobustClassifier`, checked, for the examples that it is to learn from."""
    from sklearn.utils import check_random_state

    for name in ("networks", "width", "depth", "head", "batch_size", "learning_rate", "beta"):
        if not getattr(settings, name) > 0:
            raise NbrError(f"{name} must be above 0, not {getattr(settings, name)!r}")
    if settings.epochs != "auto" and (isinstance(settings.epochs, str) or not settings.epochs > 0):
        raise NbrError(f'epochs must be above 0, or "auto", not {settings.epochs!r}')
    if not 0 <= settings.held_out < 1:
        raise NbrError(f"held_out must be a share of at least 0 and less than 1, not {settings.held_out!r}")
    if settings.linear not in (True, False, "auto"):
        raise NbrError(f'linear must be True, False or "auto", not {settings.linear!r}')
    if settings.local not in (True, False, "auto"):
        raise NbrError(f'local must be True, False or "auto", not {settings.local!r}')
    if settings.local is True and sample.shape is None:
        raise NbrError(
            "local layers look at neighbouring pixels, and vectors have none; give pictures (n, height, width)"
        )
    if settings.frames not in FRAMES:
        raise NbrError(f"unknown frames {settings.frames!r}" + suggest(str(settings.frames), FRAMES))
    frames = settings.frames
    if frames == "auto":
        frames = "rest" if sample.kinds == 2 else "pairs"
    local = wide(sample.shape) if settings.local == "auto" else settings.local
    usual = LOCAL_EPOCHS if local else DENSE_EPOCHS
    return Recipe(
        epsilon=check_epsilon(suggested_epsilon(sample) if settings.epsilon == "auto" else settings.epsilon),
        frames=frames,
        epochs=usual if settings.epochs == "auto" else settings.epochs,
        local=local,
        batch=settings.batch_size,
        rate=settings.learning_rate,
        seed=int(check_random_state(settings.random_state).randint(2**31)),
        **{name: getattr(settings, name) for name in ALIKE},
    )


def wide(shape: tuple[int, ...] | None) -> bool:
    """Whether inputs are pictures in colour, or larger ones, of which layers that look at neighbours learn more.

    >>> [wide(shape) for shape in (None, (28, 28), (40, 40), (32, 32, 3), (4, 4, 3))]
    [False, False, True, True, False]
    """
    if shape is None or min(shape[:2]) < NARROW:
        return False
    return len(shape) == 3 or shape[0] * shape[1] > GREY


@dataclass(frozen=True)
class TrainingSample:
    """Training examples: flat points, the numbers of their labels, and the height and width (and channels) of pictures.

    `weights` say how much each example counts; their mean is 1.
    """

    points: Tensor
    labels: Tensor
    shape: tuple[int, ...] | None
    weights: Tensor | None = None

    @property
    def kinds(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1

    def split(self, share: float, seed: int) -> tuple[TrainingSample, TrainingSample | None]:
        """Examples to learn from, and a share of each label held out; all and none if a label has too few for that."""
        labels = self.labels.numpy()
        if not share or min(share, 1 - share) * np.bincount(labels).min() < 1:
            return self, None
        from sklearn.model_selection import StratifiedShuffleSplit  # slow to load, and needed in training alone

        splitter = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
        learn, held = (torch.from_numpy(rows) for rows in next(splitter.split(labels, labels)))
        return self._only(learn), self._only(held)

    def _only(self, rows: Tensor) -> TrainingSample:
        weights = None if self.weights is None else self.weights[rows] / self.weights[rows].mean()
        return TrainingSample(self.points[rows], self.labels[rows], self.shape, weights)

    def thinned(self, scores: Tensor) -> tuple[TrainingSample, Tensor]:
        """At most `ENOUGH` examples, evenly spaced, and their rows of a matrix: for steps that learn few numbers."""
        rows = torch.arange(0, len(self.labels), -(-len(self.labels) // ENOUGH))
        return (self, scores) if len(rows) == len(self.labels) else (self._only(rows), scores[rows])

    @property
    def fingerprint(self) -> str:
        """Tells one sample from another."""
        parts = [self.points, self.labels] + ([] if self.weights is None else [self.weights])
        return hashlib.sha256(b"".join(part.numpy().tobytes() for part in parts)).hexdigest()

    def mean(self, values: Tensor, rows: Tensor) -> Tensor:
        """The mean of values of some rows, each counted by its weight."""
        return values.mean() if self.weights is None else (values * self.weights[rows]).mean()

    def changed(self, rows: Tensor, strength: float, generator: torch.Generator, process: Process = ALONE) -> Tensor:
        """A process's share of some examples, pictures changed a little at random; all draw the same changes."""
        points = self.points[process.share(rows)]
        if self.shape is None or not strength:
            return points
        changes = process.share(random_maps(len(rows), strength, generator))
        return warped(points.view(-1, *self.shape), changes).flatten(1)


def suggested_epsilon(sample: TrainingSample) -> float:
    """A radius to be robust at: a quarter of the median distance to the nearest example of another label.

    >>> points = torch.tensor([[0.0], [0.5], [4.0], [4.5]])
    >>> suggested_epsilon(TrainingSample(points, torch.tensor([0, 0, 1, 1]), None))
    0.9375
    """
    step = max(1, len(sample.points) // ASKED)
    asked, labels = sample.points[::step], sample.labels[::step]
    near = [
        torch.cdist(part, sample.points).masked_fill(label[:, None] == sample.labels, torch.inf).amin(dim=1)
        for part, label in zip(asked.split(256), labels.split(256), strict=True)
    ]
    found = CLOSE_SHARE * float(torch.cat(near).double().quantile(0.5))
    if not found > 0:
        raise NbrError("examples of different labels are the same: no radius can be suggested; give epsilon a number")
    return found
