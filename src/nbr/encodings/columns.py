"""The values of a variable as numbered literals, as many as statements can tell apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations, pairwise

import torch
from torch import Tensor

from nbr import clock
from nbr.encodings.regions import Regions
from nbr.language import Expression
from nbr.language import expressions as ex
from nbr.points import world_cells
from nbr.world import World

Clause = tuple[int, ...]
PAIRS = 12  # classes of a choice up to which "at most one" is said pair by pair


class ClauseNumbers:
    """Clauses over numbers handed out one after the other; the first number is true."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self.count = 0
        self.known: dict[object, int] = {}
        self.true = self.fresh()
        self.clauses.append((self.true,))

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def add(self, clause: Sequence[int]) -> None:
        """One more clause, unless it always holds."""
        clock.check()
        held = set(clause)
        if self.true in held or any(-literal in held for literal in held):
            return
        self.clauses.append(tuple(dict.fromkeys(literal for literal in clause if literal != -self.true)))

    def both(self, literals: Sequence[int]) -> int:
        """A literal for a conjunction."""
        parts = sorted({literal for literal in literals if literal != self.true})
        if -self.true in parts or any(-part in parts for part in parts):
            return -self.true
        if not parts:
            return self.true
        if len(parts) == 1:
            return parts[0]
        key = ("and", *parts)
        if key not in self.known:
            whole = self.known[key] = self.fresh()
            self.clauses += [(-whole, part) for part in parts]
            self.clauses.append((whole, *(-part for part in parts)))
        return self.known[key]


class BoxColumn:
    """One variable, or several that are tied together: values in classes that no statement tells apart."""

    def __init__(
        self,
        numbers: ClauseNumbers,
        values: Tensor,
        truth: Callable[[Expression], Tensor],
        statements: Iterable[Expression],
        ordered: bool,
        whole: bool,
    ) -> None:
        """`truth` says of a statement whether it holds for each of the values."""
        self.numbers, self.values, self.truth, self.ordered = numbers, values.tolist(), truth, ordered
        separated = {tuple(truth(statement).tolist()) for statement in statements}
        signature: list[tuple[object, ...]] = [()] * len(self.values)
        if whole:
            signature = [(value,) for value in self.values]
        elif separated:
            signature = list(zip(*separated, strict=True))
        number: dict[tuple[object, ...], int] = {}
        if ordered:  # neighbours only, so that a class is a run
            self.member = [0]
            for before, after in pairwise(signature):
                self.member.append(self.member[-1] + (before != after))
        else:
            self.member = [number.setdefault(each, len(number)) for each in signature]
        self.classes = self.member[-1] + 1 if ordered else len(number)
        self.first = [self.member.index(each) for each in range(self.classes)]
        self._make()

    def beside(self, numbers: ClauseNumbers) -> BoxColumn:
        """The same column; what it says from now on is said there."""
        column = copy.copy(self)
        column.numbers = numbers
        return column

    def _make(self) -> None:
        new = self.numbers
        if self.ordered:
            # step k is true in class k + 1 and above
            self.steps = [new.fresh() for _ in range(self.classes - 1)]
            new.clauses += [(-after, before) for before, after in pairwise(self.steps)]
        elif self.classes == 1:
            self.each = [new.true]
        elif self.classes == 2:
            literal = new.fresh()
            self.each = [-literal, literal]
        else:
            self.each = [new.fresh() for _ in range(self.classes)]
            new.clauses.append(tuple(self.each))
            _at_most_one(new, self.each)

    def among(self, classes: Sequence[int]) -> int:
        """A literal for being in one of some classes."""
        inside = [number in set(classes) for number in range(self.classes)]
        if self.ordered:
            return -self.numbers.both([-self._run(start, stop) for start, stop in true_runs(inside)])
        if 2 * sum(inside) <= self.classes:
            return -self.numbers.both([-self.each[number] for number in range(self.classes) if inside[number]])
        return self.numbers.both([-self.each[number] for number in range(self.classes) if not inside[number]])

    def where(self, statement: Expression) -> list[int]:
        """The classes in which an atom, or a comparison between numbers, holds."""
        holds = self.truth(statement).tolist()
        return [number for number, first in enumerate(self.first) if holds[first]]

    def clauses(self, inside: Sequence[int]) -> list[list[int]]:
        """Being in one of some classes as clauses, without a new number."""
        if self.ordered or self.classes <= 2 or len(inside) in (0, 1, self.classes):
            return [[self.among(inside)]]
        if 2 * len(inside) <= self.classes:
            return [[self.each[number] for number in inside]]
        return [[-self.each[number]] for number in range(self.classes) if number not in inside]

    def _run(self, start: int, stop: int) -> int:
        low = self.numbers.true if start == 0 else self.steps[start - 1]
        high = self.numbers.true if stop == self.classes else -self.steps[stop - 1]
        return self.numbers.both([low, high])

    def value(self, true: set[int]) -> float:
        if self.ordered:
            number = sum(step in true for step in self.steps)
        else:
            number = next(
                (n for n, each in enumerate(self.each) if (each in true if each > 0 else -each not in true)), 0
            )
        return float(self.values[self.first[number]])


def columns(
    numbers: ClauseNumbers, world: World, statements: list[Expression], whole: set[str], groups: Sequence[Regions]
) -> dict[str, BoxColumn]:
    """The column of each variable; those that comparisons tie together share one."""
    cuts: dict[str, set[float]] = {}
    atoms: dict[str, set[ex.Atom]] = {name: set() for name in world.names}
    for statement in statements:
        clock.check()
        for name, cut in statement.cuts(world).items():
            cuts.setdefault(name, set()).update(cut)
        for atom in statement.atoms():
            atoms[atom.name].add(atom)
    found: dict[str, BoxColumn] = {}
    for group in groups:
        shared = BoxColumn(numbers, torch.arange(len(group.points)), group.truth, [], ordered=False, whole=True)
        found |= dict.fromkeys(group.world.names, shared)
    centres = world_cells(world, cuts, (), 1).centres
    for name, values in zip(world.names, centres, strict=True):
        if name not in found:
            clock.check()
            ordered = world.variables[name].numeric
            values = values.sort().values if ordered else values
            truth = partial(_among, world, values)
            found[name] = BoxColumn(numbers, values, truth, atoms[name], ordered, name in whole)
    return found


def _among(world: World, values: Tensor, statement: Expression) -> Tensor:
    assert isinstance(statement, ex.Atom)
    return statement.holds_among(world, values)


def true_runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Where the true stretches of a list begin and end."""
    edges = [False, *flags, False]
    changes = [at for at in range(len(edges) - 1) if edges[at] != edges[at + 1]]
    return list(zip(changes[::2], changes[1::2], strict=True))


def _at_most_one(numbers: ClauseNumbers, literals: Sequence[int]) -> None:
    if len(literals) <= PAIRS:
        numbers.clauses += [(-one, -other) for one, other in combinations(literals, 2)]
        return
    before = literals[0]  # true if one so far is
    for literal in literals[1:-1]:
        now = numbers.fresh()
        numbers.clauses += [(-before, now), (-literal, now), (-before, -literal), (-now, before, literal)]
        before = now
    numbers.clauses.append((-before, -literals[-1]))
