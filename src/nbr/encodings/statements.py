"""Rules as statements: what a counter or a solver is fed from, without a list of points.

A fuzzy rule is a statement at each level of grade: the points whose grade is at least that. A rule that reads few
combinations of values is tabulated, and its table becomes a diagram of decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from nbr.calculus import (
    Deciding,
    Formula,
    Selectors,
    Shared,
    all_selectors,
    detached,
    presence_probabilities,
    selector_guards,
)
from nbr.clock import OutOfTime
from nbr.encodings.closure import Closure
from nbr.encodings.encoding import Encoder
from nbr.encodings.source import Decision, Encoding, Set
from nbr.errors import NbrError
from nbr.language import Expression, compares_numbers, conjuncts
from nbr.model import Model
from nbr.points import world_cells
from nbr.rules import Rule, moves, turning
from nbr.ways import Limits
from nbr.world import World

TABLE = 1 << 16  # combinations of values up to which a rule is tabulated


class GradeTable:
    """The grades of a rule for every combination of the values that it reads."""

    def __init__(self, rule: Rule) -> None:
        self.names = rule.inputs
        small = World({name: rule.world.variables[name] for name in self.names})
        listing = world_cells(small, {}, (), 1)
        bound = rule.bind(small)
        self.sizes = [len(column) for column in listing.centres]
        with torch.no_grad():
            self.grades = torch.cat([bound.grades(points) for points, _ in listing.chunks()])

    @staticmethod
    def fits(rule: Rule) -> bool:
        variables = [rule.world.variables[name] for name in rule.inputs]
        if not variables or any(variable.numeric for variable in variables):
            return False
        return math.prod(variable.size or 1 for variable in variables) <= TABLE

    def require(self, encoder: Encoder, level: float, unless: int) -> None:
        """The grade is at least the level, or else the literal is true: a node for each distinct rest of the table."""
        nodes: dict[tuple[int, bytes], int] = {}
        each = [encoder.classes(name) for name in self.names]

        def node(depth: int, part: Tensor) -> int:
            if not bool(part.any()):
                return -encoder.true
            if bool(part.all()):
                return encoder.true
            key = (depth, part.numpy().tobytes())
            if key not in nodes:
                below = [node(depth + 1, rest) for rest in part.view(self.sizes[depth], -1)]
                if len(set(below)) == 1:
                    nodes[key] = below[0]
                else:
                    nodes[key] = encoder.branch(each[depth], below)
            return nodes[key]

        root = node(0, self.grades >= level)
        encoder.add((unless, root))


def _statement(rule: Rule) -> Expression:
    said = rule.at_least(1.0)
    assert said is not None
    return said


class StatementEncoding(Encoding):
    """The rules of a model, a question and a condition as formulas, one for each level of grade."""

    def __init__(
        self,
        model: Model,
        question: Expression,
        conditions: Iterable[Expression],
        apart: Iterable[Expression] = (),
    ) -> None:
        """`apart` are statements that are neither asked nor given, and can be said of a point all the same."""
        self.model, self.question, self.conditions, self.apart = model, question, list(conditions), list(apart)
        self._deciding: dict[float, tuple[Deciding, Encoder]] = {}
        self.tables = {position: GradeTable(rule) for position, rule in enumerate(model.rules) if rule.cut(1.0) is None}

    @classmethod
    def of(cls, model: Model, proposition: Set, condition: Set | None) -> Self:
        reason = cls.unfit(model, condition)
        if reason is not None or not isinstance(proposition, Expression):
            raise NbrError(f"these are not statements: {reason or 'the question is fuzzy'}")
        assert condition is None or isinstance(condition, Expression)
        return cls(model, proposition, [] if condition is None else conjuncts(condition))

    @staticmethod
    def unfit(model: Model, condition: Set | None = None) -> str | None:
        """Why rules and a condition cannot be said as statements, in words for a user."""
        if model.codec is not None:
            return "rules on codes are not statements"
        if condition is not None and not isinstance(condition, Expression):
            return "the condition is fuzzy"
        for rule in model.rules:
            if rule.expression is None and rule.turns() is None and not GradeTable.fits(rule):
                return f"the rule {rule} is not a statement and reads more than {TABLE:,} combinations of values"
        worded = any(rule.expression is None and moves(rule) for rule in model.rules)
        if worded and compares_numbers(rule.cut(1.0) for rule in model.rules):
            return "numbers are compared with each other beside words of degree"
        return None

    @cached_property
    def levels(self) -> list[float]:
        """Levels of grade, ascending up to 1, between which what is possible stays the same."""
        asked = [self.question, *self.conditions, *self.apart]
        stated = [rule for position, rule in enumerate(self.model.rules) if position not in self.tables]
        found = turning(stated, asked, self.model.world)
        assert found is not None
        tabulated = {grade for table in self.tables.values() for grade in table.grades.unique().tolist() if grade > 0}
        return sorted(tabulated.union(found))

    def formula(self, level: float) -> Formula:
        """Where rules that are present have a grade of at least the level: nothing changes from the one before it."""
        before = max((each for each in self.levels if each < level), default=0.0)
        return self.encoded((before + level) / 2)[0]

    def decide(self, rules: Collection[int], level: float, union: str, limits: Limits) -> Decision:
        """By a SAT solver, which keeps what it learned for later decisions at this level."""
        if level not in self._deciding:
            formula, encoder = self.encoded(level)
            self._deciding[level] = Deciding(formula), encoder
        deciding, encoder = self._deciding[level]
        try:
            if not deciding.grows(set(rules), union, limits.deadline):
                return Decision(core=deciding.shrunk(union, limits.deadline))
        except OutOfTime:
            return Decision()
        point = encoder.point({literal for literal in deciding.solver.get_model() if literal > 0})
        return Decision(point=dict(zip(self.model.world.names, point.tolist(), strict=True)))

    @cached_property
    def _compares(self) -> bool:
        """Whether numbers are compared with each other: then what is told apart hangs on the question."""
        rules = self.model.once("compares", lambda: compares_numbers(r.cut(1.0) for r in self.model.rules))
        return rules or compares_numbers([self.question, *self.conditions, *self.apart])

    def encoded(self, level: float) -> tuple[Formula, Encoder]:
        """The same, with what turns a model back into a point."""
        rules, asked = self.model.rules, [self.question, *self.conditions, *self.apart]
        if self.model.closed:
            return self._closed(level)
        if all(rule.expression is not None for rule in rules) and not self._compares:
            # Bits are told apart anyway; of other variables it matters what is asked.
            world = self.model.world
            said = self.model.once("atoms", lambda: {a for rule in rules for a in _statement(rule).atoms()})
            new = {a for each in asked for a in each.atoms() if not world.variables[a.name].boolean} - said
            base, selectors = self.model.once(("encoded", frozenset(new)), lambda: self._rules(level))
            encoder = base.copy()
        else:
            encoder, selectors = self._rules(level)
        for condition in self.conditions:
            encoder.require(condition)
        question = encoder.literal(self.question)
        presence, shared = self.model.presence, None
        if isinstance(presence, Selectors):
            shared = Shared(*selector_guards(presence, encoder.fresh))
        beliefs = presence_probabilities(presence).detach()
        return Formula(encoder.clauses, encoder.count, selectors, question, beliefs, shared), encoder

    def sufficing(self, level: float) -> Formula:
        """With closed variables, a formula with a selector for each rule: those not set may be there or not."""
        encoder, there, question = self._defined(level, lambda encoder: [encoder.fresh() for _ in self.model.rules])
        for literal, rule in zip(there, self.model.rules, strict=True):
            if rule.degree == 0:
                encoder.add((-literal,))
        beliefs = presence_probabilities(detached(self.model.presence))
        return Formula(encoder.clauses, encoder.count, tuple(there), question, beliefs, None, False)

    def _closed(self, level: float) -> tuple[Formula, Encoder]:
        """With closed variables: what is true hangs on rules that are absent too, so that no rule has a selector."""
        presence, chance = all_selectors(detached(self.model.presence)), dict[int, float]()

        def guarded(encoder: Encoder) -> list[int]:
            weights, told = selector_guards(presence, encoder.fresh)
            chance.update(weights)
            return [-encoder.true if guard is None else encoder.both(guard) for guard in told]

        encoder, _, question = self._defined(level, guarded)
        settled = self.model.closed == set(self.model.world.names)
        shared = Shared(chance, [])
        return Formula(
            encoder.clauses, encoder.count, (), question, presence.marginals, shared, False, settled
        ), encoder

    def _defined(self, level: float, selected: Callable[[Encoder], list[int]]) -> tuple[Encoder, list[int], int]:
        """Clauses of all that rules say; for each rule what is true where it is there; and the question."""
        rules = self.model.rules
        closure = Closure(self.model.world, self.model.program)
        said = {place: rule.cut(level) for place, rule in enumerate(rules) if place not in self.model.program.defining}
        statements = [*closure.statements, self.question, *self.conditions, *filter(None, said.values())]
        tabulated = {name for table in self.tables.values() for name in table.names}
        whole = tabulated | {name for name, variable in closure.world.variables.items() if variable.boolean}
        encoder = Encoder(closure.world, statements, whole, tabulated)
        there = selected(encoder)
        closure.define(encoder, there)
        for position, statement in said.items():
            if statement is not None:
                encoder.require(statement, unless=-there[position])
            else:
                self.tables[position].require(encoder, level, -there[position])
        for condition in self.conditions:
            encoder.require(condition)
        return encoder, there, encoder.literal(self.question)

    def _rules(self, level: float) -> tuple[Encoder, tuple[int, ...]]:
        """All rules, each with its selector."""
        rules, world = self.model.rules, self.model.world
        said = {position: rule.cut(level) for position, rule in enumerate(rules)}
        statements = [
            self.question,
            *self.conditions,
            *self.apart,
            *(each for each in said.values() if each is not None),
        ]
        tabulated = {name for table in self.tables.values() for name in table.names}
        whole = tabulated | {name for name, variable in world.variables.items() if variable.boolean}
        encoder = Encoder(world, statements, whole, tabulated)
        selectors = []
        for position in range(len(rules)):
            selector = encoder.fresh()
            statement = said[position]
            if statement is not None:
                encoder.require(statement, unless=-selector)
            else:
                self.tables[position].require(encoder, level, -selector)
            selectors.append(selector)
        return encoder, tuple(selectors)
