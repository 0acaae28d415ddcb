"""A rule of which only the best case over some of its variables is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from nbr.language import Atom, Constant, Expression, Or, linears, modulos, with_atoms
from nbr.rules.base import Rule
from nbr.rules.levels import Turns
from nbr.world import World


class Projected(Rule):
    """R(z) = max over h of R(z, h): what a rule grants a point when nobody else looks at the variables h.

    `rows` are the values that h may take, shape (combinations, hidden). Where a maximum over points is wanted, a
    variable that a single rule reads can be given its best value for that rule at once.
    """

    def __init__(self, rule: Rule, hidden: tuple[str, ...], rows: Tensor) -> None:
        super().__init__(rule.belief, rule.name)
        self.source, self.choice = rule.source, rule.choice
        self._inputs = tuple(name for name in rule.inputs if name not in hidden)
        self._own = World({name: rule.world.variables[name] for name in (*self._inputs, *hidden)})
        self._rule, self._rows = rule.bind(self._own), rows

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._inputs

    def grades(self, points: Tensor) -> Tensor:
        return _best(self._rule.grades(some) for some in self._completed(points))

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        boxes = zip(self._completed(low), self._completed(high), strict=True)
        least, most = zip(*(self._rule.bounds(*box) for box in boxes), strict=True)
        return _best(least), _best(most)

    def _completed(self, points: Tensor) -> Iterable[Tensor]:
        """The points with each combination of the hidden values in turn, as the rule reads them."""
        read = points[:, [self.world.column(name) for name in self._inputs]]
        return (torch.cat([read, row.to(read).expand(len(read), -1)], dim=1) for row in self._rows)

    @property
    def bounded(self) -> bool:
        return self._rule.bounded

    @property
    def smooth(self) -> tuple[str, ...]:
        return tuple(name for name in self._rule.smooth if name in self._inputs)

    def cuts(self) -> dict[str, set[float]]:
        return {name: numbers for name, numbers in self._rule.cuts().items() if name in self._inputs}

    def levels(self) -> list[float] | None:
        return None if self._inputs else [self._constant]

    def at_least(self, level: float) -> Expression | None:
        return None if self._inputs else Constant(level <= self._constant)

    def cut(self, level: float) -> Expression | None:
        whole = self._rule.cut(level) if self._inputs else self.at_least(level)
        if whole is None or not self._inputs or any(True for _ in (*linears(whole), *modulos(whole))):
            return whole if not self._inputs else None
        points = torch.cat([self._rows.new_zeros(len(self._rows), len(self._inputs)), self._rows], dim=1)
        hidden = {atom for atom in whole.atoms() if atom.name not in self._inputs}
        truth = {atom: atom.holds(self._own, points).tolist() for atom in hidden}
        cases = {tuple(held) for held in zip(*truth.values(), strict=True)} if truth else {()}
        said = [dict(zip(truth, held, strict=True)) for held in sorted(cases)]
        return Or(tuple(with_atoms(whole, lambda atom, case=case: _settled(atom, case)) for case in said))  # type: ignore[misc]

    def turns(self) -> Turns | None:
        return None if self.cut(1.0) is None else super().turns() if not self._inputs else self._rule.turns()

    @property
    def _constant(self) -> float:
        """The one grade of a rule that reads nothing else."""
        return float(self._rule.grades(self._rows).max())

    def describe(self) -> str:
        return f"the best case of {self._rule.describe()}"


def _settled(atom: Atom, case: Mapping[Atom, bool]) -> Expression:
    return Constant(case[atom]) if atom in case else atom


def _best(parts: Iterable[Tensor]) -> Tensor:
    return torch.stack(list(parts)).amax(dim=0)
