"""The proof: a radius around an input within which the label cannot change.

For the predicted label a and a rival c, log Pl_a - log Pl_c rises with some scores G_i, falls with others, and does
not feel the rest, whatever all of them are: which of these is a matter of the rules' frames alone. No G_i moves by more
than L_i eps when the input moves by eps in L2. So if a stays ahead of c when every G_i is moved by L_i eps against it,
all at once, it is ahead of c within eps. The radius is the smallest over all rivals.

Fuzzy rules combined exactly, and cautious ones, have one more way to move: a rule with a and c in the same group moves
both, and which of them more is not known. There Pl_a is taken with the rule moved against it, and Pl_c with the rule
moved for it.

All this is computed in float64, at the input and at every changed one: scores may be off by their `slack` at both, and
what is combined from them by the `doubt`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus import Groups

HALVINGS = 40
SURE = 1e-7  # by which the moved margin must exceed 0: far above rounding, and what small weights leave out
Combined = Callable[[Tensor], Tensor]  # from scores (n, rules) to log Pl of all labels, up to a constant: (n, labels)


def proved_radius(
    scores: Tensor,
    slack: Tensor,
    doubt: Tensor,
    steepness: Tensor,
    groups: Groups,
    combined: Combined,
    exact: bool,
    most: Tensor,
    shared: bool = False,
) -> Tensor:
    """The largest proved radius of each input, up to `most` (n,): (n,).

    `slack` is how far scores may be off (n, rules), at both inputs together; `doubt`, what they combine to (n,).
    `shared` says that rules combined otherwise than exactly may move two labels of one group apart, too.
    """
    best = combined(scores).argmax(dim=1)
    proved = most.clone()
    for step in range(1, groups.points):
        rival = (best + step) % groups.points
        ways = [groups.rising(best, rival)]
        if (exact or shared) and groups.points > 2:
            own, alike = groups.rank[best], ways[0] == 0
            ways = [torch.where(alike, own, ways[0]), torch.where(alike, -own, ways[0])]
        race = _Race(
            combined,
            best,
            rival,
            [torch.addcmul(scores, way, slack, value=-1) for way in ways],
            [way * steepness for way in ways],
            doubt,
            exact,
        )
        behind = ~race.won(proved)
        if bool(behind.any()):
            proved[behind] = race.only(behind).furthest(proved[behind])
    return proved


def without_double_slack(near: Tensor, further: Tensor) -> Tensor:
    """Radii for which the slack was counted twice as it is at the input, less what a changed input adds to it.

    Longer inputs are off by more, by `further` steepnesses at the most; that much room a smaller radius leaves.
    """
    return (near - further.clamp(min=0)).nan_to_num(nan=0.0).clamp(min=0)


@dataclass(frozen=True)
class _Race:
    """A label against a rival, for each input; the scores from which each is computed, and how they move with eps."""

    combined: Combined
    label: Tensor
    rival: Tensor
    starts: list[Tensor]
    slopes: list[Tensor]
    doubt: Tensor
    exact: bool

    def only(self, rows: Tensor) -> _Race:
        starts, slopes = ([part[rows] for part in parts] for parts in (self.starts, self.slopes))
        return _Race(self.combined, self.label[rows], self.rival[rows], starts, slopes, self.doubt[rows], self.exact)

    def won(self, eps: Tensor) -> Tensor:
        """Whether the label is surely ahead with all scores moved by eps against it."""
        moved = [torch.addcmul(s, eps[:, None], way, value=-1) for s, way in zip(self.starts, self.slopes, strict=True)]
        ends = [self.combined(scores) for scores in moved]
        own, other = ends[0].gather(1, self.label[:, None])[:, 0], ends[-1].gather(1, self.rival[:, None])[:, 0]
        if self.exact:  # E[mu_Y] itself is off, which matters where it is small
            return (own.exp() - self.doubt) > (other.exp() + self.doubt) * math.exp(SURE)
        return own - other > SURE + self.doubt

    def furthest(self, high: Tensor) -> Tensor:
        """The largest eps below `high` at which the label is ahead, by halving; 0 if it never is."""
        low = torch.zeros_like(high)
        sure = self.won(low)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            won = self.won(middle)
            low, high = torch.where(won, middle, low), torch.where(won, high, middle)
        return torch.where(sure, low, 0.0)
