"""The IDX format: a big-endian header with the shape, then bytes."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.errors import NbrError


def read(path: Path) -> NDArray[Any]:
    """The array of bytes in an IDX file."""
    content = path.read_bytes()
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or not 1 <= content[3] <= 4:
        raise NbrError(f"{path}: not an IDX file of bytes")
    axes = content[3]
    start = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", content[4:start]) if len(content) >= start else (0,)
    if len(content) != start + int(np.prod(shape, dtype=np.int64)):
        raise NbrError(f"{path}: the length of the file does not match the shape that it states")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
