"""What won over what, by paired differences on held-out rows, and whether rules are worth what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from nbr.learning.again import prior_alone
from nbr.learning.maker import TrainedBank, gain, gains
from nbr.learning.objectives import SampledObjective
from nbr.learning.splitting import Split
from nbr.priors import Mixture, Prior, marginals, trees

KEPT = 0.1  # of the prior's points that rules have to keep, lest a sample cost more than ten without them
SLACK = 0.5  # of that, below which training has failed to keep as many as it should
ONE_TREE = "one tree"
TOLD = 0.5  # kept, below which it is told what a sample costs
BESIDE_TREES = 2.0  # standard errors that rules have to gain over trees, which are quicker in all else
COSTS = "; a sample takes about {:.0f} times as long as from the prior alone"
COSTLY = "the prior alone: rules would keep {:.1%} of its draws, and sampling would cost far more than they gain"


def simplest(rows: Split, seed: int) -> dict[str, Prior]:
    """Models that nothing should fall short of: columns by themselves and one tree, from the rows to train on."""
    train = rows.train.one_by_one(seed)
    return {"independent columns": marginals(train), ONE_TREE: trees(train, 1, seed=seed)}


@dataclass(frozen=True)
class Worth:
    """Whether rules are to be delivered, why not if they cost too much, and a sentence on what won over what."""

    rules: bool
    why_not: str | None
    words: str

    @classmethod
    def of(cls, rows: Split, chosen: TrainedBank, alone: TrainedBank, simple: Mapping[str, Prior]) -> Worth:
        """Rules beside a prior, the same or base rates alone, and the `simplest` models that there are."""
        costly = None if affordable(chosen) else COSTLY.format(chosen.kept)
        better = gains(alone, chosen, "valid", times=BESIDE_TREES if isinstance(alone.prior, Mixture) else 1.0)
        delivered = chosen if better and costly is None else alone
        part = "valid" if rows.test is None else "test"
        said = f"{gained(gain(alone, chosen, part))} by rules" + ("" if delivered is chosen else ", left out")
        table = rows.valid if rows.test is None else rows.test
        over = [f"{gained(_over(prior, delivered, part))} over {name}" for name, prior in simple.items()]
        words = f"{'; '.join([*over, said])} (nats a row, paired, on {table.rows:,} held-out rows)"
        if delivered is chosen and isinstance(chosen.objective, SampledObjective) and chosen.kept < TOLD:
            words += COSTS.format(1 / chosen.kept)
        return cls(better and costly is None, costly if better else None, words)


def affordable(trained: TrainedBank) -> bool:
    """Whether a sample takes at most about ten points of the prior; listed points cost nothing.

    On a prior that was not learned here, rules are not trained to keep that many. Rules that make rows e^g times as
    likely keep at most e^-g of the points, whatever they are: where they gain much, ten times is counted from there.
    """
    if not isinstance(trained.objective, SampledObjective):
        return True
    if trained.objective.least > 0:
        return trained.kept >= SLACK * KEPT
    more, _ = gain(prior_alone(trained), trained, "valid")
    return trained.kept >= KEPT * math.exp(-max(0.0, more))


def gained(found: tuple[float, float]) -> str:
    """A gain and its standard error.

    >>> gained((0.12, 0.034))
    '+0.120 +- 0.034'
    """
    return f"{found[0]:+.3f} +- {found[1]:.3f}"


def _over(prior: Prior, trained: TrainedBank, part: str) -> tuple[float, float]:
    """What a row of a part gains over a prior by itself, and the standard error of that."""
    scores = prior.log_prob(trained.objective.codes[part])
    assert scores is not None
    with torch.no_grad():
        each = trained.objective.log_prob(trained.bank, part).double() - scores
    weights = trained.objective.weights[part].double()
    mean = float(weights @ each)
    return mean, float((weights @ (each - mean) ** 2).sqrt()) / trained.sizes[part] ** 0.5
