"""Variables that one rule alone reads, taken out of a question before anything is listed.

A question wants E[max over z of min over the rules present of R_i(z)]. A variable h that nobody but rule i reads can be
given its best value for that rule, whatever else is present: R_i(z) becomes max over h of R_i(z, h), and the points to
go through are those of the other variables. Statements need none of this: counters and solvers see it by themselves.
"""

from __future__ import annotations

import math
from collections import Counter

import torch
from torch import Tensor

from nbr import clock
from nbr.asking.components import names_of
from nbr.encodings import Set
from nbr.language import Expression, conjunction, conjuncts
from nbr.model import Model
from nbr.points import world_cells
from nbr.rules import Projected, Rule
from nbr.world import World

MOST = 256  # combinations of private values for each of which a rule is asked


def without_private(model: Model, proposition: Set, condition: Set | None) -> tuple[Model, Set, Set | None]:
    """The same question to rules that read only what something else reads too, and what is left of the condition."""
    if model.codec is not None or model.closed or all(rule.at_least(1.0) is not None for rule in model.rules):
        return model, proposition, condition
    parts = list(conjuncts(condition)) if isinstance(condition, Expression) else []
    readers = Counter(name for rule in model.rules for name in rule.inputs)
    asked = set(names_of(proposition)) | (set(names_of(condition)) if isinstance(condition, Rule) else set())
    for part in parts:
        if len(part.names()) > 1:
            asked |= part.names()
    found, taken = list(model.rules), set[str]()
    for position, rule in enumerate(model.rules):
        clock.check()
        hidden = _hidden(rule, readers, asked)
        rows = _values(model.world, hidden, parts) if hidden else None
        if rows is not None and len(rows):
            found[position] = Projected(rule, hidden, rows)
            taken.update(hidden)
    if not taken:
        return model, proposition, condition
    left = conjunction([part for part in parts if not part.names() or not part.names() <= taken])
    return model.with_rules(found), proposition, left if parts else condition


def _hidden(rule: Rule, readers: Counter[str], asked: set[str]) -> tuple[str, ...]:
    """The variables of a rule that are its own and have few values."""
    if rule.at_least(1.0) is not None:
        return ()
    variables = rule.world.variables
    own = [name for name in rule.inputs if readers[name] == 1 and name not in asked and variables[name].size]
    own.sort(key=lambda name: variables[name].size or 0)
    while own and math.prod(variables[name].size or 1 for name in own) > MOST:
        own.pop()
    return tuple(own)


def _values(world: World, names: tuple[str, ...], parts: list[Expression]) -> Tensor:
    """All that some variables can be where the parts of a condition about each of them hold."""
    small = World({name: world.variables[name] for name in names})
    own = [part for part in parts if part.names() and part.names() <= set(names)]
    rows = torch.cat([chunk for chunk, _ in world_cells(small, {}, names, MOST).chunks()])
    for part in own:
        rows = rows[part.holds(small, rows)]
    return rows
