"""Fewer variables before counting: what a formula says about the variables that are kept, by resolution.

A variable v that is not kept can go: the clauses with v and those with its denial are replaced by what follows from a
pair of them (Davis and Putnam), as long as that does not make the formula much longer. Where all go, what is left are
the minimal sets of rules that cannot hold together, and worlds around none of them are counted at once.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from nbr.inference.formula import Clause

Literals = frozenset[int]
GROWTH = (0, 8, 64, 512)  # clauses that one variable may add by going, one round after the other
STEPS = 20_000  # of counting by hand, before that is left to a counter


def eliminated(
    clauses: Iterable[Clause], keep: Collection[int], deadline: float, growth: int = 0
) -> list[Clause] | None:
    """Clauses that leave the same ways to set the variables kept; None if they leave no way at all.

    No variable that goes may add more clauses than `growth`. When time is up, what is not done is left.
    """
    work = _Resolving(clauses, set(keep), deadline)
    try:
        work.run([each for each in GROWTH if each <= growth])
    except _Empty:
        return None
    except _OutOfTime:
        pass
    return work.left()


class _OutOfTime(Exception):
    """The deadline has passed; the clauses are as good as before."""


class _Empty(Exception):
    """Nothing satisfies the clauses."""


class _Resolving:
    def __init__(self, clauses: Iterable[Clause], keep: set[int], deadline: float) -> None:
        self.keep, self.deadline = keep, deadline
        self.given = [frozenset(clause) for clause in clauses]
        self.having: dict[int, set[Literals]] = {}  # the clauses with a literal
        self.units: list[int] = []
        self.touched: set[int] = set()

    def run(self, rounds: Iterable[int]) -> None:
        for clause in self.given:
            self._add(clause)
        self._propagate()
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
        if time.monotonic() > self.deadline:
            raise _OutOfTime
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


def avoiding(cores: Iterable[Clause], chance: Mapping[int, float]) -> float | None:
    """The probability that independent variables satisfy clauses of denied ones; None if that takes many steps."""
    sets = frozenset(frozenset(-literal for literal in core) for core in cores)
    if any(variable not in chance for core in sets for variable in core):
        return None
    return _Avoiding(chance).probability(sets)


def without_any(cores: Iterable[Literals], chance: Mapping[int, float]) -> float | None:
    """The probability that no core is wholly there; None if that takes many steps."""
    return _Avoiding(chance).probability(_minimal(cores))


class _Avoiding:
    def __init__(self, chance: Mapping[int, float]) -> None:
        self.chance = chance
        self.known: dict[frozenset[Literals], float] = {}

    def probability(self, cores: frozenset[Literals]) -> float | None:
        """P(no core is wholly there): parts that share nothing multiply, else the busiest variable is there or not."""
        if not cores:
            return 1.0
        if frozenset() in cores:
            return 0.0
        if cores in self.known:
            return self.known[cores]
        if len(self.known) > STEPS:
            return None
        parts = _parts(cores)
        if len(parts) > 1:
            values = [self.probability(part) for part in parts]
            value = _product(values)
        else:
            often: dict[int, int] = {}
            for core in cores:
                for variable in core:
                    often[variable] = often.get(variable, 0) + 1
            chosen = max(often, key=lambda variable: (often[variable], -variable))
            absent = self.probability(frozenset(core for core in cores if chosen not in core))
            there = self.probability(_minimal([core - {chosen} for core in cores]))
            belief = self.chance[chosen]
            value = None if absent is None or there is None else (1 - belief) * absent + belief * there
        if value is not None:
            self.known[cores] = value
        return value


def _product(values: Sequence[float | None]) -> float | None:
    whole = 1.0
    for value in values:
        if value is None:
            return None
        whole *= value
    return whole


def _minimal(sets: Iterable[Literals]) -> frozenset[Literals]:
    kept: list[Literals] = []
    for each in sorted(set(sets), key=len):
        if not any(other <= each for other in kept):
            kept.append(each)
    return frozenset(kept)


def _parts(cores: frozenset[Literals]) -> list[frozenset[Literals]]:
    """Cores that share a variable, directly or through others, together."""
    groups: list[tuple[set[int], list[Literals]]] = []
    for core in cores:
        names, members = set(core), [core]
        apart = []
        for other_names, other_members in groups:
            if names.isdisjoint(other_names):
                apart.append((other_names, other_members))
            else:
                names |= other_names
                members += other_members
        groups = [*apart, (names, members)]
    return [frozenset(members) for _, members in groups]
