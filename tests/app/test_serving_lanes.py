"""`nbr serve`: which questions go on among the slow ones, and that nobody waits while slow workers begin."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from unittest import mock

import httpx
import pytest

import nbr
from nbr.app.serving.limits import Allowed, Busy, Lane, Lanes, Late, Threads
from nbr.app.serving.reasoning import ReasonerApi
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
T = TypeVar("T")
ALLOWED = Allowed(seconds=8.0, quick=0.25)


def awaited(work: Coroutine[object, object, T]) -> T:
    """In a thread of its own: a browser that other tests have left open keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def run(work, budget: float | None = None) -> object:
    lanes = Lanes("model", Threads("model", 1), ALLOWED)
    try:
        return awaited(lanes.either(work, lambda found: found == "exact", budget))
    finally:
        lanes.close()


@pytest.mark.parametrize(
    ("needed", "asked", "budgets"),
    [
        (0.1, None, [0.25]),
        (3.0, None, [0.25, 8.0]),
        (3.0, 5.0, [0.25, 5.0]),
        (3.0, 100.0, [0.25, 8.0]),
        (3.0, 0.1, [0.1]),
        (100.0, None, [0.25, 8.0]),
    ],
)
def test_what_a_quarter_of_a_second_does_not_settle_gets_its_whole_budget(
    needed: float, asked: float | None, budgets: list[float]
) -> None:
    given: list[float] = []

    def work(model: object, seconds: float) -> str:
        given.append(seconds)
        return "exact" if seconds >= needed else f"bounds after {seconds}"

    found = run(work, asked)
    assert given == budgets
    assert found == ("exact" if needed <= budgets[-1] else f"bounds after {budgets[-1]}")


def test_what_takes_long_to_read_goes_on_among_the_slow_ones() -> None:
    def work(model: object, seconds: float) -> str:
        if seconds < 1:
            raise Late("not read in time")
        return "exact"

    assert run(work) == "exact"
    with pytest.raises(Late):
        run(work, 0.2)


@pytest.mark.parametrize(
    ("path", "body", "method", "short", "long"),
    [
        ("ask", {"question": "x1"}, "ask", {"exact": False}, {"exact": True}),
        ("ask", {"question": "x1"}, "ask", {"values": [{"exact": False}]}, {"values": [{"exact": True}]}),
        (
            "ask",
            {"question": "x1"},
            "ask",
            {"exact": True, "probability": {"exact": False}},
            {"exact": True, "probability": {"exact": True}},
        ),
        (
            "ask-many",
            {"questions": ["x1", "x2"]},
            "ask_many",
            {"answers": [{"exact": True}, {"exact": False}]},
            {"answers": [{"exact": True}, {"exact": True}]},
        ),
        ("probability", {"question": "x1"}, "probability", {"exact": False}, {"exact": True}),
    ],
)
def test_every_address_hands_on_what_is_open(
    path: str, body: dict[str, object], method: str, short: object, long: object
) -> None:
    def answered(self: object, body: object, budget: float) -> object:
        return short if budget <= 0.25 else long

    with mock.patch.object(ReasonerApi, method, answered), served(nbr.load(EXAMPLES / "majority.toml")) as address:
        assert httpx.post(f"{address}/api/{path}", json=body, timeout=30).json() == long
        assert httpx.post(f"{address}/api/{path}", json={**body, "budget": 0.2}, timeout=30).json() == short


def test_reading_counts_towards_the_budget() -> None:
    """Many long questions are no quick question; what is left of the budget after reading is for answers."""
    asked = ReasonerApi(nbr.load(EXAMPLES / "majority.toml"), "model")
    body = mock.Mock(given=None, off=[], rules=[], see=None, question="x1", seed=0, tolerance=1e-3)
    left = asked._read(body, 5.0, question="x2 & " * 500 + "x3")[2]
    assert 4.0 < left < 5.0
    many = {f"questions.{n}": f"x{n % 9} & " * 500 + f"x{n % 7}" for n in range(40)}
    start = time.process_time()
    with pytest.raises(Late, match="reading it took longer than the 0.1 seconds"):
        asked._read(body, 0.1, **many)
    assert time.process_time() - start < 1.5
    with served(asked.reasoner) as address:
        found = httpx.post(
            f"{address}/api/ask-many",
            content=json.dumps({"questions": list(many.values())[:12]}),
            timeout=60,
            headers={"Content-Type": "application/json"},
        )
    assert found.status_code == 200
    assert len(found.json()["answers"]) == 12


class Sluggish(Threads):
    """Workers that take a moment to begin, as processes do."""

    at_once = False

    def start(self) -> Executor:
        pool = ThreadPoolExecutor(self.count)
        submit = pool.submit

        def slowly(*task):
            time.sleep(0.5)
            return submit(*task)

        pool.submit = slowly  # type: ignore[method-assign]
        return pool


def test_nobody_waits_while_slow_workers_begin() -> None:
    ticks: list[float] = []

    async def both() -> tuple[object, bool]:
        lane = Lane(Sluggish("model", 1), 2)

        async def tick() -> None:
            while True:
                ticks.append(time.monotonic())
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(tick())
        left = asyncio.create_task(lane.run(lambda model, seconds: "never", 1.0, 10.0))
        await asyncio.sleep(0.1)
        left.cancel()
        found = await lane.run(lambda model, seconds: (model, seconds), 1.0, 10.0)
        with pytest.raises(ValueError, match="wrong"):
            await lane.run(_wrong, 1.0, 10.0)
        ticking.cancel()
        lane.close()
        return found, lane.inside == 0

    assert awaited(both()) == (("model", 1.0), True)
    assert max(after - before for before, after in itertools.pairwise(ticks)) < 0.4


def test_a_question_that_takes_too_long_is_told() -> None:
    lane = Lane(Sluggish("model", 1), 1)

    async def late() -> None:
        with pytest.raises(Busy, match="longer than a request may"):
            await lane.run(lambda model, seconds: None, 1.0, 0.05)

    awaited(late())
    lane.close()


def _wrong(model: object, seconds: float) -> None:
    raise ValueError("wrong")
