"""Words with degrees: fuzzy sets over one or a few variables, by name.

[words]
hot = { temperature = [25, 30] }             # 0 up to 25, 1 from 30 on
cool = { temperature = [20, 10] }            # the other way round: 1 up to 10
mild = { temperature = [8, 12, 20, 25] }     # a trapezoid: 0 outside 8 and 25, 1 from 12 to 20
muddy = { ground = { wet = 1, damp = 0.4 } } # a grade for each label; 0 for others
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from nbr.errors import NbrError, suggest
from nbr.variables.base import Variable

EXAMPLE = "write hot = { temperature = [25, 30] }, four numbers, or a grade for each label"


@dataclass(frozen=True)
class GradeCurve:
    """Grades of one variable: corners of a line, or of a choice a grade for each value."""

    name: str
    places: tuple[float, ...]  # ascending
    grades: tuple[float, ...]
    numeric: bool

    def at(self, column: Tensor) -> Tensor:
        """The grade of each value."""
        places = torch.tensor(self.places, dtype=column.dtype)
        grades = torch.tensor(self.grades, dtype=column.dtype)
        if not self.numeric:
            return grades[column.round().long()]
        right = torch.searchsorted(places, column.contiguous()).clamp(1, len(places) - 1)
        start, end = places[right - 1], places[right]
        share = ((column - start) / (end - start)).clamp(0, 1)
        return grades[right - 1] + share * (grades[right] - grades[right - 1])

    def within(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The least and the largest grade from one value to another, both included."""
        ends = torch.stack([self.at(low), self.at(high)])
        least, most = ends.amin(dim=0), ends.amax(dim=0)
        for place, grade in zip(self.places, self.grades, strict=True):
            inside = (low <= place) & (place <= high)
            least = torch.where(inside, least.clamp(max=grade), least)
            most = torch.where(inside, most.clamp(min=grade), most)
        return least, most


@dataclass(frozen=True)
class Word:
    """A name for points to some degree: the smallest of the grades of its variables."""

    curves: tuple[GradeCurve, ...]
    spec: dict[str, Any] = field(hash=False)  # as it was written


def read_word(name: str, said: object, variables: Mapping[str, Variable]) -> Word:
    """A word of a [words] table."""
    try:
        if name in variables:
            raise NbrError("a variable already has that name")
        if not isinstance(said, Mapping) or not said:
            raise NbrError(f"it must name a variable: {EXAMPLE}")
        curves = tuple(_curve(each, grades, variables) for each, grades in said.items())
    except NbrError as error:
        raise NbrError(f"[words] {name!r}: {error}") from None
    spec = {each: dict(grades) if isinstance(grades, Mapping) else list(grades) for each, grades in said.items()}
    return Word(curves, spec)


def _curve(name: str, said: object, variables: Mapping[str, Variable]) -> GradeCurve:
    if name not in variables:
        raise NbrError(f"unknown variable {name!r}" + suggest(name, variables))
    variable = variables[name]
    if isinstance(said, Mapping):
        if variable.numeric:
            raise NbrError(f"{name!r} is a number: give two numbers, as in [25, 30], or four")
        for label in said:
            if str(label) not in variable.labels:
                raise NbrError(f"{label!r} is not a value of {name!r}" + suggest(str(label), variable.labels))
        grades = {str(label): _grade(grade) for label, grade in said.items()}
        codes = tuple(map(float, range(len(variable.labels))))
        return GradeCurve(name, codes, tuple(grades.get(label, 0.0) for label in variable.labels), False)
    if not variable.numeric:
        raise NbrError(f"{name!r} has labels: give a grade for each, as in {{ {variable.labels[0]} = 1 }}")
    if not isinstance(said, list | tuple) or len(said) not in (2, 4):
        raise NbrError(f"{name!r} takes two numbers, from grade 0 to grade 1, or the four corners of a trapezoid")
    places = [variable.code(each) for each in said]
    if len(places) == 2:
        if places[0] == places[1]:
            raise NbrError("its two numbers are the same: for a sharp edge, write a comparison in the rule")
        rising = places[0] < places[1]
        return GradeCurve(name, tuple(sorted(places)), (0.0, 1.0) if rising else (1.0, 0.0), True)
    if not places[0] < places[1] <= places[2] < places[3]:
        raise NbrError("the four corners of a trapezoid must ascend")
    corners = [(places[0], 0.0), (places[1], 1.0), (places[2], 1.0), (places[3], 0.0)]
    kept = [corner for at, corner in enumerate(corners) if not at or corner != corners[at - 1]]
    return GradeCurve(name, tuple(place for place, _ in kept), tuple(grade for _, grade in kept), True)


def _grade(value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 1:  # type: ignore[arg-type, operator]
        raise NbrError(f"a grade must be a number from 0 to 1, not {value!r}")
    return float(value)  # type: ignore[arg-type]
