"""The scheduler: shares of time by a clock that tests set, proofs intersected, estimates never."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from nbr import clock
from nbr.clock import OutOfTime
from nbr.ways import NEVER, SHARES, Cost, Limits, Unfit, Way, auto


@dataclass(frozen=True)
class Between:
    """A number between two ends."""

    low: float
    high: float
    kind: str = "proved"
    sure: Between | None = None

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def exact(self) -> bool:
        return self.kind == "proved" and self.width == 0

    def narrowed(self, other: Between) -> Between:
        return Between(max(self.low, other.low), min(self.high, other.high))

    def beside(self, proved: Between) -> Between:
        return replace(self, sure=proved)


class Time:
    """A clock that only work moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(clock, "now", found)
    return found


@dataclass
class Toy(Way[str, Between]):
    """It needs so much time for all; until then it has only said what it found before."""

    time: Time
    name: str
    needs: float
    said: Between
    before: Between | None = None
    costs: Cost = field(default_factory=lambda: Cost(1.0))
    proves: bool = True
    hint: str | None = None
    no: str | None = None
    spent: list[float] = field(default_factory=list)

    def unfit(self, asked: str) -> str | None:
        return self.no

    def missing(self) -> str | None:
        return self.hint

    def cost(self, asked: str) -> Cost:
        return self.costs

    def solve(self, asked: str, limits: Limits) -> Between | None:
        left = self.needs - sum(self.spent)
        step = max(0.0, min(left, limits.left))
        self.time.now += step
        self.spent.append(step)
        return self.said if step == left else self.before


def test_the_cheapest_that_is_sure_is_enough(time: Time) -> None:
    dear = Toy(time, "dear", 5.0, Between(0.3, 0.3), costs=Cost(5.0, sure=True))
    cheap = Toy(time, "cheap", 1.0, Between(0.3, 0.3), costs=Cost(1.0, sure=True))
    found = auto([dear, cheap], "", Limits.within(10))
    assert found.found == Between(0.3, 0.3)
    assert (cheap.spent, dear.spent) == ([1.0], [])


def test_what_is_sure_to_end_at_once_is_done_before_others_are_asked(time: Time) -> None:
    class Slow(Toy):
        def unfit(self, asked: str) -> str | None:
            self.time.now += 1.0
            return None

    slow = Slow(time, "slow", 1.0, Between(0.3, 0.3), hint="install it")
    small = Toy(time, "small", 0.001, Between(0.3, 0.4), costs=Cost(0.001, sure=True))
    assert auto([small, slow], "", Limits.within(10, tolerance=0.2)).found == Between(0.3, 0.4)
    assert time.now == pytest.approx(100.001)
    found = auto([small, slow], "", Limits.within(10, tolerance=0.01))  # not narrow enough: others are asked, once
    assert (found.missing, len(small.spent)) == (("install it",), 2)


def test_what_is_sure_not_to_end_is_not_begun(time: Time) -> None:
    late = Toy(time, "late", 20.0, Between(0.3, 0.3), costs=Cost(20.0, sure=True))
    guess = Toy(time, "guess", 4.0, Between(0.2, 0.2), costs=Cost(30.0))
    assert auto([late, guess], "", Limits.within(10)).found == Between(0.2, 0.2)
    assert late.spent == []


def test_proofs_are_intersected_and_estimates_are_not(time: Time) -> None:
    proofs = [Toy(time, name, 1.0, said) for name, said in [("a", Between(0.1, 0.6)), ("b", Between(0.4, 0.9))]]
    guesses = [
        Toy(time, name, 0.5, Between(*ends, "95%"), proves=False)
        for name, ends in [("c", (0.41, 0.52)), ("d", (0.5, 0.6))]
    ]
    found = auto([*proofs, *guesses], "", Limits.within(20, tolerance=0.01)).found
    assert found is not None
    assert found.sure == Between(0.4, 0.6)
    assert found.kind == "95%"
    assert (found.low, found.high) in {(0.41, 0.52), (0.5, 0.6)}  # one of the two, never what both say


def test_the_rest_of_the_time_goes_to_whoever_narrowed_most(time: Time) -> None:
    slow = Toy(time, "slow", 50.0, Between(0.5, 0.5), before=Between(0.0, 0.9))
    quick = Toy(time, "quick", 6.0, Between(0.5, 0.5), before=Between(0.3, 0.6))
    found = auto([slow, quick], "", Limits.within(10))
    assert found.found == Between(0.5, 0.5)
    assert slow.spent == [pytest.approx(SHARES["glance"] * 10)]
    assert sum(quick.spent) == pytest.approx(6.0)


def test_shares_of_time_are_those_of_the_table(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHARES, "glance", 0.1)
    monkeypatch.setitem(SHARES, "proof alone", 0.6)
    proofs = [Toy(time, name, 99.0, Between(0, 0), before=Between(0, 1)) for name in "ab"]
    drawn = Toy(time, "c", 99.0, Between(0, 0), before=Between(0, 1, "95%"), proves=False)
    auto([*proofs, drawn], "", Limits.within(100))
    assert [len(each.spent) for each in (*proofs, drawn)] == [2, 1, 2]
    assert proofs[0].spent[0] == pytest.approx(10)
    assert proofs[1].spent[0] == pytest.approx(9)
    assert drawn.spent[0] == pytest.approx(8.1)
    assert sum(proofs[0].spent) + sum(proofs[1].spent) + drawn.spent[0] == pytest.approx(60)
    assert drawn.spent[1] == pytest.approx(40)


def test_time_is_kept(time: Time) -> None:
    ways = [Toy(time, str(each), 99.0, Between(0, 0), proves=each % 2 == 0) for each in range(6)]
    found = auto(ways, "", Limits.within(10))
    assert found.found is None
    assert set(found.open) == {str(each) for each in range(6)}
    assert time.now == pytest.approx(110.0)


def test_why_others_gave_up_is_told(time: Time) -> None:
    class Refusing(Toy):
        def solve(self, asked: str, limits: Limits) -> Between | None:
            raise Unfit("too wide")

    class Late(Toy):
        def solve(self, asked: str, limits: Limits) -> Between | None:
            raise OutOfTime

    here = Toy(time, "here", 1.0, Between(0.2, 0.2), costs=Cost(2.0))
    ways = [
        Refusing(time, "wide", 1.0, Between(0, 0)),
        Late(time, "late", 1.0, Between(0, 0)),
        Toy(time, "no", 1.0, Between(0, 0), no="it is not for this"),
        Toy(time, "absent", 1.0, Between(0, 0), hint="it needs a library"),
        here,
    ]
    found = auto(ways, "", Limits.within(10))
    assert (found.found, found.missing, found.unfit) == (Between(0.2, 0.2), ("it needs a library",), ("too wide",))
    assert found.open == ("late", "here")


def test_what_is_not_worth_a_try_is_for_those_who_name_it(time: Time) -> None:
    never = Toy(time, "never", 1.0, Between(0.2, 0.2), costs=NEVER)
    other = Toy(time, "other", 1.0, Between(0.1, 0.9))
    assert auto([never, other], "", Limits.within(10)).found == Between(0.1, 0.9)
    assert auto([never], "", Limits.within(10)).found == Between(0.2, 0.2)


def test_shares_leave_no_negative_time(time: Time) -> None:
    late = Limits(time.now - 5)
    assert late.share(0.5).deadline == time.now
