"""Which sets of rules can hold together, decided by a SAT solver that forgets nothing.

Every model found is kept as the set of rules that it satisfies, and every contradiction as a core, a set of rules that
cannot hold together. A later set inside a known model, or around a known core, needs no call.
"""

from __future__ import annotations

import importlib.util
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.inference.formula import UNIONS, Formula

Flags = NDArray[np.bool_]
CONFLICTS = 5_000  # of the solver, between looks at the clock
SMALL = 24  # rules of a core up to which it is worth making it smaller


def available() -> bool:
    """Whether the solver is installed."""
    return importlib.util.find_spec("pysat") is not None


class OutOfTime(Exception):
    """The deadline has passed."""


class Deciding:
    """A formula, its solver, and all models and cores found so far."""

    def __init__(self, formula: Formula) -> None:
        from pysat.solvers import Solver

        self.formula = formula
        self.rules = len(formula.selectors)
        self.selectors = np.array(formula.selectors, dtype=np.int64)
        self.position = {selector: rule for rule, selector in enumerate(formula.selectors)}
        self.solver: Any = Solver(name="g4", bootstrap_with=[list(clause) for clause in formula.clauses])
        self.solver.set_phases(list(formula.selectors))
        self._models = _Rows(self.rules)
        self._points = _Rows(formula.variables)
        self.cores = {union: np.zeros((0, self.rules), bool) for union in UNIONS}
        self.calls = 0

    @property
    def models(self) -> Flags:
        """The rules that each model satisfies: (models, rules)."""
        return self._models.rows

    @property
    def points(self) -> Flags:
        """The variables that are true in each model: (models, variables), the first for number 1."""
        return self._points.rows

    @property
    def holds(self) -> Flags:
        """Whether the question holds in each model."""
        question = self.formula.question
        found: Flags = self.points[:, abs(question) - 1] == (question > 0)
        return found

    def close(self) -> None:
        self.solver.delete()

    def fits(self, union: str) -> Flags:
        """Which models count for a union."""
        return {"yes": self.holds, "no": ~self.holds, "all": np.ones_like(self.holds)}[union]

    def allow(self, present: Flags, union: str, deadline: float) -> Flags:
        """Which of some sets of rules (sets, rules) allow a point of a union; none of them is inside a known model."""
        found = np.zeros(len(present), bool)
        open_ = ~_around(present, self.against(union))
        while open_.any():
            first = int(open_.argmax())
            found[first] = self.call(present[first], union, deadline)
            open_[first] = False
            # What was found may settle others.
            if found[first]:
                inside = open_ & ~(present & ~self.models[-1]).any(axis=1)
                found |= inside
                open_ &= ~inside
            else:
                open_ &= ~_around(present, self.cores[union][-1][None])
        return found

    def call(self, present: Flags, union: str, deadline: float) -> bool:
        """The same by a call of the solver; what it finds is kept."""
        assumed = [*self.selectors[present].tolist(), *self.formula.extra(union)]
        if self._solved(assumed, deadline):
            self._keep()
            return True
        self.cores[union] = np.vstack([self.cores[union], self._core(union, deadline)])
        return False

    def against(self, union: str) -> Flags:
        """The cores that leave a union without a point."""
        return self.cores[union] if union == "all" else np.vstack([self.cores["all"], self.cores[union]])

    def grows(self, rules: set[int], union: str, deadline: float) -> bool:
        """Whether some rules allow a point of a union; what the solver found is kept for `grown` or `shrunk`."""
        return self._solved([*self.selectors[sorted(rules)].tolist(), *self.formula.extra(union)], deadline)

    def grown(self, rules: set[int], among: list[int], union: str, deadline: float) -> set[int]:
        """The same rules with as many more as still allow a point."""
        held = rules | self._true(among)
        for rule in among:
            if rule not in held and self.grows(held | {rule}, union, deadline):
                held |= {rule} | self._true(among)
        return held

    def shrunk(self, union: str, deadline: float) -> frozenset[int]:
        """A minimal part of the rules that were just found not to allow a point."""
        core = self._found_core()
        for rule in list(core):
            smaller = {other for other in core if other != rule}
            if rule in core and not self.grows(smaller, union, deadline):
                core = [other for other in self._found_core() if other in smaller]
        return frozenset(core)

    def consistent(self, rules: frozenset[int]) -> bool:
        """Whether some rules allow any point."""
        return self.grows(set(rules), "all", float("inf"))

    def _true(self, among: list[int]) -> set[int]:
        model = np.array(self.solver.get_model(), dtype=np.int64) > 0
        return {rule for rule in among if model[self.selectors[rule] - 1]}

    def _solved(self, assumed: list[int], deadline: float) -> bool:
        self.calls += 1
        while time.monotonic() < deadline:
            self.solver.conf_budget(CONFLICTS)
            answer = self.solver.solve_limited(assumptions=assumed)
            if answer is not None:
                return bool(answer)
        raise OutOfTime

    def _keep(self) -> None:
        true = np.array(self.solver.get_model(), dtype=np.int64) > 0
        self._points.add(true)
        self._models.add(true[self.selectors - 1])

    def _core(self, union: str, deadline: float) -> Flags:
        core = self._found_core()
        if len(core) <= SMALL:
            core = sorted(self.shrunk(union, deadline))
        flags = np.zeros(self.rules, bool)
        flags[core] = True
        return flags

    def _found_core(self) -> list[int]:
        return [self.position[literal] for literal in self.solver.get_core() or () if literal in self.position]


class _Rows:
    """Rows of flags that grow in number."""

    def __init__(self, width: int) -> None:
        self._held = np.zeros((64, width), bool)
        self._count = 0

    @property
    def rows(self) -> Flags:
        return self._held[: self._count]

    def add(self, row: Flags) -> None:
        if self._count == len(self._held):
            self._held = np.vstack([self._held, np.zeros_like(self._held)])
        self._held[self._count, : len(row)] = row
        self._count += 1


def _around(sets: Flags, cores: Flags) -> Flags:
    """Which sets contain one of the cores."""
    missing = (~sets).astype(np.float32) @ cores.astype(np.float32).T
    found: Flags = (missing == 0).any(axis=1)
    return found
