"""What is done to a picture file is part of the model, and a proof about the file holds for the file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import nbr
from nbr import NbrError
from nbr.classify.augment import random_maps, warped
from nbr.classify.preparation import Preparation, _means, values_of

SMALL = {
    "networks": 2,
    "linear": False,
    "width": 16,
    "depth": 1,
    "head": 8,
    "epochs": 2,
    "batch_size": 32,
    "random_state": 0,
}
UNIT = (0.0, 1.0)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def saved(path: Path, pixels: np.ndarray) -> Path:
    Image.fromarray(pixels).save(path)
    return path


def test_pixels_go_in_as_they_are(tmp_path: Path) -> None:
    grey = noise(12, 9)
    found = Preparation("none", (12, 9), UNIT).read(saved(tmp_path / "g.png", grey))
    np.testing.assert_array_equal(found.pixels, grey / 255)
    assert (found.notes, found.stretch) == ([], 1)
    assert found.proved(1.5) == pytest.approx(1.5, abs=1e-10)
    assert found.proved(1.5) < 1.5, "rounding is allowed for"
    same = Preparation("none", (12, 9), UNIT).read(saved(tmp_path / "c.png", np.stack([grey] * 3, axis=2)))
    np.testing.assert_array_equal(same.pixels, grey / 255)
    wide = Preparation("none", (12, 9), (-1.0, 3.0)).read(tmp_path / "g.png")
    np.testing.assert_allclose(wide.pixels, 4 * (grey / 255) - 1)
    assert wide.proved(2.0) == pytest.approx(0.5, abs=1e-9)
    with pytest.raises(NbrError, match=r"g.png: it has 9 x 12 pixels, and the classifier takes 12 x 9; .*scale"):
        Preparation("none", (9, 12), UNIT).read(tmp_path / "g.png")


@pytest.mark.parametrize(("many", "few"), [(20, 5), (7, 3), (3, 7), (10, 10), (1, 4), (4, 1)])
def test_means_never_stretch_by_more_than_the_root_of_their_sizes(many: int, few: int) -> None:
    matrix = _means(many, few)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    longest = np.linalg.norm(matrix, 2)
    assert longest <= math.sqrt(few / many) * (1 + 1e-12)
    assert longest == pytest.approx(math.sqrt(few / many)), "a constant line attains it"


def test_scaling_is_the_mean_over_areas(tmp_path: Path) -> None:
    grey = noise(24, 36)
    found = Preparation("scale", (8, 9), UNIT).read(saved(tmp_path / "g.png", grey))
    np.testing.assert_allclose(found.pixels, grey.reshape(8, 3, 9, 4).mean(axis=(1, 3)) / 255)
    assert found.notes == ["36 x 24 pixels: scaled to 9 x 8, which changes its proportions"]
    assert found.proved(1.0) == pytest.approx(math.sqrt(12), abs=1e-9)


@pytest.mark.parametrize("shape", [(8, 9), (8, 9, 3), (30, 40), (30, 40, 3)])
@pytest.mark.parametrize("seen", [(21, 33), (21, 33, 3), (30, 40)])
def test_no_change_of_a_file_becomes_longer_than_was_said(
    tmp_path: Path, shape: tuple[int, ...], seen: tuple[int, ...]
) -> None:
    """Changes at random, and those along which the map stretches most: all pixels alike, and single ones."""
    take = Preparation("scale", shape, (0.0, 255.0))
    before = (noise(*seen) // 2).astype(np.uint8)
    first = take.read(saved(tmp_path / "a.png", before))
    assert first.proved_of == "file"
    for number in range(6):
        after = before.copy()
        if number == 0:
            after += 100
        elif number < 4:
            after[number, 2 * number] = 255
        else:
            after = noise(*seen, seed=number)
        second = take.read(saved(tmp_path / "b.png", after))
        moved = np.linalg.norm(second.pixels - first.pixels)
        length = np.linalg.norm((after.astype(float) - before) / 255)
        assert moved <= length * first.stretch + 2 * first.slack
        assert first.proved(moved) <= length, "a proof that the change does not reach"


def test_of_what_looks_at_the_picture_or_through_it_nothing_follows_for_the_file(tmp_path: Path) -> None:
    digit = np.zeros((28, 28), dtype=np.uint8)
    digit[6:22, 12:16] = 255
    assert Preparation("digits", (28, 28), UNIT).read(saved(tmp_path / "d.png", digit)).proved_of == "prepared picture"
    clear = np.stack([digit] * 3 + [np.full_like(digit, 255)], axis=2)
    found = Preparation("none", (28, 28), UNIT).read(saved(tmp_path / "t.png", clear))
    assert found.proved_of == "prepared picture"
    assert "transparent parts are taken as white" in found.notes
    np.testing.assert_array_equal(found.pixels, digit / 255)


def test_black_and_white_are_known_from_the_box_or_the_pictures() -> None:
    grey = noise(4, 5, 5)
    assert values_of(grey, None) == values_of(grey.astype(float), None) == (0, 255)
    assert values_of(grey / 255, None) == values_of(grey // 255, None) == (0, 1)
    assert values_of(grey / 255, (-1, 1)) == (-1, 1)
    for unknown in (grey / 100, grey - 3.0, grey * 300.0):
        assert values_of(unknown, None) is None


def shown(count: int, high: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 9 x 7 with light above or below."""
    y = np.array(["above", "below"])[np.arange(count) % 2]
    X = np.random.default_rng(0).random((count, 9, 7)) * 0.2
    X[y == "above", :4] += 0.7
    X[y == "below", 5:] += 0.7
    return X * high, y


@pytest.mark.parametrize("kind", ["none", "scale"])
def test_it_is_saved_with_the_model(tmp_path: Path, kind: str) -> None:
    X, y = shown(40, 255.0)
    classifier = nbr.RobustClassifier("auto", preparation=kind, **SMALL)
    with pytest.warns(UserWarning, match=r"pixels from 0 to 255: lengths, .* are in those units; box=\(0, 255\) says"):
        trained = classifier.fit(X.round(), y)
    trained.save(tmp_path / "m.nbr")
    loaded = nbr.load(tmp_path / "m.nbr")
    assert loaded.preparation_ == trained.preparation_ == Preparation(kind, (9, 7), (0.0, 255.0))
    saved(tmp_path / "a.png", X[0].round().astype(np.uint8))
    np.testing.assert_array_equal(loaded.read(tmp_path / "a.png"), X[:1].round())
    assert loaded.predict(loaded.read(tmp_path / "a.png")).tolist() == ["above"]
    with pytest.raises(NbrError, match="at least one picture"):
        loaded.read()


def test_files_from_before_take_digits_where_they_were_made_of_them(tmp_path: Path) -> None:
    assert nbr.load("mnist-4-9").preparation_ == Preparation("digits", (28, 28), UNIT)
    assert nbr.load("mnist-10").preparation == "digits"
    X, y = shown(40)
    trained = nbr.NonexpansiveClassifier(0.5, widths=(8, 8), epochs=1, random_state=0).fit(X, y)
    spec, tensors = trained.spec()
    del spec["values"], spec["settings"]["preparation"]  # as it was written
    parts = nbr.registry.Parts(tensors)
    assert nbr.NonexpansiveClassifier.from_spec(spec, parts).preparation_ == Preparation("none", (9, 7), UNIT)


@pytest.mark.parametrize("wrong", [{"values": [1, 0]}, {"values": [0, math.inf]}, {"values": [0]}, {"values": "ab"}])
def test_a_file_with_an_impossible_preparation_is_refused(wrong: dict) -> None:
    X, y = shown(40)
    spec, tensors = nbr.NonexpansiveClassifier(0.5, widths=(8, 8), epochs=1, random_state=0).fit(X, y).spec()
    with pytest.raises(NbrError, match="values of pictures lie between two numbers"):
        nbr.NonexpansiveClassifier.from_spec({**spec, **wrong}, nbr.registry.Parts(tensors))


def test_settings_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    X, y = shown(40)
    with pytest.raises(NbrError, match="unknown preparation 'scaled'; did you mean 'scale'"):
        nbr.RobustClassifier(preparation="scaled", **SMALL).fit(X, y)
    with pytest.raises(NbrError, match="makes pictures of 28 x 28, not 9 x 7"):
        nbr.RobustClassifier(preparation="digits", **SMALL).fit(X, y)
    saved(tmp_path / "a.png", noise(9, 7))
    plain = {"widths": (8, 8), "epochs": 1, "random_state": 0}
    vectors = nbr.NonexpansiveClassifier(1.0, **plain).fit(X.reshape(len(X), -1), y)
    with pytest.raises(NbrError, match="takes no picture files: its inputs are numbers"):
        vectors.read(tmp_path / "a.png")
    centred = nbr.NonexpansiveClassifier(1.0, **plain).fit(X - 0.5, y)
    with pytest.raises(NbrError, match=r"black and white are not known; train it with box="):
        centred.read(tmp_path / "a.png")


def coloured(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Red, green and blue pictures of 6 x 8, all as bright."""
    y = np.array(["red", "green", "blue"])[np.arange(count) % 3]
    X = np.random.default_rng(0).random((count, 6, 8, 3)) * 0.3
    X[np.arange(count), :, :, np.arange(count) % 3] += 0.6
    return np.round(255 * X) / 255, y


def test_colour_from_arrays_to_files(tmp_path: Path) -> None:
    X, y = coloured(60)
    trained = nbr.RobustClassifier(0.5, preparation="scale", box=(0, 1), **SMALL | {"epochs": 12}).fit(X, y)
    trained.save(tmp_path / "c.nbr")
    loaded = nbr.load(tmp_path / "c.nbr")
    assert loaded.shape_ == (6, 8, 3)
    assert loaded.preparation_.words() == "any size, scaled to 8 x 6, colour, black 0 to white 1"
    assert loaded.predict(X).tolist() == y.tolist()
    saved(tmp_path / "a.png", (X[0] * 255).round().astype(np.uint8))
    saved(tmp_path / "b.png", np.kron((X[1] * 255).round(), np.ones((3, 3, 1))).astype(np.uint8))
    read = loaded.read(tmp_path / "a.png", tmp_path / "b.png")
    np.testing.assert_allclose(read, X[:2], atol=1e-12)
    grey = loaded.preparation_.read(saved(tmp_path / "g.png", noise(6, 8)))
    assert (grey.pixels.shape, grey.stretch) == ((6, 8, 3), pytest.approx(math.sqrt(3)))
    with pytest.raises(NbrError, match="pictures are 6 x 8; the classifier knows 6 x 8 x 3"):
        loaded.predict(X[..., 0])


def test_one_channel_is_grey_and_five_are_no_file(tmp_path: Path) -> None:
    X, y = shown(40)
    plain = {"widths": (8, 8), "epochs": 2, "random_state": 0}
    grey = nbr.NonexpansiveClassifier(1.0, **plain).fit(X[..., None], y)
    assert grey.shape_ == (9, 7)
    np.testing.assert_array_equal(grey.decision_function(X), grey.decision_function(X[..., None]))
    many = nbr.NonexpansiveClassifier(1.0, **plain).fit(np.stack([X] * 5, axis=3), y)
    with pytest.raises(NbrError, match="it takes 5 channels, and picture files have one or three"):
        many.read(saved(tmp_path / "a.png", noise(9, 7)))


def test_colours_are_moved_together() -> None:
    """A change of a coloured picture is the same change of each of its layers."""
    X = torch.rand(4, 6, 8, 3, generator=torch.Generator().manual_seed(0))
    maps = random_maps(4, 1.0, torch.Generator().manual_seed(1))
    for channel in range(3):
        torch.testing.assert_close(warped(X, maps)[..., channel], warped(X[..., channel].contiguous(), maps))
