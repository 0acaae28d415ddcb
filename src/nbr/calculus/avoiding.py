"""The probability that independent literals are not all true in any of some sets, by taking sets apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nbr import clock
from nbr.calculus.formula import Clause

Literals = frozenset[int]
STEPS = 20_000  # of counting by hand, before that is left to a counter


def avoiding(cores: Iterable[Clause], chance: Mapping[int, float]) -> float | None:
    """The probability that independent variables satisfy clauses; None if that takes many steps, or others are in."""
    sets = frozenset(frozenset(-literal for literal in core) for core in cores)
    if any(abs(literal) not in chance for core in sets for literal in core):
        return None
    return _Avoiding(chance).probability(sets)


def probability_of_no_core(cores: Iterable[Literals], chance: Mapping[int, float]) -> float | None:
    """The probability that no core is wholly true; None if that takes many steps."""
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
                for literal in core:
                    often[abs(literal)] = often.get(abs(literal), 0) + 1
            chosen = max(often, key=lambda variable: (often[variable], -variable))
            absent = self.probability(_settled(cores, -chosen))
            there = self.probability(_settled(cores, chosen))
            belief = self.chance[chosen]
            value = None if absent is None or there is None else (1 - belief) * absent + belief * there
        if value is not None:
            self.known[cores] = value
        return value


def _settled(cores: frozenset[Literals], literal: int) -> frozenset[Literals]:
    """What is left of cores where a literal is true."""
    left = [core for core in cores if -literal not in core]
    if not any(literal in core for core in left):
        return frozenset(left)
    return _minimal([core - {literal} for core in left])


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
        clock.check()
        if not any(other <= each for other in kept):
            kept.append(each)
    return frozenset(kept)


def _parts(cores: frozenset[Literals]) -> list[frozenset[Literals]]:
    """Cores that share a variable, directly or through others, together."""
    groups: list[tuple[set[int], list[Literals]]] = []
    for core in cores:
        clock.check()
        names, members = set(map(abs, core)), [core]
        apart = []
        for other_names, other_members in groups:
            if names.isdisjoint(other_names):
                apart.append((other_names, other_members))
            else:
                names |= other_names
                members += other_members
        groups = [*apart, (names, members)]
    return [frozenset(members) for _, members in groups]
