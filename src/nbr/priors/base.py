"""What every prior is: a distribution over the points of one world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.priors.columns import Allowed
from nbr.world import World

Factor = tuple[tuple[str, ...], Tensor]  # what is read, and a number for each combination of values
HIDDEN = "\t"  # how the name of a variable begins that no world has


@dataclass(frozen=True)
class Curve:
    """The distribution of one number that is independent of all others, where no single value has a mass."""

    edges: Tensor  # between them the density is smooth, and does not change much
    density: Callable[[Tensor], Tensor]  # up to a constant factor
    below: Callable[[Tensor], Tensor]  # how likely smaller numbers are


class Prior(ABC):
    """A distribution over the points of a world.

    Args:
        world: The variables.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    @property
    def independent(self) -> tuple[Tensor, ...] | None:
        """The distribution of each variable, as `Independent` takes it, where all are independent of one another."""
        return None

    @property
    def rows(self) -> tuple[Tensor, Tensor] | None:
        """All points that have a mass, and their masses, where the prior is a list of them."""
        return None

    def told(self) -> list[str]:
        """Sentences on what a reader should know of it; none where it is as it seems."""
        return []

    @abstractmethod
    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Draw points at random.

        Args:
            count: The number of points.
            generator: The source of randomness.

        Returns:
            Points, shape (count, variables).
        """

    @abstractmethod
    def log_prob(self, points: Tensor) -> Tensor | None:
        """The log probability (or density) of points, or None if it cannot be scored.

        A cell that is NaN was not observed, and is summed over. A cell that is no value of its variable (a number
        beyond its bounds, a code below 0 for a label nobody knows) has a small mass beside what sums to one.
        """

    @abstractmethod
    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Fill the holes of rows at random, given what is observed of each.

        Args:
            codes: Rows with NaN for holes, shape (rows, variables).
            count: The number of completions of each row.
            generator: The source of randomness.

        Returns:
            Points, shape (rows, count, variables).
        """

    def redraw(self, points: Tensor, columns: Tensor, generator: torch.Generator) -> Tensor:
        """Points with some columns drawn anew given the others: a step of a chain that leaves the prior as it is."""
        moved = points.clone()
        moved[:, columns] = torch.nan
        return self.complete(moved, 1, generator)[:, 0]

    @abstractmethod
    def log_mass(self, allowed: Mapping[str, Allowed]) -> float | None:
        """The log probability that single variables are all in what is allowed; None if that is not known.

        For a bit or a choice that is a mask over its values, for a real open intervals, and points, whose ends are
        equal. Variables that are not named may have any value.
        """

    @abstractmethod
    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        """Draw points among those at which single variables lie in what is allowed.

        Args:
            allowed: For names of variables a mask over the values of a bit or a choice, or open intervals and points
                of a real.
            count: The number of points.
            generator: The source of randomness.

        Returns:
            Points, shape (count, variables).
        """

    def factors(self, values: Mapping[str, Sequence[Allowed]]) -> list[Factor] | None:
        """Small tables whose product is the probability of values of all variables; None if it is no such product.

        `values` has for each variable the parts of its range that count as one value each. Variables that are not
        named there, called with a `HIDDEN` mark in front, are to be summed over.
        """
        return None

    def pieces(self, at: int, values: Tensor) -> Tensor:
        """The piece that each value of a column is in: within one, P(value | rest) / P(value) is the same.

        Unless a prior knows better, every value is a piece of its own.
        """
        return torch.arange(len(values))

    def log_alike(self, points: Tensor) -> Tensor | None:
        """The log probability of rows that are alike: numbers count as the pieces that they are in.

        A number of itself has no probability. Unless a prior knows its pieces, rows that show numbers are like none.
        """
        return None

    def curve(self, name: str) -> Curve | None:
        """The distribution of a number, if it is independent of all other variables and has a density."""
        return None

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        """The prior as plain data and tensors, for a file."""
        raise NbrError(f"the prior {type(self).__name__} cannot be saved")
