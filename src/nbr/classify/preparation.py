"""What is done to a picture file before a classifier sees it: part of the model, saved with it, the same for everybody.

- `none`: the file has as many pixels as the classifier takes; they go in as they are.
- `scale`: a file of any size is scaled to that many, each the mean of the area that it covers.
- `digits`: cut out, inverted, scaled and centred as MNIST is.

The first two are linear maps that depend on the size and kind of the file alone. A mean over areas has rows that add up
to 1 and columns that add up to h / H, so from H x W to h x w pixels no change grows by more than sqrt(h w / (H W)); and
brightness is at most |(0.299, 0.587, 0.114)| = 0.67 times as long as colour. Divided by that stretch a proof about what
the classifier sees is one about the file. The third looks at what a picture shows: of the file nothing follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.classify import digits, pictures
from nbr.errors import NbrError, suggest

Array = NDArray[Any]
Range = tuple[float, float]
KINDS = ("none", "scale", "digits")
FILE, PREPARED = "file", "prepared picture"  # what a proof is about
CHANNELS = 3
EPS = float(np.finfo(np.float64).eps)
BYTES = (0.0, 255.0)


@dataclass(frozen=True)
class Prepared:
    """A picture as a classifier takes it, what there is to say about how it came to that, and what a proof is worth.

    A change of the file, pixels from 0 to 1, becomes at most `stretch` times as long; None where that is not known.
    `slack` is how far rounding may have moved the picture.
    """

    pixels: Array
    notes: list[str]
    stretch: float | None = None
    slack: float = 0.0

    @property
    def proved_of(self) -> str:
        return PREPARED if self.stretch is None else FILE

    def proved(self, radius: float) -> float:
        """A radius around the picture as one around what a proof is about; twice the slack, there and where it goes."""
        if self.stretch is None:
            return radius
        return max(0.0, (radius - 2 * self.slack) / self.stretch * (1 - 8 * EPS))


@dataclass(frozen=True)
class Preparation:
    """A kind, the shape of what the classifier takes, and the values that black and white have there."""

    kind: str
    shape: tuple[int, ...] | None
    values: Range | None

    def refusal(self) -> str | None:
        """Why the classifier takes no picture files, if it does not."""
        if self.shape is None:
            return "its inputs are numbers, not pictures"
        if len(self.shape) == 3 and self.shape[2] != CHANNELS:
            return f"it takes {self.shape[2]} channels, and picture files have one or three"
        if self.values is None:
            return "the numbers that mean black and white are not known; train it with box=(black, white)"
        return None

    def read(self, path: str | PathLike[str]) -> Prepared:
        """A picture file as the classifier takes it."""
        return self._prepared(pictures.read(path), str(path))

    def decode(self, content: bytes, largest: int = pictures.LARGEST_SIDE) -> Prepared:
        """The same for the content of a file from a stranger."""
        return self._prepared(pictures.decode(content, largest), "the picture")

    @property
    def size(self) -> str:
        """What the classifier takes, in words."""
        if self.shape is None:
            return "numbers"
        return f"{self.shape[1]} x {self.shape[0]}"

    def words(self) -> str:
        """What is done to a picture file, in a line."""
        if (why := self.refusal()) is not None:
            return f"none can be taken: {why}"
        assert self.shape is not None
        assert self.values is not None
        done = {
            "none": f"{self.size} pixels, unchanged",
            "scale": f"any size, scaled to {self.size}",
            "digits": f"any size, cut out, scaled and centred as MNIST is, {self.size}",
        }[self.kind]
        tone = "grey" if len(self.shape) == 2 else "colour"
        return f"{done}, {tone}, black {self.values[0]:g} to white {self.values[1]:g}"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "shape": self.shape and list(self.shape),
            "values": self.values and list(self.values),
        }

    def _prepared(self, pixels: pictures.Pixels, name: str) -> Prepared:
        if (why := self.refusal()) is not None:
            raise NbrError(f"{name}: the classifier takes no picture files: {why}")
        try:
            return self._digit(pixels) if self.kind == "digits" else self._linear(pixels)
        except NbrError as error:
            raise NbrError(f"{name}: {error}") from None

    def _digit(self, pixels: pictures.Pixels) -> Prepared:
        found, notes = digits.prepared(pixels.grey())
        return Prepared(self._valued(found), notes)

    def _linear(self, pixels: pictures.Pixels) -> Prepared:
        assert self.shape is not None
        assert self.values is not None
        height, width = pixels.levels.shape[:2]
        tall, wide = self.shape[:2]
        notes, stretch = [], self.values[1] - self.values[0]
        if (height, width) != (tall, wide):
            if self.kind == "none":
                more = 'one trained with preparation="scale" takes any size'
                raise NbrError(f"it has {pixels.size} pixels, and the classifier takes {self.size}; {more}")
            squeezed = "" if height * wide == width * tall else ", which changes its proportions"
            notes.append(f"{pixels.size} pixels: scaled to {self.size}{squeezed}")
            stretch *= math.sqrt(tall * wide / (height * width))
        if len(self.shape) == 3:
            found = pixels.levels / pixels.white
            if not pixels.colour:
                found, stretch = np.repeat(found[:, :, None], CHANNELS, axis=2), stretch * math.sqrt(CHANNELS)
        else:
            found = pixels.grey()
            if pixels.colour:
                notes.append("colour: only its brightness is used")
                stretch *= math.hypot(*pictures.PARTS) / sum(pictures.PARTS)
        if (height, width) != (tall, wide):
            found = np.tensordot(_means(width, wide), found, (1, 1))  # (wide, height, ...)
            found = np.tensordot(_means(height, tall), found, (1, 1))
        if not pixels.solid:
            notes.append("transparent parts are taken as white")
            return Prepared(self._valued(found), notes)
        largest = max(map(abs, (*self.values, self.values[1] - self.values[0])))
        slack = math.sqrt(found.size) * (height + width + 16) * EPS * largest
        return Prepared(self._valued(found), notes, stretch, slack)

    def _valued(self, found: Array) -> Array:
        """Brightness in [0, 1] in the numbers of the classifier."""
        assert self.values is not None
        low, high = self.values
        return np.clip(low + (high - low) * found, low, high) if self.values != (0, 1) else np.clip(found, 0, 1)


def checked_preparation(kind: str, shape: tuple[int, ...] | None) -> str:
    """A kind that goes with a shape."""
    if kind not in KINDS:
        raise NbrError(f"unknown preparation {kind!r}" + suggest(str(kind), KINDS))
    if kind == "digits" and shape != (digits.SIDE, digits.SIDE):
        told = "vectors" if shape is None else " x ".join(map(str, shape))
        raise NbrError(f'preparation="digits" makes pictures of {digits.SIDE} x {digits.SIDE}, not {told}')
    return kind


def values_of(X: Array, box: Range | None) -> Range | None:
    """What black and white are in training pictures: the box, else 0 and 1, or 0 and 255 for whole numbers.

    >>> values_of(np.array([0.0, 0.5]), None), values_of(np.array([0, 7, 254]), None), values_of(np.array([-1.2]), None)
    ((0.0, 1.0), (0.0, 255.0), None)
    """
    if box is not None:
        return float(box[0]), float(box[1])
    if X.dtype.kind not in "iuf":
        return None
    low, high = float(X.min()), float(X.max())
    if low < 0 or high > BYTES[1] or not math.isfinite(high):
        return None
    if high <= 1:
        return 0.0, 1.0
    return BYTES if X.dtype.kind in "iu" or bool((np.rint(X) == X).all()) else None


def _means(many: int, few: int) -> Array:
    """A matrix (few, many): each row the mean over its share of a line of pixels. Overlaps are whole numbers."""
    row, column = np.arange(few)[:, None], np.arange(many)[None, :]
    shared = np.minimum((row + 1) * many, (column + 1) * few) - np.maximum(row * many, column * few)
    found: Array = np.clip(shared, 0, None) / many
    return found
