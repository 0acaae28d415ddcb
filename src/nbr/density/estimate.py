"""P(Q | C) from draws inside the condition, with a 95% error: a ratio of weighted sums, or what chains show."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr import clock
from nbr.clock import OutOfTime
from nbr.density.chains import MET, Chains, Watch
from nbr.density.draws import Draws, Impossible
from nbr.density.tails import TRUSTED, shape
from nbr.language import And, Expression, Not
from nbr.ways import SHARES

FIRST, MOST = 1 << 14, 1 << 16  # draws at a time ...
WORK, FEWEST = 1 << 21, 1 << 9  # ... but at first no more than take so many grades, so that a short budget holds
CLOSE = 1e-3  # an error that is small enough
SHARE = 0.1  # of a small probability that its error should not exceed, for so many draws:
LONG = 1 << 20
ROUNDING = 1e-9
FEW = 200  # draws of equal weight that are too few
APART = 16  # starts of chains that must differ, for chains to be witnesses of each other
HEAVIEST = 1 << 13  # weights kept, to look at their tail
STARTS = 1 << 14  # points among which chains find their starts
NOT_COMPUTED = "not computed"
Z95 = 1.959963984540054


@dataclass(frozen=True)
class Estimated:
    """A value, half the width of its 95% interval, and how it was found; None where no error could be stated.

    `reason` then says what was tried.
    """

    value: float | None
    error: float | None
    method: str
    reason: str = ""

    @property
    def exact(self) -> bool:
        return self.error == 0.0

    @property
    def kind(self) -> str:
        return "proved" if self.exact else "95%"

    @property
    def width(self) -> float:
        return 1.0 if self.error is None else min(1.0, 2 * self.error)

    def narrowed(self, other: Estimated) -> Estimated:
        return self  # what is proved is exact

    def beside(self, proved: Estimated) -> Estimated:
        return proved


def drawn(
    draws: Draws, question: Expression, condition: Expression | None, deadline: float, generator: torch.Generator
) -> Estimated:
    """Weighted draws, more and more of them until the error is small or the time is up; chains where few count.

    A value is stated only where its error can be: enough draws must count, and none of them for too much.
    """
    sums, size = Sums(), _first(draws)
    start = clock.now()
    movable = draws.model.base.log_mass({}) is not None
    heavy: tuple[Tensor, Tensor] | None = None
    while True:
        began = clock.now()
        try:
            points = draws.points(size, generator)
            weights = draws.log_weights(points)
        except OutOfTime:  # what was drawn before counts
            if not sums.count:
                raise
            break
        sums.add(weights, question.holds(draws.model.world, points))
        heavy = _heaviest(heavy, points, weights)
        now = clock.now()
        if sums.close or 2 * now - began > deadline:  # the next may take as long
            break
        late = now > start + SHARES["weighed draws"] * (deadline - start)
        if late and movable and sums.whole > 0 and not sums.trusted:
            try:
                return _chained(Chains(draws, condition, *heavy, generator), question, deadline, sums)
            except OutOfTime:
                break
        size = min(MOST, 2 * size)
    if sums.whole == 0:
        what = "agrees with the rules" if condition is None else "meets the condition and the rules"
        return Estimated(None, None, NOT_COMPUTED, f"none of {sums.count:,} draws {what}")
    return Estimated(sums.value, sums.error, "drawn") if sums.trusted else sums.refused()


def _first(draws: Draws) -> int:
    rules = sum(len(body.rules) for body in draws.model.bodies)
    return max(FEWEST, min(FIRST, WORK // max(1, rules)))


def split(
    draws: Draws, question: Expression, condition: Expression | None, deadline: float, generator: torch.Generator
) -> Estimated | None:
    """Where the prior knows the mass of Q and C, and of C without Q, only the mean of P_keep in each is drawn.

    P(Q | C) = m_1 k_1 / (m_1 k_1 + m_0 k_0), whose error does not grow as Q becomes rare. None where the prior does
    not know, or where few draws count.
    """
    model, asked = draws.model, [question, Not(question)]
    try:
        sides = [Draws.of(model, part if condition is None else And((condition, part))) for part in asked]
    except Impossible:
        return None
    masses = [side.share for side in sides]
    if not all(side.whole for side in sides) or abs(sum(masses) - draws.share) > ROUNDING * draws.share:
        return None
    means, size, start = [WeightedMean(), WeightedMean()], _first(draws) // 2, clock.now()
    found: Estimated | None = None
    while True:
        began = clock.now()
        try:
            for side, mean in zip(sides, means, strict=True):
                mean.add(side.log_weights(side.points(size, generator)))
        except OutOfTime:  # what was found before counts
            if found is None:
                raise
            return found
        now = clock.now()
        if all(mean.sums.trusted for mean in means):
            logs = [math.log(mass) + mean.log for mass, mean in zip(masses, means, strict=True)]
            value = 1 / (1 + math.exp(min(logs[1] - logs[0], 700.0)))
            error = min(1.0, value * (1 - value) * math.hypot(*(mean.error for mean in means)))
            found = Estimated(value, error, "drawn")
            if error <= min(CLOSE, SHARE * min(value, 1 - value)) or 2 * now - began > deadline:
                return found
        elif now > start + SHARES["split draws"] * (deadline - start):
            return None
        size = min(MOST, 2 * size)


class WeightedMean:
    """The mean of weights, of which only logs are given, and its relative error."""

    def __init__(self) -> None:
        self.sums = Sums()

    def add(self, log_weights: Tensor) -> None:
        self.sums.add(log_weights, torch.zeros(len(log_weights), dtype=torch.bool))

    @property
    def log(self) -> float:
        return self.sums.top + math.log(self.sums.whole / self.sums.count)

    @property
    def error(self) -> float:
        """Half of a 95% interval, over the mean; the second term is for weights that no draw has shown yet."""
        count, mean = self.sums.count, self.sums.whole / self.sums.count
        variance = max(0.0, self.sums.squares / count - mean**2)
        return Z95 * math.sqrt(variance / count) / mean + Z95**2 / (count * mean)


def _heaviest(known: tuple[Tensor, Tensor] | None, points: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The draws that count most so far, from which chains can start."""
    if known is not None:
        points, weights = torch.cat([known[0], points]), torch.cat([known[1], weights])
    top = weights.topk(min(STARTS, len(weights))).indices
    return points[top], weights[top]


def _chained(chains: Chains, question: Expression, deadline: float, sums: Sums) -> Estimated:
    """The share of the states of chains at which the question holds.

    Chains from one start are one witness: the error is that of the mean over so many as there are distinct starts.
    """
    world = chains.draws.model.world
    start, watch, asked = clock.now(), Watch(), Watch()
    with suppress(OutOfTime):  # sweeps that were made count
        while clock.now() < start + SHARES["settling"] * (deadline - start):
            chains.sweep()
        while not watch.count or clock.now() < deadline:
            chains.sweep()
            watch.see(chains.numbers)
            asked.see(question.holds(world, chains.state).double()[:, None])
    if watch.count < 4 or watch.r_hat > MET or chains.distinct < APART:
        return sums.refused(", and chains started from them have not converged in time")
    means = asked.means[:, 0]
    value = float(means.mean())
    agreed = Z95**2 / (len(chains.state) + Z95**2)  # the error of a share if all chains say the same
    error = max(Z95 * float(means.std()) / math.sqrt(chains.distinct), agreed)
    return Estimated(value, min(1.0, error), "chains")


class Sums:
    """Sums of weights, scaled by the largest so far, from which a ratio and its error follow."""

    def __init__(self) -> None:
        self.top, self.count = -math.inf, 0
        self.whole = self.yes = self.squares = self.yes_squares = 0.0
        self.largest = torch.zeros(0, dtype=torch.float64)  # logs

    def add(self, log_weights: torch.Tensor, holds: torch.Tensor) -> None:
        self.count += len(log_weights)
        largest = torch.cat([self.largest, log_weights])
        self.largest = largest.topk(min(len(largest), HEAVIEST)).values
        top = max(self.top, float(log_weights.max()))
        if top == -math.inf:
            return
        scale = math.exp(self.top - top) if self.top > -math.inf else 0.0
        weights = (log_weights - top).exp()
        yes = weights[holds]
        self.whole = self.whole * scale + float(weights.sum())
        self.yes = self.yes * scale + float(yes.sum())
        self.squares = self.squares * scale**2 + float((weights**2).sum())
        self.yes_squares = self.yes_squares * scale**2 + float((yes**2).sum())
        self.top = top

    @property
    def value(self) -> float:
        return min(1.0, self.yes / self.whole)

    @property
    def effective(self) -> float:
        """How many draws of equal weight these are worth."""
        return self.whole**2 / self.squares if self.whole else 0.0

    @property
    def trusted(self) -> bool:
        """Whether enough draws count, and the weights of the heaviest are no sign of heavier ones to come."""
        return self.effective >= FEW and shape(self.largest, self.count) <= TRUSTED

    def refused(self, besides: str = "") -> Estimated:
        """No value: its error would not hold."""
        worth = f"{self.count:,} draws are worth {self.effective:,.0f} of equal weight"
        return Estimated(None, None, NOT_COMPUTED, f"few draws carry the weight ({worth}){besides}")

    @property
    def error(self) -> float:
        """The delta method's error of a ratio, or that of Wilson for as many draws of equal weight, if larger.

        Draws that all agree have no variance; the second still knows how few they are.
        """
        value = self.value
        spread = (1 - 2 * value) * self.yes_squares + value**2 * self.squares
        delta = Z95 * math.sqrt(max(spread, 0.0)) / self.whole
        count = self.effective
        centre = (value + Z95**2 / (2 * count)) / (1 + Z95**2 / count)
        half = Z95 / (1 + Z95**2 / count) * math.sqrt(value * (1 - value) / count + Z95**2 / (4 * count**2))
        return min(1.0, max(delta, abs(centre - value) + half))

    @property
    def close(self) -> bool:
        if self.whole == 0 or self.error > CLOSE:
            return False
        return self.count >= LONG or self.error <= SHARE * min(self.value, 1 - self.value)
