"""All values of one variable and quantiles against sums and curves; what moved a probability, step by step."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import norm

import nbr
from nbr.density import ranked_values as module
from nbr.density.moving import moved
from nbr.density.ranges import wilson
from nbr.density.ranked_values import BELOW, value_probabilities
from nbr.priors import Independent


def test_labels_come_with_their_probabilities_the_likeliest_first() -> None:
    world = nbr.World(c=nbr.Choice("u", "v", "w"), b=nbr.Bit())
    prior = Independent(world, [torch.tensor([0.2, 0.5, 0.3]), torch.tensor([0.5, 0.5])])
    known = nbr.Reasoner(world, [nbr.Clause("b -> c=w", 0.8)], prior=prior, views=[["c", "b"]], view_rows=[100])
    found = value_probabilities(known.model, "c", "b", 5.0, 0)
    assert [value for value, _ in found.values] == ["w", "v", "u"]
    for value, each in found.values:
        alone = known.probability(f"c={value}", "b")
        assert (each.value, each.range, each.rows) == (alone.value, alone.range, alone.rows)
    assert sum(each.value or 0.0 for _, each in found.values) == pytest.approx(1)
    assert found.rows == found.values[0][1].rows
    graded = value_probabilities(known.model, "c", "b @ 0.5", 5.0, 0)
    assert graded.values[0][1].value == known.probability(f"c={graded.values[0][0]}", "b @ 0.5").value


def test_of_many_labels_the_likeliest_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LABELS", 3)
    world = nbr.World(c=nbr.Choice(*"abcdefgh"))
    weights = torch.tensor([1.0, 5, 2, 8, 3, 7, 4, 6])
    found = value_probabilities(nbr.Reasoner(world, prior=Independent(world, [weights])).model, "c", None, 5.0, 0)
    assert [value for value, _ in found.values] == ["d", "f", "h"]
    assert found.left == 5


@pytest.mark.parametrize("rows", [40, 4000])
def test_quantiles_of_a_number_and_their_ranges(rows: int) -> None:
    world = nbr.World(x=nbr.Real(-50, 50), b=nbr.Bit())
    prior = Independent(world, [torch.tensor([3.0, 2.0]), torch.tensor([0.5, 0.5])])
    model = nbr.Reasoner(world, prior=prior, views=[["x", "b"]], view_rows=[rows]).model
    found = value_probabilities(model, "x", "b", 5.0, 0)
    assert found.rows == pytest.approx(rows / 2)
    for each, share in zip(found.quantiles, BELOW, strict=True):
        assert float(each.value) == pytest.approx(norm.ppf(share, 3, 2), abs=0.02)
        assert each.range is not None
        assert [float(end) for end in each.range] == pytest.approx(
            norm.ppf(wilson(share, share, rows / 2), 3, 2), abs=0.02
        )
    assert value_probabilities(nbr.Reasoner(world, prior=prior).model, "x", None, 5.0, 0).quantiles[2].range is None


def test_quantiles_of_whole_numbers_dates_and_under_rules() -> None:
    world = nbr.World(n=nbr.Real(0, 9, step=1), d=nbr.Real("2021-01-01", "2021-12-31"), b=nbr.Bit())
    model = nbr.Reasoner(world, [nbr.Clause("b -> n>=5", 1.0)], prior=nbr.priors.uniform(world)).model
    # 1 in 15 each up to 4, where b is not, and 2 in 15 each above
    assert [each.value for each in value_probabilities(model, "n", None, 5.0, 0).quantiles] == ["0", "3", "6", "8", "9"]
    assert [each.value for each in value_probabilities(model, "n", "b", 5.0, 0).quantiles] == ["5", "6", "7", "8", "9"]
    assert value_probabilities(model, "d", None, 5.0, 0).quantiles[2].value == "2021-07-02"


def test_quantiles_are_drawn_where_they_cannot_be_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "marginals", lambda *_: ({}, "too wide"))
    world = nbr.World(x=nbr.Real(0, 1))
    found = value_probabilities(nbr.Reasoner(world, prior=nbr.priors.uniform(world)).model, "x", None, 5.0, 0)
    assert [float(each.value) for each in found.quantiles] == pytest.approx(BELOW, abs=0.03)


def test_what_moved_a_probability() -> None:
    random = np.random.default_rng(0)
    a, b, c = random.integers(0, 2, (3, 3000))
    y = (random.random(3000) < 0.1 + 0.7 * a + 0.1 * b).astype(int)
    model = nbr.fit(pd.DataFrame({"a": a, "b": b, "c": c, "y": y}), "clauses").model
    whole = nbr.Reasoner.of(model)
    found = moved(model, "y", "c, b, a", 5.0, 0)
    assert found.steps[0][0] == "a"
    assert found.base.value == whole.probability("y").value
    said: list[str] = []
    for part, each in found.steps:
        said.append(part)
        alone = whole.probability("y", ", ".join(said))
        assert (each.value, each.range) == (pytest.approx(alone.value), pytest.approx(alone.range))
    assert sorted(said) == ["a", "b", "c"]
    assert len(found.as_json()["steps"]) == 3  # type: ignore[arg-type]


def test_a_graded_part_moves_too() -> None:
    world = nbr.World.bits(2)
    known = nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.9)], prior=nbr.priors.uniform(world))
    found = moved(known.model, "x1", "x0 @ 0.8", 5.0, 0)
    assert found.steps[0][0] == "x0 @ 0.8"
    assert found.steps[0][1].value == pytest.approx(known.probability("x1", "x0 @ 0.8").value)
