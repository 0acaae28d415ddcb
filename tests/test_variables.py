"""Every kind of variable keeps the same contract; labels in an order are compared by it, by every way of asking."""

from __future__ import annotations

import random

import pytest
import torch

import nbr
import oracle
from nbr.variables import KINDS, Variable, read_variable

EXAMPLES: list[Variable] = [
    nbr.Bit(),
    nbr.Choice("dry", "wet", "under water"),
    nbr.Ordered("low", "mid", "high"),
    nbr.Real(-1, 4, step=0.5),
    nbr.Real("2021-01-01", "2021-02-03"),
    nbr.Real(-20, 45),
]


def test_every_kind_has_an_example() -> None:
    assert {type(each) for each in EXAMPLES} == set(KINDS)


@pytest.mark.parametrize("variable", EXAMPLES, ids=str)
def test_a_kind_knows_itself(variable: Variable) -> None:
    assert read_variable(variable.spec) == variable
    size = variable.size
    codes = torch.linspace(variable.low, variable.high, 11 if size is None else size, dtype=torch.float64)
    assert all(variable.code(variable.show(code)) == pytest.approx(code, abs=1e-4) for code in codes.tolist())
    assert torch.equal(variable.snapped(codes), codes)
    assert torch.equal(variable.snapped(torch.tensor([-1e9, 1e9]).double()), codes[[0, -1]])
    assert variable.encoded(codes).shape == (len(codes), variable.width)
    assert len(torch.unique(variable.encoded(codes), dim=0)) == len(codes)  # a network can tell all values apart
    assert bool(variable.numeric) != bool(variable.labels)
    assert variable.apart(torch.zeros(1)).item() == 0
    assert variable.apart(codes[-1:] - codes[:1]).item() == pytest.approx(1)
    assert variable.said()
    with pytest.raises(nbr.NbrError):
        variable.code("no value of any kind")


@pytest.mark.parametrize("variable", EXAMPLES, ids=str)
def test_what_a_network_reads_of_a_box_holds_all_that_it_reads_of_its_values(variable: Variable) -> None:
    codes = variable.snapped(torch.linspace(variable.low, variable.high, 7, dtype=torch.float64))
    for first in range(len(codes)):
        for last in range(first, len(codes)):
            low, high = variable.encoded_between(codes[first : first + 1], codes[last : last + 1])
            inside = variable.encoded(codes[first : last + 1])
            assert bool(((low <= inside) & (inside <= high)).all())


def ordered(seed: int) -> tuple[nbr.Reasoner, str, str]:
    draw = random.Random(seed)
    labels = ("low", "mid", "high", "top")
    world = nbr.World(
        a=nbr.Bit(),
        g=nbr.Ordered(*labels),
        h=nbr.Ordered("mid", "other"),
        c=nbr.Choice("red", "blue"),
        n=nbr.Real(0, 3, 1),
    )

    def literal() -> str:
        said = [
            "a",
            f"g{draw.choice(['>=', '<=', '>', '<', '=', '!='])}{draw.choice(labels)}",
            f"{draw.choice(labels)}<=g<{draw.choice(labels)}",
            f"g in {{{draw.choice(labels)}, top}}",
            f"h<={draw.choice(['mid', 'other'])}",
            "c=red",
            f"n>{draw.randrange(3)}",
        ]
        return ("~" if draw.random() < 0.3 else "") + f"({draw.choice(said)})"

    rules = [nbr.Clause(f"{literal()} -> {literal()}", draw.uniform(0.2, 0.95)) for _ in range(4)]
    return nbr.Reasoner(world, rules), literal(), literal()


@pytest.mark.parametrize("engine", ["auto", "counting", "lattice", "drawn", "frontier"])
@pytest.mark.parametrize("seed", range(8))
def test_an_order_is_the_same_by_every_way_of_asking(seed: int, engine: str) -> None:
    reasoner, question, given = ordered(seed)
    points = torch.cartesian_prod(*(torch.arange(size).double() for size in (2, 4, 2, 2, 4)))
    inside = nbr.parse(given, reasoner.world).holds(reasoner.world, points)
    member = nbr.parse(question, reasoner.world).holds(reasoner.world, points)
    if not bool(inside.any()):
        with pytest.raises(nbr.NbrError, match="cannot hold"):
            reasoner.ask(question, given)
        return
    wanted = oracle.answer(reasoner.grades(points[inside]).numpy(), reasoner.beliefs.numpy(), member[inside].numpy())
    answer = reasoner.ask(question, given, engine=engine, budget=5)
    for (low, high), value in zip(
        [answer.bounds.belief, answer.bounds.plausibility, answer.bounds.conflict], wanted, strict=True
    ):
        assert low - 1e-9 <= value <= high + 1e-9


def test_a_label_of_an_order_may_also_be_a_variable() -> None:
    """`grade < high`: a label, unless a variable is called so."""
    grade = nbr.Ordered("low", "high")
    label = nbr.parse("grade < high", nbr.World(grade=grade))
    assert [atom.operator for atom in label.atoms()] == ["<"]
    with pytest.raises(nbr.NbrError, match="'grade' is ordered, and only numbers"):
        nbr.Reasoner(nbr.World(grade=grade, high=nbr.Real(0, 1)), []).ask("grade < high")
    with pytest.raises(nbr.NbrError, match="'hihg' is not one of its labels"):
        nbr.Reasoner(nbr.World(grade=grade), []).ask("grade < hihg")
    with pytest.raises(nbr.NbrError, match="'c' is a choice: say c=red"):
        nbr.Reasoner(nbr.World(c=nbr.Choice("red", "blue")), []).ask("c >= red")
    with pytest.raises(nbr.NbrError, match="'grade' is ordered: say grade=low"):
        nbr.Reasoner(nbr.World(grade=grade), []).ask("grade")


def test_an_order_within_evidence_with_a_degree() -> None:
    reasoner = nbr.Reasoner(nbr.World(grade=nbr.Ordered("low", "mid", "high"), b=nbr.Bit()), [])
    assert reasoner.ask("grade>low", given="(grade >= mid) @ 0.8").belief == pytest.approx(0.8)
    assert reasoner.ask("grade>low", given="count(grade>=mid, b)>=2").belief == 1


def test_an_order_is_saved_learned_from_and_drawn(tmp_path) -> None:
    world = nbr.World(grade=nbr.Ordered("low", "mid", "high"), b=nbr.Bit())
    reasoner = nbr.Reasoner(world, [nbr.Clause(nbr.parse("grade>=mid -> b"), 0.9)], prior=nbr.priors.uniform(world))
    reasoner.save(tmp_path / "m.nbr")
    reasoner.save(tmp_path / "m.toml")
    for place in ("m.nbr", "m.toml"):
        same = nbr.load(tmp_path / place)
        assert same.world == world
        assert same.ask("b", "grade=high").belief == pytest.approx(0.9)
        assert same.probability("grade=high", "~b").value == pytest.approx(0.1 / 1.2)
    assert set(reasoner.sample(50, seed=0)["grade"]) == {"low", "mid", "high"}
    assert reasoner.rank("grade", "~b").best == "low"
    assert len(reasoner.marginals()) == 5
