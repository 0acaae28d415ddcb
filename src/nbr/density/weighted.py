"""Points with weights that stand for a whole distribution: all points that matter, where they can be listed."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from torch import Tensor

from nbr.density.draws import spread
from nbr.density.keeping import log_keep
from nbr.model import Model
from nbr.priors import Empirical, Prior

LISTED = 1 << 20
HOLED = 1 << 16  # rows with holes, which a prior sums over

_last: WeakKeyDictionary[Prior, tuple[list[str], Tensor]] = WeakKeyDictionary()  # many trees take long to score all


def listed(model: Model, names: Iterable[str]) -> tuple[Tensor, Tensor] | None:
    """Points and log weights P_0 P_keep over all combinations of what is asked of and what rules read.

    Other variables are summed over by the prior, and stand as 0. None where there are too many, or no score.
    """
    world, prior = model.world, model.base
    if isinstance(prior, Empirical):
        return prior.points, prior.weights.log() + log_keep(model, prior.points)
    wanted = model.reads | set(names)
    needed = [name for name in world.names if name in wanted]
    if prior.log_mass({}) is None:  # it knows nothing of holes
        needed = list(world.names)
    rows = spread(world, needed, LISTED if len(needed) == len(world) else HOLED)
    if rows is None:
        return None
    known = _last.get(prior)
    scores = known[1] if known is not None and known[0] == needed else prior.log_prob(rows)
    if scores is None:
        return None
    _last[prior] = needed, scores
    points = rows.nan_to_num()
    return points, scores + log_keep(model, points)
