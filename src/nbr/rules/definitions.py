"""Closed variables: true only where a rule that is there makes them so (the least model).

A rule `body -> head` whose head is a closed bit, or several, defines it; any other rule is a constraint. What depends
on itself through a negation has no such model, and is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from nbr.errors import NbrError
from nbr.language import And, Atom, Constant, Expression, Implies, Not, Or, conjuncts
from nbr.rules.base import Rule
from nbr.world import World

TRUE = ("1", "true", "yes")


@dataclass(frozen=True)
class Definition:
    """A rule, by its position, that makes closed variables true where its body holds."""

    rule: int
    body: Expression
    heads: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """What defines each closed variable; the variables in layers, of which each depends on itself and earlier ones."""

    definitions: tuple[Definition, ...]
    layers: tuple[tuple[str, ...], ...]
    looped: frozenset[str]  # variables that depend on themselves

    @property
    def defining(self) -> frozenset[int]:
        """The positions of rules that are no constraints."""
        return frozenset(each.rule for each in self.definitions)

    def of(self, name: str) -> list[Definition]:
        """The rules that can make a variable true."""
        return [each for each in self.definitions if name in each.heads]


def program(rules: Sequence[Rule], closed: Collection[str]) -> Program:
    """The definitions among rules; an error names variables that depend on themselves through a negation."""
    found = [_definition(position, rule, closed) for position, rule in enumerate(rules)]
    definitions = tuple(each for each in found if each is not None)
    needs = _needs(definitions, closed)
    layers = _layers(needs)
    loop = _denied(definitions, layers, closed)
    if loop is not None:
        raise NbrError(said_of(*loop[1:]))
    looped = frozenset(name for layer in layers for name in layer if len(layer) > 1 or name in needs[name])
    return Program(definitions, tuple(map(tuple, layers)), looped)


def denied_loop(definitions: Sequence[Definition], closed: Collection[str]) -> tuple[Definition, str, str] | None:
    """A definition, its head and what has to be false for it, where that depends on the head again."""
    return _denied(definitions, _layers(_needs(definitions, closed)), closed)


def said_of(head: str, name: str) -> str:
    """What is wrong with a loop through a negation."""
    return (
        f"the closed variable {head!r} depends on itself through a negation, of {name!r}: "
        "it is undefined which of them is true"
    )


def _needs(definitions: Sequence[Definition], closed: Collection[str]) -> dict[str, dict[str, bool]]:
    """What each variable depends on, and whether it is needed to be false."""
    needs: dict[str, dict[str, bool]] = {name: {} for name in closed}
    for each in definitions:
        for name, denied in _read(each.body, closed):
            for head in each.heads:
                needs[head][name] = needs[head].get(name, False) or denied
    return needs


def _denied(
    definitions: Sequence[Definition], layers: Sequence[Sequence[str]], closed: Collection[str]
) -> tuple[Definition, str, str] | None:
    layer_of = {name: number for number, layer in enumerate(layers) for name in layer}
    through = [
        (head, name, each.rule, each)
        for each in definitions
        for name, denied in _read(each.body, closed)
        for head in each.heads
        if denied and layer_of[name] == layer_of[head]
    ]
    if not through:
        return None
    head, name, _, definition = min(through, key=lambda each: each[:3])
    return definition, head, name


def check(world: World, closed: Collection[str]) -> None:
    """Raise an error for a closed variable that is none, or no bit."""
    for name in closed:
        world.column(name)
        if not world.variables[name].boolean:
            raise NbrError(f"closed: {name!r} is not a bit, and only bits can be false unless a rule makes them true")


def heads(statement: Expression) -> tuple[Expression, tuple[str, ...]] | None:
    """A body and the bits that it makes true, if a statement says that."""
    body, head = (statement.premise, statement.conclusion) if isinstance(statement, Implies) else (None, statement)
    names = [_true(part) for part in conjuncts(head)]
    if not names or not all(names):
        return None
    return Constant(True) if body is None else body, tuple(name for name in names if name is not None)


def makes(statement: Expression, closed: Collection[str]) -> tuple[Expression, tuple[str, ...]] | None:
    """The same where all of these are closed, so that the statement defines them."""
    told = heads(statement)
    return None if told is None or not set(told[1]) <= set(closed) else told


def _definition(position: int, rule: Rule, closed: Collection[str]) -> Definition | None:
    statement = rule.at_least(1.0) if rule.levels() == [1.0] else None
    told = None if statement is None else makes(statement, closed)
    return None if told is None else Definition(position, *told)


def _true(part: Expression) -> str | None:
    """The bit that an atom says is 1."""
    if not isinstance(part, Atom) or (part.operator and (part.operator != "=" or part.values[0].lower() not in TRUE)):
        return None
    return part.name


def _read(statement: Expression, closed: Collection[str], denied: bool = False) -> Iterator[tuple[str, bool]]:
    """The closed variables that a body reads, and whether it may need them to be false."""
    match statement:
        case Atom():
            if statement.name in closed:
                yield statement.name, denied != (_true(statement) is None)
        case Not():
            yield from _read(statement.part, closed, not denied)
        case And() | Or():
            for part in statement.parts:
                yield from _read(part, closed, denied)
        case _:  # an implication, a count: either may matter
            for name in statement.names():
                if name in closed:
                    yield name, True


def _layers(needs: dict[str, dict[str, bool]]) -> list[list[str]]:
    """Strongly connected components, those first that others need (Tarjan), without recursion."""
    try:
        return [[name] for name in TopologicalSorter(needs).static_order()]
    except CycleError:
        pass
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    inside: set[str] = set()
    found: list[list[str]] = []
    for start in needs:
        work = [] if start in number else [(start, iter(needs[start]))]
        while work:
            name, rest = work[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                stack.append(name)
                inside.add(name)
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    layer: list[str] = []
                    while not layer or layer[-1] != name:
                        layer.append(stack.pop())
                        inside.discard(layer[-1])
                    found.append(sorted(layer))
            elif following not in number:
                work.append((following, iter(needs[following])))
            elif following in inside:
                low[name] = min(low[name], number[following])
    return found
