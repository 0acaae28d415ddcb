"""Variables that a single rule reads are maximised away before points are listed, and nothing changes by that."""

from __future__ import annotations

import itertools
import random

import pytest
import torch
from torch import nn

import nbr
import oracle
from nbr.asking.private import without_private
from nbr.language import parse


def network(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 5), nn.Tanh(), nn.Linear(5, 1)).double()


def model(seed: int) -> tuple[nbr.Reasoner, str, str | None]:
    """Three networks and two statements over shared bits; most networks also read a variable of their own."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    own = {"u": nbr.Bit(), "v": nbr.Choice("p", "q", "r"), "w": nbr.Real(0, 3, step=1)}
    world = nbr.World({"a": nbr.Bit(), "b": nbr.Bit(), "c": nbr.Bit(), **own})
    rules: list[nbr.Rule] = [nbr.Clause("a -> b | c", 0.8), nbr.Clause(draw.choice(["~c", "w>=2 -> c"]), 0.6)]
    for name in own:
        reads = [*draw.sample(["a", "b", "c"], draw.randrange(3)), name]
        rules.append(nbr.Neural(reads, network(sum(3 if each == "v" else 1 for each in reads)), draw.random()))
    given = draw.choice([None, "a", "u", "a, v in {p, q}", "w<=1, ~u", "u | a", "w>=1"])
    return nbr.Reasoner(world, rules), draw.choice(["b", "c | ~b", "a <-> c", "v=p"]), given


def truth(reasoner: nbr.Reasoner, question: str, given: str | None) -> tuple[float, float, float]:
    rows = itertools.product(*(range(variable.size or 0) for variable in reasoner.world.variables.values()))
    points = torch.tensor(list(rows), dtype=torch.float64)
    if given is not None:
        points = points[parse(given).holds(reasoner.world, points)]
    with torch.no_grad():
        grades = reasoner.grades(points).numpy()
    member = parse(question).holds(reasoner.world, points).double().numpy()
    return oracle.answer(grades, reasoner.beliefs.numpy(), member)


def test_answers_are_those_of_the_definitions() -> None:
    smaller = 0
    for seed in range(60):
        reasoner, question, given = model(seed)
        answer = reasoner.ask(question, given)
        assert answer.exact, seed
        found = (answer.belief, answer.plausibility, answer.conflict)
        assert found == pytest.approx(truth(reasoner, question, given), abs=1e-9), seed
        condition = None if given is None else parse(given)
        left, _, _ = without_private(reasoner.model, parse(question), condition)
        smaller += left is not reasoner.model
    assert smaller > 40


def test_a_fuzzy_question_too() -> None:
    reasoner, _, _ = model(3)
    world = reasoner.world
    question = nbr.Fuzzy(lambda points: 0.2 + 0.6 * points[:, 0], inputs="b")
    rows = itertools.product(*(range(variable.size or 0) for variable in world.variables.values()))
    points = torch.tensor(list(rows), dtype=torch.float64)
    with torch.no_grad():
        right = oracle.belief(
            reasoner.grades(points).numpy(), reasoner.beliefs.numpy(), question.bind(world).grades(points).numpy()
        )
    assert reasoner.ask(question).belief == pytest.approx(right, abs=1e-9)


def test_what_cannot_hold_is_still_told() -> None:
    reasoner, _, _ = model(0)
    with pytest.raises(nbr.NbrError, match="the condition cannot hold"):
        reasoner.ask("b", given="u, ~u")


@pytest.mark.parametrize("kind", [nbr.Bit(), nbr.Choice(*"pqrst"), nbr.Real(0, 9, step=1)])
@pytest.mark.parametrize("shared", [[], ["a"]])
def test_forty_networks_of_which_one_matters(kind: nbr.Bit | nbr.Choice | nbr.Real, shared: list[str]) -> None:
    torch.manual_seed(0)
    world = nbr.World({"a": nbr.Bit(), "b": nbr.Bit(), **{f"v{place}": kind for place in range(39)}})
    width = len(shared) + (5 if isinstance(kind, nbr.Choice) else 1)
    rules = [nbr.Neural([*shared, f"v{place}"], network(width), 0.5) for place in range(39)]
    few = nbr.Reasoner(world, [*rules[:3], nbr.Neural(["a", "b"], network(2), 0.7)])
    assert few.ask("b", given="a").exact
    answer = nbr.Reasoner(world, [*rules, few.rules[-1]]).ask("b", given="a")
    assert answer.exact
    assert answer.points == 2
