"""Pictures of digits brought into the form of MNIST: light on dark, cut out, scaled and centred.

What is done depends on what the picture shows, so a small change of the file may change all of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbr.errors import NbrError

Array = NDArray[Any]
SIDE, DRAWN = 28, 20  # pixels of an MNIST picture, and of the box that its digit fills
FAINT, FULL = 0.02, 0.45  # shares of a picture that digits of MNIST cover


def prepared(pixels: Array) -> tuple[Array, list[str]]:
    """Brightness in [0, 1] of any size as (28, 28), light on dark, and what was done to get there."""
    said = []
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    if border.mean() > 0.5:
        pixels = 1 - pixels
        said.append("dark on light: inverted, since MNIST is light on dark")
    if pixels.max() - pixels.min() < 0.1:
        raise NbrError("the picture is blank")
    if pixels.shape != (SIDE, SIDE):
        said.append(f"{pixels.shape[1]} x {pixels.shape[0]} pixels: cut out, scaled and centred as MNIST is")
        pixels = _centred(pixels)
    covered = float(pixels.mean())
    if not FAINT <= covered <= FULL:
        said.append(f"{covered:.0%} of it is light, which is unlike MNIST: the answer may mean nothing")
    return pixels, said


def _centred(pixels: Array) -> Array:
    """The drawing in a box of 20 pixels, its centre of mass in the middle of 28."""
    from PIL import Image

    clean = np.clip((pixels - pixels.min()) / (pixels.max() - pixels.min()), 0, 1)
    rows, columns = np.nonzero(clean > 0.2)
    cut = clean[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    scale = DRAWN / max(cut.shape)
    size = (max(1, round(cut.shape[1] * scale)), max(1, round(cut.shape[0] * scale)))
    small = np.asarray(Image.fromarray((cut * 255).astype(np.uint8)).resize(size, Image.Resampling.BOX)) / 255.0
    weight = small.sum()
    middle = [float((small.sum(axis=1 - axis) * np.arange(small.shape[axis])).sum() / weight) for axis in (0, 1)]
    found = np.zeros((SIDE, SIDE))
    corner = [
        int(np.clip(round((SIDE - 1) / 2 - centre), 0, SIDE - extent))
        for centre, extent in zip(middle, small.shape, strict=True)
    ]
    found[corner[0] : corner[0] + small.shape[0], corner[1] : corner[1] + small.shape[1]] = small
    return found
