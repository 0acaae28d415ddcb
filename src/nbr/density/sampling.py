"""Points drawn from a model combined with its prior (section 2.4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.likelihood import log_keep, log_weights
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.points.numbered import listing
from nbr.priors import Independent, Prior
from nbr.rules.knowledge import Knowledge

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
    """Equation (9): a point of the prior is kept with probability P_keep."""
    found: list[Tensor] = []
    kept = tried = 0
    while kept < count:
        points = prior.sample(BATCH, generator)
        chance = _target(knowledge, given)(points).exp()
        points = points[torch.rand(BATCH, generator=generator, dtype=torch.float64) < chance]
        found.append(points)
        kept, tried = kept + len(points), tried + BATCH
        if tried >= TRIED and kept < RARE * tried:
            return _chains(knowledge, prior, count, given, kept / tried, generator)
    points = torch.cat(found)[:count] if found else prior.sample(1, generator)[:0]
    return Drawn(points, "kept", kept / tried if tried else 1.0)


def _target(knowledge: Knowledge, given: Expression | None) -> Callable[[Tensor], Tensor]:
    """log of P_keep times the condition."""

    def target(points: Tensor) -> Tensor:
        value = log_keep(knowledge, points)
        return value if given is None else value.masked_fill(~given.holds(knowledge.world, points), -torch.inf)

    return target


def _chains(
    knowledge: Knowledge,
    prior: Prior,
    count: int,
    given: Expression | None,
    acceptance: float,
    generator: torch.Generator,
) -> Drawn:
    """Many Markov chains side by side, each moving one variable at a time to a value that the prior proposes.

    They start at points of the prior chosen by their P_keep. With independent variables the proposal cancels the
    prior, so a move is accepted by the ratio of P_keep alone.
    """
    target = _target(knowledge, given)
    if not isinstance(prior, Independent):
        raise NbrError(f"only {acceptance:.2g} of the points drawn are kept, and chains need an independent prior")
    starts = torch.cat([prior.sample(BATCH, generator) for _ in range(TRIED // BATCH)])
    log_start = target(starts)
    if not bool((log_start > -torch.inf).any()):
        raise NbrError(f"nothing found: none of {TRIED:,} points of the prior meets the condition and the rules")
    state = starts[torch.multinomial(torch.softmax(log_start, 0), CHAINS, replacement=True, generator=generator)]
    value = target(state)
    found: list[Tensor] = []
    while len(found) * CHAINS < count:
        for _ in range(SWEEPS if not found else SWEEPS // 4):
            proposal = prior.sample(CHAINS, generator)
            for column in range(len(knowledge.world)):
                moved = state.clone()
                moved[:, column] = proposal[:, column]
                news = target(moved)
                accept = torch.rand(CHAINS, generator=generator, dtype=torch.float64).log() < news - value
                state = torch.where(accept[:, None], moved, state)
                value = torch.where(accept, news, value)
        found.append(state)
    return Drawn(torch.cat(found)[:count], "chains", acceptance)
