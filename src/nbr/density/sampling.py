"""Points drawn from a model combined with its prior (section 2.4 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.conditions import allowed
from nbr.density.likelihood import log_keep, log_weights
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.points.numbered import listing
from nbr.priors import Allowed, Independent, Prior
from nbr.rules.knowledge import Knowledge
from nbr.world import World

BATCH = 1 << 15
RARE = 1e-3  # below this share of points kept, chains take over
TRIED = 1 << 18  # points after which that is decided
CHAINS = 1 << 10
SWEEPS = 64  # over all variables before a chain is trusted, and a quarter of that between its samples


@dataclass(frozen=True)
class Drawn:
    """Sampled points, how they came about, and which share of the prior's points was kept."""

    points: Tensor
    method: str
    acceptance: float


def draw(knowledge: Knowledge, prior: Prior, count: int, given: Expression | None, generator: torch.Generator) -> Drawn:
    """Exactly from the list of all points if the world is finite and small; else keep or discard; else chains."""
    if count < 0:
        raise NbrError(f"the number of samples is {count}")
    listed = listing(knowledge.world)
    weights = None if listed is None else log_weights(knowledge, prior, listed)
    if listed is not None and weights is not None:
        points = listed.points
        if given is not None:
            weights = weights.masked_fill(~given.holds(knowledge.world, points), -torch.inf)
        if not bool((weights > -torch.inf).any()):
            raise NbrError("nothing can be drawn: no point meets the condition and the rules")
        chance = torch.softmax(weights, dim=0)
        numbers = (
            torch.multinomial(chance, count, replacement=True, generator=generator) if count else chance[:0].long()
        )
        return Drawn(points[numbers], "listed", float(weights.logsumexp(0).exp()))
    return _kept(knowledge, prior, count, given, generator)


def _kept(
    knowledge: Knowledge, prior: Prior, count: int, given: Expression | None, generator: torch.Generator
) -> Drawn:
    """Equation (9): a point of the prior is kept with probability P_keep; drawn within what single variables may be."""
    proposals = _proposals(knowledge.world, prior, given)
    found: list[Tensor] = []
    kept = tried = 0
    while kept < count:
        points = proposals.draw(BATCH, generator)
        chance = _target(knowledge, given)(points).exp()
        points = points[torch.rand(BATCH, generator=generator, dtype=torch.float64) < chance]
        found.append(points)
        kept, tried = kept + len(points), tried + BATCH
        if tried >= TRIED and kept < RARE * tried:
            return _chains(knowledge, proposals, count, given, kept / tried * proposals.share, generator)
    points = torch.cat(found)[:count] if found else prior.sample(1, generator)[:0]
    return Drawn(points, "kept", kept / tried * proposals.share if tried else 1.0)


@dataclass(frozen=True)
class _Proposals:
    """A prior within what a condition allows single variables, and which share of the prior that is."""

    prior: Prior
    allowed: dict[str, Allowed]
    share: float

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        if not self.allowed:
            return self.prior.sample(count, generator)
        return self.prior.sample_within(self.allowed, count, generator)


def _proposals(world: World, prior: Prior, given: Expression | None) -> _Proposals:
    alone = allowed(world, given)
    mass = prior.log_mass(alone) if alone else None
    return _Proposals(prior, {}, 1.0) if mass is None else _Proposals(prior, alone, math.exp(mass))


def _target(knowledge: Knowledge, given: Expression | None) -> Callable[[Tensor], Tensor]:
    """log of P_keep times the condition."""

    def target(points: Tensor) -> Tensor:
        value = log_keep(knowledge, points)
        return value if given is None else value.masked_fill(~given.holds(knowledge.world, points), -torch.inf)

    return target


def _chains(
    knowledge: Knowledge,
    proposals: _Proposals,
    count: int,
    given: Expression | None,
    acceptance: float,
    generator: torch.Generator,
) -> Drawn:
    """Many Markov chains side by side, each moving some variables at a time to values that the prior proposes.

    They start at points of the prior chosen by their P_keep. Given the variables that stay, the proposal cancels the
    prior, so a move is accepted by the ratio of P_keep and the condition alone.
    """
    target = _target(knowledge, given)
    starts = torch.cat([proposals.draw(BATCH, generator) for _ in range(TRIED // BATCH)])
    log_start = target(starts)
    if not bool((log_start > -torch.inf).any()):
        raise NbrError(f"nothing found: none of {TRIED:,} points of the prior meets the condition and the rules")
    state = starts[torch.multinomial(torch.softmax(log_start, 0), CHAINS, replacement=True, generator=generator)]
    value = target(state)
    found: list[Tensor] = []
    sweeps = SWEEPS if isinstance(proposals.prior, Independent) else SWEEPS // 4  # larger moves, and dearer ones
    while len(found) * CHAINS < count:
        for _ in range(sweeps if not found else sweeps // 4):
            fresh = proposals.draw(CHAINS, generator)
            for columns in _blocks(proposals.prior, generator):
                moved = state.clone()
                if isinstance(proposals.prior, Independent):
                    moved[:, columns] = fresh[:, columns]
                else:
                    moved[:, columns] = torch.nan
                    moved = proposals.prior.complete(moved, 1, generator)[:, 0]
                news = target(moved)
                accept = torch.rand(CHAINS, generator=generator, dtype=torch.float64).log() < news - value
                state = torch.where(accept[:, None], moved, state)
                value = torch.where(accept, news, value)
        found.append(state)
    return Drawn(torch.cat(found)[:count], "chains", acceptance)


def _blocks(prior: Prior, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Which variables move together: each alone if they are independent, else a quarter of them at random."""
    count = len(prior.world)
    if isinstance(prior, Independent):
        blocks: tuple[Tensor, ...] = torch.arange(count).split(1)
    else:
        blocks = torch.randperm(count, generator=generator).split(max(1, count // 4))
    return blocks
