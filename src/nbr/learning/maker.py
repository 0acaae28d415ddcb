"""Banks of different sizes, trained on the same terms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from nbr import clock
from nbr.errors import NbrError
from nbr.learning.bank import Bank
from nbr.learning.least_committed import least_committed
from nbr.learning.objectives import ListedObjective, Objective, objective
from nbr.learning.training import DRAWN, EXACT, BankTraining, FitSettings
from nbr.parallel import mapped
from nbr.priors import Mixture, Prior, relearned
from nbr.progress import Watcher, silent
from nbr.tables import Table
from nbr.training import Checkpoint, fingerprint, generator, here

FEW = 4  # rows of which a standard error says so little that it counts twice
DRAWS = 256  # points that stand for a prior which cannot be written down

Parts = dict[str, Table]
Stage = tuple[str, Parts, int, int | None]  # its name, rows, rules for each set of columns, and steps if not as usual


@dataclass(frozen=True)
class TrainedBank:
    """A trained bank, what it was trained by, and how many rows each part had."""

    bank: Bank
    objective: Objective
    settings: FitSettings
    steps: int  # after which its weights were best
    sizes: dict[str, int]
    prior: Prior
    seconds: float = 0.0  # that training took

    @property
    def kept(self) -> float:
        """The share of the prior's points that rules keep: 1 over how many are drawn for a sample."""
        with torch.no_grad():
            return self.objective.kept(self.bank)

    @property
    def rows(self) -> int:
        """How many were trained on."""
        return self.sizes["train"]

    def score(self, part: str) -> tuple[float, float, int]:
        """The mean log-likelihood of a row of a part, its standard error, and how many rows there are."""
        with torch.no_grad():
            values, weights = self.objective.log_prob(self.bank, part).double(), self.objective.weights[part].double()
        mean, rows = float(weights @ values), self.sizes[part]
        return mean, (float(weights @ (values - mean) ** 2) / max(rows - 1, 1)) ** 0.5, rows


@dataclass(frozen=True)
class Maker:
    """All that banks have in common."""

    inputs: list[tuple[str, ...]]
    prior: Prior
    width: int
    seed: int
    folder: Path | None
    watch: Watcher
    steps: int | None = None  # at the most, if not as usual
    jobs: int | None = None  # processes for stages that do not wait for each other
    deadline: float = math.inf  # after which training ends
    least: float = 0.0  # the share of the prior's points below which rules gain nothing by keeping fewer

    def train_each(self, stages: Sequence[Stage]) -> Iterator[TrainedBank]:
        """Train stages in order, as far as they are asked for; several processes begin with later ones meanwhile."""
        quiet = self if self.jobs in (None, 1) else replace(self, watch=silent)  # bars would overwrite each other
        return mapped(quiet._stage, stages, self.jobs)

    def _stage(self, stage: Stage) -> TrainedBank:
        return self.train(*stage)

    def train(self, stage: str, parts: dict[str, Table], rules: int, steps: int | None = None) -> TrainedBank:
        """A bank of so many rules for each set of columns; rows to measure by come first, so that all see the same."""
        parts = {name: parts[name] for name in ("test", "valid", "train") if name in parts}
        bank = Bank(self.prior.world, self.inputs, rules, self.width, self.seed)
        goal = objective(bank, self.prior, parts, self.seed, here(), self.least)
        settings = EXACT if isinstance(goal, ListedObjective) else DRAWN
        settings = replace(settings, steps=steps or self.steps or settings.steps)
        checkpoint = None
        if self.folder is not None:
            path = self.folder / f"{stage}-{rules}.safetensors"
            checkpoint = Checkpoint(path, self.fingerprint(stage, parts, rules, settings))
        words = f"{rules} rule{'s' if rules > 1 else ''} for each set of columns"
        began = clock.now()
        best = BankTraining(bank, goal, settings, checkpoint, self.deadline).run(
            self.watch, words if stage == "choice" else f"{words}, {stage}"
        )
        if isinstance(goal, ListedObjective):
            bank = least_committed(bank, goal, settings)
        sizes = {name: table.rows for name, table in parts.items()}
        return TrainedBank(bank, goal, settings, best, sizes, self.prior, clock.now() - began)

    def alone(self, parts: dict[str, Table], settings: FitSettings) -> TrainedBank:
        """The prior with a bank of which nothing is believed."""
        parts = {name: parts[name] for name in ("test", "valid", "train") if name in parts}
        bank = Bank(self.prior.world, self.inputs, 1, 1, self.seed)
        torch.nn.init.constant_(bank.doubt, -torch.inf)
        sizes = {name: table.rows for name, table in parts.items()}
        return TrainedBank(bank, objective(bank, self.prior, parts, self.seed, here()), settings, 0, sizes, self.prior)

    def relearned(self, table: Table) -> Maker:
        """With a prior of trees learned from other rows; other priors stay as they are."""
        if not isinstance(self.prior, Mixture):
            return self
        return replace(self, prior=relearned(self.prior, table.one_by_one(self.seed), self.watch))

    def fingerprint(self, stage: str, parts: dict[str, Table], rules: int, settings: FitSettings) -> str:
        """Of all that decides the weights, so that a checkpoint is not mistaken for another's."""
        return fingerprint(
            stage=stage,
            world=self.prior.world.spec,
            inputs=self.inputs,
            prior=_written(self.prior),
            width=self.width,
            least=self.least,
            seed=self.seed,
            rules=rules,
            settings=settings.plain(),
            rows={name: _rows(table) for name, table in parts.items()},
        )


def _rows(table: Table) -> object:
    return table.codes if table.counts is None else [table.codes, table.counts]


def gain(before: TrainedBank, after: TrainedBank, part: str, called: str | None = None) -> tuple[float, float]:
    """What a row of a part gains on average, and the standard error of that; `before` may know it by another name."""
    with torch.no_grad():
        was = before.objective.log_prob(before.bank, called or part)
        each = after.objective.log_prob(after.bank, part) - was
    weights = after.objective.weights[part]
    mean = float(weights @ each)
    return mean, float((weights @ (each - mean) ** 2).sqrt()) / after.sizes[part] ** 0.5


def gains(before: TrainedBank, after: TrainedBank, part: str, called: str | None = None, times: float = 1.0) -> bool:
    """Whether rows gain more than chance would give them: one standard error (or `times`), more where rows are few."""
    mean, error = gain(before, after, part, called)
    return mean > (times + FEW / after.sizes[part]) * error


def _written(prior: Prior) -> object:
    """A prior with its parameters; where it cannot be written down, points that it draws and what it says of them."""
    try:
        return [type(prior).__name__, *prior.spec()]
    except NbrError:
        drawn = prior.sample(DRAWS, generator(0, 0))
        return [type(prior).__name__, drawn, prior.log_prob(drawn)]
