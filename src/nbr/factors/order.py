"""In which order a product of tables is summed: found once, from the shape of the product alone.

Two tables at a time are multiplied, and whatever no other table reads is summed over at once. The order decides how
large the tables get on the way; what a batch of conditions brings along is left out of the search, which would
otherwise join tables that share nothing else.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opt_einsum import RandomGreedy

FEW = 512  # entries of a table up to which they cost as good as nothing
TRIES = 64  # random greedy orders, the best of which is taken
CHEAP = 1 << 13  # products of numbers up to which the first order is good enough
HOPELESS = 1 << 33  # products beyond which no other order would help, and none is followed
SECONDS = 1.0  # for the search, at the most

Scope = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """Multiply two tables, by their numbers, and sum over what is not kept; results are numbered on."""

    left: int
    right: int
    scopes: tuple[Scope, Scope]
    kept: Scope
    summed: Scope


@dataclass(frozen=True, eq=False)
class Order:
    """The steps from tables to one number, and what they cost."""

    scopes: tuple[Scope, ...]
    sizes: tuple[int, ...]  # of each variable
    steps: tuple[Step, ...]

    @cached_property
    def cost(self) -> int:
        """Products of numbers in all."""
        return sum(self.entries)

    @property
    def width(self) -> int:
        """Entries of the largest table, before anything is summed over."""
        return max(self.entries, default=1)

    @property
    def entries(self) -> list[int]:
        """Entries of the table of each step, before anything is summed over."""
        return [self._entries((*step.kept, *step.summed)) for step in self.steps]

    @cached_property
    def shallow(self) -> Order:
        """Another order of the same tables, in which fewer steps wait for others: small tables are joined in rounds."""
        rounds: dict[int, int] = {}

        def soonest(variable: int, near: dict[int, set[int]], sizes: Sequence[int]) -> tuple[int, int]:
            """Small tables are alike; of these the variable of which the last neighbour went longest ago."""
            return max(FEW, _weight(variable, near, sizes)), rounds.get(variable, 0)

        def gone(variable: int, others: set[int]) -> None:
            for each in others:
                rounds[each] = max(rounds.get(each, 0), rounds.get(variable, 0) + 1)

        return _one_by_one(self.scopes, self.sizes, soonest, gone)

    @cached_property
    def held(self) -> int:
        """Entries of all tables on the way together: what one condition of a batch keeps for its gradients."""
        return sum(self._entries(step.kept) for step in self.steps) + sum(map(self._entries, self.scopes))

    def _entries(self, scope: Scope) -> int:
        return math.prod(self.sizes[variable] for variable in scope)


def find(scopes: Sequence[Scope], sizes: Sequence[int], seconds: float = SECONDS) -> Order:
    """The cheapest of some orders: variables one by one, random greedy pairs; the first that is cheap is enough.

    >>> chain = find([(0, 1), (1, 2), (2, 3), (3, 4)], [10] * 5)
    >>> chain.cost, chain.width
    (1200, 1000)
    """
    best = _one_by_one(scopes, sizes, _weight)
    if CHEAP < best.cost < HOPELESS:
        best = min(best, _one_by_one(scopes, sizes, _fill), _greedy(scopes, sizes, TRIES, seconds), key=_price)
    return best


def _price(order: Order) -> tuple[int, int]:
    return order.cost, order.width


def _greedy(scopes: Sequence[Scope], sizes: Sequence[int], tries: int, seconds: float) -> Order:
    """The best of random greedy orders."""
    search = RandomGreedy(max_repeats=tries, max_time=seconds, minimize="flops")
    known = random.getstate()  # the search seeds the generator that all programs share
    try:
        search([frozenset(scope) for scope in scopes], frozenset(), dict(enumerate(sizes)))
    finally:
        random.setstate(known)
    return Order(tuple(scopes), tuple(sizes), tuple(_steps(list(scopes), search.best["ssa_path"])))


Rate = Callable[[int, dict[int, set[int]], Sequence[int]], Any]


def _weight(variable: int, near: dict[int, set[int]], sizes: Sequence[int]) -> int:
    """How large the table gets that is made when a variable is summed over."""
    return math.prod(sizes[other] for other in near[variable])


def _fill(variable: int, near: dict[int, set[int]], sizes: Sequence[int]) -> tuple[int, int]:
    """How large the pairs are that stand together in a table only then."""
    others = sorted(near[variable])
    new = sum(
        sizes[one] * sizes[other]
        for at, one in enumerate(others)
        for other in others[at + 1 :]
        if other not in near[one]
    )
    return new, _weight(variable, near, sizes)


def _one_by_one(
    scopes: Sequence[Scope], sizes: Sequence[int], rate: Rate, gone: Callable[[int, set[int]], None] | None = None
) -> Order:
    """Variables summed over one after the other, whichever costs least by a rate; all tables that read it at once.

    `gone` is told each variable and those that it leaves behind, before they are rated again. Where that is hopeless
    the order ends early, with a cost that says so.
    """
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(scope)
    for variable, others in near.items():
        others.discard(variable)
    rates = {variable: rate(variable, near, sizes) for variable in near}
    held = {number: frozenset(scope) for number, scope in enumerate(scopes)}
    path: list[tuple[int, int]] = []
    fresh, spent = len(scopes), 0
    while rates:
        variable = min(rates, key=lambda each: (rates[each], each))
        del rates[variable]
        mine = [number for number, scope in held.items() if variable in scope]
        queue = [(math.prod(sizes[each] for each in held[number]), number) for number in mine]
        heapq.heapify(queue)
        while len(queue) > 1:  # the two smallest first
            (_, left), (_, right) = heapq.heappop(queue), heapq.heappop(queue)
            path.append((left, right))
            joined = held.pop(left) | held.pop(right)
            held[fresh] = joined if queue else joined - {variable}
            entries = math.prod(sizes[each] for each in joined)
            heapq.heappush(queue, (entries, fresh))
            fresh, spent = fresh + 1, spent + entries
        for _, number in queue:  # the one that is left, also where no other table reads the variable
            held[number] = held[number] - {variable}
        if spent > HOPELESS:  # what is left is not looked at: it is too wide already
            break
        others = near.pop(variable)
        if gone is not None:
            gone(variable, others)
        for one in others:
            near[one] |= others
            near[one] -= {one, variable}
        changed = others.union(*(near[one] for one in others)) if rate is _fill else others
        rates |= {one: rate(one, near, sizes) for one in changed if one in rates}
    left, *rest = held if spent <= HOPELESS else [0]
    for right in rest:
        path.append((left, right))
        left, fresh = fresh, fresh + 1
    return Order(tuple(scopes), tuple(sizes), tuple(_steps(list(scopes), path)))


def _steps(scopes: list[Scope], path: Sequence[tuple[int, ...]]) -> list[Step]:
    """What each pair of a path keeps: what tables that are not yet used read."""
    readers: dict[int, int] = {}
    for scope in scopes:
        for variable in scope:
            readers[variable] = readers.get(variable, 0) + 1
    found = []
    for left, right in path:
        pair = scopes[left], scopes[right]
        for variable in (*pair[0], *pair[1]):
            readers[variable] -= 1
        joined = tuple(dict.fromkeys((*pair[0], *pair[1])))
        kept = tuple(variable for variable in joined if readers[variable])
        for variable in kept:
            readers[variable] += 1
        summed = tuple(variable for variable in joined if not readers[variable])
        found.append(Step(left, right, pair, kept, summed))
        scopes.append(kept)
    return found
