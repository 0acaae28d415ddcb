"""The rows of a table as a distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors.base import HIDDEN, Factor, Prior
from nbr.priors.columns import Allowed, distributed, meets
from nbr.tables import Table


@registry.kind("prior", "empirical")
class Empirical(Prior):
    """The rows of a complete table.

    Args:
        table: The table, without holes.
        weights: The probability of each row, shape (rows,); None for equal ones.
    """

    def __init__(self, table: Table, weights: Tensor | None = None) -> None:
        super().__init__(table.world)
        if table.codes.dim() != 2 or table.codes.shape[1] != len(table.world) or not len(table) or not table.complete:
            raise NbrError("an empirical prior needs a table with rows and without holes, a column for each variable")
        _check(table, weights)
        self.points, counts = torch.unique(table.codes, dim=0, return_counts=True)
        self.weights = counts.double() / len(table)
        if weights is not None:
            self.points, self.weights = table.codes, weights

    @property
    def rows(self) -> tuple[Tensor, Tensor]:
        return self.points, self.weights

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        drawn: Tensor = self.points[torch.multinomial(self.weights, count, replacement=True, generator=generator)]
        return drawn

    def log_prob(self, points: Tensor) -> Tensor | None:
        if any(variable.numeric for variable in self.world.variables.values()):
            return None
        if bool(points.isnan().any()):
            shared: Tensor = (self._agree(points).double() @ self.weights).log()
            return shared
        both, member = torch.unique(torch.cat([self.points, points]), dim=0, return_inverse=True)
        known = torch.full((len(both),), -math.inf, dtype=torch.float64)
        known[member[: len(self.points)]] = self.weights.log()
        scores: Tensor = known[member[len(self.points) :]]
        return scores

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        chance = self._agree(codes) * self.weights
        impossible = (chance.sum(dim=1) == 0).nonzero()
        if len(impossible):
            raise NbrError(f"no row of the prior agrees with what is observed of row {int(impossible[0]) + 1}")
        picks = torch.multinomial(chance, count, replacement=True, generator=generator)
        return torch.where(codes[:, None].isnan(), self.points[picks], codes[:, None])

    def log_mass(self, allowed: Mapping[str, Allowed]) -> float:
        mass = float(self._within(allowed).sum())
        return math.log(mass) if mass > 0 else -math.inf

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        weights = self._within(allowed)
        if not bool((weights > 0).any()):
            raise NbrError("nothing can be drawn: no row of the prior meets the condition")
        drawn: Tensor = self.points[torch.multinomial(weights, count, replacement=True, generator=generator)]
        return drawn

    def factors(self, values: Mapping[str, Sequence[Allowed]]) -> list[Factor]:
        """Which row it is, a hidden variable, tells all others."""
        row = f"{HIDDEN}row"
        found: list[Factor] = [((row,), self.weights)]
        for position, name in enumerate(self.world.names):
            column = self.points[:, position]
            found.append(((row, name), torch.stack([meets(column, each) for each in values[name]], dim=1).double()))
        return found

    def _within(self, allowed: Mapping[str, Allowed]) -> Tensor:
        weights: Tensor = self.weights.clone()
        for name, values in allowed.items():
            weights *= meets(self.points[:, self.world.column(name)], values)
        return weights

    def _agree(self, codes: Tensor) -> Tensor:
        """Which points of the prior agree with the observed cells of each row: (rows, points)."""
        found = torch.ones(len(codes), len(self.points), dtype=torch.bool)
        for column in range(codes.shape[1]):
            seen = codes[:, column, None]
            found &= seen.isnan() | (seen == self.points[:, column])
        return found

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        return {"prior": "empirical"}, {"points": self.points, "weights": self.weights}

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Empirical:
        return cls(Table(parts.context["world"], parts.tensors["points"].double()), parts.tensors["weights"].double())


def _check(table: Table, weights: Tensor | None) -> None:
    whole = [not variable.numeric for variable in table.world.variables.values()]
    codes = table.codes[:, whole]
    if bool(table.world.outside(table.codes).any()) or bool((codes != codes.round()).any()):
        raise NbrError("a row of an empirical prior has a value that its variable does not take")
    if weights is not None and (weights.shape != (len(table),) or not distributed(weights)):
        raise NbrError("the weights of an empirical prior are not shares of its rows that sum to 1")
