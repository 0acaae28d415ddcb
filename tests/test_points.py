"""Cells of counts, and the numbers of their points."""

import itertools
import math

import pytest
import torch

import nbr
from nbr.points.cell_grid import Cells, world_cells
from nbr.points.numbered import numbered_points
from nbr.tables import Table
from nbr.world import Bit, Choice, Real


@pytest.mark.parametrize("grid", [1, 4, 200])
@pytest.mark.parametrize("cuts", [set(), {3.0, 4.0}, {2.5, 90.0, 91.5}])
def test_cells_of_counts_cover_all_values_and_no_others(grid: int, cuts: set[float]) -> None:
    world = nbr.World(n=Real(0, 100, step=1))
    found = world_cells(world, {"n": cuts}, ["n"], grid)
    values, radii = found.centres[0], found.radii[0]
    assert bool((values == values.round()).all())
    covered = {n for v, r in zip(values.tolist(), radii.tolist(), strict=True) for n in range(101) if abs(n - v) <= r}
    assert covered == set(range(101))

    def sides(n: float) -> tuple[bool, ...]:
        return tuple(n >= cut for cut in cuts) + tuple(n > cut for cut in cuts)

    assert {sides(value) for value in values.tolist()} == {sides(n) for n in range(101)}


def test_points_with_counts_are_numbered() -> None:
    world = nbr.World(a=Bit(), n=Real(2, 8, step=2), c=Choice("u", "v", "w"))
    listed = numbered_points(world)
    assert listed is not None
    assert listed.points.tolist() == [list(p) for p in itertools.product((0, 1), (2, 4, 6, 8), (0, 1, 2))]
    assert torch.equal(listed.number(listed.points), torch.arange(24))
    row, point = listed.completions(torch.tensor([[1, math.nan, 2], [math.nan, 4, -1]], dtype=torch.float64))
    assert listed.points[point[row == 0]].tolist() == [[1, n, 2] for n in (2, 4, 6, 8)]
    assert sorted(listed.points[point[row == 1]].tolist()) == [[a, 4, c] for a in (0, 1) for c in (0, 1, 2)]
    assert numbered_points(nbr.World(n=Real(-3, 3, step=1))) is None
    assert numbered_points(nbr.World(n=Real(0, 3))) is None


def test_a_listed_world_scores_what_it_does_not_have() -> None:
    world = nbr.World(a=Bit(), n=Real(0, 3, step=1))
    r = nbr.Reasoner(world, [nbr.Clause("a -> n>=2", 0.5)])
    frame = [[1, 3], [1, 9], [1, math.nan]]
    whole, beyond, hole = r.log_prob(Table(world, torch.tensor(frame, dtype=torch.float64))).tolist()
    assert beyond == pytest.approx(hole + math.log(1e-3))
    assert whole == pytest.approx(math.log(1 / 7))


def test_more_points_than_floats_count_are_still_told() -> None:
    many = Cells((torch.zeros(2),) * 1100, (torch.zeros(2),) * 1100)
    assert many.said == "1.36e+331"
    assert Cells((torch.zeros(10),) * 3, (torch.zeros(10),) * 3).said == "1e+03"
