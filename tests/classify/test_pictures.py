"""Picture files: read as they are when they are MNIST's, brought into its form when they are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nbr import NbrError
from nbr.classify.pictures import decode
from nbr.classify.preparation import Preparation
from pictures import text_bomb


def read(path: Path) -> tuple[np.ndarray, list[str]]:
    found = Preparation("digits", (28, 28), (0.0, 1.0)).read(path)
    assert found.proved_of == "prepared picture"
    return found.pixels, found.notes


def cross(size: int = 28, dark: bool = True) -> np.ndarray:
    """A plus sign, light on dark or the other way round."""
    picture = np.zeros((size, size), dtype=np.uint8)
    third = size // 3
    picture[size // 2 - 1 : size // 2 + 2, third:-third] = 255
    picture[third:-third, size // 2 - 1 : size // 2 + 2] = 255
    return picture if dark else 255 - picture


def test_a_picture_of_mnist_is_taken_as_it_is(tmp_path: Path) -> None:
    Image.fromarray(cross()).save(tmp_path / "d.png")
    pixels, said = read(tmp_path / "d.png")
    np.testing.assert_array_equal(pixels, cross() / 255)
    assert said == []


def test_dark_on_light_and_transparent_pictures(tmp_path: Path) -> None:
    Image.fromarray(cross(dark=False)).save(tmp_path / "d.png")
    pixels, said = read(tmp_path / "d.png")
    np.testing.assert_allclose(pixels, cross() / 255)
    assert "inverted" in said[0]
    clear = Image.new("RGBA", (28, 28), (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), (10, 8, 14, 20))
    clear.save(tmp_path / "t.png")
    pixels, said = read(tmp_path / "t.png")
    assert pixels[10, 12] == 1
    assert pixels[0, 0] == 0


def shades() -> np.ndarray:
    """A cross in 16 bits of many shades; cut off at 8 bits it would be black and white."""
    return (cross().astype(np.uint16) * 257 * np.linspace(0.3, 1, 28)[:, None]).astype(np.uint16)


@pytest.mark.parametrize("ending", ["png", "tiff"])
def test_16_bit_pictures_keep_their_shades(tmp_path: Path, ending: str) -> None:
    Image.fromarray(shades()).save(tmp_path / f"d.{ending}")
    np.testing.assert_array_equal(read(tmp_path / f"d.{ending}")[0], shades() / 65535)


def test_16_bit_pictures_may_have_a_transparent_shade(tmp_path: Path) -> None:
    """What is not drawn is white paper, here: inverted to black."""
    Image.fromarray(shades() // 3).save(tmp_path / "d.png", transparency=0)
    pixels, said = read(tmp_path / "d.png")
    assert "inverted" in said[0]
    np.testing.assert_allclose(pixels, np.where(shades() == 0, 0, 1 - (shades() // 3) / 65535))


def test_16_bit_pgm(tmp_path: Path) -> None:
    (tmp_path / "d.pgm").write_bytes(b"P5 28 28 65535\n" + shades().astype(">u2").tobytes())
    np.testing.assert_array_equal(read(tmp_path / "d.pgm")[0], shades() / 65535)


@pytest.mark.parametrize(
    ("mode", "ending"), [("1", "png"), ("P", "png"), ("CMYK", "tiff"), ("RGB", "png"), ("LA", "png")]
)
def test_other_kinds_of_pixels_are_the_same_picture(tmp_path: Path, mode: str, ending: str) -> None:
    Image.fromarray(cross()).convert(mode).save(tmp_path / f"d.{ending}")
    np.testing.assert_allclose(read(tmp_path / f"d.{ending}")[0], cross() / 255, atol=0.01)


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_pixels_without_an_agreed_white_are_refused(tmp_path: Path, kind: type) -> None:
    Image.fromarray(cross().astype(kind)).save(tmp_path / "d.tiff")
    with pytest.raises(NbrError, match="d.tiff: pixels of the kind [IF] have no defined white level"):
        read(tmp_path / "d.tiff")


def test_another_size_is_scaled_and_centred(tmp_path: Path) -> None:
    big = np.zeros((300, 200), dtype=np.uint8)
    big[20:120, 30:60] = 200
    Image.fromarray(big).save(tmp_path / "d.png")
    pixels, said = read(tmp_path / "d.png")
    assert pixels.shape == (28, 28)
    assert "200 x 300" in said[0]
    rows, columns = np.nonzero(pixels > 0.5)
    assert (rows.min(), rows.max()) == (4, 23)
    assert columns.mean() == pytest.approx(13.5, abs=0.6)
    assert pixels.max() <= 1


def test_what_cannot_be_a_digit_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("no picture")
    with pytest.raises(NbrError, match="x.png: not a picture"):
        read(tmp_path / "x.png")
    with pytest.raises(NbrError, match="y.png: .*No such file"):
        read(tmp_path / "y.png")
    Image.new("L", (28, 28)).save(tmp_path / "z.png")
    with pytest.raises(NbrError, match="is blank"):
        read(tmp_path / "z.png")
    Image.fromarray(cross()).save(tmp_path / "w.png")
    (tmp_path / "w.png").write_bytes((tmp_path / "w.png").read_bytes()[:60])
    with pytest.raises(NbrError, match="w.png: "):
        read(tmp_path / "w.png")
    solid = np.full((28, 28), 255, dtype=np.uint8)
    solid[0], solid[-1], solid[:, 0], solid[:, -1] = 0, 0, 0, 0
    Image.fromarray(solid).save(tmp_path / "v.png")
    assert "unlike MNIST" in read(tmp_path / "v.png")[1][0]


def test_a_text_bomb_is_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(NbrError, match=r"^[^\n]*bomb.png: cannot be read as a picture: [^\n]*too large[^\n]*$"):
        read(text_bomb(tmp_path / "bomb.png"))


def test_nothing_but_one_line_comes_of_broken_files(tmp_path: Path) -> None:
    """Bytes flipped and cut at random, of every kind of file that strangers may send."""
    dice, refused = np.random.default_rng(0), 0
    for ending in ("png", "jpg", "gif", "bmp", "webp"):
        Image.fromarray(cross(40)).convert("P" if ending == "gif" else "RGB").save(tmp_path / f"d.{ending}")
        content = np.frombuffer((tmp_path / f"d.{ending}").read_bytes(), dtype=np.uint8)
        for _ in range(60):
            broken = content[: dice.integers(10, len(content) + 1)].copy()
            broken[dice.integers(0, len(broken), 3)] ^= dice.integers(1, 255, 3).astype(np.uint8)
            try:
                pixels = decode(broken.tobytes())
            except NbrError as error:
                refused += 1
                assert "\n" not in str(error)
            else:
                assert 0 <= pixels.levels.min() <= pixels.levels.max() <= pixels.white
    assert refused > 100
