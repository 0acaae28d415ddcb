"""Ranges of probabilities: Wilson's interval by scipy, rows behind an answer counted by hand, models that are off."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binomtest

import nbr
from command import run
from nbr.density import ranges
from nbr.density.overdispersion import dispersion
from nbr.learning.fitted import learned
from nbr.priors import Independent, marginals
from nbr.tables import Table
from nbr.tables.seen_together import Together


@pytest.mark.parametrize(("held", "rows"), [(0, 8), (8, 8), (3, 20), (140, 300), (1, 3000)])
def test_a_share_that_was_counted_has_wilsons_interval(held: int, rows: int) -> None:
    wanted = binomtest(held, rows).proportion_ci(method="wilson")
    assert ranges.wilson(held / rows, held / rows, rows) == pytest.approx((wanted.low, wanted.high), abs=1e-7)
    low, high = ranges.wilsons(torch.tensor([held / rows], dtype=torch.float64), torch.tensor([float(rows)]))
    assert (float(low), float(high)) == pytest.approx((wanted.low, wanted.high), abs=1e-7)


def body(**settings: object) -> nbr.Reasoner:
    """a is 0.3, b then 0.9 and else 0.5; c is 0.2 by itself."""
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit())
    columns = [torch.tensor([0.7, 0.3]), torch.tensor([0.1, 0.9]), torch.tensor([0.8, 0.2])]
    return nbr.Reasoner(world, [], prior=Independent(world, columns), **settings)  # type: ignore[arg-type]


def test_the_rows_under_the_condition_decide() -> None:
    known = body(views=[["a", "b", "c"]], view_rows=[200])
    found = known.probability("b", "a")
    assert (found.rows, found.value) == (pytest.approx(60), pytest.approx(0.9))
    wanted = binomtest(54, 60).proportion_ci(method="wilson")
    assert found.range == pytest.approx((wanted.low, wanted.high), abs=1e-7)
    assert found.as_json()["range"] == list(found.range)
    assert "[0.7985, 0.9534] (95%, 60 rows)" in str(found)
    alone = known.probability("b")
    assert (alone.rows, alone.range) == (200, pytest.approx(tuple(binomtest(180, 200).proportion_ci(method="wilson"))))
    assert (alone.range or (0.0, 0.0))[0] > found.range[0]


def test_a_group_that_no_row_shows_is_not_known() -> None:
    world = nbr.World(g=nbr.Choice("seen", "never"), b=nbr.Bit())
    prior = Independent(world, [torch.tensor([1.0, 1e-9]), torch.tensor([0.9998, 0.0002])])
    found = nbr.Reasoner(world, prior=prior, views=[["g", "b"]], view_rows=[300]).probability("b", "g=never")
    assert found.value == pytest.approx(0.0002)
    assert found.range == pytest.approx((0.0, 1.0), abs=1e-3)


def test_a_model_that_is_off_has_fewer_rows_behind_it() -> None:
    plain, off = (body(views=[["a", "b", "c"]], view_rows=[200], dispersion=each) for each in (1.0, 2.0))
    found, worse = plain.probability("b", "a"), off.probability("b", "a")
    assert found.rows == worse.rows == pytest.approx(60)
    wanted = binomtest(27, 30).proportion_ci(method="wilson")
    assert worse.range == pytest.approx((wanted.low, wanted.high), abs=1e-7)


def test_without_rows_there_is_no_range() -> None:
    for known in (body(), body(views=[["a", "b", "c"]]), body(views=[["a", "b"], ["c"]], view_rows=[100, None])):
        found = known.probability("c", "a")
        assert (found.range, found.rows) == (None, None)


def test_across_tables_the_smallest_number_counts_and_what_stays_open_is_within() -> None:
    found = body(views=[["a", "b"], ["b", "c"]], view_rows=[1000, 100]).probability("c", "a")
    assert found.rows == pytest.approx(30)
    assert found.open is not None
    assert found.widened is not None
    assert found.range is not None
    assert found.range[0] <= found.widened[0] < found.widened[1] <= found.range[1]
    seen = body(views=[["a", "b"], ["b", "c"]], view_rows=[1000, 100]).probability("b", "a")
    assert seen.rows == pytest.approx(300)


def test_the_rows_of_columns() -> None:
    seen = Together((("a", "b"), ("b", "c"), ("d",)), (500, 80, None))
    assert [ranges.rows_of(seen, names) for names in ("a", "b", "c", "ab", "bc", "abc")] == [500, 500, 80, 500, 80, 80]
    assert ranges.rows_of(seen, "d") is None
    assert ranges.rows_of(seen, "ad") is None
    assert ranges.rows_of(seen, "ae") is None  # nobody saw e


def rows_of(count: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, count)
    return pd.DataFrame({"a": a, "b": np.where(random.random(count) < 0.9, a, 1 - a), "n": random.normal(size=count)})


def test_dispersion_tells_a_right_model_from_one_that_leaves_a_relation_out() -> None:
    whole = nbr.tables.read(rows_of(2000))
    bits = Table(nbr.World({name: whole.world.variables[name] for name in "ab"}), whole.codes[:, :2])
    assert dispersion(nbr.Reasoner(bits.world, prior=nbr.priors.trees(bits, 1)).model, bits) == 1.0
    wrong = nbr.Reasoner(bits.world, prior=marginals(bits)).model
    squares = []
    for one, other in ((0, 1), (1, 0)):
        for given in (0, 1):
            met = bits.codes[:, one] == given
            share = float(wrong.base.columns[other][1] / wrong.base.columns[other].sum())  # type: ignore[attr-defined]
            found = float(bits.codes[met, other].mean())
            squares += 2 * [float(met.sum()) * (found - share) ** 2 / (share * (1 - share))]
    assert dispersion(wrong, bits) == pytest.approx(sum(squares) / len(squares))
    assert dispersion(wrong, bits) > 500
    number = dispersion(nbr.Reasoner(whole.world, prior=marginals(whole)).model, whole)
    assert number == pytest.approx(sum(squares) / 24, rel=0.02)  # 16 with the number, of about 1


def test_dispersion_leaves_out_what_cannot_be_compared() -> None:
    world = nbr.World.bits(2)
    alone = Table(world, torch.tensor([[0.0, torch.nan], [1.0, torch.nan]], dtype=torch.float64))
    assert dispersion(nbr.Reasoner(world, prior=nbr.priors.uniform(world)).model, alone) == 1.0
    apart = Table(world, torch.tensor([[0.0, torch.nan], [1.0, torch.nan], [torch.nan, 1], [torch.nan, 0]]).double())
    assert dispersion(nbr.Reasoner(world, prior=nbr.priors.uniform(world)).model, apart) == 1.0


def test_fit_saves_what_a_range_needs(tmp_path: Path) -> None:
    rows_of(300)[["a", "b"]].to_csv(tmp_path / "rows.csv", index=False)
    model = nbr.fit(tmp_path / "rows.csv", "clauses")
    assert model.view_rows == (300,)
    off = nbr.Reasoner(model.world, model.rules, prior=model.prior, views=model.views, view_rows=[300], dispersion=1.5)
    for name in ("m.nbr", "m.toml"):
        off.save(tmp_path / name)
        read = nbr.load(tmp_path / name)
        assert read.model.seen == off.model.seen
        told = json.loads(run("ask", tmp_path / name, "b", "--given", "a", "--json").stdout)["probability"]
        assert tuple(told["range"]) == pytest.approx(off.probability("b", "a").range)
        assert told["rows"] == pytest.approx(300 * float(off.probability("a").value or 0.0))
    assert (off & model).model.seen == off.model.seen
    text = (tmp_path / "m.toml").read_text().replace("dispersion = 1.5", "dispersion = 0.5")
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(nbr.NbrError, match="dispersion"):
        nbr.load(tmp_path / "bad.toml")


def test_evidence_with_a_degree_weighs_rows() -> None:
    known = body(views=[["a", "b", "c"]], view_rows=[200])
    found = known.probability("b", "a @ 0.8")  # rows without a weigh 0.2
    assert found.rows == pytest.approx(200 * (0.3 + 0.7 * 0.2) ** 2 / (0.3 + 0.7 * 0.04))
    assert found.range is not None
    assert found.range[0] < 0.9 < found.range[1]
    both = known.probability("b", "c, a @ 0.8, (a | c) @ 0.5")
    assert both.rows == pytest.approx(200 * 0.2 * (0.3 + 0.7 * 0.2) ** 2 / (0.3 + 0.7 * 0.04))
    assert known.probability("b", "a @ 1").rows == pytest.approx(60)
    many = known.probability("b", "a @ 0.5, c @ 0.5, (a | c) @ 0.5, (c | b) @ 0.5")
    assert many.rows == pytest.approx(200 / 16)  # at least so many
    apart = body(views=[["a", "b"], ["b", "c"]], view_rows=[1000, 100])
    assert apart.probability("c", "a @ 0.8").range is None  # what stays open of it is not computed


def test_all_values_and_groups_have_ranges_too(tmp_path: Path) -> None:
    known = body(views=[["a", "b", "c"]], view_rows=[200], dispersion=1.5)
    given = [None, "a", "a & ~b", "c"]
    found = known.marginals(given)
    for row in found.itertuples():
        alone = known.probability(f"{row.variable}={row.value}", row.given if isinstance(row.given, str) else None)
        assert (row.probability, (row.low, row.high)) == (pytest.approx(alone.value), pytest.approx(alone.range))
    graded = known.marginals("a @ 0.8").set_index(["variable", "value"]).loc["b", "1"]
    assert (graded.low, graded.high) == pytest.approx(known.probability("b", "a @ 0.8").range)
    assert body().marginals("a").low.isna().all()
    apart = body(views=[["a", "b"], ["b", "c"]], view_rows=[1000, 100]).marginals("a").set_index("variable")
    assert not apart.low.a.isna().any()
    assert apart.low.c.isna().all()  # no row shows it beside the condition
    known.save(tmp_path / "m.nbr")
    told = json.loads(run("ask", tmp_path / "m.nbr", "--all", "--given", "a", "--json").stdout)["variables"]["b"]
    assert tuple(told[1]["range"]) == pytest.approx(known.probability("b", "a").range)
    low, high = known.probability("b", "a").range or (0.0, 0.0)
    assert f"0.9000  {low:.4f} to {high:.4f}" in run("ask", tmp_path / "m.nbr", "--all", "--given", "a").stdout
    told = json.loads(run("compare", tmp_path / "m.nbr", "a", "~a", "--json").stdout)
    assert told["rows"] == pytest.approx([60, 140])
    assert told["by_chance"] == pytest.approx(1.358 * (1 / 60 + 1 / 140 + 2 / 5000) ** 0.5)
    assert "in groups of 60 and 140 rows" in run("compare", tmp_path / "m.nbr", "a", "~a").stdout


def test_predictions_have_the_range_of_the_rows_that_are_alike() -> None:
    table = nbr.tables.read(rows_of(900))
    known = learned(table, [], nbr.priors.trees(table, 1))
    bits = known.predict(pd.DataFrame({"a": [1, 0, np.nan]}), "b")
    for row, given in enumerate(["a", "~a", None]):
        value = "b" if bits.b[row] == 1 else "~b"
        alone = known.probability(value, given)
        assert bits.loc[row, ["probability", "low", "high"]].tolist() == pytest.approx([alone.value, *alone.range])
        assert bits.rows[row] == pytest.approx(alone.rows)
    number = known.predict(pd.DataFrame({"a": [1], "n": [0.1]}), "b")
    assert 1 < number.rows[0] < 450  # in one piece of the number
    assert number.low[0] < bits.low[0] < bits.high[0] < number.high[0]
    ruled = nbr.fit(rows_of(900)[["a", "b"]], "clauses")
    alone = ruled.probability("b", "a")
    assert ruled.predict(pd.DataFrame({"a": [1]}), "b").loc[0, ["low", "high"]].tolist() == pytest.approx(alone.range)
