"""Fewer variables before counting: what a formula says about the variables that are kept, by resolution.

A variable v that is not kept can go: the clauses with v and those with its denial are replaced by what follows from a
pair of them (Davis and Putnam), as long as that does not make the formula much longer. Where all go, what is left are
the minimal sets of rules that cannot hold together, and worlds around none of them are counted at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from contextlib import suppress

from nbr import clock
from nbr.calculus.formula import Clause
from nbr.clock import OutOfTime

Literals = frozenset[int]
GROWTH = (0, 8, 64, 512)  # clauses that one variable may add by going, one round after the other


def eliminated(
    clauses: Iterable[Clause], keep: Collection[int], deadline: float, growth: int = 0
) -> list[Clause] | None:
    """Clauses that leave the same ways to set the variables kept; None if they leave no way at all.

    No variable that goes may add more clauses than `growth`. When time is up, what is not done is left.
    """
    work = _Resolving(clauses, set(keep), deadline)
    try:
        work.load()
        with suppress(OutOfTime):  # the clauses are as good as before
            work.run([each for each in GROWTH if each <= growth])
    except _Empty:
        return None
    return work.left()


class _Empty(Exception):
    """Nothing satisfies the clauses."""


class _Resolving:
    def __init__(self, clauses: Iterable[Clause], keep: set[int], deadline: float) -> None:
        self.keep, self.deadline = keep, deadline
        self.given = [frozenset(clause) for clause in clauses]
        self.having: dict[int, set[Literals]] = {}  # the clauses with a literal
        self.units: list[int] = []
        self.touched: set[int] = set()

    def load(self) -> None:
        """Take all clauses in: some of them alone would say less, so that a late answer must do without any."""
        for clause in self.given:
            clock.check()
            self._add(clause)
        self._propagate()

    def run(self, rounds: Iterable[int]) -> None:
        for most in rounds:
            self.touched = {abs(literal) for literal, clauses in self.having.items() if clauses}
            queue: list[tuple[int, int]] = []
            while queue or self.touched:
                for variable in self.touched - self.keep:
                    heapq.heappush(queue, (self._growth(variable), variable))
                self.touched = set()
                if queue:
                    growth, variable = heapq.heappop(queue)
                    if growth == self._growth(variable):
                        self._eliminate(variable, most)

    def left(self) -> list[Clause]:
        every = {clause for clauses in self.having.values() for clause in clauses}
        return sorted(tuple(sorted(clause, key=abs)) for clause in every)

    def _with(self, literal: int) -> set[Literals]:
        return self.having.get(literal, set())

    def _growth(self, variable: int) -> int:
        with_, without = len(self._with(variable)), len(self._with(-variable))
        return with_ * without - with_ - without

    def _add(self, clause: Literals) -> None:
        """One more clause, unless it always holds or another says more; what it says more than goes."""
        if not clause:
            raise _Empty
        if any(-literal in clause for literal in clause):
            return
        near = [self._with(literal) for literal in clause]
        if any(other <= clause for some in near for other in some):
            return
        for other in [other for other in min(near, key=len) if clause < other]:
            self._drop(other)
        for literal in clause:
            self.having.setdefault(literal, set()).add(clause)
            self.touched.add(abs(literal))
        if len(clause) == 1:
            self.units += clause

    def _drop(self, clause: Literals) -> None:
        for literal in clause:
            self.having[literal].discard(clause)
            self.touched.add(abs(literal))

    def _propagate(self) -> None:
        """What must be true is true everywhere; of the variables kept the clause that says so stays."""
        while self.units:
            literal = self.units.pop()
            alone = frozenset((literal,))
            for clause in list(self._with(literal)):
                if clause != alone or abs(literal) not in self.keep:
                    self._drop(clause)
            for clause in list(self._with(-literal)):
                self._drop(clause)
                self._add(clause - {-literal})

    def _eliminate(self, variable: int, most: int) -> None:
        with_, without = list(self._with(variable)), list(self._with(-variable))
        if not with_ and not without:
            return
        found: list[Literals] = []
        pairs = {(one - {variable}) | (other - {-variable}) for one in with_ for other in without}
        if clock.now() > self.deadline:
            raise OutOfTime
        for clause in sorted(pairs, key=len):
            if not any(-literal in clause for literal in clause) and not any(known <= clause for known in found):
                found.append(clause)
                if len(found) > len(with_) + len(without) + most:
                    return
        for clause in (*with_, *without):
            self._drop(clause)
        for clause in found:
            self._add(clause)
        self._propagate()
