"""What `auto` does with a list of ways, none of which it knows.

What is sure to end at once is done before anything else is so much as asked whether it fits. Then those that are sure
to end in time run to their end, the cheapest first; others have a glance each, those that prove before those that
estimate. Then a share of the time goes to whichever proof narrowed most, a larger one where estimates came to nothing,
and the rest to the estimate that narrowed most. Proved bounds are intersected; intervals that hold 95 times in 100
never are, since two of them do not hold together 95 times in 100.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic

from nbr import clock
from nbr.clock import OutOfTime
from nbr.ways.limits import SHARES, Limits
from nbr.ways.way import NEVER, A, Attempt, Cost, F, Unfit, Way

QUICK = 0.05  # seconds that something exact is worth even when time is up
AT_ONCE = 0.01  # seconds within which nothing else is worth a look


@dataclass(frozen=True)
class Result(Generic[F]):
    """The best that was found, what could be installed, which ways could have gone on, and why others gave up."""

    found: F | None
    missing: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()


@dataclass
class _Try(Generic[A, F]):
    way: Way[A, F]
    cost: Cost
    run: Attempt[F]
    width: float = 1.0
    rate: float = 0.0  # by how much bounds became narrower, a second, in its last run
    done: bool = False  # it has said all that it can ...
    why: str = ""  # ... which was that it does not fit


@dataclass
class _Board(Generic[F]):
    """What is proved, and the narrowest estimate."""

    tolerance: float
    proved: F | None = None
    estimated: F | None = None

    def run(self, each: _Try[A, F], limits: Limits) -> bool:
        """Let a way go on for a while; whether that is enough."""
        began = clock.now()
        try:
            with clock.until(limits.deadline + QUICK):
                found = each.run(limits)
        except OutOfTime:
            return False
        except Unfit as error:
            each.done, each.why = True, str(error)
            return False
        each.done = each.cost.sure
        if found is None:
            return False
        each.rate = (each.width - found.width) / max(clock.now() - began, 1e-6)
        each.width = found.width
        if found.kind == "proved":
            self.proved = found if self.proved is None else self.proved.narrowed(found)
        elif self.estimated is None or found.width < self.estimated.width:
            self.estimated = found
        return self.enough

    @property
    def enough(self) -> bool:
        some = (each for each in (self.proved, self.estimated) if each is not None)
        return any(each.exact or each.width <= self.tolerance for each in some)

    @property
    def best(self) -> F | None:
        if self.estimated is None or (self.proved is not None and self.proved.width <= self.estimated.width):
            return self.proved
        return self.estimated if self.proved is None else self.estimated.beside(self.proved)


def auto(ways: Iterable[Way[A, F]], asked: A, limits: Limits, late: float = QUICK) -> Result[F]:
    """The narrowest bounds that ways find within limits; what is exact in `late` seconds is done even when late."""
    board: _Board[F] = _Board(limits.tolerance)
    tries: list[_Try[A, F]] = []
    missing: dict[str, None] = {}
    for way in ways:
        if way.unfit(asked) is not None:
            continue
        hint = way.missing()
        if hint is not None:
            missing[hint] = None
            continue
        each = _Try(way, way.cost(asked), way.attempt(asked))
        tries.append(each)
        if way.proves and each.cost.sure and each.cost.seconds <= AT_ONCE and board.run(each, limits):
            return Result(board.best)
    tries = [each for each in tries if each.cost != NEVER or len(tries) == 1]
    tries.sort(key=lambda each: each.cost.seconds)
    _scheduled([each for each in tries if not each.done], board, limits, late)
    unfinished = tuple(dict.fromkeys(each.way.name for each in tries if not each.done))
    return Result(board.best, tuple(missing), unfinished, tuple(each.why for each in tries if each.why))


def _scheduled(tries: list[_Try[A, F]], board: _Board[F], limits: Limits, late: float) -> None:
    start, whole = clock.now(), limits.left
    proving = [each for each in tries if each.way.proves]
    estimating = [each for each in tries if not each.way.proves]
    guesses = [each for each in tries if not each.cost.sure]
    for each in proving:
        if each.cost.sure and each.cost.seconds > max(limits.left, late):
            continue  # it would not end
        glance = limits.share(SHARES["glance"]) if len(guesses) > 1 else limits
        if board.run(each, limits if each.cost.sure else glance):
            return
    proving = [each for each in proving if not each.done]
    if proving and estimating:
        for each in estimating:
            if board.run(each, limits.share(SHARES["glance"])):
                return
    if proving and len(guesses) != 1:
        share = SHARES["proof" if board.estimated is not None and board.estimated.width < 1 else "proof alone"]
        proofs = replace(limits, deadline=start + share * whole) if estimating else limits
        if board.run(_most(proving), proofs):
            return
    estimating = [each for each in estimating if not each.done]
    if not proving and len(estimating) > 1:
        for each in estimating:
            if board.run(each, limits.share(SHARES["glance"])):
                return
    if estimating:
        board.run(_most(estimating), limits)


def _most(tries: list[_Try[A, F]]) -> _Try[A, F]:
    """Whoever narrowed most in its last run; the cheapest first where none did."""
    return max(tries, key=lambda each: each.rate)
