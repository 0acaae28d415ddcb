"""Work in chunks on several processes, through joblib: of this machine, or of the cluster that the user's joblib has.

Nothing that comes out depends on how many processes there are: what a chunk is, is decided before they are, each
draws from a seed of its own, and computes with one thread.
"""

from __future__ import annotations

import sys
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from nbr.errors import NbrError, install

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
TRIES = 3  # with a worker dying before the next result is there

Told = Callable[[int, int], None]  # chunks done, of how many


def nobody(done: int, of: int) -> None:
    """Tell nobody."""


def mapped(
    function: Callable[[Chunk], Result], chunks: Sequence[Chunk], jobs: int | None = None, told: Told = nobody
) -> Iterator[Result]:
    """The results of a function of each chunk, in order, as they come.

    `jobs` None works here, with all threads that there are; 1 works here with one; more are so many processes, and
    below 0 all but -1 - jobs cores, as joblib counts. A chunk whose process was killed is tried again.

    >>> list(mapped(sum, [(1, 2), (3, 4)]))
    [3, 7]
    """
    check(jobs)
    here = jobs in (None, 1) or len(chunks) < 2  # one chunk gains nothing by a journey
    found = _here(function, chunks, jobs) if here else _away(function, chunks, jobs)
    for done, result in enumerate(found, 1):
        told(done, len(chunks))
        yield result


def check(jobs: int | None) -> None:
    """Whether it is a number of processes, before anything long begins."""
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0):
        raise NbrError(f"the number of jobs must be above 0, or -1 for all cores, not {jobs!r}")


def seeded(seed: int, chunk: int) -> int:
    """The seed of a chunk; that of the first is the seed itself, so that little work is as it would be in one piece.

    >>> seeded(7, 0), seeded(7, 1) == seeded(7, 2)
    (7, False)
    """
    return seed if chunk == 0 else int(np.random.SeedSequence((seed, chunk)).generate_state(1)[0])


def pieces(count: int, size: int) -> list[slice]:
    """Rows in chunks of one size, the last one shorter.

    >>> pieces(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _here(function: Callable[[Chunk], Result], chunks: Sequence[Chunk], jobs: int | None) -> Iterator[Result]:
    return (function(chunk) if jobs is None else _alone(function, chunk) for chunk in chunks)


def _away(function: Callable[[Chunk], Result], chunks: Sequence[Chunk], jobs: int | None) -> Iterator[Result]:
    try:
        import joblib
    except ModuleNotFoundError:
        raise NbrError(f"several processes need joblib: {install('cli')}") from None
    done = deaths = 0
    carried = Carried(function)
    while done < len(chunks):
        work = (joblib.delayed(_alone)(carried, chunk) for chunk in chunks[done:])
        # Large arrays go by way of memory that processes share; "c" lets each write to its own copy, as torch wants.
        parallel = joblib.Parallel(n_jobs=jobs, return_as=_as_they_come(), batch_size=1, mmap_mode="c")
        results = parallel(work)
        try:
            for result in results:
                done, deaths = done + 1, 0
                yield result
        except BrokenProcessPool:  # joblib gives up there; clusters try again by themselves
            deaths += 1
            if deaths == TRIES:
                words = "often for want of memory, so that fewer jobs may help"
                raise NbrError(f"after chunk {done} of {len(chunks)} a process died {TRIES} times, {words}") from None
        finally:
            with warnings.catch_warnings():  # whoever asks for no more results need not be told that there are none
                warnings.simplefilter("ignore")
                if isinstance(results, Generator):
                    results.close()


class Carried:
    """A function that is the same in a process for all its chunks: what it has worked out for one serves the next.

    A model that travels leaves behind what can be worked out again, as bounds on its networks.
    """

    def __init__(self, function: Callable[[Any], Any], key: str | None = None) -> None:
        self.function, self.key = function, key or uuid.uuid4().hex

    def __call__(self, chunk: Any) -> Any:
        return self.function(chunk)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.function, self.key)


_LAST: list[Carried] = []  # in a process that others send work to


def _arrived(function: Callable[[Any], Any], key: str) -> Carried:
    if not _LAST or _LAST[0].key != key:
        _LAST[:] = [Carried(function, key)]
    return _LAST[0]


def _as_they_come() -> str:
    """How joblib returns results: one after the other, or all at the end where the user's cluster knows no better."""
    from joblib.parallel import get_active_backend

    return "generator" if get_active_backend()[0].supports_return_generator else "list"


def _alone(function: Callable[[Chunk], Result], chunk: Chunk) -> Result:
    with _one_thread():
        return function(chunk)


@contextmanager
def _one_thread() -> Iterator[None]:
    """So that processes do not get into each other's way, and sums are in the same order wherever they are made."""
    torch = sys.modules.get("torch")
    if torch is None:  # the function does not use it
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
