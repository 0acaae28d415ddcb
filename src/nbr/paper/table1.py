"""Table 1: five questions about an 11-bit world that nobody saw whole (section 3 of the paper).

Observations show the first ten bits or the last ten. In the first kind, x0 is the majority of the nine bits in the
middle nine times in ten; in the second, x10 is its opposite eight times in ten. Rules are learned from these rows,
once on the bits themselves and once on the codes of an autoencoder, and answer what no row shows.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from functools import cached_property

import torch

from nbr import priors
from nbr.learning import Bank, BankTraining, CodeBank, FitSettings, ListedObjective, autoencode
from nbr.points import numbered_points
from nbr.progress import Watcher, silent
from nbr.reasoner import Reasoner
from nbr.rules import Codec
from nbr.tables import Table
from nbr.world import World

COPIES = 10  # of every pattern of the bits in the middle, so that the proportions are exact
STEPS = {"identity": 1200, "autoencoder": 2000}
# A question takes a maximum over up to 1,024 points, so one half-learned corner spoils an answer: training goes on
# until the likelihood, which is all it may look at, has converged.
ATTEMPTS, CONVERGED, STUCK = 8, 1e-6, 1e-5
REPRODUCED = 0.02  # how far an answer may be from the exact optimum


@dataclass(frozen=True)
class Question:
    """A row of the table: as printed in the paper, and the exact optimum, from rules at 8/9 and 3/4."""

    given: str
    asked: str
    paper: tuple[str, str]
    exact: tuple[float, float]


@dataclass(frozen=True)
class Experiment:
    """The experiment of section 3; with fewer bits in the middle, an odd number of them, the same in small."""

    middle: int = 9

    @cached_property
    def world(self) -> World:
        return World.bits(self.middle + 2)

    @property
    def views(self) -> list[tuple[str, ...]]:
        """Either side sees all bits but the last or the first."""
        return [self.world.names[:-1], self.world.names[1:]]

    @property
    def questions(self) -> list[Question]:
        """What the paper asks, where just under half of the middle are 0."""
        low, last = self.middle // 2, self.middle + 1
        zeros, asked = f"x0=1, x1..x{low}=0", f"x{low + 1}"
        return [
            Question("x0=1", f"x{last}", ("0", "0.33"), (0, 1 / 3)),
            Question("x0=0", f"x{last}", ("0.67", "1"), (2 / 3, 1)),
            Question(zeros, asked, ("0.89", "1"), (8 / 9, 1)),
            Question(f"{zeros}, x{last}=1", asked, ("0.67", "1"), (2 / 3, 1)),
            Question(f"{zeros}, x{low + 2}..x{last}=1", asked, ("0.67", "0.75"), (2 / 3, 3 / 4)),
        ]

    def observations(self) -> Table:
        """Every pattern of the middle, ten times from either side, in exact proportion: 9 to 1, and 2 to 8."""
        rows = []
        for middle in itertools.product([0.0, 1.0], repeat=self.middle):
            majority = float(2 * sum(middle) > self.middle)
            for copy in range(COPIES):
                rows.append([majority if copy < 9 else 1 - majority, *middle, math.nan])
                rows.append([math.nan, *middle, majority if copy < 2 else 1 - majority])
        return Table(self.world, torch.tensor(rows, dtype=torch.float64))

    @property
    def best_likelihood(self) -> float:
        """The mean log-likelihood of an observation under the truth: fair bits, and one that mostly follows."""
        first = 0.9 * math.log(0.9) + 0.1 * math.log(0.1)
        last = 0.8 * math.log(0.8) + 0.2 * math.log(0.2)
        return (first + last) / 2 - self.middle * math.log(2)

    def train(self, model: str, seed: int, watch: Watcher = silent) -> TrainedModel:
        """Train "identity" or "autoencoder" from scratch, and ask it."""
        began = time.monotonic()
        codec, bank = self._start(model, seed)
        excess = math.inf
        for attempt in range(ATTEMPTS):
            if attempt and excess > STUCK:  # start again; otherwise go on from where the last round ended
                codec, bank = self._start(model, seed + 1000 * attempt)
            excess = self.best_likelihood - self._learn(bank, model, watch)
            if excess < CONVERGED:
                break
        latent, decoder, encoder = (None,) * 3 if codec is None else (codec.latent, codec.decoder, codec.encoder)
        reasoner = Reasoner(self.world, bank.export(), latent=latent, decoder=decoder, encoder=encoder)
        seconds = time.monotonic() - began
        found = [reasoner.ask(question.asked, question.given) for question in self.questions]
        answers = [(answer.belief, answer.plausibility) for answer in found]
        pairs = zip(answers, (question.exact for question in self.questions), strict=True)
        error = max(abs(ours - exact) for pair in pairs for ours, exact in zip(*pair, strict=True))
        return TrainedModel(model, seed, reasoner, answers, error, excess, seconds)

    def _start(self, model: str, seed: int) -> tuple[Codec | None, Bank]:
        if model == "identity":
            return None, Bank(self.world, self.views, 1, 100, seed)
        codec = autoencode(self.world, self.middle - 1, seed)
        return codec, CodeBank(codec, self.views, 128, seed)

    def _learn(self, bank: Bank, model: str, watch: Watcher) -> float:
        """Training on all rows; the mean log-likelihood in the end."""
        listed = numbered_points(self.world)
        assert listed is not None
        prior = priors.uniform(self.world).log_prob(listed.points)
        goal = ListedObjective(bank, listed, prior, {"train": self.observations()})
        settings = FitSettings(steps=STEPS[model], decay=0.0, rate=0.003 if model == "autoencoder" else 0.005)
        BankTraining(bank, goal, settings).run(watch, model)
        return goal.mean(bank, "train")


@dataclass(frozen=True)
class TrainedModel:
    """A model of one seed: its answers, and how far they and its likelihood are from the best."""

    model: str
    seed: int
    reasoner: Reasoner
    answers: list[tuple[float, float]]
    error: float  # the largest difference to the exact answers
    excess: float  # nats a row below the best possible likelihood
    seconds: float


TABLE_1 = Experiment()
