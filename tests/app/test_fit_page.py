"""The page on what was learned, and two groups compared."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nbr
from command import run
from nbr import priors, tables
from nbr.app.comparing import differences, error
from nbr.app.fit_page import dependence


def people(rows: int = 500) -> pd.DataFrame:
    random = np.random.default_rng(0)
    sex = random.choice(["f", "m"], rows)
    height = np.round(random.normal(np.where(sex == "f", 165, 178), 6), 1)
    smokes = (random.random(rows) < 0.3).astype(int)
    return pd.DataFrame({"sex": sex, "height": height, "smokes": smokes, "coin": random.integers(0, 2, rows)})


def test_a_page_with_figures_and_plots(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", tmp_path / "t.csv", "--rules", "clauses", "-o", tmp_path / "m.nbr", "--json"]
    done = run(*arguments, "--report", tmp_path / "out.html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.html").read_text()
    figure = json.loads(done.stdout)["valid_log_likelihood"]
    assert f"<td>this model</td><td>{figure:.4f} ±" in text
    own, independent, tree = (float(each) for each in re.findall(r"<td>(-[\d.]+) ±", text))
    assert independent < min(own, tree)
    assert text.count("<svg") == 3
    assert "http-equiv" not in text
    off = re.search(r"off by ([\d.]+) on average", text)
    assert off
    assert float(off[1]) < 0.15


def test_dependence_is_nothing_for_a_coin_and_all_for_a_copy() -> None:
    frame = people(3000).assign(copy=lambda each: each.sex)
    data = tables.read(frame)
    found = dependence(data.world, data.codes, data.codes)
    at = {name: column for column, name in enumerate(frame)}
    assert found[at["sex"], at["copy"]] == pytest.approx(1)
    assert found[at["sex"], at["coin"]] < 0.01
    assert 0.3 < found[at["sex"], at["height"]] < 0.9


def test_groups_differ_where_they_do(tmp_path: Path) -> None:
    data = tables.read(people(2000))
    model = nbr.Reasoner(data.world, prior=priors.trees(data, 1))
    found = {each.column: each for each in differences(model, "sex=f", "sex=m", 0)}
    assert next(iter(found)) == "height"
    assert found["height"].distance == pytest.approx(0.72, abs=0.1)  # of two normal curves 13 apart, 6 wide
    assert max(found["coin"].distance, found["smokes"].distance) < 0.05 + error()
    model.save(tmp_path / "m.nbr")
    told = json.loads(run("compare", tmp_path / "m.nbr", "sex=f", "sex=m", "--json").stdout)
    assert [each["column"] for each in told["columns"]] == list(found)
    assert "against" in run("compare", tmp_path / "m.nbr", "sex=f", "sex=m").stdout
