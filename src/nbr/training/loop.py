"""The loop: gradient steps from a loss, which may be killed at any moment and go on as if nothing had happened."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from nbr.errors import NbrError
from nbr.progress import Progress, Watcher, silent
from nbr.storage import checkpoints, hold
from nbr.training.processes import ALONE, Process
from nbr.training.quiet import deterministic, patient_interrupt
from nbr.training.state import join, split

SECONDS = 5.0  # between checkpoints


class Stateful(Protocol):
    """What can tell its state and take it up again: modules, optimisers, schedulers, and what is written like them."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any], /) -> Any: ...


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is kept, and the fingerprint of all that decides its weights."""

    path: Path
    fingerprint: str


class Loop:
    """Steps down a loss.

    `loss` is told the number of the step, from 0, and draws only from sources that this number decides. `after` is
    told how many steps are done and the loss of the last one, and ends the run by returning True. A run can be taken up
    again after every `rest` steps; `kept` has, by name, what a checkpoint has to hold beside the optimiser. Of
    several processes each has its part of the loss of a batch: these add up, as do their gradients. The first writes.
    """

    def __init__(
        self,
        optimiser: Optimizer,
        loss: Callable[[int], Tensor],
        steps: int,
        *,
        schedule: LRScheduler | None = None,
        after: Callable[[int, float], bool] | None = None,
        figures: Callable[[float], Mapping[str, float]] = lambda loss: {"loss": loss},
        kept: Mapping[str, Stateful] | None = None,
        rest: int = 1,
        checkpoint: Checkpoint | None = None,
        process: Process = ALONE,
    ) -> None:
        self.optimiser, self.loss, self.steps = optimiser, loss, steps
        self.schedule, self.after, self.figures = schedule, after, figures
        self.rest, self.checkpoint, self.process = rest, checkpoint, process
        self.kept: dict[str, Stateful] = {**(kept or {}), "optimiser": optimiser}
        if schedule is not None:
            self.kept["schedule"] = schedule
        self.step, self.done = 0, steps == 0

    def run(self, watch: Watcher = silent, stage: str = "training") -> int:
        """Go to the end, from where a checkpoint left off if there is one; tells how many steps there were."""
        where = self.checkpoint if self.process.first else None
        watch = watch if self.process.first else silent
        with nullcontext() if where is None else hold(where.path), deterministic(), patient_interrupt() as interrupted:
            self._restore()
            saved, told = time.monotonic(), Progress(stage, self.step, self.steps)
            try:
                while not self.done:
                    loss = self._advance()
                    told = Progress(stage, self.step, self.steps, self.figures(loss))
                    watch(told)
                    if self._resting and (self.done or interrupted() or time.monotonic() - saved > SECONDS):
                        self._save()
                        saved = time.monotonic()
                    if interrupted():
                        raise KeyboardInterrupt
            finally:
                watch(Progress(stage, told.done, told.of, told.figures, ended=True))
        return self.step

    @property
    def _resting(self) -> bool:
        return self.done or self.step % self.rest == 0

    def _advance(self) -> float:
        self.optimiser.zero_grad()
        loss = self.loss(self.step)
        loss.backward()
        params = [value for group in self.optimiser.param_groups for value in group["params"]]
        value = self.process.summed(float(loss.detach()), params)
        if not math.isfinite(value):
            raise NbrError(f"training failed at step {self.step + 1}: the loss is {value}")
        self.optimiser.step()
        if self.schedule is not None:
            self.schedule.step()
        self.step += 1
        stop = self.after is not None and self.after(self.step, value)
        self.done = stop or self.step >= self.steps
        return value

    def _save(self) -> None:
        if self.checkpoint is not None and self.process.first:
            plain, tensors = split({name: part.state_dict() for name, part in self.kept.items()})
            state = {"step": self.step, "done": self.done, "kept": plain}
            checkpoints.save(self.checkpoint.path, {"fingerprint": self.checkpoint.fingerprint}, state, tensors)

    def _restore(self) -> None:
        if self.checkpoint is None:
            return
        found = checkpoints.restore(self.checkpoint.path, {"fingerprint": self.checkpoint.fingerprint})
        if found is not None:
            state, tensors = found
            for name, kept in join(state["kept"], tensors).items():
                self.kept[name].load_state_dict(kept)
            self.step, self.done = state["step"], state["done"]
