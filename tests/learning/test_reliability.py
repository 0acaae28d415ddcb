"""Reliabilities of sources from rows in which the truth is known for none."""

import numpy as np
import pytest

import nbr
from nbr.learning.reliability import reliabilities

WORLD = nbr.World(truth=nbr.Bit(), a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit())


def witnesses(*degrees: float) -> nbr.Reasoner:
    """Each says what is true where it is reliable; a source that is not says what it likes."""
    sources = [nbr.Source(name, degree) for name, degree in zip("abc", degrees, strict=False)]
    return nbr.Reasoner(WORLD, [nbr.Clause(f"{each.name} <-> truth", 1.0, source=each) for each in sources])


@pytest.mark.parametrize("degrees", [(0.9, 0.8, 0.7), (0.95, 0.6, 0.5), (0.8, 0.8, 0.4)])
def test_three_sources_are_told_apart(degrees: tuple[float, ...]) -> None:
    rows = witnesses(*degrees).sample(20_000, seed=1).assign(truth=np.nan)
    found = reliabilities(witnesses(0.5, 0.5, 0.5), rows)
    for (name, value), degree in zip(found.reliability.items(), degrees, strict=True):
        assert value == pytest.approx(degree, abs=0.03)
        assert abs(value - degree) < 2 * (found.error[name] or 0.0)
    assert found.model.rules[0].source == nbr.Source("a", found.reliability["a"])


def test_it_is_the_likeliest() -> None:
    """By the agreement of each pair, (2 p_i - 1)(2 p_j - 1) with p = 1 / (2 - reliability), in closed form."""
    rows = witnesses(0.9, 0.8, 0.7).sample(5_000, seed=3).assign(truth=np.nan)
    found = reliabilities(witnesses(0.5, 0.5, 0.5), rows).reliability
    signs = {name: 2 * rows[name] - 1 for name in "abc"}
    agree = {pair: float((signs[pair[0]] * signs[pair[1]]).mean()) for pair in ("ab", "ac", "bc")}
    edge = np.sqrt(agree["ab"] * agree["ac"] / agree["bc"])
    assert found["a"] == pytest.approx(2 - 2 / (1 + edge), abs=1e-3)


def test_two_sources_are_not_told_and_neither_is_one_that_says_nothing() -> None:
    rows = witnesses(0.9, 0.7).sample(5_000, seed=1).assign(truth=np.nan)
    found = reliabilities(witnesses(0.5, 0.5), rows)
    assert found.error == {"a": None, "b": None}
    assert "not determined by the rows" in str(found)
    known = reliabilities(witnesses(0.5, 0.5), witnesses(0.9, 0.7).sample(5_000, seed=1))
    assert known.reliability["a"] == pytest.approx(0.9, abs=0.03)
    assert known.error["a"] is not None


def test_what_it_cannot_learn() -> None:
    with pytest.raises(nbr.NbrError, match="no rule names a source"):
        reliabilities(nbr.Reasoner(WORLD, [nbr.Clause("a", 0.5)]), [[1, 1, 1, 1]])
