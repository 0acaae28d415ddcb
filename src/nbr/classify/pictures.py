"""Picture files as inputs for a classifier of digits, with a word where they do not look like MNIST."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nbr.errors import NbrError, install

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

SIDE, DRAWN = 28, 20  # pixels of an MNIST picture, and of the box that its digit fills
LARGEST = 4096
PLAIN = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
EIGHT_BITS = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"}
FAINT, FULL = 0.02, 0.45  # shares of a picture that digits of MNIST cover


def read(path: str | PathLike[str]) -> tuple[NDArray[Any], list[str]]:
    """A picture as (28, 28) numbers in [0, 1], light on dark, and what was done to get there."""
    return _read(Path(path), str(path), LARGEST, None)


def decode(content: bytes, largest: int = LARGEST) -> tuple[NDArray[Any], list[str]]:
    """The same for the content of a file from a stranger: only kinds of files that hold nothing but pixels."""
    return _read(io.BytesIO(content), "the picture", largest, PLAIN)


def _read(
    source: Path | io.BytesIO, name: str, largest: int, kinds: tuple[str, ...] | None
) -> tuple[NDArray[Any], list[str]]:
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError:
        raise NbrError(f"pictures need Pillow: {install('classify')}") from None
    try:
        with Image.open(source, formats=kinds) as file:
            if max(file.size) > largest:
                raise NbrError(f"the picture has {file.width} x {file.height} pixels; use a smaller one")
            pixels = _grey(file)
    except NbrError as error:
        raise NbrError(f"{name}: {error}") from None
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        told = getattr(error, "strerror", None) or str(error)
        reason = "not a picture that can be read" if isinstance(error, UnidentifiedImageError) else told
        raise NbrError(f"{name}: {reason}") from None
    said = []
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    if border.mean() > 0.5:
        pixels = 1 - pixels
        said.append("dark on light: inverted, since MNIST is light on dark")
    if pixels.max() - pixels.min() < 0.1:
        raise NbrError(f"{name}: there is nothing drawn on it")
    if pixels.shape != (SIDE, SIDE):
        said.append(f"{pixels.shape[1]} x {pixels.shape[0]} pixels: cut out, scaled and centred as MNIST is")
        pixels = _centred(pixels)
    covered = float(pixels.mean())
    if not FAINT <= covered <= FULL:
        said.append(f"{covered:.0%} of it is light, which is unlike MNIST: the answer may mean nothing")
    return pixels, said


def _grey(file: ImageFile) -> NDArray[Any]:
    """Brightness in [0, 1]; what is transparent is white paper."""
    from PIL import Image

    sixteen = file.mode.startswith("I;16") or (file.mode == "I" and file.format in ("PNG", "PPM"))
    if sixteen:  # convert("L") would cut everything above 255 off
        deep = np.asarray(file, dtype=np.float64)
        return np.where(deep == file.info.get("transparency", -1), 1.0, deep / 65535)
    if file.mode not in EIGHT_BITS:
        raise NbrError(f"pixels of the kind {file.mode} have no agreed white; save it as 8 or 16 bit grey or colour")
    picture: Image.Image = file
    if file.has_transparency_data:
        picture = Image.alpha_composite(Image.new("RGBA", file.size, "white"), file.convert("RGBA"))
    return np.asarray(picture.convert("L"), dtype=np.float64) / 255


def _centred(pixels: NDArray[Any]) -> NDArray[Any]:
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
