"""Statements as tables of truth over few values; long ones as chains of small tables with hidden variables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from nbr.factors.automata import Automaton, automaton, equality
from nbr.language import ROUNDING, Expression, Linear, Modulo, compare
from nbr.language import expressions as ex
from nbr.priors import HIDDEN
from nbr.ways import Unfit
from nbr.world import World

TABLE = 1 << 8  # entries up to which a statement is one table, for each statement that would share it
LARGEST = 1 << 16  # entries of a table at most

Names = tuple[str, ...]
Part = tuple[Names, Tensor]  # what is read, and a number for each combination of values


@dataclass
class Spelling:
    """Gathers tables that are 0 or 1 and say what hidden variables are."""

    world: World
    codes: Mapping[str, Tensor]  # of the values of each variable
    hidden: dict[str, int] = field(default_factory=dict)  # sizes
    tables: list[Part] = field(default_factory=list)
    known: dict[Expression, Part] = field(default_factory=dict)
    alike: Counter[frozenset[str]] = field(default_factory=Counter)  # statements that read the same variables

    def truth(self, statement: Expression) -> Part:
        """Where a statement holds: 1 or 0 over some variables, hidden ones among them."""
        if statement not in self.known:
            self.known[statement] = self._spelled(statement)
        return self.known[statement]

    def bit(self, part: Part) -> str:
        """A hidden variable that is 1 where the part is, and 0 elsewhere."""
        names, table = part
        name = self._fresh(2)
        self.tables.append(((*names, name), torch.stack([1 - table, table], dim=-1)))
        return name

    def size(self, name: str) -> int:
        return self.hidden[name] if name in self.hidden else len(self.codes[name])

    def _fresh(self, size: int) -> str:
        name = f"{HIDDEN}{len(self.hidden)}"
        self.hidden[name] = size
        return name

    def _spelled(self, statement: Expression) -> Part:
        names = tuple(sorted(statement.names()))
        entries = math.prod(len(self.codes[name]) for name in names)
        if entries <= min(LARGEST, TABLE * max(1, self.alike[statement.names()])) or (
            entries <= LARGEST and not isinstance(statement, LONG)
        ):
            return names, self._table(statement, names)
        match statement:
            case ex.Not():
                read, table = self.truth(statement.part)
                return read, 1 - table
            case ex.Implies():
                return self.truth(ex.Or((ex.Not(statement.premise), statement.conclusion)))
            case ex.Or():
                return self._counted(statement.parts, lambda total: total >= 1)
            case ex.And():
                return self._counted(statement.parts, lambda total: total == len(statement.parts))
            case ex.Iff():
                return self._counted(statement.parts, lambda total: (len(statement.parts) - total) % 2 == 0)
            case ex.Majority():
                return self._counted(statement.parts, lambda total: 2 * total > len(statement.parts))
            case ex.Count():
                return self._counted(statement.parts, lambda total: _meets(statement.operator, total, statement.number))
            case Linear():
                return self._added(statement)
            case Modulo():
                return self._remaining(statement)
        raise Unfit(f"{statement} reads {entries:,} combinations of values and is no sum")

    def _table(self, statement: Expression, names: Names) -> Tensor:
        if not names:
            return statement.holds(self.world, torch.zeros(1, len(self.world)).double()).double()[0]
        small = World({name: self.world.variables[name] for name in names})
        columns = [self.codes[name] for name in names]
        points = torch.cartesian_prod(*columns).view(-1, len(names))
        return statement.holds(small, points).double().view([len(column) for column in columns])

    def _counted(self, parts: tuple[Expression, ...], accept: Callable[[float], bool]) -> Part:
        return self._chain([self.truth(part) for part in parts], accept)

    def _added(self, statement: Linear) -> Part:
        plain: list[Part] = [((name,), self.codes[name]) for _, name in statement.weights]
        plain += [self.truth(part) for _, part in statement.counted]
        weights = [weight for weight, _ in (*statement.weights, *statement.counted)]
        found = equality(weights, [_values(part) for part in plain], statement.number) if _equal(statement) else None
        if found is not None:
            order, machine = found
            names, holds = self._stepwise([plain[place] for place in order], machine)
            return names, holds if statement.operator == "=" else 1 - holds
        parts: list[Part] = [(names, weight * table) for weight, (names, table) in zip(weights, plain, strict=True)]
        near = ROUNDING * (abs(statement.number) + sum(float(table.abs().max()) for _, table in parts))
        return self._chain(parts, lambda total: _meets(statement.operator, total, statement.number, near))

    def _remaining(self, statement: Modulo) -> Part:
        """Contributions are taken modulo the number first, so that totals stay small."""
        parts: list[Part] = [((name,), weight * self.codes[name]) for weight, name in statement.weights]
        for weight, part in statement.counted:
            names, table = self.truth(part)
            parts.append((names, weight * table))
        size, fits = statement.modulus, statement.fits()
        small = [(names, torch.remainder(table.round(), size)) for names, table in parts]
        return self._chain(small, lambda total: fits[round(total + statement.offset) % size])

    def _chain(self, parts: list[Part], accept: Callable[[float], bool]) -> Part:
        return self._stepwise(parts, automaton([_values(part) for part in parts], accept))

    def _stepwise(self, parts: list[Part], machine: Automaton) -> Part:
        """A hidden state after each part."""
        before: Names = ()
        for (names, table), follows in zip(parts, machine.steps, strict=True):
            states = 1 + max(max(row) for row in follows)
            after = self._fresh(states)
            each = torch.tensor(_values((names, table)), dtype=torch.float64)
            choice = torch.searchsorted(each, table.contiguous())
            reached = torch.tensor(follows)[:, choice]  # (states before, *values)
            moved = torch.nn.functional.one_hot(reached, states).double()
            self.tables.append(((*before, *names, after), moved if before else moved[0]))
            before = (after,)
        return before, torch.tensor(machine.accepts, dtype=torch.float64)


def _values(part: Part) -> list[float]:
    """The different numbers of a table, the smallest first."""
    found: list[float] = part[1].flatten().unique().tolist()
    return found


def _equal(statement: Linear) -> bool:
    return statement.operator in ("=", "!=")


LONG = (ex.Not, ex.Implies, ex.Or, ex.And, ex.Iff, ex.Majority, ex.Count, Linear, Modulo)


def _meets(operator: str, total: float, number: float, near: float = 0.0) -> bool:
    gap = torch.tensor(total - number, dtype=torch.float64)
    return bool(compare(operator, gap, torch.tensor(near, dtype=torch.float64)))
