"""How often every value of every variable is, all at once: one contraction and its gradient, or listed points.

Beside closed variables value after value is counted, as long as there is time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nbr import clock
from nbr.density.contracted import network
from nbr.density.counted import counted
from nbr.density.weighted import listed
from nbr.language import Expression
from nbr.model import Model
from nbr.ways import SHARES, Unfit
from nbr.world import World

Stated = Mapping[str, Sequence[Expression]]  # of a variable, statements of which each point meets one
Conditions = Sequence[Expression | None]


def marginals(
    model: Model, stated: Stated, conditions: Conditions, budget: float
) -> tuple[dict[str, Tensor], str | None]:
    """How likely each statement about one variable is under each condition, (conditions, statements); exactly.

    NaN where the condition has probability 0. Of a bit or a choice there is a statement for each value, in order.
    Variables are left out that could not be weighed in `budget` seconds; then there is a reason beside the rest.
    """
    start, world = clock.now(), model.world
    numbers = [name for name in stated if world.variables[name].numeric]
    said = [each for each in conditions if each is not None]
    try:
        tables = network(
            model, [*said, *(each for name in numbers for each in stated[name])], SHARES["order of sums"] * budget
        )
    except Unfit as error:
        found = _by_listing(model, stated, conditions, start + budget)
        if model.closed:
            rest = {name: each for name, each in stated.items() if name not in found}
            found |= _by_counting(model, rest, conditions, start + budget)
            found = {name: found[name] for name in stated if name in found}
            return found, f"{error}, and could not all be counted" if len(found) < len(stated) else None
        return found, str(error) if len(found) < len(stated) else None
    found = tables.marginals(conditions)
    for name in numbers:
        small, codes = World({name: world.variables[name]}), tables.values[name].codes[:, None]
        found[name] = found[name] @ torch.stack([each.holds(small, codes) for each in stated[name]], dim=1).double()
    return {name: found[name] for name in stated}, None


def _by_listing(model: Model, stated: Stated, conditions: Conditions, deadline: float) -> dict[str, Tensor]:
    """All points weighed, or for each variable all combinations of what it, the rules and the conditions read."""
    world, found = model.world, {}
    names = frozenset[str]().union(*(each.names() for each in conditions if each is not None))
    whole = listed(model, world.names)
    for name, statements in stated.items():
        known = whole or (listed(model, {name, *names}) if clock.now() < deadline else None)
        if known is None:
            continue
        points, logs = known
        weights = (logs - logs.max()).exp() if bool((logs > -torch.inf).any()) else torch.zeros_like(logs)
        inside = torch.stack([weights if each is None else weights * each.holds(world, points) for each in conditions])
        held = torch.stack([each.holds(world, points) for each in statements], dim=1).to(inside.dtype)
        found[name] = inside @ held / inside.sum(dim=1, keepdim=True)  # 0 / 0 where the condition has none
    return found


def _by_counting(model: Model, stated: Stated, conditions: Conditions, deadline: float) -> dict[str, Tensor]:
    found = dict[str, Tensor]()
    for name, statements in stated.items():
        rows: list[list[float]] = []
        for condition in conditions:
            shares = []
            for statement in statements:
                sums = counted(model, statement, condition, deadline) if clock.now() < deadline else None
                if sums is None:
                    return found
                shares.append(sums[0] / sums[1] if sums[1] > 0 else torch.nan)
            rows.append(shares)
        found[name] = torch.tensor(rows, dtype=torch.float64)
    return found
