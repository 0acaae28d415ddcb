"""Cells given the rest of their rows: against probabilities asked one by one, and against what was hidden."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from command import run
from nbr import priors, tables
from nbr.density import filling, predicting
from nbr.density.filling import misfits
from nbr.density.predicting import predicted_column
from nbr.priors import Independent

WORLD = nbr.World(a=nbr.Bit(), b=nbr.Choice("u", "v", "w"), c=nbr.Bit())
RULES = [nbr.Clause("a -> b=w", 0.9), nbr.Clause("b!=u | c", 0.6)]


def people(rows: int = 600) -> pd.DataFrame:
    random = np.random.default_rng(0)
    sex = random.choice(["f", "m"], rows)
    height = np.round(random.normal(np.where(sex == "f", 165, 178), 6), 1)
    return pd.DataFrame({"sex": sex, "height": height, "kids": random.poisson(1.5, rows)})


def trees(frame: pd.DataFrame) -> nbr.Reasoner:
    data = tables.read(frame)
    return nbr.Reasoner(data.world, prior=priors.trees(data, 1), views=data.views())


@pytest.mark.parametrize("listed", [True, False])
def test_labels_are_as_likely_as_asked(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    prior = priors.Independent(WORLD, [torch.tensor([3.0, 1]), torch.tensor([1.0, 2, 3]), torch.ones(2)])
    model = nbr.Reasoner(WORLD, RULES, prior=prior)
    if not listed:
        monkeypatch.setattr("nbr.density.predicting.numbered_points", lambda world: None)
        monkeypatch.setattr("nbr.density.predicting.FILLS", 20_000)
    rows = pd.DataFrame({"a": [1, 0, np.nan], "c": [0, 1, 0]})
    found = model.predict(rows, "b")
    for row, given in enumerate(["a & ~c", "~a & c", "~c"]):
        for label in "uvw":
            wanted = model.probability(f"b={label}", given).value
            assert found.loc[row, f"b={label}"] == pytest.approx(wanted, abs=1e-9 if listed else 0.02)
    assert found["b"].tolist() == ["w", "w", "w"]


def test_numbers_have_a_middle_and_a_range() -> None:
    frame = people()
    found = trees(frame).predict(pd.DataFrame({"sex": ["f", "m"]}), "height")
    for row, sex in enumerate("fm"):
        wanted = frame.height[frame.sex == sex].quantile([0.05, 0.5, 0.95]).tolist()
        assert found.loc[row, ["low", "height", "high"]].tolist() == pytest.approx(wanted, abs=2.5)


def test_what_two_tables_leave_open_shows() -> None:
    """x and y are never seen together; both go with z. The range is that of `probability`."""
    random = np.random.default_rng(0)
    z = random.integers(0, 2, 2000)
    x, y = (np.where(random.random(2000) < 0.8, z, 1 - z) for _ in range(2))
    parts = [pd.DataFrame({"x": x[:1000], "z": z[:1000]}), pd.DataFrame({"z": z[1000:], "y": y[1000:]})]
    data = tables.read(parts)
    model = nbr.Reasoner(data.world, prior=priors.trees(data, 1), views=data.views())
    found = model.predict(pd.DataFrame({"x": [1, 0], "z": [1, np.nan]}), "y")
    for row, (label, given) in enumerate([("y", "x & z"), ("~y", "~x")]):
        wanted = model.probability(label, given)
        assert wanted.open is not None
        assert found.loc[row, ["probability", "low", "high"]].tolist() == pytest.approx([wanted.value, *wanted.open])
        assert wanted.open[1] - wanted.open[0] > 0.1


def test_holes_are_filled_and_told(tmp_path: Path) -> None:
    frame = people(300)
    holed = frame.copy()
    hidden = np.random.default_rng(1).random(frame.shape) < 0.1
    holed = holed.mask(hidden)
    holed.to_csv(tmp_path / "t.csv", index=False)
    done = run("impute", tmp_path / "t.csv", "-o", tmp_path / "f.csv", "--cells", tmp_path / "c.csv")
    assert done.returncode == 0, done.stderr
    filled, told = pd.read_csv(tmp_path / "f.csv"), pd.read_csv(tmp_path / "c.csv")
    assert not filled.isna().any().any()
    assert len(told) == hidden.sum()
    seen = ~pd.DataFrame(hidden, columns=frame.columns)
    assert all((filled[name] == frame[name])[seen[name]].all() for name in frame)
    where = hidden[:, 0] & ~hidden[:, 1]
    assert (filled.sex[where] == frame.sex[where]).mean() > 0.75
    heights = told[told.column == "height"]
    inside = [low <= frame.height[row - 1] <= high for row, low, high in heights[["row", "low", "high"]].to_numpy()]
    assert np.mean(inside) > 0.8
    assert told.probability.isna().equals(told.column != "sex")


def test_commands_print_one_json_object(tmp_path: Path) -> None:
    frame = people(200)
    frame.to_csv(tmp_path / "t.csv", index=False)
    trees(frame).save(tmp_path / "m.nbr")
    frame.loc[:3, "sex"] = None
    frame.loc[:1, "height"] = None
    frame[:5].to_csv(tmp_path / "few.csv", index=False)
    found = json.loads(run("predict", tmp_path / "m.nbr", tmp_path / "few.csv", "--column", "sex", "--json").stdout)
    assert [set(row) for row in found["rows"]] == [{"sex", "probability", "low", "high", "sex=f", "sex=m"}] * 5
    found = json.loads(run("impute", tmp_path / "m.nbr", tmp_path / "few.csv", "--json").stdout)
    assert len(found["rows"]) == 5
    assert [cell["column"] for cell in found["cells"]] == ["sex", "height", "sex", "height", "sex", "sex"]
    assert run("predict", tmp_path / "m.nbr", tmp_path / "few.csv", "--column", "age").returncode == 2
    assert run("impute", tmp_path / "m.nbr", tmp_path / "few.csv", tmp_path / "t.csv").returncode == 2


def test_rows_that_do_not_fit(tmp_path: Path) -> None:
    frame = people()
    model = trees(frame)
    odd = frame[:50].copy()
    odd.loc[7, ["sex", "height"]] = ["f", 199.0]
    found = misfits(model.model, tables.read(odd, model.world), model.log_prob(odd), 2, seed=0)
    assert found[0].row == 8
    assert {name for name, _, _ in found[0].cells[:2]} == {"sex", "height"}
    odd.to_csv(tmp_path / "t.csv", index=False)
    model.save(tmp_path / "m.nbr")
    shown = run("score", tmp_path / "m.nbr", tmp_path / "t.csv", "--rows", 2).stdout
    assert "row 8 " in shown
    told = json.loads(run("score", tmp_path / "m.nbr", tmp_path / "t.csv", "--rows", 2, "--json").stdout)
    assert [each["row"] for each in told["misfits"]] == [each.row for each in found]


def test_how_well_numbers_fit_is_a_share_of_both_sides() -> None:
    frame = people(2000)
    model = trees(frame[["height", "kids"]])
    codes = torch.tensor([[171.5, 1.0], [400, 1], [155, 1]], dtype=torch.float64)
    fits = predicted_column(model.model, codes, "height").fits(codes[:, 0])
    assert float(fits[0]) > 0.8
    assert float(fits[1]) == 0
    assert float(fits[2]) == pytest.approx(2 * (frame.height <= 155).mean(), abs=0.05)


def test_labels_that_nobody_knows_say_nothing() -> None:
    model = trees(people())
    strange = model.predict(pd.DataFrame({"sex": ["x"], "kids": [1]}), "height")
    nothing = model.predict(pd.DataFrame({"sex": [None], "kids": [1]}), "height")
    assert strange.equals(nothing)


def test_predictor_is_an_estimator() -> None:
    frame = people(400)
    labels = nbr.Predictor(prior="marginals", rules="clauses").fit(frame[["height", "kids"]], frame.sex)
    assert labels.classes_.tolist() == ["f", "m"]
    assert (labels.predict(frame[["height", "kids"]]) == frame.sex).mean() > 0.75
    shares = labels.predict_proba(frame[["height", "kids"]][:5].assign(kids=np.nan))
    assert shares.sum(axis=1) == pytest.approx(np.ones(5))
    assert labels.predict_interval(frame[["height", "kids"]][:5]).shape == (5, 2)
    with pytest.raises(ValueError, match="kids"):
        labels.predict(frame[["height"]])
    codes = nbr.Predictor(rules="clauses").fit(frame[["height"]], np.where(frame.sex == "f", 3, 4))
    assert codes.predict(frame[["height"]][:9]).dtype.kind == "i"
    numbers = nbr.Predictor(rules="clauses").fit(frame[["sex"]], frame.height)
    assert math.isclose(numbers.predict(pd.DataFrame({"sex": ["m"]}))[0], 178, abs_tol=5)
    with pytest.raises(nbr.NbrError, match="400 rows and 3 values"):
        nbr.Predictor().fit(frame, [1, 2, 3])


def test_all_holes_of_a_row_share_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the list of all points; the prior is asked to complete rows once, however many columns have holes."""
    world = nbr.World({**{f"x{at}": nbr.Bit() for at in range(5)}, "c": nbr.Choice("u", "v", "w")})
    rules = [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x1 & x2 -> c=u", 0.8), nbr.Clause("x3 | x4 | c=w", 0.95)]
    random = np.random.default_rng(0)
    weights = [
        torch.from_numpy(random.dirichlet([2.0] * (variable.size or 0))) for variable in world.variables.values()
    ]
    model = nbr.Reasoner(world, rules, prior=Independent(world, weights), views=[world.names], view_rows=[500])
    rows = model.sample(40, seed=1).astype(object).mask(random.random((40, 6)) < 0.4)
    exact = pd.DataFrame(model.impute(rows).attrs["cells"])
    asked = []
    monkeypatch.setattr(predicting, "numbered_points", lambda world: None)
    monkeypatch.setattr(predicting, "SHARED", 20_000)
    monkeypatch.setattr(filling, "score", lambda *args: pytest.fail("the likelihood of rows comes with completions"))
    complete = Independent.complete
    monkeypatch.setattr(Independent, "complete", lambda *args: asked.append(args[1]) or complete(*args))
    drawn = pd.DataFrame(model.impute(rows).attrs["cells"])
    assert len(asked) == 1
    both = exact.merge(drawn, on=["row", "column"])
    assert len(both) == len(exact) > 80
    same = both[both.value_x == both.value_y]
    assert len(same) > 0.9 * len(both)
    for figure in ("probability", "low", "high"):
        assert (same[f"{figure}_x"] - same[f"{figure}_y"]).abs().max() < 0.03
    others = both[both.value_x != both.value_y]  # as likely as each other, but for chance
    assert (others.probability_x - others.probability_y).abs().max() < 0.03 or others.empty
