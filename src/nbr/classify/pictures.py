"""Picture files as the pixels that they show, each read once and never trusted; what is made of them comes later."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nbr.errors import NbrError, install

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

Array = NDArray[Any]
LARGEST_SIDE = 4096
PLAIN = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
GREY, COLOUR = {"1", "L"}, {"P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"}
PARTS = (299, 587, 114)  # of red, green and blue in brightness, in thousandths
BROKEN = (OSError, SyntaxError, ValueError, LookupError, TypeError, EOFError, OverflowError, struct.error, zlib.error)


@dataclass(frozen=True)
class Pixels:
    """Levels from 0 to `white`: (height, width) of a grey file, else (height, width, 3).

    `solid` is False where some of the picture may be transparent, which was put on white paper.
    """

    levels: Array
    white: int
    solid: bool

    @property
    def size(self) -> str:
        return f"{self.levels.shape[1]} x {self.levels.shape[0]}"

    @property
    def colour(self) -> bool:
        return self.levels.ndim == 3

    def grey(self) -> Array:
        """Brightness in [0, 1]; whole numbers are divided once, so that grey saved as colour gives the same."""
        if not self.colour:
            return self.levels / self.white
        return self.levels @ np.array(PARTS, dtype=np.float64) / (self.white * sum(PARTS))


def read(path: str | PathLike[str]) -> Pixels:
    """The pixels of a file."""
    return _read(Path(path), str(path), LARGEST_SIDE, None)


def decode(content: bytes, largest: int = LARGEST_SIDE) -> Pixels:
    """The same for the content of a file from a stranger: only kinds of files that hold nothing but pixels."""
    return _read(io.BytesIO(content), "the picture", largest, PLAIN)


def _read(source: Path | io.BytesIO, name: str, largest: int, kinds: tuple[str, ...] | None) -> Pixels:
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError:
        raise NbrError(f"pictures need Pillow: {install('classify')}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(source, formats=kinds) as file:
                if max(file.size) > largest:
                    raise NbrError(f"the picture has {file.width} x {file.height} pixels; use a smaller one")
                return _pixels(file)
    except NbrError as error:
        raise NbrError(f"{name}: {error}") from None
    except UnidentifiedImageError:
        raise NbrError(f"{name}: not a picture that can be read") from None
    except (*BROKEN, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        reason = getattr(error, "strerror", None) or f"cannot be read as a picture: {' '.join(str(error).split())}"
        raise NbrError(f"{name}: {reason}") from None


def _pixels(file: ImageFile) -> Pixels:
    """Grey or colour as the file has it; what is transparent is white paper."""
    from PIL import Image

    sixteen = file.mode.startswith("I;16") or (file.mode == "I" and file.format in ("PNG", "PPM"))
    if sixteen:  # convert("L") would cut everything above 255 off
        deep, clear = np.asarray(file, dtype=np.float64), file.info.get("transparency")
        return Pixels(deep if clear is None else np.where(deep == clear, 65535.0, deep), 65535, clear is None)
    if file.mode not in GREY | COLOUR | {"LA"}:
        raise NbrError(
            f"pixels of the kind {file.mode} have no defined white level; save it as 8 or 16 bit grey or colour"
        )
    solid, kind = not file.has_transparency_data, "RGB" if file.mode in COLOUR else "L"
    picture: Image.Image = file
    if not solid:
        picture = Image.alpha_composite(Image.new("RGBA", file.size, "white"), file.convert("RGBA"))
    return Pixels(np.asarray(picture.convert(kind), dtype=np.float64), 255, solid)
