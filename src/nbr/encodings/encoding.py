"""Statements about named variables as clauses over numbered ones, for solvers and counters.

Only what statements can tell apart is encoded: labels, or pieces of a real, that no statement separates share one
class. A bit is one number. A choice has one for each class, exactly one of them true; a real has one for each step
from a class to the next, so that every comparison is a single literal. Each other number stands for a part of a
statement and is true exactly where that part holds, so that values of the variables decide all numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import product

import torch
from torch import Tensor

from nbr import clock
from nbr.encodings.columns import BoxColumn, ClauseNumbers, columns, true_runs
from nbr.encodings.regions import regions_missing, tied
from nbr.errors import NbrError
from nbr.language import Expression, Modulo, modulos, whole_values
from nbr.language import expressions as ex
from nbr.world import World

SPREAD = 8  # clauses that distributing one disjunction may give before its parts get numbers


class Encoder(ClauseNumbers):
    """Gathers clauses; a literal is a number of a variable, negative where it is denied.

    >>> from nbr.language import parse
    >>> rule = parse("rain -> grass=wet")
    >>> from nbr.world import Bit, Choice
    >>> encoder = Encoder(World(rain=Bit(), grass=Choice("dry", "wet", "soaked")), [rule])
    >>> encoder.require(rule)
    >>> encoder.clauses
    [(1,), (-2, 3)]
    """

    def __init__(
        self, world: World, statements: Iterable[Expression], whole: Iterable[str] = (), tabulated: Iterable[str] = ()
    ) -> None:
        """`whole` names variables whose values are all told apart, `tabulated` those among them that tables read."""
        super().__init__()
        self.world, said = world, list(statements)
        added = {name for statement in said for each in modulos(statement) for _, name in each.weights}
        self._tied = tied(world, said, tabulated)
        reason = regions_missing(self._tied)
        if reason is not None:
            raise NbrError(reason)
        self._columns = columns(self, world, said, {*whole, *added}, self._tied)

    def copy(self) -> Encoder:
        """The same, to be gone on with."""
        made = copy.copy(self)
        made.clauses, made.known = list(self.clauses), dict(self.known)
        made._columns = {name: column.beside(made) for name, column in self._columns.items()}
        return made

    def require(self, statement: Expression, unless: int | None = None) -> None:
        """The statement holds, or else the literal `unless` is true."""
        extra = () if unless is None else (unless,)
        for clause in self._cnf(statement, True):
            self.add((*extra, *clause))

    def literal(self, statement: Expression) -> int:
        """A literal that is true exactly where the statement holds."""
        clock.check()
        if statement not in self.known:
            self.known[statement] = self._define(statement)
        return self.known[statement]

    def classes(self, name: str) -> list[int]:
        """A literal for each class of values of a variable."""
        column, variable = self._columns[name], self.world.variables[name]
        if any(name in group.world.names for group in self._tied):
            assert not variable.numeric
            return [self.literal(ex.Atom(name, "=", (variable.show(code),))) for code in range(len(variable.labels))]
        return [column.among([number]) for number in range(column.classes)]

    def members(self, name: str) -> list[int]:
        """The class that each value of a variable belongs to."""
        return self._columns[name].member

    def point(self, true: set[int]) -> Tensor:
        """A point of the world at which the numbers given are true and all others are not."""
        found = {name: self._columns[name].value(true) for name in self.world.names}
        for group in self._tied:
            row = group.points[int(found[group.world.names[0]])].tolist()
            found |= dict(zip(group.world.names, row, strict=True))
        return torch.tensor([found[name] for name in self.world.names], dtype=torch.float64)

    def _group(self, statement: Expression) -> BoxColumn | None:
        """The column of the variables that comparisons tie together, if a statement speaks of these alone."""
        names = statement.names()
        return next((self._columns[min(names)] for each in self._tied if names and names <= {*each.world.names}), None)

    def _define(self, statement: Expression) -> int:
        if (group := self._group(statement)) is not None:
            return group.among(group.where(statement))
        match statement:
            case ex.Constant():
                return self.true if statement.value else -self.true
            case ex.Atom():
                return self._columns[statement.name].among(self._columns[statement.name].where(statement))
            case ex.Not():
                return -self.literal(statement.part)
            case ex.And():
                return self.both([self.literal(part) for part in statement.parts])
            case ex.Or():
                return -self.both([-self.literal(part) for part in statement.parts])
            case ex.Implies():
                return -self.both([self.literal(statement.premise), -self.literal(statement.conclusion)])
            case ex.Iff():
                first, *others = [self.literal(part) for part in statement.parts]
                for other in others:
                    first = self._same(first, other)
                return first
            case ex.Count():
                return self._compared(statement.parts, statement.operator, statement.number)
            case ex.Majority():
                return self._compared(statement.parts, ">", len(statement.parts) / 2)
            case Modulo():
                return self._remaining(statement)
        raise TypeError(f"no encoding of {type(statement).__name__}")

    def branch(self, cases: Sequence[int], below: Sequence[int]) -> int:
        """A literal that is, in whichever of the cases holds, the one given for it; exactly one case holds."""
        key = ("branch", *cases, *below)
        if key not in self.known:
            whole = self.known[key] = self.fresh()
            for case, literal in zip(cases, below, strict=True):
                self.add((-case, -whole, literal))
                self.add((-case, whole, -literal))
        return self.known[key]

    def _same(self, one: int, other: int) -> int:
        """A literal for "both or neither"."""
        if self.true in (abs(one), abs(other)):
            fixed, free = (one, other) if abs(one) == self.true else (other, one)
            return free if fixed > 0 else -free
        key = ("same", *sorted((one, other)))
        if key not in self.known:
            whole = self.known[key] = self.fresh()
            self.clauses += [(-whole, -one, other), (-whole, one, -other), (whole, one, other), (whole, -one, -other)]
        return self.known[key]

    def _compared(self, parts: Sequence[Expression], operator: str, number: float) -> int:
        reached = self._reached([self.literal(part) for part in parts])
        fits = ex.COMPARE[operator](torch.arange(len(parts) + 1, dtype=torch.float64), number).tolist()
        found = []
        for start, stop in true_runs(fits):
            first = self.true if start == 0 else reached[start - 1]
            found.append(self.both([first, self.true if stop > len(parts) else -reached[stop - 1]]))
        return -self.both([-literal for literal in found])

    def _remaining(self, statement: Modulo) -> int:
        """A literal for each remainder so far, from variable to variable."""
        size = statement.modulus
        state = [self.true if place == statement.offset % size else -self.true for place in range(size)]
        terms: list[tuple[list[int], list[int]]] = []
        for weight, name in statement.weights:
            codes, variable = whole_values(name, self.world), self.world.variables[name]
            cases = [self.literal(ex.Atom(name, "=", (variable.show(code),))) for code in codes]
            terms.append((cases, [round(weight * code) for code in codes]))
        for weight, part in statement.counted:
            literal = self.literal(part)
            terms.append(([literal, -literal], [weight, 0]))
        for cases, moves in terms:
            clock.check()
            state = [self.branch(cases, [state[(place - move) % size] for move in moves]) for place in range(size)]
        fits = [literal for literal, holds in zip(state, statement.fits(), strict=True) if holds]
        return -self.both([-literal for literal in fits])

    def _reached(self, literals: Sequence[int]) -> list[int]:
        """The totalizer: literal k says that at least k + 1 of the literals are true."""
        key = ("reached", *literals)
        if key in self.known:
            first = self.known[key]
            return list(range(first, first + len(literals)))
        if len(literals) <= 1:
            return list(literals)
        half = len(literals) // 2
        left, right = self._reached(literals[:half]), self._reached(literals[half:])
        whole = [self.fresh() for _ in literals]
        self.known[key] = whole[0]
        for i in range(len(left) + 1):
            for j in range(len(right) + 1):
                if i + j:  # at least i here and j there make i + j
                    self.add([whole[i + j - 1], *([-left[i - 1]] if i else []), *([-right[j - 1]] if j else [])])
                if i + j < len(whole):  # fewer than i + 1 here and j + 1 there make fewer than i + j + 1
                    more = [*([left[i]] if i < len(left) else []), *([right[j]] if j < len(right) else [])]
                    self.add([-whole[i + j], *more])
        return whole

    def _cnf(self, statement: Expression, sign: bool) -> list[list[int]]:
        """Clauses for a statement, or for its opposite, with new numbers only where they would grow too many."""
        if (group := self._group(statement)) is not None:
            inside = group.where(statement)
            return group.clauses(inside if sign else [n for n in range(group.classes) if n not in inside])
        match statement:
            case ex.Not():
                return self._cnf(statement.part, not sign)
            case ex.Implies() if not sign:
                return self._cnf(statement.premise, True) + self._cnf(statement.conclusion, False)
            case ex.Implies():
                return self._any([(statement.premise, False), (statement.conclusion, True)])
            case ex.And() | ex.Or() if isinstance(statement, ex.And) == sign:
                return [clause for part in statement.parts for clause in self._cnf(part, sign)]
            case ex.And() | ex.Or():
                return self._any([(part, sign) for part in statement.parts])
            case ex.Atom():
                column = self._columns[statement.name]
                inside = column.where(statement)
                return column.clauses(inside if sign else [n for n in range(column.classes) if n not in inside])
        literal = self.literal(statement)
        return [[literal if sign else -literal]]

    def _any(self, parts: Sequence[tuple[Expression, bool]]) -> list[list[int]]:
        found, size = [], 1
        for part, sign in parts:
            clauses = self._cnf(part, sign)
            if size * max(1, len(clauses)) > SPREAD:
                literal = self.literal(part)
                clauses = [[literal if sign else -literal]]
            size *= max(1, len(clauses))
            found.append(clauses)
        return [[literal for clause in chosen for literal in clause] for chosen in product(*found)]
