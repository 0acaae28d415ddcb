"""Any function of points as a rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.rules.base import Rule, listed
from nbr.world import World


class Fuzzy(Rule):
    """A membership function of your own.

    Args:
        function: A function from points, shape (points, inputs), to grades from 0 to 1, shape (points,).
        belief: The degree of belief, from 0 to 1.
        inputs: The variables that the function reads; None for all, in the order of the world.
        lipschitz: A bound on the change of the grade for each unit that a real moves. It is trusted, and makes bounds
            over reals narrow.
        name: A name to show instead of the description.

    >>> warm = Fuzzy(lambda t: (t[:, 0] / 40).clamp(0, 1), 0.8, inputs="temperature", lipschitz=1 / 40)
    """

    def __init__(
        self,
        function: Callable[[Tensor], Tensor],
        belief: float | Tensor = 1.0,
        *,
        inputs: Iterable[str] | str | None = None,
        lipschitz: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(belief, name)
        if not callable(function):
            raise NbrError(f"a fuzzy rule needs a function of points, not {function!r}")
        if lipschitz is not None and not (lipschitz >= 0 and math.isfinite(lipschitz)):
            raise NbrError(f"lipschitz must be a number of at least 0, not {lipschitz}")
        self.function = function
        self.lipschitz = lipschitz
        self._inputs = None if inputs is None else listed(inputs)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.world.names if self._inputs is None else self._inputs

    def bind(self, world: World) -> Fuzzy:
        """A bound rule keeps the variables it saw first, however the world grows."""
        bound = super().bind(world)
        bound._inputs = self._inputs if self._inputs is not None else (self._world or world).names
        return bound

    def grades(self, points: Tensor) -> Tensor:
        if self._inputs is not None:
            points = points[:, [self.world.column(name) for name in self._inputs]]
        grades = torch.as_tensor(self.function(points), dtype=points.dtype)
        if grades.ndim == 2 and grades.shape[1] == 1:
            grades = grades[:, 0]
        if grades.shape != points.shape[:1]:
            raise NbrError(
                f"the rule {self} gave grades of shape {tuple(grades.shape)} for {len(points)} points; "
                f"it must give ({len(points)},)"
            )
        if not bool(((grades >= 0) & (grades <= 1)).all()):
            raise NbrError(f"the rule {self} gave a grade that is not a number from 0 to 1")
        return grades

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        if self.lipschitz is None:
            return super().bounds(low, high)
        smooth = [self.world.column(name) for name in self.smooth]
        others = [self.world.column(name) for name in self.inputs if name not in self.smooth]
        middle = low.clone()
        middle[:, smooth] = (low[:, smooth] + high[:, smooth]) / 2
        slack = self.lipschitz * (high - low)[:, smooth].sum(dim=1) / 2
        known = (low[:, others] == high[:, others]).all(dim=1)  # the promise is about reals alone
        least, most = low.new_zeros(len(low)), low.new_ones(len(low))
        grades = self.grades(middle[known])
        least[known], most[known] = (grades - slack[known]).clamp(min=0), (grades + slack[known]).clamp(max=1)
        return least, most

    @property
    def bounded(self) -> bool:
        return self.lipschitz is not None and len(self.smooth) == len(self.inputs)

    def describe(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)
