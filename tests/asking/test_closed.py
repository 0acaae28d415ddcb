"""Closed variables against the least model of every world, and against figures known by hand."""

from pathlib import Path

import numpy as np
import pytest

import closed_oracle as oracle
import nbr
from nbr.errors import NbrError

BIRDS = """
closed = ["penguin", "bird", "flies"]
[variables]
bird = "bit"
penguin = "bit"
flies = "bit"
[[rules]]
rule = "bird"
belief = 0.9
[[rules]]
rule = "bird -> penguin"
belief = 0.1
[[rules]]
rule = "bird -> flies"
belief = 0.8
unless = "penguin"
"""


@pytest.mark.parametrize("seed", range(40))
def test_every_way_that_fits_is_exact(seed: int) -> None:
    model, said = oracle.drawn(seed)
    draw = np.random.default_rng(seed + 7)
    question, condition = (
        ("" if draw.random() < 0.5 else "~") + str(each) for each in draw.choice(oracle.NAMES, 2, replace=False)
    )
    wanted = oracle.answer(model, said, question, condition)
    for by in ("auto", "counting", "least"):
        if wanted is None:
            with pytest.raises(NbrError, match="cannot"):
                model.ask(question, condition, engine=by)
            continue
        found = model.ask(question, condition, engine=by)
        assert found.exact
        assert (found.belief, found.plausibility, found.conflict) == pytest.approx(wanted[:3], abs=1e-9), by
    if wanted is not None:
        often = model.probability(question, condition)
        assert often.exact
        assert often.value == pytest.approx(wanted[3], abs=1e-9)


def birds(tmp_path: Path) -> nbr.Reasoner:
    (tmp_path / "birds.toml").write_text(BIRDS)
    return nbr.load(tmp_path / "birds.toml")


def test_what_nothing_makes_so_counts_as_not_so(tmp_path: Path) -> None:
    model = birds(tmp_path)
    found = model.ask("flies")
    assert found.belief == pytest.approx(0.9 * 0.9 * 0.8)
    assert found.plausibility == pytest.approx(found.belief)
    assert model.ask("flies", "penguin").plausibility == pytest.approx(0)
    assert model.probability("flies", "bird").value == pytest.approx(0.9 * 0.8)
    (row,) = model.ask_many([("flies", "bird")]).to_dict("records")
    assert (row["belief"], row["plausibility"]) == pytest.approx((0.72, 0.72))


def test_files(tmp_path: Path) -> None:
    model = birds(tmp_path)
    for name in ("again.toml", "again.nbr"):
        model.save(tmp_path / name)
        again = nbr.load(tmp_path / name)
        assert again.ask("flies").belief == pytest.approx(model.ask("flies").belief)
        assert str(again.rules[2]) == "bird -> flies unless penguin"
        assert again.model.closed == model.model.closed
    assert (model & model).ask("bird").belief == pytest.approx(0.99)


def test_a_path_through_cycles() -> None:
    """Of five places in a ring, and chords: only what can be reached from the first is true."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 0), (3, 1)]
    world = nbr.World.bits(5)
    rules = [nbr.Clause("x0", 1.0), *(nbr.Clause(f"x{one} -> x{other}", 0.5) for one, other in edges)]
    model = nbr.Reasoner(world, rules, closed=world.names)
    assert model.ask("x4").belief == pytest.approx(0.5**4)
    assert model.ask("x4").plausibility == pytest.approx(0.5**4)
    apart = nbr.Reasoner(world, rules[1:], closed=world.names)
    assert apart.ask("x4").plausibility == 0


def test_what_nothing_can_make_so_is_told() -> None:
    model = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", 0.5)], closed=["x0", "x1"])
    assert model.ask("x0").notes == ("nothing makes x0 so: it is closed, and no rule says it",)
    explained = model.explain("x1")
    assert explained.answer.plausibility == 0
    assert not explained.supports_complete


def test_what_is_refused() -> None:
    world, loop = nbr.World.bits(3), [nbr.Clause("~x1 -> x0", 0.5), nbr.Clause("~x0 -> x1", 0.5)]
    with pytest.raises(NbrError, match="'x0' depends on itself through a negation, of 'x1'"):
        nbr.Reasoner(world, loop, closed=["x0", "x1"])
    assert nbr.Reasoner(world, loop, closed=["x0"]).ask("x0", "~x1").belief == pytest.approx(0.5 / 0.75)
    with pytest.raises(NbrError, match=r"rule 1: its exception 'x2' is not closed.*closed = \[\"x2\"\]"):
        nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.5, unless="x2")])
    with pytest.raises(NbrError, match="'grass' is not a bit"):
        nbr.Reasoner(nbr.World(grass=nbr.Choice("wet", "dry")), closed=["grass"])
    model = nbr.Reasoner(world, [nbr.Clause("x0", 0.5)], closed=["x0"])
    for by in ("lattice", "drawn", "frontier", "elimination", "boxes"):
        with pytest.raises(NbrError, match="variables are closed"):
            model.ask("x0", engine=by)
    for refused in (model.best, model.focal_sets, lambda: model.sample(3), lambda: model.log_prob([[1, 0, 0]])):
        with pytest.raises(NbrError, match="closed"):
            refused()
