"""Beliefs that rows support: of all models that they do not reject at a level, the least committed.

Where a rule's rows can be counted, the share in which it holds is at least the exact one-sided limit of Clopper and
Pearson. A rule that a share pi of all else satisfies, and a share p of its rows, has the belief

    b = (p - pi) / (p (1 - pi)),     or     1 - b = odds(1 - p) / odds(1 - pi);

so from the likeliest share p to its limit the odds of 1 - b move as those of 1 - p do, whatever pi is. Where rows
cannot be counted, as those of networks that give grades, the likelihood along the belief of one rule is followed down
until rows reject it: by as many nats as counted rows of which as many break the rule would have to lose. These are
z^2 / 2 (1.35 at 95%) where many do, and 3.0 where none does: there a profile likelihood alone is too bold.

No belief is above the limit of the share in which the rule holds, for that would claim more than was seen, nor above
the likeliest one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import xlogy
from scipy.stats import beta
from torch import Tensor

from nbr.calculus import keep_probability_and_slopes
from nbr.errors import NbrError
from nbr.learning.bank import Bank
from nbr.learning.objectives import Objective
from nbr.rules import Rule, Support

CHUNK = 1 << 14  # points graded at a time
GRID, HALVINGS = 65, 40
SURE = 1 - 1e-6  # a belief of 1 leaves nothing to follow


def checked(confidence: float | None) -> float | None:
    """The level of one-sided limits, or None for the likeliest beliefs."""
    if confidence is None:
        return None
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence < 1:
        raise NbrError(
            f"confidence must be a number of at least 0.5 and less than 1, such as 0.95, or None, not {confidence!r}"
        )
    return float(confidence)


def lowest_share(held: float, rows: float, level: float) -> float:
    """The exact lower limit of a share (Clopper and Pearson), one-sided; fractions of rows are allowed.

    >>> round(lowest_share(8, 8, 0.95), 4)
    0.6877
    """
    return float(beta.ppf(1 - level, held, rows - held + 1)) if held > 0 else 0.0


def belief_of(share: float, expected: float) -> float:
    """The belief of a rule that holds in a share of its rows and in the share `expected` of all else; none below 0.

    >>> round(belief_of(lowest_share(8, 8, 0.95), 0.5), 2), round(belief_of(lowest_share(19, 19, 0.95), 0.5), 2)
    (0.55, 0.83)
    """
    return max(0.0, (share - expected) / (share * (1 - expected))) if share > 0 else 0.0


def limited(likeliest: float, held: float, rows: float, level: float | None) -> float:
    """The lowest belief of a counted rule that its rows do not reject; its likeliest one without a level.

    The likeliest one counts half a row more on either side, so that it is none of 1 from rows that all agree.
    """
    if level is None:
        return likeliest
    share = lowest_share(held, rows, level)
    if share == 0.0:
        return 0.0
    broken = (rows - held + 0.5) / (rows + 1)
    doubt = (1 - likeliest) * ((1 - share) / share) / (broken / (1 - broken))
    return max(0.0, min(likeliest, share, 1 - doubt))


def supported(bank: Bank, objective: Objective, rows: int, level: float | None) -> list[Rule]:
    """The rules of a bank, each with the lowest belief that the rows it was trained on do not reject."""
    rules = bank.export()
    if level is None:
        return rules
    profile = _profile(bank, objective, rows)
    beliefs = _limits(profile, level).tolist()
    told = zip(rules, beliefs, profile.count.tolist(), profile.held.tolist(), strict=True)
    return [
        rule.with_belief(min(low, rule.degree), Support(count, min(held, count), rule.degree, level))
        for rule, low, count, held in told
    ]


@dataclass(frozen=True)
class _Profile:
    """What the likelihood of rows depends on as one belief alone changes: P_keep is linear in each."""

    beliefs: Tensor  # (rules,)
    seen: Tensor  # (rows, rules): slope of the log of what a row sums, by each belief
    whole: Tensor  # (rules,): the same of the normaliser
    rows: Tensor  # (rows, rules): how often a row was seen, 0 where it does not show all that the rule reads
    broken: Tensor  # (rules,): rows that are there though they break the rule
    held: Tensor  # (rules,): rows times their grades

    @property
    def count(self) -> Tensor:
        return self.rows.sum(dim=0)

    def gained(self, beliefs: Tensor) -> Tensor:
        """The log-likelihood of all rows at other beliefs, each rule by itself, over what it is."""
        moved = beliefs - self.beliefs
        whole = (1 + moved * self.whole).log()
        return (self.rows * ((1 + moved * self.seen).log() - whole)).sum(dim=0)


@torch.no_grad()
def _profile(bank: Bank, objective: Objective, rows: int) -> _Profile:
    spread = objective.spread(bank, "train")
    beliefs = bank.beliefs.detach().double().clamp(max=SURE)
    parts = [bank(chunk).double() for chunk in spread.encoded.split(CHUNK)]
    slopes = torch.cat([_slopes(grades, beliefs) for grades in parts])
    grades = torch.cat(parts)
    whole = spread.normaliser.double() @ slopes
    seen, graded = (torch.zeros(len(spread.shown), len(beliefs), dtype=torch.float64) for _ in range(2))
    for some in torch.arange(len(spread.row)).split(CHUNK):
        row, point, weight = spread.row[some], spread.point[some], spread.weight[some].double()[:, None]
        seen.index_add_(0, row, weight * slopes[point])
        graded.index_add_(0, row, weight * grades[point])
    reads = [[bank.world.column(name) for name in names] for names in bank.inputs for _ in range(bank.rules)]
    informed = torch.stack([spread.shown[:, columns].all(dim=1) for columns in reads], dim=1)
    counts = informed * (objective.weights["train"].double() * rows).round()[:, None]
    broken = (counts * (-seen * (1 - beliefs)).clamp(0, 1)).sum(dim=0)
    return _Profile(beliefs, seen, whole, counts, broken, (counts * graded.clamp(0, 1)).sum(dim=0))


def _slopes(grades: Tensor, beliefs: Tensor) -> Tensor:
    kept, slopes = keep_probability_and_slopes(grades, beliefs)
    return slopes / kept[:, None]


def _limits(profile: _Profile, level: float) -> Tensor:
    """The lowest beliefs that rows do not reject, each rule by itself."""
    count, broken, held = (each.numpy() for each in (profile.count, profile.broken, profile.held))
    nats = torch.from_numpy(_nats(np.minimum(broken, count), count, level))
    best, top = torch.zeros_like(profile.beliefs), profile.gained(torch.zeros_like(profile.beliefs))
    least = top
    for belief in (*SURE * torch.linspace(0, 1, GRID, dtype=torch.float64)[1:], profile.beliefs):
        gained = profile.gained(belief)
        best, top = torch.where(gained > top, belief, best), torch.maximum(gained, top)
    low, high = torch.zeros_like(best), best
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        out = top - profile.gained(middle) > nats
        low, high = torch.where(out, middle, low), torch.where(out, high, middle)
    limits = torch.where(top - least > nats, high, 0.0)
    shares = [lowest_share(h, n, level) for h, n in zip(np.minimum(held, count), count, strict=True)]
    return torch.minimum(limits, torch.tensor(shares, dtype=torch.float64))


def _nats(broken: np.ndarray, rows: np.ndarray, level: float) -> np.ndarray:
    """How much log-likelihood rows lose from the likeliest share to the exact limit, if so many break a rule.

    >>> [round(float(_nats(np.array(broken), np.array(1e6), 0.95)), 2) for broken in (0, 1, 20, 200_000)]
    [3.0, 2.19, 1.59, 1.36]
    """
    share = broken / np.maximum(rows, 1e-9)
    most = np.where(broken < rows, beta.ppf(level, broken + 1, np.maximum(rows - broken, 1e-9)), 1.0)
    lost = xlogy(broken, share) - xlogy(broken, most) + xlogy(rows - broken, 1 - share) - xlogy(rows - broken, 1 - most)
    return np.asarray(lost)
