"""A remembered example as a rule."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.language import expressions as ex
from nbr.rules.base import Rule, spec_number
from nbr.world import World


@registry.kind("rule", "memory", keys={"memory", "radius", "sharpness"})
class Memory(Rule):
    """An example: the grade of a point is sigmoid(sharpness * (radius - distance)), section 4.2 of the paper.

    The distance is Euclidean over the variables that the example names: a bit or a choice that differs counts 1, a real
    in units of its range.

    Args:
        point: Values by name, or a value for every variable in order.
        radius: The distance at which the grade is 1/2.
        belief: The degree of belief, from 0 to 1.
        sharpness: How fast the grade falls around the radius.
        name: A name to show instead of the description.

    >>> Memory({"rain": 1, "grass": "wet"}, radius=0.5, belief=0.7)
    Memory('near rain=1, grass=wet', belief=0.7)
    """

    def __init__(
        self,
        point: Mapping[str, object] | Sequence[float] | Tensor,
        radius: float,
        belief: float | Tensor,
        *,
        sharpness: float = 10.0,
        name: str | None = None,
    ) -> None:
        super().__init__(belief, name)
        try:
            fits = math.isfinite(radius) and math.isfinite(sharpness) and sharpness > 0
        except TypeError:
            fits = False
        if not fits:
            raise NbrError("a memory needs a finite radius and a positive sharpness")
        self.radius, self.sharpness = float(radius), float(sharpness)
        self._row = None if isinstance(point, Mapping) else [float(value) for value in point]
        self.point: dict[str, object] = dict(point) if isinstance(point, Mapping) else {}

    def bind(self, world: World) -> Memory:
        if self._row is None:
            return super().bind(world)
        if len(self._row) != len(world):
            raise NbrError(f"the memory has {len(self._row)} values, the world {len(world)} variables")
        named = copy.copy(self)
        named._row, named.point = None, _values(world, self._row)
        return named.bind(world)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.point)

    def grades(self, points: Tensor) -> Tensor:
        return self._grade(self._differences(points).square().sum(dim=1).sqrt())

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        nearest, farthest = [], []
        for name in self.inputs:
            code, column = self.world.code(name, self.point[name]), self.world.column(name)
            below, above = low[:, column] - code, high[:, column] - code
            variable = self.world.variables[name]
            nearest.append(variable.apart(torch.maximum(below, -above).clamp(min=0)))
            farthest.append(variable.apart(torch.maximum(below.abs(), above.abs())))
        return self._near(farthest), self._near(nearest)

    @property
    def bounded(self) -> bool:
        return True

    def _near(self, differences: list[Tensor]) -> Tensor:
        return self._grade(torch.stack(differences, dim=1).square().sum(dim=1).sqrt())

    def at_least(self, level: float) -> Expression | None:
        """At most so many of its variables differ, where none is a real."""
        if self.levels() is None:
            return None
        most = sum(grade >= level for grade in self._by_difference()) - 1
        differ = tuple(ex.Atom(name, "!=", (str(self._plain(name)),)) for name in self.inputs)
        return ex.Count(differ, "<=", float(most))

    def levels(self) -> list[float] | None:
        return None if self.smooth else self._by_difference()

    def _by_difference(self) -> list[float]:
        count = torch.arange(len(self.inputs) + 1, dtype=torch.float64)
        grades: list[float] = self._grade(count.sqrt()).tolist()
        return grades

    def _differences(self, points: Tensor) -> Tensor:
        columns = []
        for name in self.inputs:
            code = self.world.code(name, self.point[name])
            columns.append(self.world.variables[name].apart(points[:, self.world.column(name)] - code))
        return torch.stack(columns, dim=1)

    def _grade(self, distance: Tensor) -> Tensor:
        return torch.sigmoid(self.sharpness * (self.radius - distance))

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        shape = {"radius": self.radius, "sharpness": self.sharpness}
        point = {name: self._plain(name) for name in self.point}
        return {"memory": point, **shape, **self._common_spec()}, {}

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Memory:
        if not isinstance(spec["memory"], dict) or "radius" not in spec:
            raise NbrError("a memory needs a table of values and a radius")
        sharpness = spec_number(spec, "sharpness") if "sharpness" in spec else 10.0
        return cls(spec["memory"], spec_number(spec, "radius"), spec["belief"], sharpness=sharpness, name=spec["name"])

    def _plain(self, name: str) -> object:
        """A value as a file holds it: a label, or a number."""
        code, variable = self.world.code(name, self.point[name]), self.world.variables[name]
        if not variable.adds:
            return variable.show(code)
        return code if variable.numeric else int(code)

    def _check(self) -> None:
        if not self.inputs:
            raise NbrError("a memory must name at least one variable")
        for name in self.inputs:
            self.world.code(name, self.point[name])

    def describe(self) -> str:
        if self._row is not None:
            return f"near a point of {len(self._row)} values"
        return "near " + ", ".join(f"{name}={value}" for name, value in self.point.items())


def _values(world: World, row: Sequence[float]) -> dict[str, object]:
    """A full row as named values, checked as any other."""
    values: dict[str, object] = {}
    for (name, variable), code in zip(world.variables.items(), row, strict=True):
        if not variable.adds:
            if code not in range(len(variable.labels)):
                raise NbrError(f"{name!r}: {code:g} is not the position of one of its {variable.size} labels")
            values[name] = variable.show(code)
        else:
            values[name] = int(code) if code.is_integer() else code
    return values
