"""Statements for the SMT solver z3, and points that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3

from nbr.language import Expression, Linear, Modulo
from nbr.language import expressions as ex
from nbr.world import World

Found = tuple[list[float], list[bool]]


class SmtOutcomes:
    """Points at which some statements turn out in ever new ways.

    Each has a context of its own: threads may not share one.
    """

    def __init__(self, world: World, statements: Sequence[Expression]) -> None:
        self.world, self.context = world, z3.Context()
        self.solver = z3.Solver(ctx=self.context)
        self.value = {name: self._variable(name) for name in world.names}
        self.flags = [z3.Bool(f"s{number}", self.context) for number in range(len(statements))]
        for flag, statement in zip(self.flags, statements, strict=True):
            self.solver.add(flag == self.said(statement))

    def another(self, seconds: float) -> Found | bool:
        """A point and how the statements turn out there; False if there is none, True if time is up."""
        self.solver.set("timeout", max(1, int(1000 * seconds)))
        answer = self.solver.check()
        if answer == z3.unknown:
            return True
        if answer == z3.unsat:
            return False
        model = self.solver.model()
        truth = [z3.is_true(model.eval(flag, model_completion=True)) for flag in self.flags]
        point = [_number(model.eval(self.value[name], model_completion=True)) for name in self.world.names]
        self.solver.add(
            z3.Or([z3.Not(f) if holds else f for f, holds in zip(self.flags, truth, strict=True)], self.context)
        )
        return point, truth

    def said(self, statement: Expression) -> Any:
        """A statement in the solver's words."""
        match statement:
            case ex.Constant():
                return z3.BoolVal(statement.value, self.context)
            case ex.Atom():
                codes = [self._exactly(code) for code in statement.codes(self.world)]
                if statement.operator == "in":
                    return z3.Or([self.value[statement.name] == code for code in codes], self.context)
                return _compared(self.value[statement.name], statement.operator or "=", codes[0])
            case Linear():
                terms = [self._exactly(weight) * self.value[name] for weight, name in statement.weights]
                terms += [z3.If(self.said(part), self._exactly(weight), 0) for weight, part in statement.counted]
                return _compared(z3.Sum(terms), statement.operator, self._exactly(statement.number))
            case Modulo():
                terms = [self._exactly(weight) * self.value[name] for weight, name in statement.weights]
                terms += [z3.If(self.said(part), self._exactly(weight), 0) for weight, part in statement.counted]
                total = z3.ToInt(z3.Sum([*terms, self._exactly(statement.offset)]))
                return _compared(
                    z3.ToReal(total % statement.modulus), statement.operator, self._exactly(statement.number)
                )
        parts = [self.said(part) for part in statement.parts]
        match statement:
            case ex.Not():
                return z3.Not(parts[0])
            case ex.And():
                return z3.And(parts, self.context)
            case ex.Or():
                return z3.Or(parts, self.context)
            case ex.Implies():
                return z3.Implies(*parts)
            case ex.Iff():
                whole = parts[0]
                for part in parts[1:]:
                    whole = whole == part
                return whole
            case ex.Count():
                count = z3.Sum([z3.If(part, self._exactly(1), 0) for part in parts])
                return _compared(count, statement.operator, self._exactly(statement.number))
            case ex.Majority():
                return z3.Sum([z3.If(part, self._exactly(1), 0) for part in parts]) > self._exactly(len(parts) / 2)
        raise TypeError(f"no words for {type(statement).__name__}")

    def _variable(self, name: str) -> Any:
        """A number within its domain: a real, or a whole number of steps."""
        variable = self.world.variables[name]
        if variable.numeric and not variable.step:
            made = z3.Real(name, self.context)
            self.solver.add(made >= self._exactly(variable.low), made <= self._exactly(variable.high))
            return made
        low, step = (variable.low, variable.step) if variable.numeric else (0.0, 1.0)
        number = z3.Int(name, self.context)
        self.solver.add(number >= 0, number < variable.size)
        return self._exactly(low) + self._exactly(step) * z3.ToReal(number)

    def _exactly(self, number: float) -> Any:
        """As people write it: 0.1 is a tenth."""
        return z3.RealVal(str(Fraction(repr(float(number)))), self.context)


def _compared(left: Any, operator: str, right: Any) -> Any:
    match operator:
        case "=":
            return left == right
        case "!=":
            return left != right
        case ">=":
            return left >= right
        case ">":
            return left > right
        case "<=":
            return left <= right
    return left < right


def _number(value: Any) -> float:
    return float(z3.simplify(value).as_fraction())
