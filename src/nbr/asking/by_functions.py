"""Answering where every world has one point at most, as in a Bayesian network written as possibilities.

Rows of tables settle every variable from others: whichever possibilities are there, one point is left. The largest
membership among points is then their sum, E f_S is the sum of P_keep over S, and that is contraction: belief,
plausibility and probability are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome
from nbr.factors import Network
from nbr.language import And, Atom, Implies, conjuncts
from nbr.model import Model
from nbr.priors import uniform
from nbr.rules import Rule
from nbr.ways import Cost, Limits, Unfit, Way
from nbr.ways import Unfit as TooWide

SURE = 1e-9  # by which the possibilities of a row may miss 1
Row = tuple[str, tuple[tuple[str, str], ...]]  # a variable, and the values of others that a row is for


class Functions(Way[AskedPart, Outcome]):
    """Exactly, by contraction."""

    name = "contraction"

    def unfit(self, asked: AskedPart) -> str | None:
        if not asked.crisp or asked.no_statements is not None:
            return asked.no_statements or "rules are fuzzy"
        return None if settled(asked.part.model) else "some world may have several points"

    def cost(self, asked: AskedPart) -> Cost:
        return Cost(0.05)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome:
        model, (question, condition) = asked.part.model, asked.stated
        both = question if condition is None else And((condition, question))
        said = [each for each in (both, condition) if each is not None]
        try:
            tables = Network.of(model.world, uniform(model.world), [model.rules], said, seconds=limits.left)
            with torch.no_grad():
                yes, some = tables.log_sums([both, condition]).tolist()
        except TooWide as error:
            raise Unfit(str(error)) from None
        if some == -math.inf:
            raise Unfit("the condition has probability 0")
        plausible = min(1.0, math.exp(yes - some))
        points = sum(math.log(len(variable.labels)) for variable in model.world.variables.values())
        whole = min(1.0, math.exp(some + points))  # sums are means over all points
        return Outcome(
            plausibility=(plausible, plausible),
            doubt=(1 - plausible, 1 - plausible),
            whole=(whole, whole),
            kind="proved",
            engine=self.name,
            why="rules leave one point to each world, so that memberships add up",
        )


def settled(model: Model) -> bool:
    """Whether rows of tables settle every variable of a model, whichever possibilities are there."""
    if model.codec is not None or model.closed or any(each.numeric for each in model.world.variables.values()):
        return False
    if not any(rule.choice is not None or rule.degree >= 1 - SURE for rule in model.rules):
        return False  # no row is there for certain
    rows: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    for name, given in _rows(model.rules):
        rows.setdefault(name, set()).add(given)
    parents: dict[str, tuple[str, ...]] = {}
    for name, variable in model.world.variables.items():
        known = rows.get(name, set())
        read = {tuple(parent for parent, _ in given) for given in known}
        if len(read) != 1 or len(variable.labels) == 0:
            return False
        (parents[name],) = read
        if len(known) != math.prod(len(model.world.variables[parent].labels) for parent in parents[name]):
            return False
    return _acyclic(parents)


def _rows(rules: Iterable[Rule]) -> list[Row]:
    """The rows in which one value of a variable is there for certain."""
    total: dict[tuple[object, Row], float] = {}
    labels: dict[tuple[object, Row], set[str]] = {}
    for rule in rules:
        read = _read(rule)
        if read is None:
            continue
        row, label = read
        key = rule.choice or rule, row
        total[key] = total.get(key, 0.0) + rule.degree
        labels.setdefault(key, set()).add(label)
    choices: dict[object, int] = {}
    for part, _ in total:
        choices[part] = choices.get(part, 0) + 1
    return [row for (part, row), sum_ in total.items() if sum_ >= 1 - SURE and choices[part] == 1]


def _read(rule: Rule) -> tuple[Row, str] | None:
    """The row that a rule is of, and the value that it gives."""
    reliable = rule.source is None or (rule.source.reliability == 1 and not rule.source.nested)
    said = rule.expression
    if said is None or not reliable:
        return None
    premise = list(conjuncts(said.premise)) if isinstance(said, Implies) else []
    head = said.conclusion if isinstance(said, Implies) else said
    if not all(isinstance(each, Atom) and each.operator == "=" for each in (*premise, head)):
        return None
    assert isinstance(head, Atom)
    given = sorted((each.name, each.values[0]) for each in premise if isinstance(each, Atom))
    if len({name for name, _ in given} | {head.name}) <= len(given):
        return None  # a variable twice
    return (head.name, tuple(given)), head.values[0]


def _acyclic(parents: dict[str, tuple[str, ...]]) -> bool:
    left = dict(parents)
    while left:
        free = [name for name, above in left.items() if not any(parent in left for parent in above)]
        if not free:
            return False
        for name in free:
            del left[name]
    return True
