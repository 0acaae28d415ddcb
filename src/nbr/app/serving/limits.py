"""How much a request may ask for, and who does the work, so that slow questions hold up no quick ones.

Quick questions have one thread: torch lets go of the interpreter at every step, so that several threads fight for it
and get less done together than one. Slow ones have processes of their own, which share no interpreter with the quick
ones, or threads where a model cannot travel.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
OVERRUN = 3.0  # times its budget: solvers look at the clock now and then only
GRACE = 5.0  # seconds beyond that
KIND = 10  # how far slow work stands back where quick work needs the processor, as the system counts it
KILLED = 1.0  # seconds in which workers that are told to end have ended
LOOK = 0.5  # seconds between looks of a worker at whether its server is still there
IDLE = 300.0  # seconds after which a process that nobody needs ends


@dataclass(frozen=True)
class Allowed:
    """What one request may take, beside what `bodies` says of its words; the clients of a server share its workers."""

    seconds: float = 10.0  # of thinking; what is not known by then is bounded
    quick: float = 0.25  # of thinking before a question counts as slow
    body: int = 1 << 18  # bytes
    picture: int = 4 << 20  # bytes of a body with a picture in it
    side: int = 2_048  # pixels
    first_byte: float = 10.0  # seconds after which a connection that says nothing is closed
    head: float = 10.0  # seconds for the head of a request to arrive
    head_bytes: int = 1 << 15
    upload: float = 10.0  # seconds for a body to arrive
    kept_alive: float = 30.0  # seconds between requests of one connection
    connections: int = 448
    of_one_address: int = 128
    slow_workers: int = 2
    quick_waiting: int = 256
    slow_waiting: int = 16


class Busy(Exception):
    """There is more work than the server takes on, or it took too long."""


class Late(Busy):
    """The time was up before all that was asked had been read."""


Work = Callable[[Any, float], Any]  # what is to be done with the model that is served, in so many seconds


class Workers(Protocol):
    """Who does work: threads or processes."""

    at_once: bool  # whether they take work at once, or may have to begin first, which can take seconds

    def start(self) -> Executor:
        """New ones, for the first time or because one has died."""

    def end(self, pool: Executor) -> None:
        """Take no more work; what runs ends within its budget."""

    def task(self, work: Work, seconds: float) -> Callable[[], Any]:
        """Work as it is handed to them."""


class Threads:
    """Threads that share the model with everybody else here."""

    at_once = True

    def __init__(self, model: Any, count: int) -> None:
        self.model, self.count = model, count

    def start(self) -> Executor:
        return ThreadPoolExecutor(self.count)

    def end(self, pool: Executor) -> None:
        pool.shutdown(wait=False, cancel_futures=True)

    def task(self, work: Work, seconds: float) -> Callable[[], Any]:
        return partial(work, self.model, seconds)


class Processes:
    """Processes that each have made the model for themselves; they begin with the first work."""

    at_once = False

    def __init__(self, make: Callable[[], Any], count: int) -> None:
        self.make, self.count = make, count

    def start(self) -> Executor:
        from joblib.externals.loky import ProcessPoolExecutor

        pool: Executor = ProcessPoolExecutor(self.count, timeout=IDLE, initializer=_begin, initargs=(self.make,))
        return pool

    def end(self, pool: Executor) -> None:
        killed = threading.Thread(target=pool.shutdown, kwargs={"wait": True, "kill_workers": True}, daemon=True)
        killed.start()
        killed.join(KILLED)  # one that is only just beginning ends by itself, with the server

    def task(self, work: Work, seconds: float) -> Callable[[], Any]:
        return partial(_do, work, seconds)


_MINE: list[Any] = []  # the model of a process that was started to work


def _begin(make: Callable[[], Any]) -> None:
    import signal

    import torch

    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody at a terminal; the server ends its workers
    if hasattr(os, "nice"):
        os.nice(KIND)
    torch.set_num_threads(1)
    _MINE[:] = [make()]


def _end_with(server: int) -> None:
    """A server that was killed ends no workers: they look after it themselves."""
    while os.getppid() == server:
        time.sleep(LOOK)
    os._exit(1)


def _do(work: Work, seconds: float) -> Any:
    return work(_MINE[0], seconds)


class Lane:
    """Workers, and a queue in front of them that does not grow beyond a limit."""

    def __init__(self, workers: Workers, most: int) -> None:
        self.workers, self.pool = workers, workers.start()
        self.most, self.inside, self.lock = most, 0, threading.Lock()
        self.hands = None if workers.at_once else ThreadPoolExecutor(1)  # no event loop waits until workers have begun

    async def run(self, work: Work, seconds: float, patience: float) -> Any:
        """What the work returns. One that takes longer is left alone, and keeps its worker until it ends."""
        with self.lock:
            if self.inside >= self.most:
                raise Busy("too many questions are waiting; try again in a moment")
            self.inside += 1
        try:
            task = self.workers.task(work, seconds)
            if self.hands is None:
                future = self._submitted(task)
                future.add_done_callback(lambda _: self._left())
            else:
                future = Future()
                self.hands.submit(self._hand_over, task, future)
        except BaseException:
            self._left()
            raise
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), patience)
        except TimeoutError:
            raise Busy("it took longer than a request may; ask for less, or try again in a moment") from None
        except BrokenExecutor:
            raise Busy("a process that worked on it has ended; try again in a moment") from None

    def _hand_over(self, task: Callable[[], Any], future: Future[Any]) -> None:
        """Let workers do a task, whose result becomes that of a future; one that nobody waits for is not begun."""
        try:
            done = self._submitted(task) if not future.cancelled() else None
        except BaseException as error:
            done = Future()
            done.set_exception(error)
        if done is None:
            self._left()
            return
        future.add_done_callback(lambda given_up: given_up.cancelled() and done.cancel())
        done.add_done_callback(partial(self._told, future))

    def _told(self, future: Future[Any], done: Future[Any]) -> None:
        self._left()
        if done.cancelled():
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is None:
            future.set_result(done.result())
        else:
            future.set_exception(error)

    def _submitted(self, task: Callable[[], Any]) -> Future[Any]:
        try:
            return self.pool.submit(task)
        except BrokenExecutor:  # a worker has died since the last question
            self.workers.end(self.pool)
            self.pool = self.workers.start()
            return self.pool.submit(task)

    def _left(self) -> None:
        with self.lock:
            self.inside -= 1

    def close(self) -> None:
        if self.hands is not None:
            self.hands.shutdown(wait=False, cancel_futures=True)
        self.workers.end(self.pool)


class Lanes:
    """Every question is tried for a moment among the quick ones; what needs longer goes on among the slow ones."""

    def __init__(self, model: Any, slow: Workers, allowed: Allowed) -> None:
        self.allowed = allowed
        self.quick = Lane(Threads(model, 1), 1 + allowed.quick_waiting)
        self.slow = Lane(slow, allowed.slow_workers + allowed.slow_waiting)

    def budget(self, seconds: float | None) -> float:
        """The seconds that a request gets of those that it asks for."""
        return self.allowed.seconds if seconds is None else min(seconds, self.allowed.seconds)

    async def either(self, work: Work, settled: Callable[[Any], bool], seconds: float | None) -> Any:
        """Work that takes a budget: at first a small one, and the whole of it if that does not settle the matter."""
        budget = self.budget(seconds)
        first = min(budget, self.allowed.quick)
        try:
            found = await self.short(work, first)
        except Late:
            if first == budget:
                raise
        else:
            if first == budget or settled(found):
                return found
        return await self.long(work, seconds)

    async def short(self, work: Work, seconds: float | None = None) -> Any:
        """Work that is known to be done soon."""
        return await self.quick.run(work, self.budget(seconds), self.patience)

    async def long(self, work: Work, seconds: float | None = None) -> Any:
        """Work that is known to take its time."""
        return await self.slow.run(work, self.budget(seconds), self.patience)

    def close(self) -> None:
        self.quick.close()
        self.slow.close()

    @property
    def patience(self) -> float:
        """Seconds after which a request is told that it took too long, the time in the queue included."""
        return OVERRUN * self.allowed.seconds + GRACE
