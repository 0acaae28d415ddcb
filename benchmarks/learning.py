"""How the cost of a training step grows with the number of rules, and how quickly samples come."""

from __future__ import annotations

import torch

import nbr
from measure import Row, best, scaling
from nbr.calculus.point import keep_probability
from nbr.learning.bank import Bank

POINTS = 2048


def run() -> list[Row]:
    return [*_belief_part(), *_whole_step(), _samples()]


def _belief_part() -> list[Row]:
    """From grades to the loss and back to the grades and beliefs."""
    generator = torch.Generator().manual_seed(0)
    seconds = {}
    for rules in (10, 100, 1000):
        grades = torch.rand(POINTS, rules, generator=generator).requires_grad_()
        doubt = torch.randn(rules, generator=generator).requires_grad_()

        def step(grades: torch.Tensor = grades, doubt: torch.Tensor = doubt) -> None:
            kept = keep_probability(grades, torch.sigmoid(doubt)).log()
            (kept.logsumexp(0) - kept[:512].mean()).backward()

        seconds[rules] = best(step)
    return scaling("belief part of a training step", seconds, target=400)


def _whole_step() -> list[Row]:
    """The same with the networks: one trunk of fixed width, more and more outputs."""
    world = nbr.World.bits(11)
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 11)
    seconds = {}
    for rules in (10, 100, 1000):
        bank = Bank(world, [world.names], rules, width=96, seed=0)
        encoded = bank.encode(points)

        def step(bank: Bank = bank, encoded: torch.Tensor = encoded) -> None:
            kept = keep_probability(bank(encoded), bank.beliefs).log()
            (kept.logsumexp(0) - kept[:512].mean()).backward()

        seconds[rules] = best(step)
    return scaling("whole training step, fixed trunk", seconds, target=100)


def _samples() -> Row:
    """100,000 rows from a model of 16 bits and 32 rules, from the list of its 65,536 points."""
    world = nbr.World.bits(16)
    model = nbr.Reasoner(world, Bank(world, [world.names], 32, width=96, seed=0).export())
    seconds = best(lambda: model.sample(100_000, seed=0), repeat=2)
    return {
        "name": "100,000 samples, 16 bits, 32 rules",
        "ours_seconds": seconds,
        "target": "under 5 s",
        "met": seconds < 5,
        "note": "exact, from the list of all points",
    }
