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

import torch

from nbr import priors
from nbr.learning.autoencoder import autoencode
from nbr.learning.bank import Bank
from nbr.learning.latent import CodeBank
from nbr.learning.objectives import Listed
from nbr.learning.training import BankTraining, Settings
from nbr.points.numbered import Listing, listing
from nbr.reasoner import Reasoner
from nbr.rules.codec import Codec
from nbr.tables import Table
from nbr.training import Watcher, silent
from nbr.world import World

WORLD = World.bits(11)
VIEWS = [tuple(f"x{i}" for i in range(10)), tuple(f"x{i}" for i in range(1, 11))]
COPIES = 10  # of every pattern of the nine bits, so that the proportions are exact
STEPS = {"identity": 1200, "autoencoder": 2000}
# A question takes a maximum over up to 1,024 points, so one half-learned corner spoils an answer: training goes on
# until the likelihood, which is all it may look at, has converged.
ATTEMPTS, CONVERGED, STUCK = 8, 1e-6, 1e-5


@dataclass(frozen=True)
class Question:
    """A row of the table: as printed in the paper, and the exact optimum, from rules at 8/9 and 3/4."""

    given: str
    asked: str
    paper: tuple[str, str]
    exact: tuple[float, float]


QUESTIONS = [
    Question("x0=1", "x10", ("0", "0.33"), (0, 1 / 3)),
    Question("x0=0", "x10", ("0.67", "1"), (2 / 3, 1)),
    Question("x0=1, x1..x4=0", "x5", ("0.89", "1"), (8 / 9, 1)),
    Question("x0=1, x1..x4=0, x10=1", "x5", ("0.67", "1"), (2 / 3, 1)),
    Question("x0=1, x1..x4=0, x6..x10=1", "x5", ("0.67", "0.75"), (2 / 3, 3 / 4)),
]


@dataclass(frozen=True)
class Trained:
    """A model of one seed: its answers, and how far they and its likelihood are from the best."""

    model: str
    seed: int
    reasoner: Reasoner
    answers: list[tuple[float, float]]
    excess: float  # nats a row below the best possible likelihood
    seconds: float

    @property
    def error(self) -> float:
        """The largest difference to the exact answers."""
        pairs = zip(self.answers, (question.exact for question in QUESTIONS), strict=True)
        return max(abs(ours - exact) for pair in pairs for ours, exact in zip(*pair, strict=True))


def observations() -> Table:
    """Every pattern of the nine bits, ten times from either side, in exact proportion: 9 to 1, and 2 to 8."""
    rows = []
    for middle in itertools.product([0.0, 1.0], repeat=9):
        majority = float(sum(middle) >= 5)
        for copy in range(COPIES):
            rows.append([majority if copy < 9 else 1 - majority, *middle, math.nan])
            rows.append([math.nan, *middle, majority if copy < 2 else 1 - majority])
    return Table(WORLD, torch.tensor(rows, dtype=torch.float64))


def best_likelihood() -> float:
    """The mean log-likelihood of an observation under the truth: nine fair bits, and one that mostly follows."""
    first = 0.9 * math.log(0.9) + 0.1 * math.log(0.1)
    last = 0.8 * math.log(0.8) + 0.2 * math.log(0.2)
    return (first + last) / 2 - 9 * math.log(2)


def train(model: str, seed: int, watch: Watcher = silent) -> Trained:
    """Train "identity" or "autoencoder" from scratch, and ask it."""
    began = time.monotonic()
    listed = listing(WORLD)
    assert listed is not None
    codec, bank = _start(model, seed)
    excess = math.inf
    for attempt in range(ATTEMPTS):
        if attempt and excess > STUCK:  # start again; otherwise go on from where the last round ended
            codec, bank = _start(model, seed + 1000 * attempt)
        excess = best_likelihood() - _learn(bank, listed, model, watch)
        if excess < CONVERGED:
            break
    if codec is None:
        reasoner = Reasoner(WORLD, bank.export())
    else:
        reasoner = Reasoner(WORLD, bank.export(), latent=codec.latent, decoder=codec.decoder, encoder=codec.encoder)
    seconds = time.monotonic() - began
    found = [reasoner.ask(question.asked, question.given) for question in QUESTIONS]
    answers = [(answer.belief, answer.plausibility) for answer in found]
    return Trained(model, seed, reasoner, answers, excess, seconds)


def _start(model: str, seed: int) -> tuple[Codec | None, Bank]:
    if model == "identity":
        return None, Bank(WORLD, VIEWS, 1, 100, seed)
    codec = autoencode(WORLD, 8, seed)
    return codec, CodeBank(codec, VIEWS, 128, seed)


def _learn(bank: Bank, listed: Listing, model: str, watch: Watcher) -> float:
    """Training on all rows; the mean log-likelihood in the end."""
    prior = priors.uniform(WORLD).log_prob(listed.points)
    goal = Listed(bank, listed, prior, {"train": observations()})
    settings = Settings(steps=STEPS[model], decay=0.0, rate=0.003 if model == "autoencoder" else 0.005)
    BankTraining(bank, goal, settings).run(watch, model)
    return goal.mean(bank, "train")
