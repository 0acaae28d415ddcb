"""How much a request may ask for, and the threads that do the work, so that slow questions hold up no quick ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")
OVERRUN = 3.0  # times its budget: solvers look at the clock now and then only
GRACE = 5.0  # seconds beyond that


@dataclass(frozen=True)
class Allowed:
    """What one request may take, beside what `bodies` says of its words; the clients of a server share its threads."""

    seconds: float = 10.0  # of thinking; what is not known by then is bounded
    quick: float = 0.25  # of thinking before a question counts as slow
    body: int = 1 << 18  # bytes
    picture: int = 4 << 20  # bytes of a body with a picture in it
    side: int = 2_048  # pixels
    upload: float = 10.0  # seconds for a body to arrive
    quick_threads: int = 4
    slow_threads: int = 2
    quick_waiting: int = 256
    slow_waiting: int = 16


class Busy(Exception):
    """There is more work than the server takes on, or it took too long."""


class Lane:
    """Some threads, and a queue in front of them that does not grow beyond a limit."""

    def __init__(self, threads: int, waiting: int) -> None:
        self.pool = ThreadPoolExecutor(threads)
        self.most, self.inside, self.lock = threads + waiting, 0, threading.Lock()

    async def run(self, work: Callable[[], Result], patience: float) -> Result:
        """What the work returns. One that takes longer is left alone, and keeps its thread until it ends."""
        with self.lock:
            if self.inside >= self.most:
                raise Busy("too many questions are waiting; try again in a moment")
            self.inside += 1
        future: Future[Result] = self.pool.submit(work)
        future.add_done_callback(self._left)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), patience)
        except TimeoutError:
            raise Busy("it took longer than a request may; ask for less, or try again in a moment") from None

    def _left(self, _: Future[Result]) -> None:
        with self.lock:
            self.inside -= 1

    def close(self) -> None:
        """Take no more work; what runs ends within its budget."""
        self.pool.shutdown(wait=False, cancel_futures=True)


class Lanes:
    """Every question is tried for a moment among the quick ones; what needs longer goes on among the slow ones."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed
        self.quick = Lane(allowed.quick_threads, allowed.quick_waiting)
        self.slow = Lane(allowed.slow_threads, allowed.slow_waiting)

    def budget(self, seconds: float | None) -> float:
        """The seconds that a request gets of those that it asks for."""
        return self.allowed.seconds if seconds is None else min(seconds, self.allowed.seconds)

    async def either(
        self, work: Callable[[float], Result], settled: Callable[[Result], bool], seconds: float | None
    ) -> Result:
        """Work that takes a budget: at first a small one, and the whole of it if that does not settle the matter."""
        budget = self.budget(seconds)
        first = min(budget, self.allowed.quick)
        found = await self.quick.run(lambda: work(first), self.patience)
        return found if first == budget or settled(found) else await self.long(work, seconds)

    async def long(self, work: Callable[[float], Result], seconds: float | None) -> Result:
        """Work that is known to take its time."""
        budget = self.budget(seconds)
        return await self.slow.run(lambda: work(budget), self.patience)

    def close(self) -> None:
        self.quick.close()
        self.slow.close()

    @property
    def patience(self) -> float:
        """Seconds after which a request is told that it took too long, the time in the queue included."""
        return OVERRUN * self.allowed.seconds + GRACE
