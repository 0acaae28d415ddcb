"""Sensors that learn from statements about pictures: the statements' likelihood goes up, by gradient steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.optim.lr_scheduler import LambdaLR

from nbr.classify import random_maps, warped
from nbr.errors import NbrError
from nbr.lipschitz import Stiefel
from nbr.model import Model
from nbr.progress import Watcher, silent
from nbr.rules import Rule
from nbr.teaching.architectures import Steady
from nbr.teaching.examples import Examples
from nbr.teaching.possible import check
from nbr.teaching.statements import Statements
from nbr.training import Checkpoint, Loop, Stateful, averaged, fingerprint, generator

LOOKS = 1_200_000  # pictures that are looked at in all, where it is not said how often each is
PASSES = 10, 200  # at least and at most, then
SHARE = 14  # of a side: how far pictures are shifted, where it is not said
LEAST = 1e-6  # of what beliefs that are learned start from, and of doubts
MEMORY = 0.99  # of the loss that is shown


@dataclass(frozen=True)
class TeachSettings:
    """How sensors learn."""

    epochs: float | None = None  # passes over all examples; None: until enough pictures were looked at
    batch: int = 120  # pictures a step, of as many whole examples as that makes
    rate: float = 0.002
    shift: int | None = None  # pixels that pictures are moved by at most; None: a fourteenth of the shorter side
    augment: float = 0.0  # strength of small turns, slants, sizes and shifts of pictures; 1: turns of up to 10 degrees
    warm: float = 0.05  # of all steps, until the full rate
    average: float = 0.999  # of the weights that are kept
    pace: float = 5.0  # how many times faster beliefs move
    steady_rate: float = 0.02  # of nonexpansive networks, whose steps all have one length
    seed: int = 0


class SensorLearner(nn.Module):
    """Networks, each once, and the doubts behind beliefs that are learned: a belief is sigmoid(doubt)."""

    def __init__(self, networks: Mapping[str, nn.Module], rules: Sequence[Rule]) -> None:
        super().__init__()
        each = list({id(network): network for network in networks.values()}.values())
        self.networks = nn.ModuleList(each)
        self.number = {name: [id(other) for other in each].index(id(network)) for name, network in networks.items()}
        doubts = [math.log(max(rule.degree, LEAST) / max(1 - rule.degree, LEAST)) for rule in rules]
        self.doubt = nn.Parameter(torch.tensor(doubts, dtype=torch.float64), requires_grad=bool(rules))
        self.rules = tuple(rules)

    def beliefs(self) -> dict[Rule, Tensor]:
        return dict(zip(self.rules, torch.sigmoid(self.doubt).unbind(), strict=True))

    def logs(self, pictures: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What the networks say of pictures of each variable, (n, values) each; one network looks once."""
        found: dict[str, Tensor] = {}
        for number, network in enumerate(self.networks):
            mine = [name for name in pictures if self.number[name] == number]
            scores = network(torch.cat([pictures[name] for name in mine])).chunk(len(mine))
            found |= dict(zip(mine, scores, strict=True))
        return found


class Teaching:
    """A learner on its way up the likelihood of what is said."""

    def __init__(
        self,
        model: Model,
        examples: Examples,
        learner: SensorLearner,
        settings: TeachSettings,
        path: Path | None = None,
    ) -> None:
        self.examples, self.learner, self.settings = examples, learner, settings
        self.said = Statements.of(model, examples.texts, examples.columns, list(examples.where), len(examples))
        check(model.world, examples, self.said)
        self.size = max(1, min(len(examples), settings.batch // len(examples.where)))  # examples a step
        self.each = len(examples) // self.size  # steps of a pass
        passes = settings.epochs
        if passes is None:
            passes = min(max(LOOKS / examples.looks, PASSES[0]), PASSES[1])
        self.steps = max(1, round(passes * self.each))
        self.shift = shift(examples.shape, settings.shift)
        if settings.augment and len(examples.shape) not in (2, 3):
            raise NbrError(
                "only pictures, (height, width) or (height, width, colours), are augmented: leave augment at 0"
            )
        self.wide = pad(examples.pool, (self.shift,) * 4) if self.shift else examples.pool
        self.average = averaged(learner, settings.average)
        self.checkpoint = None if path is None else Checkpoint(path, self._fingerprint(model))
        self.order: tuple[int, Tensor] | None = None  # of rows, in the pass that is under way
        self.nats: float | None = None  # a picture, over about the last hundred steps

    def run(self, watch: Watcher = silent) -> None:
        """Go through all steps that are left; the learner then has the weights that were averaged."""
        self.learner.train()
        optimiser = self._optimiser()
        kept: dict[str, Stateful] = {"learner": self.learner, "average": self.average}
        Loop(
            optimiser,
            self._loss,
            self.steps,
            schedule=LambdaLR(optimiser, self._rate),
            after=self._after,
            figures=lambda loss: {"nats a picture": self.nats or loss},
            kept=kept,
            checkpoint=self.checkpoint,
        ).run(watch, "sensors")
        state = self.average.module.state_dict()
        moving = dict(self.learner.named_buffers())  # of normalised batches: those are averages already
        self.learner.load_state_dict({name: value for name, value in state.items() if name not in moving}, strict=False)
        self.learner.eval()

    def _optimiser(self) -> torch.optim.Optimizer:
        settings = self.settings
        if any(isinstance(network, Steady) for network in self.learner.networks):
            return Stiefel(self.learner, lr=settings.steady_rate)
        groups = [{"params": list(self.learner.networks.parameters()), "lr": settings.rate}]
        if len(self.learner.rules):
            groups.append({"params": [self.learner.doubt], "lr": settings.rate * settings.pace})
        return torch.optim.Adam(groups)

    def _rate(self, step: int) -> float:
        start = max(1.0, self.settings.warm * self.steps)
        return min(1.0, (step + 1) / start) * (1 + math.cos(math.pi * min(1.0, step / self.steps))) / 2

    def _loss(self, step: int) -> Tensor:
        """Nats a picture of the examples of a step."""
        source = generator(self.settings.seed, step)
        rows = self._rows(step)
        where = self.examples.where
        moved = self._moved(torch.cat([each[rows] for each in where.values()]), source)
        pictures = dict(zip(where, moved.chunk(len(where)), strict=True))
        beliefs = self.learner.beliefs() if self.learner.rules else None
        logs = self.said.log_likelihood(self.learner.logs(pictures), rows, beliefs)
        sure = self.examples.beliefs[rows]
        if bool((sure < 1).any()):  # P = b P(statement) + (1 - b), since a rule of belief b keeps 1 - b elsewhere
            logs = torch.where(sure == 1, logs, torch.logaddexp(sure.log() + logs, (1 - sure).clamp(min=LEAST).log()))
        return -logs.mean() / len(where)

    def _rows(self, step: int) -> Tensor:
        epoch, number = divmod(step, self.each)
        if self.order is None or self.order[0] != epoch:
            source = generator(self.settings.seed + 1, epoch)
            self.order = epoch, torch.randperm(len(self.examples), generator=source)
        return self.order[1][number * self.size : (number + 1) * self.size]

    def _moved(self, places: Tensor, source: torch.Generator) -> Tensor:
        """Pictures, each shifted by some pixels and turned, slanted and sized a little."""
        pictures = self.wide[places]
        if self.shift:
            tall, wide = self.examples.shape[:2]
            down, right = torch.randint(0, 2 * self.shift + 1, (2, len(places), 1), generator=source)
            rows, columns = down + torch.arange(tall), right + torch.arange(wide)
            pictures = pictures[torch.arange(len(places))[:, None, None], rows[:, :, None], columns[:, None, :]]
        if not self.settings.augment:
            return pictures
        return warped(pictures, random_maps(len(places), self.settings.augment, source))

    def _after(self, step: int, loss: float) -> bool:
        self.average.update_parameters(self.learner)
        self.nats = loss if self.nats is None else MEMORY * self.nats + (1 - MEMORY) * loss
        return False

    def _fingerprint(self, model: Model) -> str:
        examples = self.examples
        return fingerprint(
            settings=asdict(self.settings),
            pictures=examples.pool,
            where=dict(examples.where),
            texts=list(examples.texts),
            columns={name: list(map(str, column)) for name, column in examples.columns.items()},
            beliefs=examples.beliefs,
            rules=[[str(rule), rule.degree] for body in model.bodies for rule in body.rules],
            variables={name: str(variable.spec) for name, variable in model.world.variables.items()},
            start=dict(self.learner.state_dict()),
        )


def shift(shape: Sequence[int], asked: int | None) -> int:
    """By how many pixels pictures may be shifted; inputs that are no grey pictures stay as they are."""
    if len(shape) != 2:
        if asked:
            raise NbrError("only grey pictures, (height, width), are shifted")
        return 0
    if asked is not None and not 0 <= asked < min(shape):
        raise NbrError(f"pictures can be shifted by a number of pixels from 0 to less than their sides, not {asked}")
    return min(shape) // SHARE if asked is None else asked
