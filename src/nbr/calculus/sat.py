"""Which sets of rules can hold together, decided by a SAT solver."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nbr import clock
from nbr.calculus.formula import Formula
from nbr.clock import OutOfTime

Flags = NDArray[np.bool_]
Result = TypeVar("Result")
WAIT = 0.1  # seconds between looks at a thread
CONFLICTS = 5_000  # of the solver, between looks at the clock


@cache
def available() -> bool:
    """Whether the solver is installed."""
    return importlib.util.find_spec("pysat") is not None


def beside(work: Callable[[], Result], interrupt: Callable[[], None], deadline: float) -> Result:
    """What `work` gives, done in a thread of its own that `interrupt` ends: at the deadline, and at Ctrl-C.

    Python looks at signals between two steps of its own, and a solver that works for seconds is one step. After Ctrl-C
    it may still be at work: whatever it works with is not to be freed then.
    """
    found: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)
        done.set()

    # An event, because a thread whose join was broken off by Ctrl-C counts as ended.
    done = threading.Event()
    threading.Thread(target=run, daemon=True).start()
    try:
        while not done.is_set() and clock.now() < deadline:
            done.wait(min(WAIT, max(0.0, deadline - clock.now())))
    except KeyboardInterrupt:
        interrupt()
        raise
    while not done.is_set():  # a solver that has not started yet forgets that it was told
        interrupt()
        done.wait(WAIT)
    if failed:
        raise failed[0]
    return found[0]


class Deciding:
    """A formula and its solver."""

    def __init__(self, formula: Formula) -> None:
        from pysat.solvers import Solver

        self.formula = formula
        self.rules = len(formula.selectors)
        self.selectors = np.array(formula.selectors, dtype=np.int64)
        self.position = {selector: rule for rule, selector in enumerate(formula.selectors)}
        self.solver: Any = Solver(name="m22", bootstrap_with=[list(clause) for clause in formula.clauses])

    def close(self) -> None:
        self.solver.delete()

    def allows(self, present: Flags, union: str, deadline: float) -> bool:
        """Whether rules that are flagged allow a point of a union; what the solver found is kept, as by `grows`."""
        return self._solved([*self.formula.extra(union), *self.selectors[present].tolist()], deadline)

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
        core = self.core()
        for rule in list(core):
            smaller = {other for other in core if other != rule}
            if rule in core and not self.grows(smaller, union, deadline):
                core = [other for other in self.core() if other in smaller]
        return frozenset(core)

    def consistent(self, rules: frozenset[int], deadline: float) -> bool:
        """Whether some rules allow any point."""
        return self.grows(set(rules), "all", deadline)

    def model(self) -> Flags:
        """The variables that are true at the point just found, the first for number 1."""
        found: Flags = np.zeros(self.formula.variables, dtype=bool)  # those in no clause may be anything
        said = np.array(self.solver.get_model(), dtype=np.int64) > 0
        found[: len(said)] = said[: len(found)]
        return found

    def core(self) -> list[int]:
        """Rules among those just asked about that already allow no point."""
        return [self.position[literal] for literal in self.solver.get_core() or () if literal in self.position]

    def _true(self, among: Iterable[int]) -> set[int]:
        model = self.model()
        return {rule for rule in among if model[self.selectors[rule] - 1]}

    def _solved(self, assumed: list[int], deadline: float) -> bool:
        # Points that satisfy many rules answer later questions too; the solver forgets that it should prefer them.
        self.solver.set_phases(self.formula.selectors)
        while clock.now() < deadline:
            self.solver.conf_budget(CONFLICTS)
            # Else the solver catches Ctrl-C itself, leaps out of its own work, and raises an error of its own.
            answer = self.solver.solve_limited(assumptions=assumed, expect_interrupt=True)
            if answer is not None:
                return bool(answer)
        raise OutOfTime
