"""What does not change with beliefs or base rates: values, tables of truth, who shares a table, and the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.factors.comparisons import Tied, substituted, tied
from nbr.factors.contraction import aligned
from nbr.factors.kept import Compilations
from nbr.factors.order import HOPELESS, Order, find
from nbr.factors.spelling import Names, Part, Spelling
from nbr.factors.value_codes import ValueCodes, codes_of_values
from nbr.language import Expression, conjuncts
from nbr.ways import Unfit
from nbr.world import Bit, World

ROOM = 1 << 27  # bytes of what is kept, of either kind
Cuts = tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Structure:
    """Rules and other statements over few values."""

    key: tuple[object, ...]
    values: Mapping[str, ValueCodes]
    sizes: Mapping[str, int]  # of hidden variables too
    certain: tuple[Part, ...]  # 0 or 1: what hidden variables are
    broken: tuple[Part, ...]  # of each rule: True where it does not hold
    asked: Mapping[Expression, str]  # a hidden variable for each statement about several variables
    compared: tuple[Tied, ...]  # numbers, by hidden bits of which the prior knows how likely they are

    @property
    def bytes(self) -> int:
        tables = [table for _, table in (*self.certain, *self.broken)]
        return sum(table.numel() * table.element_size() for table in tables)


@dataclass(frozen=True)
class TableGroup:
    """Tables that are multiplied into one before anything is summed, since one of them reads all that others do."""

    scope: Names
    certain: Tensor
    rules: Tensor  # their numbers
    broken: Tensor  # (rules, *sizes)
    others: tuple[int, ...]  # tables that come with numbers: of the prior, and grades of fuzzy rules


@dataclass(frozen=True)
class Compiled:
    """Groups, then a table for each variable that conditions may speak of, and the order to sum them in."""

    groups: tuple[TableGroup, ...]
    open: Names
    names: Names
    order: Order

    @property
    def bytes(self) -> int:
        tables = [table for group in self.groups for table in (group.certain, group.broken)]
        return sum(table.numel() * table.element_size() for table in tables) + 200 * len(self.order.steps)


_structures = Compilations[Structure](ROOM, lambda each: each.bytes)
_compiled = Compilations[Compiled](ROOM, lambda each: each.bytes)


def structure_of(world: World, rules: Sequence[Expression], said: Iterable[Expression]) -> Structure:
    """Of the statements that rules are, and of all that conditions and questions will say."""
    several, cuts = taken_apart(world, said)
    key = (world, tuple(rules), several, cuts)
    return _structures.once(key, lambda: _structure(key, world, rules, several, cuts))


def taken_apart(world: World, said: Iterable[Expression]) -> tuple[tuple[Expression, ...], Cuts]:
    """What statements say of several variables at once, and where they cut numbers."""
    parts = dict.fromkeys(part for statement in said for part in conjuncts(statement))
    several = sorted((part for part in parts if len(part.names()) > 1), key=str)
    cuts: dict[str, set[float]] = {}
    for part in parts:
        if len(part.names()) == 1 and world.variables[next(iter(part.names()))].numeric:
            for name, numbers in part.cuts(world).items():
                cuts.setdefault(name, set()).update(numbers)
    return tuple(several), tuple((name, tuple(sorted(cuts[name]))) for name in sorted(cuts))


def _structure(
    key: tuple[object, ...], world: World, rules: Sequence[Expression], several: Sequence[Expression], cuts: Cuts
) -> Structure:
    compared = tied(world, [*rules, *several])
    bits = {line: bit for numbers in compared for line, bit in numbers.bits.items()}
    plain = {each: substituted(each, bits) if bits else each for each in (*rules, *several)}
    wider = World({**world.variables, **{bit: Bit() for bit in bits.values()}})
    found = codes_of_values(wider, plain.values(), dict(cuts))
    alike = Counter(plain[rule].names() for rule in rules)
    spelling = Spelling(wider, {name: each.codes for name, each in found.items()}, alike=alike)
    broken = []
    for rule in rules:
        names, truth = spelling.truth(plain[rule])
        broken.append((names, truth == 0))
    asked = {statement: spelling.bit(spelling.truth(plain[statement])) for statement in several}
    sizes = {**{name: len(each) for name, each in found.items()}, **spelling.hidden}
    told = {name: each for name, each in found.items() if name in world.variables}
    return Structure(key, told, sizes, tuple(spelling.tables), tuple(broken), asked, tuple(compared))


def compiled(structure: Structure, scopes: Sequence[Names], sizes: Mapping[str, int], seconds: float) -> Compiled:
    """With further tables, of which only what they read is known yet."""
    key = (structure.key, tuple(scopes), tuple(sorted(sizes.items())))
    return _compiled.once(key, lambda: _compile(structure, scopes, sizes, seconds))


def _compile(structure: Structure, scopes: Sequence[Names], more: Mapping[str, int], seconds: float) -> Compiled:
    sizes = {**structure.sizes, **more}
    every = [
        frozenset(scope) for scope in (*(n for n, _ in structure.certain), *(n for n, _ in structure.broken), *scopes)
    ]
    homes = _largest(every)
    parts: list[list[int]] = [[] for _ in homes]
    readers: dict[str, list[int]] = {}
    for number, home in enumerate(homes):
        for name in home:
            readers.setdefault(name, []).append(number)
    for number, scope in enumerate(every):
        rarest = min((readers[name] for name in scope), key=len, default=[0])
        parts[next(home for home in rarest if scope <= homes[home])].append(number)
    groups = [_group(structure, tuple(sorted(home)), sizes, each) for home, each in zip(homes, parts, strict=True)]
    opened = (*structure.values, *structure.asked.values())
    names = tuple(dict.fromkeys((*opened, *(name for home in homes for name in sorted(home)))))
    place = {name: number for number, name in enumerate(names)}
    wanted = [*(group.scope for group in groups), *((name,) for name in opened)]
    order = find([tuple(place[name] for name in scope) for scope in wanted], [sizes[name] for name in names], seconds)
    return Compiled(tuple(groups), opened, names, order)


def _largest(scopes: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Scopes that no other one includes; at least the empty one."""
    found: list[frozenset[str]] = []
    having: dict[str, list[frozenset[str]]] = {}
    for scope in sorted(set(scopes), key=lambda each: (-len(each), sorted(each))):
        if scope:
            rarest = min((having.get(name, []) for name in scope), key=len)
            if any(scope <= other for other in rarest):
                continue
        elif found:
            continue
        found.append(scope)
        for name in scope:
            having.setdefault(name, []).append(scope)
    return found or [frozenset()]


def _group(structure: Structure, scope: Names, sizes: Mapping[str, int], parts: Sequence[int]) -> TableGroup:
    shape = [sizes[name] for name in scope]
    certain = torch.ones(shape, dtype=torch.float64)
    rules, broken, others = [], [], []
    first, second = len(structure.certain), len(structure.certain) + len(structure.broken)
    for part in parts:
        if part < first:
            names, table = structure.certain[part]
            certain = certain * aligned(table, names, scope)
        elif part < second:
            names, table = structure.broken[part - first]
            rules.append(part - first)
            broken.append(aligned(table, names, scope).expand(shape))
        else:
            others.append(part - second)
    said = torch.stack(broken) if broken else torch.zeros([0, *shape], dtype=torch.bool)
    return TableGroup(scope, certain, torch.tensor(rules, dtype=torch.long), said, tuple(others))


def too_wide(order: Order, width: int, cost: float) -> Unfit | None:
    """Known before anything is computed."""
    if order.width > width:
        return Unfit(f"a table on the way would have about 2^{order.width.bit_length() - 1} entries")
    if order.cost > min(cost, HOPELESS):
        return Unfit(f"summing would take about 2^{order.cost.bit_length() - 1} products")
    return None
