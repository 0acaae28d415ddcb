"""The map over chunks: the same for any number of processes, in order, also when one of them dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import pytest
from joblib.parallel import ThreadingBackend

from nbr.errors import NbrError
from nbr.parallel import mapped, pieces, seeded


def test_same_for_any_number_of_processes_and_in_order() -> None:
    def slow_first(number: int) -> tuple[int, int]:
        time.sleep(0.2 if number == 0 else 0.0)
        return number, seeded(3, number)

    told: list[tuple[int, int]] = []
    expected = [(number, seeded(3, number)) for number in range(7)]
    for jobs in (None, 1, 2):
        assert list(mapped(slow_first, range(7), jobs)) == expected
    assert list(mapped(slow_first, range(7), 2, lambda done, of: told.append((done, of)))) == expected
    assert told == [(done, 7) for done in range(1, 8)]


def test_chunks_of_a_killed_process_are_done_again_once_each(tmp_path: Path) -> None:
    def killed_once(number: int) -> int:
        mark = tmp_path / "killed"
        if number == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 10 * number

    assert list(mapped(killed_once, range(6), 2)) == [0, 10, 20, 30, 40, 50]
    assert (tmp_path / "killed").exists()


def test_a_chunk_that_kills_every_process_is_an_error_in_the_end() -> None:
    def deadly(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(NbrError, match="of 2 a process died 3 times"):
        list(mapped(deadly, range(2), 2))


def test_an_error_in_a_chunk_is_told_as_it_is() -> None:
    def wrong(number: int) -> int:
        if number == 2:
            raise NbrError("row 2: there is no such thing", at=4)
        return number

    for jobs in (None, 1, 2):
        with pytest.raises(NbrError, match=r"^row 2: there is no such thing$") as caught:
            list(mapped(wrong, range(4), jobs))
        assert caught.value.at == 4


def test_bad_numbers_of_jobs() -> None:
    for jobs in (0, 1.5, True):
        with pytest.raises(NbrError, match="number of jobs"):
            list(mapped(abs, [1], jobs))  # type: ignore[arg-type]


def test_pieces_cover_every_row_once() -> None:
    for count in (0, 1, 6, 7):
        assert [row for part in pieces(count, 3) for row in range(count)[part]] == list(range(count))


def test_one_process_needs_no_joblib() -> None:
    code = "import sys; from nbr.parallel import mapped; list(mapped(abs, [1], 1)); sys.exit('joblib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Remembers:
    """Counts in the process that it is in, and forgets on the way there."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, chunk: int) -> int:
        self.calls += 1
        return self.calls

    def __getstate__(self) -> dict[str, int]:
        return {"calls": 0}


def test_a_process_keeps_what_was_worked_out_for_earlier_chunks() -> None:
    """Eight chunks in two processes: one of them at least had four."""
    assert max(mapped(Remembers(), range(8), 2)) >= 4
    assert min(mapped(Remembers(), range(8), 2)) == 1  # another function starts anew


class Late(ThreadingBackend):
    """A cluster that returns all results at the end, as that of ray does."""

    supports_return_generator = False


def test_a_cluster_that_returns_all_results_at_the_end() -> None:
    joblib.register_parallel_backend("late", Late)
    with joblib.parallel_config(backend="late"):
        assert list(mapped(abs, [-3, 2, -1], 2)) == [3, 2, 1]
