"""One run at a time: a lock that the system releases when its holder ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from nbr.errors import NbrError


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Keep others from working on a file or folder meanwhile, by a lock beside it."""
    beside = path.with_name(f"{path.name}.lock")
    lock = FileLock(beside)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise NbrError(f"{path} belongs to a run that has not ended; wait for it, or write elsewhere") from None
    except OSError as error:
        raise NbrError(f"cannot write {beside}: {error.strerror or error}") from None
    try:
        yield
    finally:
        beside.unlink(
            missing_ok=True
        )  # whoever opened it in the meantime sees that it is gone, and fails or starts anew
        lock.release()
