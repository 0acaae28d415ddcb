"""Maximum likelihood by gradient steps; a run may be killed at any moment and goes on as if nothing had happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.learning.bank import Bank
from nbr.learning.objectives import Objective
from nbr.storage import checkpoints


@dataclass(frozen=True)
class Settings:
    """How rules are trained."""

    steps: int = 1500
    rate: float = 0.005
    pace: float = 10.0  # how many times faster beliefs move: their way is long, and there are few of them
    decay: float = 1.0  # of weights, not of beliefs
    pull: float = 0.01  # on beliefs, towards the least committed of equally likely models; fades out
    average: float = 0.98  # of the weights that are evaluated and kept
    every: int = 25  # steps between looks at the held-out rows
    patience: int = 6  # looks without gain after which training stops
    saved: float = 5.0  # seconds between checkpoints


@dataclass(frozen=True)
class Progress:
    """Where a training run is."""

    stage: str
    step: int
    steps: int
    train: float
    valid: float
    seconds_left: float


@dataclass(frozen=True)
class Outcome:
    """The best that a run found; the bank holds its weights."""

    step: int
    valid: float


Watcher = Callable[[Progress], None]


class Run:
    """One training run: a bank, an objective, and all the state that a checkpoint needs."""

    def __init__(self, bank: Bank, objective: Objective, settings: Settings, path: Path | None, label: str) -> None:
        self.bank, self.objective, self.settings = bank, objective, settings
        self.path, self.label = path, label
        networks = [value for name, value in bank.named_parameters() if name != "doubt"]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": networks, "weight_decay": settings.decay, "pace": 1.0},
                {"params": [bank.doubt], "weight_decay": 0.0, "pace": settings.pace},
            ],
            lr=settings.rate,
            betas=(0.9, 0.98),
        )
        self.average = {name: value.detach().clone() for name, value in bank.named_parameters()}
        self.best = {name: value.clone() for name, value in self.average.items()}
        self.step, self.best_step, self.best_valid, self.done = 0, 0, -float("inf"), False
        self._restore()

    def go(self, stage: str, watch: Watcher | None = None) -> Outcome:
        """Train to the end, or from where a checkpoint left off; leaves the best weights in the bank."""
        began, first, saved = time.monotonic(), self.step, time.monotonic()
        try:
            with deterministic():
                while not self.done:
                    loss = self._advance()
                    if self.step % self.settings.every == 0 or self.step == self.settings.steps:
                        self._look()
                        if watch is not None:
                            pace = (time.monotonic() - began) / (self.step - first)
                            left = pace * (self.settings.steps - self.step)
                            watch(Progress(stage, self.step, self.settings.steps, -loss, self.best_valid, left))
                    if time.monotonic() - saved > self.settings.saved or self.done:
                        self.save()
                        saved = time.monotonic()
        except KeyboardInterrupt:
            self.save()
            self._load(self.bank, self.best)
            raise
        self._load(self.bank, self.best)
        return Outcome(self.best_step, self.best_valid)

    def _advance(self) -> float:
        settings, share = self.settings, self.step / self.settings.steps
        for group in self.optimiser.param_groups:
            group["lr"] = settings.rate * group["pace"] * min(1.0, (self.step + 1) / 20) * (1 - 0.9 * share)
        self.optimiser.zero_grad()
        loss = self.objective.loss(self.bank, self.step)
        (loss + settings.pull * (1 - share) ** 2 * self.bank.beliefs.mean()).backward()
        self.optimiser.step()
        self.step += 1
        weight = 1 - min(settings.average, self.step / (self.step + 9))
        with torch.no_grad():
            for name, value in self.bank.named_parameters():
                self.average[name].lerp_(value, weight)
        return float(loss.detach())

    def _look(self) -> None:
        """Compare the averaged weights on the held-out rows; stop when they have not gained for long."""
        now = {name: value.detach().clone() for name, value in self.bank.named_parameters()}
        self._load(self.bank, self.average)
        part = "valid" if "valid" in self.objective.weights else "train"
        value = self.objective.mean(self.bank, part)
        self._load(self.bank, now)
        if value != value:
            raise NbrError(f"training broke down at step {self.step}: the likelihood is not a number")
        if value > self.best_valid or part == "train":
            self.best_valid, self.best_step = value, self.step
            self.best = {name: tensor.clone() for name, tensor in self.average.items()}
        late = self.step - self.best_step >= self.settings.patience * self.settings.every
        self.done = late or self.step >= self.settings.steps

    @staticmethod
    def _load(bank: Bank, values: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, value in bank.named_parameters():
                value.copy_(values[name])

    def save(self) -> None:
        """Write the whole state under a temporary name, then rename: a checkpoint is never half there."""
        if self.path is None:
            return
        tensors: dict[str, Tensor] = {f"now.{name}": value for name, value in self.bank.named_parameters()}
        tensors |= {f"average.{name}": value for name, value in self.average.items()}
        tensors |= {f"best.{name}": value for name, value in self.best.items()}
        tensors["alpha"] = self.objective.alpha
        for name, value in self.bank.named_parameters():
            for key, part in self.optimiser.state.get(value, {}).items():
                tensors[f"optimiser.{key}.{name}"] = part
        state = {"step": self.step, "best_step": self.best_step, "best_valid": self.best_valid, "done": self.done}
        checkpoints.save(self.path, self._run(), state, tensors)

    def _run(self) -> dict[str, object]:
        return {"label": self.label, "settings": asdict(self.settings)}

    def _restore(self) -> None:
        found = None if self.path is None else checkpoints.restore(self.path, self._run())
        if found is None:
            return
        state, tensors = found
        for name, value in self.bank.named_parameters():
            with torch.no_grad():
                value.copy_(tensors[f"now.{name}"])
            self.average[name], self.best[name] = tensors[f"average.{name}"], tensors[f"best.{name}"]
            kept = {
                key: tensors[f"optimiser.{key}.{name}"]
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"optimiser.{key}.{name}" in tensors
            }
            if kept:
                self.optimiser.state[value] = kept
        self.objective.alpha = tensors["alpha"]
        self.step, self.best_step, self.best_valid = state["step"], state["best_step"], state["best_valid"]
        self.done = state["done"]


@contextmanager
def deterministic() -> Iterator[None]:
    """The same sums in the same order, so that a resumed run ends with the same weights."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
