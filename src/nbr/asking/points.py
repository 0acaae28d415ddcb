"""The best point for a question and the best against it: the one that breaks least of what is believed."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.asking.components import Component, components
from nbr.calculus import keep_probability, sat
from nbr.encodings import Encoding, Listing, Set, StatementEncoding
from nbr.language import Expression
from nbr.model import Model
from nbr.ways import Limits

LISTED = 0.3  # seconds
HALF = 0.5  # the grade from which on a fuzzy rule counts as satisfied
UNIONS = ("yes", "no")


def best_points(
    model: Model, proposition: Set, condition: Set | None, limits: Limits
) -> tuple[Tensor | None, Tensor | None]:
    """A point of the condition at which the question holds, and one at which it does not; None where none was found."""
    values = [0.0 if not v.numeric else v.low for v in model.world.variables.values()]
    whole = torch.tensor(values, dtype=torch.float64)
    asked, *others = components(model, proposition, condition)
    for part in others:
        found = _best(part, "yes", limits)
        whole = whole if found is None else _placed(whole, model, part, found)
    points = []
    for union in UNIONS:
        found = _best(asked, union, limits)
        points.append(None if found is None else _placed(whole, model, asked, found))
    return points[0], points[1]


def _placed(whole: Tensor, model: Model, part: Component, values: dict[str, float]) -> Tensor:
    point = whole.clone()
    for name, value in values.items():
        point[model.world.column(name)] = value
    return point


def _best(part: Component, union: str, limits: Limits) -> dict[str, float] | None:
    listing = Listing.of(part.model, part.proposition, part.condition)
    if listing.seconds < LISTED:
        rows = listing.rows(limits)
        inside = (rows.member > 0) if union == "yes" else (rows.member < 1)
        if not bool(inside.any()):
            return None
        grades = rows.witnesses[:, : len(part.model.rules)]
        score = torch.where(inside, keep_probability(grades, part.model.presence), -1.0)
        names = listing.model.world.names
        return dict(zip(names, rows.points[int(score.argmax())].tolist(), strict=True))
    if not sat.available() or not isinstance(part.proposition, Expression):
        return None
    if StatementEncoding.unfit(part.model, part.condition):
        return None
    return greedy(StatementEncoding.of(part.model, part.proposition, part.condition), union, HALF, limits)


def greedy(source: Encoding, union: str, level: float, limits: Limits) -> dict[str, float] | None:
    """Rules taken one after the other, the most believed first, as far as a point satisfies them together."""
    rules = source.model.rules
    held: set[int] = set()
    best = source.decide(held, level, union, limits).point
    if best is None:
        return None
    satisfied = _satisfied(source.model, best, level)
    for rule in sorted(range(len(rules)), key=lambda rule: -rules[rule].degree):
        if rule not in satisfied:
            point = source.decide(held | {rule}, level, union, limits).point
            if point is None:
                continue
            best, satisfied = point, _satisfied(source.model, point, level)
        held.add(rule)
    return best


def _satisfied(model: Model, point: dict[str, float], level: float) -> set[int]:
    place = torch.tensor([[point[name] for name in model.world.names]], dtype=torch.float64)
    return set((model.grades(place)[0] >= level).nonzero().flatten().tolist())
