"""Many readings at once: the best point of each, by one contraction that all share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nbr import tables
from nbr.asking import Weights
from nbr.errors import NbrError
from nbr.factors import Network, largest_product
from nbr.language import Expression, conjunction
from nbr.model import Model
from nbr.rules import Evidence
from nbr.seeing import proof
from nbr.ways import Unfit

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
SECONDS = 5.0  # for the order of the contraction, at the most


@dataclass(frozen=True, eq=False)
class Readings(Generic[T]):
    """A model, and what its sensors say of n pictures for each of some variables.

    The reading of a row is the point with the largest product of the plausibilities of its values and 1 - b of each
    rule that it breaks, times the prior if there is one. `readings[i]` is the model that has seen row i, which answers
    everything else.
    """

    model: Model
    evidence: Mapping[str, Evidence]
    count: int
    verbs: Callable[[Model], T]
    condition: Expression | None = None  # that all rows meet

    def given(self, observation: str | Expression | None) -> Readings[T]:
        """The same under a condition."""
        if observation is None:
            return self
        model, certain = self.model.observing(observation)
        both = [each for each in (self.condition, certain) if each is not None]
        return replace(self, model=model, condition=conjunction(both))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> T:
        if not -self.count <= row < self.count:
            raise IndexError(f"there are {self.count} readings")  # so that a loop over readings ends
        some = {name: each.only([row % self.count]) for name, each in self.evidence.items()}
        return self.verbs(self.model.see(some))

    def __iter__(self) -> Iterator[T]:
        return (self[row] for row in range(self.count))

    def best(self) -> pd.DataFrame:
        """A table with the best point of each row: a column for each variable."""
        return tables.frame(self.model.world, self._codes)

    def points(self) -> list[dict[str, str]]:
        """The same in words."""
        return [self.model.world.show(row) for row in self._codes.tolist()]

    @property
    def _codes(self) -> Tensor:
        found = [self._network.values[name].codes[self._best[1][name]] for name in self.model.world.names]
        return torch.stack(found, dim=1)

    def log_degrees(self) -> NDArray[np.float64]:
        """The log of the product at the best point of each row; how far below 0 is what the reading costs: (n,)."""
        return self._best[0].numpy()

    def certified_radius(self, each: bool = False) -> NDArray[np.float64]:
        """For each row a proved L2 length: changes of all pictures of at most that length together, or with `each` of
        every picture, do not change the values read. Of other variables nothing is said. Sound in float64: (n,).
        """
        names = list(self.evidence)
        seen = proof.SeenEvidence(
            self._network.compiled.order,
            self._network.logs(self.condition),
            [self.evidence[name] for name in names],
            [self._network.places[name] for name in names],
            [self._labels(name) for name in names],
            [self._best[1][name] for name in names],
        )
        return (proof.each(seen) if each else proof.together(seen)).numpy()

    @cached_property
    def _network(self) -> Network:
        self.model.alone("readings and their proofs are")
        weights = Weights.of(self.model, self.condition)
        if weights.prior is None and any(rule.belief != rule.likeliest for rule in weights.rules):
            raise NbrError("many readings at once need rules without a separate likeliest belief: read them one by one")
        try:
            return Network.of(weights.world, weights.prior, weights.bodies, weights.said, seconds=SECONDS)
        except Unfit as error:
            raise NbrError(f"these rules do not fit into small tables: {error}; read the rows one by one") from None

    @cached_property
    def _best(self) -> tuple[Tensor, dict[str, Tensor]]:
        network = self._network
        known = {
            network.places[name]: each.log_plausibility[:, self._labels(name)] for name, each in self.evidence.items()
        }
        with torch.no_grad():
            value, point = largest_product(network.compiled.order, network.logs(self.condition), known)
        if bool((value == -torch.inf).any()):
            said = "" if self.condition is None else " and the condition"
            raise NbrError(f"no point meets all rules that are believed to degree 1{said}")
        return value, network.read(point)

    def _labels(self, name: str) -> list[int]:
        """The label of its sensor for each value of a variable that the contraction tells apart."""
        variable, labels = self.model.world.variables[name], self.evidence[name].labels
        return [labels.index(variable.show(float(code))) for code in self._network.values[name].codes]


def one(model: Model) -> Readings[Model]:
    """What a model has seen, as a single reading."""
    if model.sight is None:
        raise NbrError("no picture was given: a proof is about pictures, as in r.see(d1=picture).certified_radius()")
    return Readings(model.sight.model, model.sight.evidence, 1, _same)


def _same(model: Model) -> Model:
    return model


def chosen(readings: Readings[Any], rows: list[int]) -> Readings[Any]:
    """Some of the rows."""
    some = {name: each.only(rows) for name, each in readings.evidence.items()}
    return Readings(readings.model, some, len(rows), readings.verbs)
