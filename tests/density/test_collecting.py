"""What to collect next, against linear programs over all points, and against collecting it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import linprog

import nbr
from command import run
from nbr.density.collecting import with_column
from nbr.density.likelihood import log_weights
from nbr.density.ranges import wilson
from nbr.errors import NbrError
from nbr.points.numbered import numbered_points
from nbr.priors import Independent
from nbr.tables.seen_together import Together

VIEWS = [["x0", "x1"], ["x1", "x2", "x3"], ["x2", "x4"]]


def model(seed: int, views: list[list[str]], rows: list[int] | None = None) -> nbr.Reasoner:
    """Five bits that hang together in a chain and by a parity."""
    random = np.random.default_rng(seed)
    world = nbr.World.bits(5)
    said = ["x0 -> x1", "x1 -> x3", "x3 -> x4", "x2 -> ~x3", "x0 <-> x2"]
    rules = [nbr.Clause(each, float(random.uniform(0.6, 0.95))) for each in said]
    weights = [torch.from_numpy(random.dirichlet([3.0, 3.0])) for _ in range(5)]
    return nbr.Reasoner(world, rules, prior=Independent(world, weights), views=views, view_rows=rows)


def enumerated(reasoner: nbr.Reasoner, views: list[list[str]], question: str, given: str) -> tuple[float, float]:
    """The least and the largest P(Q | C) over all masses of points with the sums of each view (Charnes and Cooper)."""
    points = numbered_points(reasoner.world).points
    mass = torch.softmax(log_weights(reasoner.model, numbered_points(reasoner.world)), 0).numpy()
    held = nbr.parse(given).holds(reasoner.world, points).numpy().astype(float)
    both = held * nbr.parse(question).holds(reasoner.world, points).numpy()
    groups = []
    for view in views:
        cells = points[:, [reasoner.world.column(name) for name in view]]
        member = torch.unique(cells, dim=0, return_inverse=True)[1].numpy()
        groups.append(np.eye(member.max() + 1)[member].T)
    sums = np.concatenate(groups)
    equal = np.block([[sums, -(sums @ mass)[:, None]], [held[None], np.zeros((1, 1))]])
    right = np.append(np.zeros(len(sums)), 1.0)
    ends = [linprog(sign * np.append(both, 0.0), A_eq=equal, b_eq=right, bounds=(0, None)).fun for sign in (1, -1)]
    return ends[0], -ends[1]


@pytest.mark.parametrize("seed", range(4))
def test_every_candidate_is_what_enumeration_says(seed: int) -> None:
    reasoner = model(seed, VIEWS)
    found = reasoner.collect("x3", "x0", budget=60)
    assert not found.left
    before = np.diff(enumerated(reasoner, VIEWS, "x3", "x0"))[0]
    wanted = {}
    for at, name in product(range(len(VIEWS)), reasoner.world.names):
        if name not in VIEWS[at]:
            wider = [view + [name] * (at == number) for number, view in enumerate(VIEWS)]
            ends = enumerated(reasoner, wider, "x3", "x0")
            if ends[1] - ends[0] < before - 1e-6:
                wanted[tuple(VIEWS[at]), name] = ends
    told = {(each.beside, each.column): each.open for each in found.candidates}
    assert told.keys() == wanted.keys()
    for key, ends in wanted.items():
        assert told[key] == pytest.approx(ends, abs=1e-5)
    widths = [each.width for each in found.candidates]
    assert widths == sorted(widths)
    assert len(widths) >= 3


def test_more_rows_of_what_was_seen_together() -> None:
    """A column in a larger table makes its rows count; in rows that show all of it already, both are added."""
    reasoner = model(0, [["x0", "x1"], ["x0", "x2"]], [100, 900])
    found = reasoner.collect("x1", "x0")
    (best,) = found.candidates
    assert (best.column, best.beside, best.rows) == ("x1", ("x0", "x2"), 900)
    value, share = found.now.value, reasoner.probability("x0").value
    assert found.now.range == pytest.approx(wilson(value, value, 100 * share))
    assert best.range == pytest.approx(wilson(value, value, 900 * share))
    assert best.open == pytest.approx((value, value))
    seen = Together((("x0", "x1"), ("x0", "x2", "x1"), ("x1", "x2")), (10, 20, 5))
    assert with_column(seen, 2, "x0", nbr.World.bits(3)).counts == (25, 10)


def test_only_what_can_be_recorded_and_nothing_where_nothing_helps() -> None:
    reasoner = model(1, VIEWS)
    found = reasoner.collect("x3", "x0", among=["x2"])
    assert {each.column for each in found.candidates} == {"x2"}
    together = reasoner.collect("x1", "x0")
    assert together.candidates == ()
    assert "nothing to collect narrows it" in str(together)


def test_the_range_that_is_promised_is_the_one_that_comes() -> None:
    """Two surveys, one of which could have asked about smoking too; then it does."""
    random = np.random.default_rng(0)
    rows = 4000
    old = random.random(rows) < 0.5
    smokes = random.random(rows) < np.where(old, 0.7, 0.2)
    ill = random.random(rows) < np.where(smokes, 0.8, 0.1)
    noise = random.random(rows) < 0.5
    whole = pd.DataFrame({"old": old, "smokes": smokes, "ill": ill, "noise": noise}).astype(int)
    first, second = whole[:2000], whole[2000:]
    apart = [first[["old", "smokes", "noise"]], second[["old", "ill"]]]
    found = nbr.fit(apart, "clauses").collect("ill", "smokes", among=["smokes", "noise"])
    best = found.candidates[0]
    assert (best.column, best.beside) == ("smokes", ("old", "ill"))
    assert {each.column for each in found.candidates[1:]} <= {"noise"}
    after = nbr.fit([apart[0], second[["old", "smokes", "ill"]]], "clauses").probability("ill", "smokes")
    assert best.range[1] - best.range[0] == pytest.approx(after.range[1] - after.range[0], abs=0.02)
    assert best.range[1] - best.range[0] < 0.2 * np.diff(found.now.range)[0]


def test_what_cannot_be_asked_is_said() -> None:
    reasoner = model(0, VIEWS)
    with pytest.raises(NbrError, match="does not know which columns were seen together"):
        nbr.Reasoner(nbr.World.bits(2)).collect("x0")
    with pytest.raises(NbrError, match="smoke"):
        reasoner.collect("x3", among=["smoke"])
    with pytest.raises(NbrError, match="a number of seconds above 0, not -1"):
        reasoner.collect("x3", budget=-1)
    with pytest.raises(NbrError, match="conditions that are certain"):
        reasoner.collect("x3", "x0 @ 0.8")


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "m.nbr"
    model(2, VIEWS, [300, 200, 100]).save(path)
    told = run("collect", path, "x3", "--given", "x0").stdout
    assert "what would narrow it, the most first" in told
    assert "range then" in told
    found = json.loads(run("collect", path, "x3", "--given", "x0", "--among", "x2", "--json").stdout)
    assert {each["column"] for each in found["candidates"]} == {"x2"}
    assert found["now"]["range"]
