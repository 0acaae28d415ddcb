"""Surroundings of a run: the same sums in the same order, and a Ctrl-C that waits for the end of a step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def deterministic() -> Iterator[None]:
    """The same sums in the same order, so that a resumed run ends with the same weights.

    Memory that a step is about to write is not filled first, which torch else does then: a quarter of a run's time.
    """
    memory: Any = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        memory.fill_uninitialized_memory = before[1]


@contextmanager
def patient_interrupt() -> Iterator[Callable[[], bool]]:
    """Tells whether Ctrl-C was pressed, instead of breaking off in the middle of a step; a second one does.

    Python hands Ctrl-C to the main thread alone, and a program that deals with it in its own way is left to do so.
    """
    main, before = threading.current_thread() is threading.main_thread(), signal.getsignal(signal.SIGINT)
    if not main or not (before is signal.default_int_handler or getattr(before, "breaks_off", False)):
        yield lambda: False
        return
    pressed: list[int] = []

    def note(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
