"""Pictures of two kinds, for tests of what reads MNIST; and one that is a trap."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image


def bars(labels, part: str):
    """Upright bars (0) and lying ones (1)."""
    dice = np.random.default_rng(len(part))
    y = dice.integers(0, 2, 60)
    X = np.zeros((60, 28, 28))
    for picture, label in zip(X, y, strict=True):
        at = dice.integers(10, 16)
        picture[(slice(5, 23), slice(at, at + 4))[:: 1 - 2 * label]] = 1
    return X, y


def text_bomb(path: Path, letters: int = 80 << 20) -> Path:
    """A PNG whose text, unpacked, is as large as a film."""
    Image.new("L", (28, 28), 255).save(path)
    content, body = path.read_bytes(), b"zTXtbomb\0\0" + zlib.compress(b"a" * letters, 9)
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    path.write_bytes(content[:33] + chunk + content[33:])  # behind the header
    return path
