"""Writing that is whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from nbr.errors import NbrError


def write(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside it and rename it, so that it is never half there.

    A symbolic link stays one: the file that it points to is written. What is no ordinary file, such as a pipe or
    a device, cannot be replaced and is written through.
    """
    with writing(path) as file:
        file.write(content)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """The same piece by piece; what is written is there when the block ends well."""
    try:
        place = path.resolve()
        if place.exists() and not stat.S_ISREG(place.stat().st_mode):
            with place.open("wb") as file:
                yield file
        else:
            with _replacing(place) as file:
                yield file
    except OSError as error:
        raise NbrError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def _replacing(place: Path) -> Iterator[BinaryIO]:
    handle, temporary = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~_umask())
        os.replace(temporary, place)
    except BaseException:  # Ctrl-C too
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
