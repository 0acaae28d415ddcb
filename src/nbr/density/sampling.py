"""Points drawn from a model combined with its prior (section 2.4 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.chains import CHAINS, MET, Chains, Watch
from nbr.density.draws import Draws
from nbr.density.likelihood import log_weights
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.points.numbered import listing

BATCH = 1 << 15
RARE = 1e-3  # below this share of points kept, chains take over
TRIED = 1 << 18  # points after which that is decided
SWEEPS = 64  # over all variables before chains are looked at, and a quarter of that between their samples
LONGEST = 128  # sweeps of the last try, each twice as long as the one before


@dataclass(frozen=True)
class Drawn:
    """Sampled points, how they came about, and which share of the prior's points was kept."""

    points: Tensor
    method: str
    acceptance: float


def draw(model: Model, count: int, given: Expression | None, generator: torch.Generator) -> Drawn:
    """Exactly from the list of all points if the world is finite and small; else keep or discard; else chains."""
    return Sampler.of(model, given).draw(count, generator)


@dataclass(frozen=True)
class Sampler:
    """All that is needed to draw again and again: every point and its chance, or draws inside the condition."""

    given: Expression | None
    listed: tuple[Tensor, Tensor, float] | None  # points, their chances, and which share of the prior they keep
    draws: Draws | None

    @classmethod
    def of(cls, model: Model, given: Expression | None) -> Sampler:
        listed = listing(model.world)
        weights = None if listed is None else log_weights(model, listed)
        if listed is None or weights is None:
            return cls(given, None, Draws.of(model, given))
        points = listed.points
        if given is not None:
            weights = weights.masked_fill(~given.holds(model.world, points), -torch.inf)
        if not bool((weights > -torch.inf).any()):
            raise NbrError("nothing can be drawn: no point meets the condition and the rules")
        return cls(given, (points, torch.softmax(weights, dim=0), float(weights.logsumexp(0).exp())), None)

    def draw(self, count: int, generator: torch.Generator) -> Drawn:
        if count < 0:
            raise NbrError(f"the number of samples is {count}")
        if self.listed is None:
            assert self.draws is not None
            return _kept(self.draws, count, self.given, generator)
        points, chance, share = self.listed
        numbers = (
            torch.multinomial(chance, count, replacement=True, generator=generator) if count else chance[:0].long()
        )
        return Drawn(points[numbers], "listed", share)


def _kept(draws: Draws, count: int, given: Expression | None, generator: torch.Generator) -> Drawn:
    """Equation (9): a point of the prior, drawn inside the condition, is kept with probability P_keep."""
    found: list[Tensor] = []
    kept = tried = 0
    while kept < count:
        points = draws.points(BATCH, generator)
        chance = draws.log_weights(points).exp()
        points = points[torch.rand(BATCH, generator=generator, dtype=torch.float64) < chance]
        found.append(points)
        kept, tried = kept + len(points), tried + BATCH
        if tried >= TRIED and kept < RARE * tried:
            return _from_chains(draws, count, given, draws.share * kept / tried, generator)
    points = torch.cat(found)[:count] if found else draws.points(1, generator)[:0]
    return Drawn(points, "kept", draws.share * kept / tried if tried else 1.0)


def _from_chains(
    draws: Draws, count: int, given: Expression | None, acceptance: float, generator: torch.Generator
) -> Drawn:
    """Chains that run until they have met, or else say that they have not."""
    starts = torch.cat([draws.points(BATCH, generator) for _ in range(TRIED // BATCH)])
    weights = torch.cat([draws.log_weights(part) for part in starts.split(BATCH)])
    if not bool((weights > -torch.inf).any()):
        raise NbrError(f"nothing found: none of {TRIED:,} points of the prior meets the condition and the rules")
    chains = Chains(draws, given, starts, weights, generator)
    sweeps, met = SWEEPS, math.inf
    while met > MET and sweeps <= LONGEST:
        watch = Watch()
        for sweep in range(sweeps):
            chains.sweep()
            if sweep >= sweeps // 2:
                watch.see(chains.numbers)
        sweeps, met = 2 * sweeps, watch.r_hat
    found = [chains.state]
    while len(found) * CHAINS < count:
        for _ in range(SWEEPS // 4):
            chains.sweep()
        found.append(chains.state)
    method = "chains" if met <= MET else f"chains that have not converged (R-hat {met:.2f}, above {MET})"
    return Drawn(torch.cat(found)[:count], method, acceptance)
