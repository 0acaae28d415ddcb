"""Exact weighted model counting by ganak, in helper processes that are ended when time is up."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from nbr import clock
from nbr.calculus.formula import Clause

LONGEST = 1e6  # seconds that a wait may be told to last
WORKER = Path(__file__).with_name("ganak_worker.py")


@cache
def available() -> bool:
    """Whether the counter is installed."""
    return importlib.util.find_spec("pyganak") is not None


def count(
    clauses: Sequence[Clause],
    variables: int,
    weights: Sequence[tuple[int, float]],
    projected: Sequence[int] | None,
    deadline: float,
) -> float | None:
    """The sum over models of the product of weights w or 1 - w of the variables given, or None if time is up.

    With `projected`, models that agree on those variables count once.
    """
    asked = {"clauses": clauses, "variables": variables, "weights": weights, "projected": projected}
    worker = _Worker.take()
    answer = worker.ask(json.dumps(asked), deadline)
    if answer is None:
        worker.end()
        return None
    worker.give_back()
    return float(json.loads(answer))


class _Worker:
    """A helper process; idle ones wait for the next question."""

    idle: ClassVar[list[_Worker]] = []
    lock = threading.Lock()

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.ready = False

    @classmethod
    def take(cls) -> _Worker:
        with cls.lock:
            while cls.idle:
                worker = cls.idle.pop()
                if worker.process.poll() is None:
                    return worker
        return cls()

    def give_back(self) -> None:
        with self.lock:
            self.idle.append(self)

    def ask(self, line: str, deadline: float) -> str | None:
        assert self.process.stdin is not None
        if not self.ready:
            if self._answer(deadline) is None:
                return None
            self.ready = True
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        return self._answer(deadline)

    def _answer(self, deadline: float) -> str | None:
        assert self.process.stdout is not None
        left = min(max(0.0, deadline - clock.now()), LONGEST)
        if not select.select([self.process.stdout], [], [], left)[0]:
            return None
        return self.process.stdout.readline() or None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


@atexit.register
def _end_all() -> None:
    with _Worker.lock:
        while _Worker.idle:
            _Worker.idle.pop().end()
