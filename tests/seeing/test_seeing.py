"""Pictures as rules: what a model makes of the evidence of its sensors, beside every point written out."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import nbr
from eyes import Eye, glances
from nbr.rules.sensor import LEAST_LOG, Sensing

FOUR = str(Path(__file__).parents[2] / "examples" / "four.png")
WORLD = nbr.World(a=nbr.Choice("u", "v", "w"), b=nbr.Real(0, 2, 1), c=nbr.Bit())
RULES = [nbr.Clause("a=u -> b>=1", 0.8), nbr.Clause("c <-> a=w", 0.95)]
EYES = {"a": Eye("w", "v", "u"), "b": Eye(*range(5))}  # labels in another order, and more of them


def points() -> list[dict[str, str]]:
    return [dict(zip("abc", each, strict=True)) for each in itertools.product("uvw", "012", "01")]


def kept(point: dict[str, str], a: np.ndarray, b: np.ndarray) -> float:
    """log of the product of pl of each picture and of 1 - b of each broken rule."""
    found = a["wvu".index(point["a"])] + b[int(point["b"])]
    found += np.log(0.2) * (point["a"] == "u" and point["b"] == "0")
    return found + np.log(0.05) * ((point["c"] == "1") != (point["a"] == "w"))


@pytest.mark.parametrize("seed", range(5))
def test_a_value_keeps_its_plausibility(seed: int) -> None:
    a, b = glances(seed, 3), glances(seed + 50, 5)
    seen = nbr.Reasoner(WORLD, RULES, sensors=EYES).see(a=a, b=b)
    logs = np.array([kept(each, a, b) for each in points()])
    codes = torch.stack([WORLD.point(each) for each in points()])
    torch.testing.assert_close(seen.keep(codes).log(), torch.from_numpy(logs))
    found = seen.best()
    assert found.point == points()[int(logs.argmax())]
    assert found.log_degree == pytest.approx(logs.max())
    weights = np.exp(logs)
    with_u = sum(weight for weight, each in zip(weights, points(), strict=True) if each["a"] == "u")
    assert seen.probability("a=u").value == pytest.approx(with_u / weights.sum())
    best = {value: max(np.exp(a["wvu".index(value)]) for _ in "1") for value in "uvw"}
    alone = nbr.Reasoner(WORLD, sensors={"a": EYES["a"]}).see(a=a).ask("a=u")
    other = 1 - (1 - best["v"]) * (1 - best["w"])
    whole = 1 - (1 - best["u"]) * (1 - other)  # some label is left
    assert alone.plausibility == pytest.approx(best["u"] / whole)
    assert alone.belief == pytest.approx(1 - other / whole)


def test_evidence_is_told_by_picture_and_objector() -> None:
    ten = nbr.load("mnist-10")
    model = nbr.Reasoner(nbr.World(d1=nbr.Real(0, 9, 1)), sensors={"d1": nbr.Sensor(ten)})
    seen = model.see(d1=FOUR)
    assert seen.best().point == model.see(d1=ten.read(FOUR)[0]).best().point == {"d1": "4"}
    worst = max(seen.rules, key=lambda rule: rule.degree)
    assert str(worst).startswith(f"{worst.text} (picture of d1, network ")
    assert " against " in str(worst)
    assert seen.model.sight is not None
    assert seen.model.sight.model is model.model
    assert model.model.sight is None
    assert not model.rules


def test_a_toml_names_its_sensors(tmp_path) -> None:
    path = tmp_path / "check.toml"
    path.write_text('[variables]\n"d1..d2" = { from = 0, to = 9, step = 1 }\n[sensors]\n"d1..d2" = "mnist-10"\n')
    model = nbr.load(path)
    assert list(model.model.sensors) == ["d1", "d2"]
    assert model.model.sensors["d1"] is model.model.sensors["d2"]
    for name in ("again.toml", "again.nbr"):
        model.save(tmp_path / name)
        again = nbr.load(tmp_path / name)
        assert list(again.model.sensors) == ["d1", "d2"]
    assert (tmp_path / "again.nbr").stat().st_size < 10_000  # its name alone


def test_a_sensor_without_a_name_is_saved_with_the_model(tmp_path) -> None:
    dice = np.random.default_rng(0)
    X, y = dice.normal(size=(60, 4)), dice.integers(0, 2, 60)
    X[:, 0] += 3 * y
    small = nbr.NonexpansiveClassifier(0.5, widths=(4,), epochs=3, random_state=0).fit(X, y)
    model = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", 0.9)], sensors={"x0..x1": nbr.Sensor(small)})
    model.save(tmp_path / "own.nbr")
    again = nbr.load(tmp_path / "own.nbr")
    one, two = (each.see(x0=X[0], x1=X[1]).ask("x1") for each in (model, again))
    assert (one.belief, one.plausibility) == (two.belief, two.plausibility)
    with pytest.raises(nbr.NbrError, match="has no name that a .toml could give"):
        model.save(tmp_path / "own.toml")


def test_any_classifier_is_a_sensor() -> None:
    dice = np.random.default_rng(1)
    X, y = dice.normal(size=(90, 2)), np.repeat(["p", "q", "r"], 30)
    X[:, 0] += np.repeat([0, 2, 4], 30)
    fitted = LogisticRegression().fit(X, y)
    world = nbr.World(kind=nbr.Choice("p", "q", "r"))
    evidence = nbr.Sensor(fitted).look(X[:3])
    chances = torch.from_numpy(fitted.predict_proba(X[:3]))
    torch.testing.assert_close(evidence.log_plausibility.exp(), chances / chances.amax(dim=1, keepdim=True))
    assert evidence.within(torch.ones(3)) is None
    layer = torch.nn.Linear(2, 3)
    module = nbr.Sensor(layer, labels="pqr", shape=(2,))
    assert isinstance(module, Sensing)
    with torch.no_grad():
        likeliest = "pqr"[int(layer(torch.from_numpy(X[:1]).float()).argmax())]
    assert nbr.Reasoner(world, sensors={"kind": module}).see(kind=X[0]).best().point == {"kind": likeliest}
    assert layer.training
    flat = torch.nn.Linear(2, 3)
    torch.nn.init.zeros_(flat.weight)
    torch.nn.init.zeros_(flat.bias)
    vacuous = nbr.Reasoner(world, sensors={"kind": nbr.Sensor(flat, labels="pqr", shape=(2,))}).see(kind=X[0])
    assert (vacuous.ask("kind=p").belief, vacuous.ask("kind=p").plausibility) == (0, 1)
    assert vacuous.ask("kind=p").conflict == 0


def test_no_evidence_is_certain() -> None:
    seen = nbr.Reasoner(WORLD, sensors=EYES).see(a=np.array([-1e9, 0, 0]), b=np.full(5, -1e9))
    assert all(0 < rule.degree < 1 for rule in seen.rules)
    assert seen.ask("b=1").conflict > 1 - 1e-8
    assert np.log1p(-max(rule.degree for rule in seen.rules)) == pytest.approx(LEAST_LOG, rel=1e-3)


@pytest.mark.parametrize(
    ("pictures", "words"),
    [
        ({}, "no picture was given"),
        ({"c": np.zeros(3)}, "'c' has no sensor; there are a, b"),
        ({"a": np.zeros((2, 3)), "b": np.zeros((3, 5))}, "2 pictures of 'a' and 3 pictures of 'b'"),
        ({"a": np.zeros((2, 3)), "b": np.zeros(5)}, "2 pictures of 'a' and one picture of 'b'"),
    ],
)
def test_pictures_that_do_not_fit(pictures: dict[str, np.ndarray], words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        nbr.Reasoner(WORLD, sensors=EYES).see(pictures)


def test_sensors_that_do_not_fit() -> None:
    with pytest.raises(nbr.NbrError, match="'b' may be 2, and its sensor has no such label; it has 0, 1"):
        nbr.Reasoner(WORLD, sensors={"b": Eye(0, 1)})
    with pytest.raises(nbr.NbrError, match="'x' is a number without a step"):
        nbr.Reasoner(nbr.World(x=nbr.Real(0, 1)), sensors={"x": Eye(0, 1)})
    with pytest.raises(nbr.NbrError, match="unknown variable 'q'"):
        nbr.Reasoner(WORLD, sensors={"q": Eye(0, 1)})
    with pytest.raises(nbr.NbrError, match="'x1' has two sensors"):
        nbr.Reasoner(nbr.World.bits(3), sensors={"x0..x1": Eye(0, 1), "x1": Eye(0, 1)})
    with pytest.raises(nbr.NbrError, match=r"write nbr.Sensor\(classifier\)"):
        nbr.Reasoner(WORLD, sensors={"a": nbr.load("mnist-10")})
    with pytest.raises(nbr.NbrError, match="the model has no sensors"):
        nbr.Reasoner(WORLD).see(a=np.zeros(3))
    with pytest.raises(nbr.NbrError, match="the sensor takes inputs of 28 x 28 numbers"):
        nbr.Reasoner(nbr.World(d=nbr.Choice(4, 9)), sensors={"d": nbr.Sensor(nbr.load("mnist-4-9"))}).see(d=np.eye(3))
    with pytest.raises(nbr.NbrError, match="a sensor is a trained classifier"):
        nbr.Sensor("mnist-10")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            '"../check.nbr"',
            "'../check.nbr' is neither an included model nor the name of a .nbr file in the same folder",
        ),
        ('"mnist-1"', "there is no sensor 'mnist-1'.*did you mean 'mnist-10'"),
        ('"itself.toml"', "'itself.toml' is not a .nbr file in the same folder"),
        ('"rules.nbr"', "the sensor 'rules.nbr': it is not a classifier"),
        ('"linked.nbr"', "'linked.nbr' is not a .nbr file in the same folder"),
        ("7", "and not 7"),
        ('"mnist-4-9"', "'d' may be 0, and its sensor has no such label; it has 4, 9"),
    ],
)
def test_files_name_sensors_beside_them_alone(tmp_path, source: str, words: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    nbr.Reasoner(nbr.World.bits(1)).save(folder / "rules.nbr")
    nbr.Reasoner(nbr.World.bits(1)).save(tmp_path / "elsewhere.nbr")
    (folder / "linked.nbr").symlink_to(tmp_path / "elsewhere.nbr")
    path = folder / "itself.toml"
    path.write_text(f"[variables]\nd = {{ from = 0, to = 9, step = 1 }}\n[sensors]\nd = {source}\n")
    with pytest.raises(nbr.NbrError, match=words) as told:
        nbr.load(path)
    assert "\n" not in str(told.value)
