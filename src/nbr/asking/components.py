"""A question apart from what has nothing to do with it.

Rules that share no variable and no source with the question, directly or through others, speak of something else. A
point is then a point of each part, and a crisp part either allows one or not: E f of the whole is the product of E f of
the parts, so that the others cancel in belief and plausibility, but not in conflict. Fuzzy parts do not cancel: the
grade of a point is the smallest of all its grades. They are kept together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nbr import clock
from nbr.language import Constant, Expression, conjunction, conjuncts
from nbr.model import Model
from nbr.rules import Rule
from nbr.world import World

Set = Expression | Rule


@dataclass(frozen=True)
class Component:
    """A part of a model with the part of the question and of the condition that is about it."""

    model: Model
    rules: tuple[int, ...]  # positions in the whole model
    proposition: Set
    condition: Set | None
    asked: bool  # whether the question is about it

    @property
    def question(self) -> tuple[Model, Set, Set | None]:
        """What sources are made of."""
        return self.model, self.proposition, self.condition


def is_crisp(part: Set) -> bool:
    """Whether every point is in it or not."""
    return isinstance(part, Expression) or part.levels() == [1.0]


def components(model: Model, proposition: Set, condition: Set | None) -> list[Component]:
    """The parts of a question, the one that it is about first."""
    clock.check()
    whole = Component(model, tuple(range(len(model.rules))), proposition, condition, True)
    if model.codec is not None:
        return [whole]
    conditions = list(conjuncts(condition)) if isinstance(condition, Expression) else []
    groups = _Groups(model.world.names)
    fuzzy: list[str] = []
    fuzzy_condition = [condition] if isinstance(condition, Rule) else []
    for part in (proposition, *fuzzy_condition, *conditions, *model.rules):
        clock.check()
        names = names_of(part)
        groups.join(names)
        if not is_crisp(part):
            fuzzy += names[:1]
    groups.join(fuzzy)
    for names in _sharing(model.rules) if model.shares else ():
        groups.join(names)
    asked = groups.of(names_of(proposition)) or groups.of(_first(conditions, condition, model)) or ""
    found: dict[str, tuple[list[int], list[Expression]]] = {asked: ([], [])}
    for position, rule in enumerate(model.rules):
        clock.check()
        found.setdefault(groups.of(names_of(rule)) or asked, ([], []))[0].append(position)
    for statement in conditions:
        found.setdefault(groups.of(names_of(statement)) or asked, ([], []))[1].append(statement)
    if isinstance(condition, Rule):
        found.setdefault(groups.of(names_of(condition)) or asked, ([], []))
    if len(found) == 1:
        return [whole]
    members = groups.members()
    return [_component(whole, groups, members.get(group, []), group, asked, *parts) for group, parts in found.items()]


def _component(
    whole: Component,
    groups: _Groups,
    names: list[str],
    group: str,
    asked: str,
    rules: list[int],
    conditions: list[Expression],
) -> Component:
    model = whole.model
    world = World({name: model.world.variables[name] for name in names or model.world.names[:1]})
    condition: Set | None = conjunction(conditions)
    if isinstance(whole.condition, Rule) and groups.of(names_of(whole.condition)) == group:
        condition = whole.condition.bind(world)
    proposition: Set = whole.proposition if group == asked else Constant(True)
    if isinstance(proposition, Rule):
        proposition = proposition.bind(world)
    chosen, closed = [model.rules[position] for position in rules], model.closed & set(world.names)
    if all(rule.expression is not None for rule in chosen):
        beliefs = tuple((rule.degree, rule.source, rule.choice) for rule in chosen)
        key = ("part", *names, *rules, beliefs, closed)
        part = model.once(key, lambda: Model(world, tuple(chosen), kept=model.kept, closed=closed))
    else:
        part = Model(world, tuple(chosen), closed=closed)
    return Component(part, tuple(rules), proposition, condition, group == asked)


def _sharing(rules: Iterable[Rule]) -> Iterable[list[str]]:
    """A variable of each rule that shares a selector with others, together: such rules are not independent."""
    found: dict[object, list[str]] = {}
    for rule in rules:
        if rule.choice is not None:
            found.setdefault(rule.choice, []).extend(rule.inputs[:1])
        if rule.source is not None and (rule.source.nested or rule.source.reliability < 1):
            found.setdefault(rule.source, []).extend(rule.inputs[:1])
    return found.values()


def names_of(part: Set) -> list[str]:
    """The variables that it reads."""
    return list(part.inputs) if isinstance(part, Rule) else sorted(part.names())


def _first(conditions: list[Expression], condition: Set | None, model: Model) -> list[str]:
    """Some variable to hang a question on that names none."""
    for part in (*conditions, condition, *model.rules):
        if part is not None and names_of(part):
            return names_of(part)
    return [model.world.names[0]]


class _Groups:
    """Names that belong together, by union and find."""

    def __init__(self, names: Iterable[str]) -> None:
        self.above = {name: name for name in names}

    def find(self, name: str) -> str:
        while self.above[name] != name:
            self.above[name] = self.above[self.above[name]]
            name = self.above[name]
        return name

    def join(self, names: Iterable[str]) -> None:
        first, *others = [*names] or [""]
        for name in others:
            self.above[self.find(name)] = self.find(first)

    def members(self) -> dict[str, list[str]]:
        """The names of each group, in the order of the world."""
        found: dict[str, list[str]] = {}
        for name in self.above:
            found.setdefault(self.find(name), []).append(name)
        return found

    def of(self, names: Iterable[str]) -> str | None:
        return next((self.find(name) for name in names), None)
