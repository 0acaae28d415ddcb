"""`nbr classify`, `nbr certify` and `nbr data` as a user runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nbr
from command import run
from nbr.classify import frames
from nbr.robustness import changes

SMALL = {
    "networks": 2,
    "linear": False,
    "width": 32,
    "depth": 1,
    "head": 8,
    "epochs": 15,
    "batch_size": 64,
    "random_state": 0,
}


def bars(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Upright bars and lying ones, 28 x 28."""
    dice = np.random.default_rng(0)
    y = np.where(dice.random(count) < 0.5, "up", "flat")
    X = np.zeros((count, 28, 28))
    for picture, label in zip(X, y, strict=True):
        at = dice.integers(10, 16)
        if label == "up":
            picture[5:23, at : at + 4] = 1
        else:
            picture[at : at + 4, 5:23] = 1
    return X, y


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("classifier")
    X, y = bars(200)
    nbr.RobustClassifier(1.0, box=(0, 1), **SMALL).fit(X, y).save(place / "bars.nbr")
    Image.fromarray((X[0] * 255).astype(np.uint8)).save(place / "first.png")
    (place / "label").write_text(str(y[0]))
    return place


def test_classify_and_certify(folder: Path) -> None:
    found = run("classify", "first.png", "--model", "bars.nbr", cwd=folder)
    assert found.returncode == 0, found.stderr
    label = (folder / "label").read_text()
    assert found.stdout.startswith(f"first.png: {label}\n")
    assert "proved of the file: no change of its pixels of L2 length" in found.stdout
    told = json.loads(run("classify", "first.png", "--model", "bars.nbr", "--json", cwd=folder).stdout)["pictures"][0]
    assert told["label"] == label
    low, high = told["intervals"][label]
    assert 0 <= low <= high <= 1
    assert told["proved_radius"] > 0
    assert told["rules"][0]["speaks_for"] == label
    assert "4 networks" in run("show", "bars.nbr", cwd=folder).stdout
    short = run("certify", "first.png", "--model", "bars.nbr", cwd=folder)
    assert told["proved_of"] == "file"
    shown = float(re.search(r"L2 length ([\d.]+) or less", short.stdout)[1])
    assert told["proved_radius"] - 1e-4 < shown <= told["proved_radius"], "rounded, but never up"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("classify", "none.png", "--model", "bars.nbr"), "none.png: "),
        (("classify", "bars.nbr", "--model", "bars.nbr"), "bars.nbr: not a picture"),
        (("classify", "first.png", "--model", "label"), "label: this is not an NBR model"),
        (("certify", "first.png", "--model", "nothing.nbr"), "cannot read nothing.nbr"),
        (("data", "mnits"), "did you mean 'mnist'"),
        (("ask", "bars.nbr", "x"), "is a classifier"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(folder: Path, words: tuple[str, ...], said: str) -> None:
    found = run(*words, cwd=folder)
    assert found.returncode == 2
    assert found.stdout == ""
    assert said in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_good_pictures_are_told_beside_a_bad_one(folder: Path) -> None:
    (folder / "bad.png").write_text("no picture")
    words = ("first.png", "bad.png", "first.png", "--model", "bars.nbr")
    for command, lines in (("classify", 2), ("certify", 2)):
        found = run(command, *words, cwd=folder)
        assert found.returncode == 2
        assert found.stdout.count("first.png: ") == lines
        assert found.stderr.splitlines() == ["nbr: bad.png: not a picture that can be read"]
    found = run("classify", *words, "--json", cwd=folder)
    assert found.returncode == 2
    assert [each["picture"] for each in json.loads(found.stdout)["pictures"]] == ["first.png"] * 2


@pytest.fixture(scope="module")
def others(folder: Path) -> Path:
    """One network, and networks as rules about three labels."""
    X, y = bars(150)
    network = nbr.NonexpansiveClassifier(1.0, widths=(32, 8), epochs=8, batch_size=64, box=(0, 1), random_state=0)
    network.fit(X, y).save(folder / "one.nbr")
    X[100:, 10:18, 10:18] = 1
    y = np.where(np.arange(150) < 100, y, "square")
    rules = [(network, frame) for frame in frames.rest(["flat", "square", "up"])]
    nbr.BeliefClassifier(rules, random_state=0).fit(X, y).save(folder / "three.nbr")
    return folder


@pytest.mark.parametrize(("model", "labels", "content"), [("one.nbr", 2, "1 network"), ("three.nbr", 3, "3 rules")])
def test_every_kind_of_classifier_is_shown_and_asked(others: Path, model: str, labels: int, content: str) -> None:
    shown = run("show", model, cwd=others)
    assert shown.returncode == 0, shown.stderr
    assert content in shown.stdout
    assert len(json.loads(run("show", model, "--json", cwd=others).stdout)["labels"]) == labels
    found = run("classify", "first.png", "--model", model, cwd=others)
    assert found.stdout.startswith(f"first.png: {(others / 'label').read_text()}\n")
    told = json.loads(run("classify", "first.png", "--model", model, "--json", cwd=others).stdout)["pictures"][0]
    assert len(told["intervals"]) == labels
    explained = run("classify", "first.png", "--model", model, "--explain", cwd=others).stdout
    assert ("a change of the file of L2 length" if labels == 2 else "its rules give no gradients") in explained
    assert told["proved_radius"] > 0
    assert "proved of the file: no change" in run("certify", "first.png", "--model", model, cwd=others).stdout


def test_warnings_go_to_stderr(folder: Path) -> None:
    """Of a digit that is cut out the prepared picture is proved, and the words say that it is not the file."""
    X, y = bars(60)
    settings = SMALL | {"epochs": 3}
    nbr.RobustClassifier(1.0, box=(0, 1), preparation="digits", **settings).fit(X, y).save(folder / "digits.nbr")
    picture = Image.open(folder / "first.png").resize((90, 90)).point(lambda value: 255 - value)
    picture.save(folder / "large.png")
    found = run("certify", "large.png", "first.png", "--model", "digits.nbr", cwd=folder)
    assert found.returncode == 0
    assert "inverted" in found.stderr
    assert "90 x 90" in found.stderr
    assert found.stdout.count("proved of the prepared 28 x 28 picture, not of the file: no change of L2 length") == 2
    told = json.loads(run("certify", "large.png", "--model", "digits.nbr", "--json", cwd=folder).stdout)["pictures"][0]
    assert (told["proved_of"], told["prepared_shape"]) == ("prepared picture", [28, 28])
    refused = run("certify", "large.png", "--model", "bars.nbr", cwd=folder)
    assert refused.stderr.startswith("nbr: large.png: it has 90 x 90 pixels, and the classifier takes 28 x 28")


def test_explained_by_weights_and_by_what_would_have_to_change(folder: Path) -> None:
    found = run("classify", "first.png", "--model", "bars.nbr", "--explain", cwd=folder)
    assert found.returncode == 0, found.stderr
    assert "what would have to change\n    a change of the file of L2 length" in found.stdout
    words = ("classify", "first.png", "--model", "bars.nbr", "--explain", "--json")
    told = json.loads(run(*words, cwd=folder).stdout)["pictures"][0]
    assert told["change"]["label"] == ({"up", "flat"} - {told["label"]}).pop()
    assert told["change"]["distance"] > told["proved_radius"]
    assert set(told["change"]["turned"]) & {rule["rule"] for rule in told["rules"]}
    classifier = nbr.load(folder / "bars.nbr")
    picture = classifier.read(folder / "first.png")
    margin = abs(float(classifier.decision_function(picture)[0]))  # scaled weights add up to it
    signed = [each["weight"] * (1 if each["speaks_for"] == told["label"] else -1) for each in told["weights"]]
    assert sum(signed) == pytest.approx(margin, rel=1e-6)


def test_the_change_that_is_told_does_change_the_label(folder: Path) -> None:
    classifier = nbr.load(folder / "bars.nbr")
    X, _ = bars(20)
    before = classifier.verdict(X, reasons=1 << 30)
    found = changes.nearest_changes(classifier, X, before, (0.0, 1.0))
    assert found is not None
    for row, change in enumerate(found):
        assert change is not None
        assert 0 <= change.changed.min() <= change.changed.max() <= 1
        assert np.linalg.norm(change.changed - X[row]) == pytest.approx(change.distance)
        assert change.distance >= before.radius[row]
        further = (X[row] + (change.changed - X[row]) * (1 + 1e-6)).clip(0, 1)  # a tie counts as lost
        assert classifier.predict(further[None])[0] == change.label != before.labels[row]
