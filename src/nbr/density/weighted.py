"""Points with weights that stand for a whole distribution: all points that matter, where they can be listed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from torch import Tensor

from nbr.density.draws import spread
from nbr.density.keeping import log_keep
from nbr.model import Model
from nbr.priors import Prior

LISTED = 1 << 20
HOLED = 1 << 16  # rows with holes, which a prior sums over

_last: WeakKeyDictionary[Prior, tuple[list[str], Tensor]] = WeakKeyDictionary()  # many trees take long to score all


def listable(model: Model, names: Iterable[str]) -> int | None:
    """How many points `listed` would weigh; None where there are too many."""
    if model.base.rows is not None:
        return len(model.base.rows[0])
    needed = _needed(model, names)
    sizes = [model.world.variables[name].size for name in needed]
    if any(size is None for size in sizes):
        return None
    count = math.prod(size or 1 for size in sizes)
    return count if count <= (LISTED if len(needed) == len(model.world) else HOLED) else None


def listed(model: Model, names: Iterable[str]) -> tuple[Tensor, Tensor] | None:
    """Points and log weights P_0 P_keep over all combinations of what is asked of and what rules read.

    Other variables are summed over by the prior, and stand as 0. None where there are too many, or no score.
    """
    prior = model.base
    if prior.rows is not None:
        points, masses = prior.rows
        return points, masses.log() + log_keep(model, points)
    if listable(model, names) is None:
        return None
    needed = _needed(model, names)
    rows = spread(model.world, needed, LISTED)
    if rows is None:
        return None
    known = _last.get(prior)
    scores = known[1] if known is not None and known[0] == needed else prior.log_prob(rows)
    if scores is None:
        return None
    _last[prior] = needed, scores
    points = rows.nan_to_num()
    return points, scores + log_keep(model, points)


def _needed(model: Model, names: Iterable[str]) -> list[str]:
    """What has to be listed: all that rules or the question read; all there is, if the prior knows nothing of holes."""
    if model.base.log_mass({}) is None:
        return list(model.world.names)
    wanted = model.reads | set(names)
    return [name for name in model.world.names if name in wanted]
