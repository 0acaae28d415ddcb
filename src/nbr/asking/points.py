"""The best point for a question and the best against it: the one that breaks least of what is believed."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.asking.components import Component, components
from nbr.inference import Limits, sat
from nbr.inference.point import keep
from nbr.inference.sat import Deciding, OutOfTime
from nbr.language import Expression
from nbr.language.expressions import conjuncts
from nbr.rules.knowledge import Knowledge
from nbr.sources.listing import Listing, Set
from nbr.sources.statements import Statements
from nbr.world import Real

LISTED = 0.3  # seconds
UNIONS = ("yes", "no")


def best_points(
    knowledge: Knowledge, proposition: Set, condition: Set | None, limits: Limits
) -> tuple[Tensor | None, Tensor | None]:
    """A point of the condition at which the question holds, and one at which it does not; None where none was found."""
    values = [0.0 if not isinstance(v, Real) else v.low for v in knowledge.world.variables.values()]
    whole = torch.tensor(values, dtype=torch.float64)
    asked, *others = components(knowledge, proposition, condition)
    for part in others:
        found = _best(part, "yes", limits)
        whole = whole if found is None else _placed(whole, knowledge, part, found)
    points = []
    for union in UNIONS:
        found = _best(asked, union, limits)
        points.append(None if found is None else _placed(whole, knowledge, asked, found))
    return points[0], points[1]


def _placed(whole: Tensor, knowledge: Knowledge, part: Component, values: dict[str, float]) -> Tensor:
    point = whole.clone()
    for name, value in values.items():
        point[knowledge.world.column(name)] = value
    return point


def _best(part: Component, union: str, limits: Limits) -> dict[str, float] | None:
    listing = Listing.of(part.knowledge, part.proposition, part.condition, 32)
    if listing.seconds < LISTED:
        rows = listing.rows(limits)
        inside = (rows.member > 0) if union == "yes" else (rows.member < 1)
        if not bool(inside.any()):
            return None
        beliefs = part.knowledge.beliefs
        grades = rows.witnesses[:, : len(beliefs)]
        score = torch.where(inside, keep(grades, beliefs), -1.0)
        names = listing.knowledge.world.names
        return dict(zip(names, rows.points[int(score.argmax())].tolist(), strict=True))
    return _greedy(part, union, limits)


def _greedy(part: Component, union: str, limits: Limits) -> dict[str, float] | None:
    """Rules taken one after the other, the most believed first, as far as a point satisfies them together."""
    proposition, condition = part.proposition, part.condition
    if (
        not sat.available()
        or part.knowledge.codec is not None
        or not isinstance(proposition, Expression)
        or not (condition is None or isinstance(condition, Expression))
        or Statements.unfit(part.knowledge.rules)
    ):
        return None
    statements = Statements(part.knowledge, proposition, [] if condition is None else list(conjuncts(condition)))
    formula, encoder = statements.encoded(0.5)
    deciding = Deciding(formula)
    try:
        if not deciding.grows(set(), union, limits.deadline):
            return None
        order = sorted(range(len(formula.selectors)), key=lambda rule: -float(formula.beliefs[rule]))
        held = deciding.grown(set(), order, union, limits.deadline)
        deciding.grows(held, union, limits.deadline)
        true = {literal for literal in deciding.solver.get_model() or () if literal > 0}
    except OutOfTime:
        return None
    finally:
        deciding.close()
    return dict(zip(part.knowledge.world.names, encoder.point(true).tolist(), strict=True))
