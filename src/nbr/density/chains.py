"""Markov chains inside a condition, many side by side, and whether they have met.

A move redraws one or some variables from the prior given all others, and is accepted by the ratio of P_keep alone,
since the prior cancels; once in a sweep a whole point is proposed afresh. Several chains run from each start. They have
met when means over the chains of one start differ no more than chance would have it: the nested R-hat of Margossian
and others (2024), which is that of Gelman and Rubin (1992) for many short chains.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nbr.density.draws import Draws
from nbr.density.keeping import log_keep
from nbr.errors import NbrError
from nbr.language import Expression

STARTS, EACH = 64, 16  # and chains from each
CHAINS = STARTS * EACH
BLOCKS = 8  # of variables that move together, where completing rows is dear
MET = 1.1  # an R-hat up to which chains count as mixed
RARE = 1e-3  # the variance of a bit below which its R-hat says nothing


class Chains:
    """The states of all chains, from starts chosen by their weights among many draws."""

    def __init__(
        self,
        draws: Draws,
        condition: Expression | None,
        starts: Tensor,
        log_weights: Tensor,
        generator: torch.Generator,
    ) -> None:
        if draws.model.base.log_mass({}) is None:
            raise NbrError("chains need a prior that can be drawn from inside a condition")
        self.draws, self.condition, self.generator = draws, condition, generator
        picks = torch.multinomial(torch.softmax(log_weights, 0), STARTS, replacement=True, generator=generator)
        self.distinct = len(picks.unique())
        self.state = starts[picks].repeat_interleave(EACH, dim=0)
        self.value = self._target(self.state)
        self._units: dict[int, float] = {}

    def _target(self, points: Tensor) -> Tensor:
        value = log_keep(self.draws.model, points)
        if self.condition is None:
            return value
        return value.masked_fill(~self.condition.holds(self.draws.model.world, points), -math.inf)

    def sweep(self) -> None:
        """A fresh point offered to each chain, and every variable moved once."""
        self._accept(self.draws.points(CHAINS, self.generator))
        prior = self.draws.model.base
        if prior.independent is None:
            for block in torch.randperm(len(prior.world), generator=self.generator).chunk(BLOCKS):
                self._accept(prior.redraw(self.state, block, self.generator))
            return
        width = len(prior.world)
        fresh = prior.sample_within(self.draws.within.allowed, CHAINS, self.generator)  # serves a whole sweep
        for column in range(width):
            other = int(torch.randint(2 * width, (), generator=self.generator))  # half of the time none
            pair = sorted({column, other}) if other < width else [column]
            moved = self.state.clone()  # what was drawn is shuffled, so that no chain is offered again what it took
            moved[:, pair] = fresh[torch.randperm(CHAINS, generator=self.generator)][:, pair]
            self._accept(moved)

    @property
    def numbers(self) -> Tensor:
        """What is watched: bits and labels as 0 or 1, reals in units of how they vary among chains."""
        world = self.draws.model.world
        state = self.state.clone()
        for column, variable in enumerate(world.variables.values()):
            if variable.numeric:
                if column not in self._units:
                    self._units[column] = max(float(state[:, column].std()), 1e-9 * (variable.high - variable.low))
                state[:, column] /= self._units[column]
        return world.encode(state, world.names)

    def _accept(self, moved: Tensor) -> None:
        news = self._target(moved)
        accept = torch.rand(CHAINS, generator=self.generator, dtype=torch.float64).log() < news - self.value
        self.state = torch.where(accept[:, None], moved, self.state)
        self.value = torch.where(accept, news, self.value)


class Watch:
    """The mean and spread of each chain over some sweeps."""

    def __init__(self, starts: int = STARTS) -> None:
        self.starts, self.count = starts, 0
        self.sums = self.squares = torch.zeros(0, dtype=torch.float64)

    def see(self, numbers: Tensor) -> None:
        """The numbers of all chains after a sweep: (chains, numbers); those from one start stand together."""
        if not self.count:
            self.sums = self.squares = torch.zeros_like(numbers)
        self.sums, self.squares, self.count = self.sums + numbers, self.squares + numbers**2, self.count + 1

    @property
    def means(self) -> Tensor:
        """The mean over the chains of each start: (starts, numbers)."""
        found: Tensor = (self.sums / self.count).unflatten(0, (self.starts, -1)).mean(dim=1)
        return found

    @property
    def r_hat(self) -> float:
        """The largest over all numbers: sqrt of 1 + (variance of the means of starts) / (variance within one)."""
        within = (self.squares / self.count).unflatten(0, (self.starts, -1)).mean(dim=1) - self.means**2
        between, whole = self.means.var(dim=0), within.clamp(min=0).mean(dim=0)
        matters = between > RARE * torch.where(whole + between > 1, whole + between, 1.0)
        return float((1 + between / whole)[matters].sqrt().max()) if bool(matters.any()) else 1.0
