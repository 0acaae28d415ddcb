"""Variables, points, and worlds that fit together."""

import pytest
import torch

import nbr


def test_points_in_words_and_back() -> None:
    world = nbr.World(rain=nbr.Bit(), grass=nbr.Choice("dry", "wet"), t=nbr.Real(-20, 45))
    point = world.point({"t": 3.5, "rain": True, "grass": "wet"})
    assert point.tolist() == [1.0, 1.0, 3.5]
    assert world.show(point) == {"rain": "1", "grass": "wet", "t": "3.5"}
    assert nbr.World.from_spec(world.spec) == world
    encoded = world.encode(torch.stack([point, point]), ["grass", "t"])
    assert encoded.tolist() == [[0, 1, 3.5]] * 2
    assert world.snap(torch.tensor([[0.6, 7.0, -99.0]])).tolist() == [[1.0, 1.0, -20.0]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nbr.World(), "at least one variable"),
        (lambda: nbr.World(x=3), "must be a Bit"),
        (lambda: nbr.World({"": nbr.Bit()}), "cannot be the name"),
        (lambda: nbr.Choice(), "at least one label"),
        (lambda: nbr.Choice("a", "a"), "twice"),
        (lambda: nbr.Real(1, 1), "lower one first"),
        (lambda: nbr.Real(0, float("inf")), "finite"),
        (lambda: nbr.Real(float("nan"), 1), "finite"),
        (lambda: nbr.Real("a", 1), "two numbers"),
        (lambda: nbr.World.bits(2).point({"x0": 1}), "no value for 'x1'"),
        (lambda: nbr.World.bits(1).point({"x0": 2}), "'x0'.*0 or 1"),
        (lambda: nbr.World.from_spec({"x": "byte"}), "not a kind of variable"),
        (lambda: nbr.World.from_spec([1]), "table"),
    ],
)
def test_wrong_worlds(make, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        make()


def test_a_choice_with_many_labels(tmp_path) -> None:
    """200,000 of them: a list searched for each label took minutes, so this would not end."""
    labels = [f"town {number}" for number in range(200_000)]
    world = nbr.World(town=nbr.Choice(*labels), big=nbr.Bit())
    nbr.Reasoner(world, [nbr.Clause('town="town 199999" -> big', 0.9)]).save(tmp_path / "towns.nbr")
    again = nbr.load(tmp_path / "towns.nbr")
    assert again.world == world
    assert again.ask("big", given='town="town 199999"').belief == pytest.approx(0.9)
    assert again.ask("big", given='town="town 5"').belief == 0
