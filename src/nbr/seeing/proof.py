"""The proof of a reading: how far its pictures may be changed, all together or each, without any other being read.

A picture that is changed by e says of a label at the least `low`, of any other at the most `high`. What a rival has
against the label read is at most high - low, and where a rival has the same label it is nothing. So the best rival by
these is ahead of any that a change could bring about: if it stays behind the reading, the reading stays.

Together: changes e_i with a sum of squares of at most e^2. Squares are spent in units, what is spent rounded down and
what that buys rounded up: with k of them spent on a picture, its change is shorter than the root of k + 1 units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.factors import Order, rival_products
from nbr.rules import Evidence

SURE = 1e-6  # by which a reading must stay ahead: far above rounding, in evidence as rules too
OUT = 1 + 1e-12  # lengths are rounded outwards
FIRST, DOUBLINGS = 2.0**-10, 24  # lengths that are looked at first
PIECES, ROUNDS = 16, 3  # in which a bracket is cut, and how often
UNITS = (24, 96)  # of the budget, in turn, each with the budget that the last one left in doubt
MORE = 4  # units beyond the first that is not proved


@dataclass(frozen=True, eq=False)
class SeenEvidence:
    """Evidence of n inputs for each of some variables, and the values that were read."""

    order: Order
    logs: Sequence[Tensor]  # of the tables of rules and of a condition
    evidence: Sequence[Evidence]
    places: Sequence[int]  # of the tables of these variables
    labels: Sequence[Sequence[int]]  # of the sensor, for each value of a variable
    values: Sequence[Tensor]  # that were read, (n,) each

    def proved(self, lengths: Tensor, together: bool) -> Tensor:
        """Whether the reading stays ahead for changes of so much, (changes, n), each shared or not: (n, changes)."""
        same, other = {}, {}
        for place, evidence, labels, value in zip(self.places, self.evidence, self.labels, self.values, strict=True):
            bounds = evidence.within(lengths)
            if bounds is None:
                raise NbrError("a proof needs sensors whose evidence is bounded: classifiers of nbr with a certificate")
            low, high = (bound[..., labels] for bound in bounds)
            own = torch.nn.functional.one_hot(value, len(labels)).bool()
            gain = high - low.gather(2, value[None, :, None].expand(len(lengths), -1, 1))
            same[place] = torch.where(own, 0.0, -torch.inf)
            other[place] = gain.masked_fill(own, -torch.inf).permute(1, 2, 0).contiguous()
        with torch.no_grad():
            stays, leaves = rival_products(self.order, self.logs, same, other, together)
        return leaves < stays[:, None] - SURE


def each(seen: SeenEvidence) -> Tensor:
    """The largest length proved for a change of every picture, infinite where there is no rival: (n,)."""
    steps = FIRST * 2.0 ** torch.arange(DOUBLINGS, dtype=torch.float64)
    low, high = _bracket(seen, steps[:, None].expand(-1, len(seen.values[0])))
    low, high = torch.where(low > 0, low, 0.0), torch.where(high < torch.inf, high, low)
    for _ in range(ROUNDS):
        cuts = torch.arange(1, PIECES + 1, dtype=torch.float64)[:, None] / PIECES
        found, above = _bracket(seen, low + cuts * (high - low))
        low = torch.maximum(low, found)
        high = torch.where(above < torch.inf, above, high)
    return torch.where(low >= steps[-1], torch.inf, low / OUT)


def _bracket(seen: SeenEvidence, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The last of some growing lengths, (changes, n), up to which all are proved, and the next: 0 and inf if none."""
    proved = seen.proved(lengths * OUT, together=False).T.int().cumprod(dim=0).bool()
    last = torch.where(proved, lengths, 0.0).amax(dim=0)
    return last, torch.where(proved, torch.inf, lengths).amin(dim=0)


def together(seen: SeenEvidence) -> Tensor:
    """The largest length proved for all changes together: (n,)."""
    alone = each(seen)
    some = (alone > 0) & (alone < torch.inf)
    least = torch.where(some, alone**2, 1.0)
    top, found = least * len(seen.values), least
    for count in UNITS:
        unit = top / count
        steps = torch.arange(1, count + 1, dtype=torch.float64)[:, None]
        proved = seen.proved((steps * unit).sqrt() * OUT, together=True).T.int().cumprod(dim=0)
        reached = proved.sum(dim=0)  # fewer units than that are proved, and what is less than one more
        found = torch.maximum(found, reached * unit)
        top = torch.minimum(top, torch.maximum((reached + MORE) * unit, least))
    return torch.where(some, found.sqrt() / OUT, alone)
