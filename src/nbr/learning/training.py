"""Maximum likelihood for a bank of rules, by gradient steps on an objective."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from nbr import clock
from nbr.learning.bank import Bank
from nbr.learning.objectives import Objective
from nbr.progress import Watcher, silent
from nbr.training import Checkpoint, EarlyStopping, Loop, Stateful, averaged

WARM = 20  # steps until the full rate


@dataclass(frozen=True)
class FitSettings:
    """How rules are trained."""

    steps: int = 1500  # at the most
    rate: float = 0.005
    pace: float = 10.0  # how many times faster beliefs move: their way is long, and there are few of them
    decay: float = 1.0  # of weights, not of beliefs
    pull: float = 0.01  # on beliefs, towards the least committed of equally likely models; fades out
    average: float = 0.98  # of the weights that are evaluated and kept
    every: int = 25  # steps between looks at the held-out rows
    patience: int = 6  # looks without gain after which training stops

    def plain(self) -> dict[str, float]:
        return asdict(self)


EXACT = FitSettings()
DRAWN = FitSettings(steps=3000, decay=0.1, every=50)  # noise keeps weights in check, and a look is dear


class BankTraining:
    """A bank on its way up the likelihood; it stops when rows of a part "valid" gain no more, or it is late."""

    def __init__(
        self,
        bank: Bank,
        objective: Objective,
        settings: FitSettings,
        checkpoint: Checkpoint | None = None,
        deadline: float = math.inf,
    ) -> None:
        self.bank, self.objective, self.settings, self.deadline = bank, objective, settings, deadline
        networks = [value for name, value in bank.named_parameters() if name != "doubt"]
        optimiser = torch.optim.AdamW(
            [
                {"params": networks, "weight_decay": settings.decay, "lr": settings.rate},
                {"params": [bank.doubt], "weight_decay": 0.0, "lr": settings.rate * settings.pace},
            ],
            betas=(0.9, 0.98),
        )
        self.average = averaged(bank, settings.average)
        self.early = self._early_stopping(self.average.module) if "valid" in objective.weights else None
        self.train = -float("inf")  # mean log-likelihood of a row in the last step
        kept: dict[str, Stateful] = {"bank": bank, "average": self.average, "objective": objective}
        if self.early is not None:
            kept["early stopping"] = self.early
        self.loop = Loop(
            optimiser,
            self._loss,
            settings.steps,
            schedule=LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / WARM) * (1 - 0.9 * step / settings.steps)),
            after=self._after,
            figures=lambda loss: self._figures(),
            kept=kept,
            checkpoint=checkpoint,
            process=objective.process,
        )

    def run(self, watch: Watcher = silent, stage: str = "rules") -> int:
        """Train; leaves averaged weights in the bank, the best if rows are held out, and tells the step they are of."""
        step = self.loop.run(watch, stage)
        if self.early is not None:
            self.early.restore()
            step = self.early.best_step
        self.bank.load_state_dict(self.average.module.state_dict())
        return step

    def _loss(self, step: int) -> Tensor:
        loss = self.objective.loss(self.bank, step)
        self.train = self.objective.log_likelihood(float(loss.detach()))
        pull = self.settings.pull * (1 - step / self.settings.steps) ** 2 * self.bank.beliefs.mean()
        process = self.objective.process
        return process.part(loss) + process.once(pull)

    def _after(self, step: int, loss: float) -> bool:
        self.average.update_parameters(self.bank)
        late = clock.now() > self.deadline
        if self.early is None:
            return late
        if late:
            self.early.last_step = step  # a last look
        return self.early(step) or late

    def _early_stopping(self, model: nn.Module) -> EarlyStopping:
        assert isinstance(model, Bank)
        settings = self.settings
        return EarlyStopping(
            model,
            lambda: self.objective.mean(model, "valid"),
            every=settings.every,
            patience=settings.patience,
            last_step=settings.steps,
        )

    def _figures(self) -> dict[str, float]:
        """Both in nats a row."""
        held = {} if self.early is None or not self.early.best_step else {"held out": self.early.best}
        return {"log-likelihood": self.train, **held}
