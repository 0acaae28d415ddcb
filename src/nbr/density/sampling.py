"""Points drawn from a model combined with its prior (section 2.4 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from nbr.density import closed
from nbr.density.chains import CHAINS, MET, Chains, Watch
from nbr.density.contracted import network
from nbr.density.draws import Draws
from nbr.density.likelihood import log_weights
from nbr.density.sums import CLOSED
from nbr.errors import NbrError
from nbr.factors import Network
from nbr.language import Atom, Expression, Or, conjunction, conjuncts
from nbr.model import Model
from nbr.points import numbered_points
from nbr.ways import Cost, Limits, Unfit, Way, auto
from nbr.world import World

BATCH = 1 << 15
VALUES = 64  # of a variable that is drawn from tables
ORDERED = 0.5  # seconds for an order of summing
RARE = 1e-3  # below this share of points kept, chains take over
TRIED = 1 << 18  # points after which that is decided
SWEEPS = 64  # over all variables before chains are looked at, and a quarter of that between their samples
LONGEST = 128  # sweeps of the last try, each twice as long as the one before


@dataclass(frozen=True)
class DrawnPoints:
    """Sampled points, how they came about, and which share of the prior's points was kept."""

    points: Tensor
    method: str
    acceptance: float
    exact: bool = True  # whether points are drawn as likely as they are; of chains that is known in the limit only

    @property
    def kind(self) -> str:
        return "proved" if self.exact else "95%"

    @property
    def width(self) -> float:
        return 0.0 if self.exact else 1.0

    def narrowed(self, other: DrawnPoints) -> DrawnPoints:
        return self

    def beside(self, proved: DrawnPoints) -> DrawnPoints:
        return proved


def draw(model: Model, count: int, given: Expression | None, generator: torch.Generator) -> DrawnPoints:
    """Points of P_0 P_keep inside a condition, by the first way that fits."""
    return Sampler(model, given).draw(count, generator)


@dataclass(frozen=True)
class Sampler:
    """A model and a condition, to be drawn from again and again; what ways need is made once."""

    model: Model
    given: Expression | None

    def draw(self, count: int, generator: torch.Generator) -> DrawnPoints:
        if count < 0:
            raise NbrError(f"the number of samples must not be below 0: {count}")
        found = auto(SAMPLES, DrawnSample(self, count, generator), Limits()).found
        assert found is not None  # chains always find something, or say why not; so does what is drawn forward
        return found

    def __reduce__(self) -> tuple[type, tuple[Model, Expression | None]]:
        return Sampler, (self.model, self.given)  # another process makes its own

    @cached_property
    def listed(self) -> tuple[Tensor, Tensor, float] | None:
        """All points, their chances, and which share of the prior they keep; None where they cannot be listed."""
        points = numbered_points(self.model.world)
        try:
            weights = None if points is None else log_weights(self.model, points)
        except Unfit:
            return None
        if points is None or weights is None:
            return None
        if self.given is not None:
            weights = weights.masked_fill(~self.given.holds(self.model.world, points.points), -torch.inf)
        if not bool((weights > -torch.inf).any()):
            raise NbrError("nothing can be drawn: no point meets the condition and the rules")
        return points.points, torch.softmax(weights, dim=0), float(weights.logsumexp(0).exp())

    @cached_property
    def draws(self) -> Draws:
        """Draws of the prior, as far as possible inside the condition."""
        return Draws.of(self.model, self.given)

    @cached_property
    def tables(self) -> Network:
        """Small tables in which every value stands for itself; `Unfit` where there are none."""
        said: list[Expression] = [] if self.given is None else [self.given]
        for name, variable in self.model.world.variables.items():
            values = numbered_points(World({name: variable}), VALUES)
            if values is None:
                raise Unfit(f"{name!r} has more than {VALUES} values")
            shown = [variable.show(code) for code in values.points[:, 0].tolist()]
            said.append(Or(tuple(Atom(name, "=", (word,)) for word in shown)))
        return network(self.model, said, ORDERED)

    @cached_property
    def share(self) -> float:
        """How much of the prior the condition and the rules keep, by contraction."""
        return float(self.tables.log_sums([self.given])[0].exp())


@dataclass(frozen=True)
class DrawnSample:
    """So many points of a sampler."""

    of: Sampler
    count: int
    generator: torch.Generator


class ListedSamples(Way[DrawnSample, DrawnPoints]):
    """Exactly, from the list of all points."""

    name = "listed"

    def unfit(self, asked: DrawnSample) -> str | None:
        return None if asked.of.listed is not None else "there are too many points to list"

    def cost(self, asked: DrawnSample) -> Cost:
        return Cost(0.0, sure=True)

    def solve(self, asked: DrawnSample, limits: Limits) -> DrawnPoints:
        assert asked.of.listed is not None
        points, chance, share = asked.of.listed
        if not asked.count:
            return DrawnPoints(points[:0], self.name, share)
        numbers = torch.multinomial(chance, asked.count, replacement=True, generator=asked.generator)
        return DrawnPoints(points[numbers], self.name, share)


class KeptSamples(Way[DrawnSample, DrawnPoints]):
    """Equation (9): a point of the prior, drawn inside the condition, is kept with probability P_keep."""

    name = "kept"

    def unfit(self, asked: DrawnSample) -> str | None:
        return CLOSED if asked.of.model.closed else None

    def cost(self, asked: DrawnSample) -> Cost:
        return Cost(0.02)

    def solve(self, asked: DrawnSample, limits: Limits) -> DrawnPoints:
        draws, count, generator = asked.of.draws, asked.count, asked.generator
        found: list[Tensor] = []
        kept = tried = 0
        while kept < count:
            points = draws.points(BATCH, generator)
            chance = draws.log_weights(points).exp()
            points = points[torch.rand(BATCH, generator=generator, dtype=torch.float64) < chance]
            found.append(points)
            kept, tried = kept + len(points), tried + BATCH
            if tried >= TRIED and kept < RARE * tried:
                raise Unfit(f"of {tried:,} points of the prior {kept} are kept")
        points = torch.cat(found)[:count] if found else draws.points(1, generator)[:0]
        return DrawnPoints(points, self.name, draws.share * kept / tried if tried else 1.0)


class Forward(Way[DrawnSample, DrawnPoints]):
    """Points of the prior, closed variables as the least model of rules drawn for each; kept as far as rules hold."""

    name = "forward"

    def unfit(self, asked: DrawnSample) -> str | None:
        return None if asked.of.model.closed else "no variable is closed"

    def cost(self, asked: DrawnSample) -> Cost:
        return Cost(0.05)

    def solve(self, asked: DrawnSample, limits: Limits) -> DrawnPoints:
        model, given, generator = asked.of.model, asked.of.given, asked.generator
        parts = [] if given is None else [each for each in conjuncts(given) if not each.names() & model.closed]
        draws = Draws.of(model, conjunction(parts))
        found, kept, tried = [draws.points(1, generator)[:0]], 0, 0
        while kept < asked.count:
            points, chance = closed.forward(model, draws.points(BATCH, generator), generator)
            met = torch.rand(BATCH, generator=generator, dtype=torch.float64) < chance
            points = points[met if given is None else met & given.holds(model.world, points)]
            found.append(points)
            kept, tried = kept + len(points), tried + BATCH
            if tried >= TRIED and kept < RARE * tried:
                raise NbrError(f"of {tried:,} points drawn {kept} meet the condition and the rules: too few to go on")
        return DrawnPoints(torch.cat(found)[: asked.count], self.name, draws.share * kept / tried if tried else 1.0)


class ContractedSamples(Way[DrawnSample, DrawnPoints]):
    """Exactly, variable after variable along an order of summing."""

    name = "contracted"

    def cost(self, asked: DrawnSample) -> Cost:
        return Cost(0.05)

    def solve(self, asked: DrawnSample, limits: Limits) -> DrawnPoints:
        tables, world = asked.of.tables, asked.of.model.world
        if asked.of.share == 0:
            raise NbrError("nothing can be drawn: no point meets the condition and the rules")
        numbers = tables.draw(asked.count, asked.of.given, asked.generator)
        codes = [tables.values[name].codes[numbers[name]] for name in world.names]
        return DrawnPoints(torch.stack(codes, dim=1), self.name, asked.of.share)


class Chained(Way[DrawnSample, DrawnPoints]):
    """Chains that run until they have met, or else say that they have not."""

    name = "chains"
    proves = False

    def unfit(self, asked: DrawnSample) -> str | None:
        return CLOSED if asked.of.model.closed else None

    def solve(self, asked: DrawnSample, limits: Limits) -> DrawnPoints:
        draws = asked.of.draws
        starts = torch.cat([draws.points(BATCH, asked.generator) for _ in range(TRIED // BATCH)])
        weights = torch.cat([draws.log_weights(part) for part in starts.split(BATCH)])
        if not bool((weights > -torch.inf).any()):
            raise NbrError(f"nothing found: none of {TRIED:,} points of the prior meets the condition and the rules")
        share = draws.share * float(weights.exp().mean())
        return _from_chains(Chains(draws, asked.of.given, starts, weights, asked.generator), asked.count, share)


SAMPLES: list[Way[DrawnSample, DrawnPoints]] = [
    ListedSamples(),
    KeptSamples(),
    Forward(),
    ContractedSamples(),
    Chained(),
]


def _from_chains(chains: Chains, count: int, acceptance: float) -> DrawnPoints:
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
    return DrawnPoints(torch.cat(found)[:count], method, acceptance, exact=False)
