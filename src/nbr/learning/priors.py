"""Prior-knowledge distributions: what is assumed of points beside the rules (section 2.4 of the paper).

A prior can be sampled; one that can also be scored gives exact likelihoods. Every prior speaks of one world.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.learning.tables import Table
from nbr.world import Real, World

if TYPE_CHECKING:
    from nbr.reasoner import Reasoner

SMOOTHING = 0.5  # added to the count of every label, so that none is impossible


class Prior(ABC):
    """A distribution over the points of a world."""

    def __init__(self, world: World) -> None:
        self.world = world

    @abstractmethod
    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Points drawn at random: (count, variables)."""

    @abstractmethod
    def log_prob(self, points: Tensor) -> Tensor | None:
        """The log probability (or density) of points, or None if it cannot be scored."""

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Rows with their holes filled at random: (rows, count, variables); exact for independent variables."""
        drawn = self.sample(len(codes) * count, generator).view(len(codes), count, -1)
        return torch.where(codes[:, None].isnan(), drawn, codes[:, None])

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        """The prior as plain data and tensors, for a file."""
        raise NbrError(f"the prior {type(self).__name__} cannot be saved")


class Independent(Prior):
    """Every variable on its own: weights for bits and choices, uniform or normal within bounds for reals.

    `columns` has, for each variable in order, the weights of its values; for a real, nothing (uniform) or its
    mean and standard deviation.
    """

    def __init__(self, world: World, columns: Sequence[Tensor]) -> None:
        super().__init__(world)
        self.columns = tuple(torch.as_tensor(column, dtype=torch.float64) for column in columns)
        for (name, variable), column in zip(world.variables.items(), self.columns, strict=True):
            sizes = (0, 2) if isinstance(variable, Real) else (variable.size,)
            if len(column) not in sizes or not bool(column.isfinite().all()) or bool((column[-1:] < 0).any()):
                raise NbrError(f"the prior of {name!r} does not fit: {column.tolist()}")

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        drawn = []
        for variable, column in zip(self.world.variables.values(), self.columns, strict=True):
            if not isinstance(variable, Real):
                drawn.append(torch.multinomial(column, count, replacement=True, generator=generator).double())
                continue
            share = torch.rand(count, generator=generator, dtype=torch.float64)
            if len(column):
                low, high = (_normal_share(edge, column) for edge in (variable.low, variable.high))
                share = torch.special.ndtri((low + share * (high - low)).clamp(1e-12, 1 - 1e-12))
                drawn.append((column[0] + column[1] * share).clamp(variable.low, variable.high))
            else:
                drawn.append(variable.low + share * (variable.high - variable.low))
        return torch.stack(drawn, dim=1)

    def log_prob(self, points: Tensor) -> Tensor:
        """The same; a cell that is NaN was not observed and counts nothing."""
        total = points.new_zeros(len(points), dtype=torch.float64)
        for position, (variable, column) in enumerate(zip(self.world.variables.values(), self.columns, strict=True)):
            values = points[:, position]
            if not isinstance(variable, Real):
                part = (column / column.sum()).log()[values.nan_to_num().long()]
            elif len(column):
                low, high = (_normal_share(edge, column) for edge in (variable.low, variable.high))
                z = (values - column[0]) / column[1]
                part = -0.5 * z**2 - math.log(math.sqrt(2 * math.pi)) - (column[1] * (high - low)).log()
            else:
                part = torch.full_like(values, -math.log(variable.high - variable.low))
            total += part.masked_fill(values.isnan(), 0.0)
        return total

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        return {"prior": "independent"}, {str(i): column for i, column in enumerate(self.columns)}


class Empirical(Prior):
    """The rows of a complete table, each as likely as any other."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.world)
        if not table.complete or not len(table):
            raise NbrError("an empirical prior needs a table with rows and without holes")
        self.points, counts = torch.unique(table.codes, dim=0, return_counts=True)
        self.weights = counts.double() / len(table)

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        drawn: Tensor = self.points[torch.multinomial(self.weights, count, replacement=True, generator=generator)]
        return drawn

    def log_prob(self, points: Tensor) -> Tensor | None:
        if any(isinstance(variable, Real) for variable in self.world.variables.values()):
            return None
        both, member = torch.unique(torch.cat([self.points, points]), dim=0, return_inverse=True)
        known = torch.full((len(both),), -math.inf, dtype=torch.float64)
        known[member[: len(self.points)]] = self.weights.log()
        scores: Tensor = known[member[len(self.points) :]]
        return scores

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        return {"prior": "empirical"}, {"points": self.points, "weights": self.weights}


class Drawn(Prior):
    """Any torch distribution over rows: its event shape is (variables,)."""

    def __init__(self, world: World, distribution: torch.distributions.Distribution) -> None:
        super().__init__(world)
        if tuple(distribution.event_shape) != (len(world),):
            shape = tuple(distribution.event_shape)
            raise NbrError(f"the prior draws rows of shape {shape}, and the world has {len(world)} variables")
        self.distribution = distribution

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        # torch distributions draw from the global generator; fork it so that only the seed given matters.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
            return self.world.snap(self.distribution.sample((count,)).double())

    def log_prob(self, points: Tensor) -> Tensor:
        scores: Tensor = self.distribution.log_prob(points)
        return scores.double()


class Learned(Prior):
    """What another reasoner generates: train with it, and only what it does not know is learned."""

    def __init__(self, reasoner: Reasoner) -> None:
        super().__init__(reasoner.world)
        self.reasoner = reasoner

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        from nbr.learning.sampling import draw

        return draw(self.reasoner, count, None, generator).points

    def log_prob(self, points: Tensor) -> Tensor:
        from nbr.learning.likelihood import score

        return score(self.reasoner, Table(self.world, points)).log_prob

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        raise NbrError("holes in rows of a world too large to list cannot be filled from a learned prior")

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        from nbr.files import pack

        model, tensors = pack(self.reasoner)
        return {"prior": "learned", "model": model}, tensors


def uniform(world: World) -> Independent:
    """Nothing is known: every value is as likely as any other."""
    return Independent(world, [torch.ones(variable.size or 0) for variable in world.variables.values()])


def marginals(table: Table) -> Independent:
    """Every column as often as it is seen, and independent of the others."""
    columns = []
    for position, variable in enumerate(table.world.variables.values()):
        seen = table.codes[:, position]
        seen = seen[~seen.isnan()]
        if isinstance(variable, Real):
            spread = seen.std() if len(seen) > 1 and seen.std() > 0 else torch.tensor(variable.high - variable.low)
            columns.append(torch.stack([seen.mean(), spread]) if len(seen) else seen)
        else:
            columns.append(torch.bincount(seen.long(), minlength=variable.size).double() + SMOOTHING)
    return Independent(table.world, columns)


def choose(prior: object, table: Table) -> Prior:
    """The prior that a user names: "uniform", "marginals", a reasoner, a torch distribution, or a Prior."""
    from nbr.reasoner import Reasoner

    if prior == "uniform":
        return uniform(table.world)
    if prior == "marginals":
        return marginals(table)
    if isinstance(prior, Reasoner):
        prior = Learned(prior)
    if isinstance(prior, torch.distributions.Distribution):
        prior = Drawn(table.world, prior)
    if not isinstance(prior, Prior):
        raise NbrError(f"unknown prior {prior!r}; there are uniform, marginals, a reasoner, or a Prior")
    if prior.world != table.world:
        raise NbrError("the prior speaks of another world than the table")
    return prior


def read(world: World, spec: Mapping[str, object], tensors: Mapping[str, Tensor]) -> Prior:
    """The inverse of `spec`."""
    kind = spec.get("prior")
    if kind == "independent":
        return Independent(world, [tensors.get(str(i), torch.zeros(0)) for i in range(len(world))])
    if kind == "empirical" and {"points", "weights"} <= set(tensors):
        prior = Empirical(Table(world, tensors["points"]))
        prior.points, prior.weights = tensors["points"], tensors["weights"]
        return prior
    if kind == "learned" and isinstance(spec.get("model"), Mapping):
        from nbr.files import unpack

        return Learned(unpack(spec["model"], tensors))  # type: ignore[arg-type]
    raise NbrError(f"unknown prior {kind!r}")


def _normal_share(edge: float, column: Tensor) -> Tensor:
    share: Tensor = torch.special.ndtr((edge - column[0]) / column[1])
    return share
