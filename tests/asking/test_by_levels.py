"""Fuzzy questions without a list of points, against equation (6) written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nbr
import oracle
import rule_bases
from nbr.language import parse


def listed(bits: int) -> torch.Tensor:
    return torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * bits)


def steps(points: torch.Tensor) -> torch.Tensor:
    return 0.3 * points[:, 0] + 0.5 * points[:, 1] + 0.1


@pytest.mark.parametrize("engine", ["counting", "auto"])
def test_belief_and_plausibility_are_those_of_the_definitions(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "auto":  # also where a list of points would be quick
        monkeypatch.setattr("nbr.asking.ways.QUICK", 0.0)
    questions = [nbr.Fuzzy(steps, 1.0, inputs=["x0", "x3"]), nbr.Memory({"x1": 1, "x2": 0}, 0.5, 1.0)]
    told = 0
    for seed in range(12):
        model, question = rule_bases.clauses(seed, 8, 7, 3), questions[seed % 2]
        points = listed(8)[parse("x4 | x5").holds(model.world, listed(8))]
        grades, beliefs = model.grades(points).numpy(), model.beliefs.numpy()
        if oracle.expectation(grades, beliefs) == 0:
            continue
        member = question.bind(model.world).grades(points).numpy()
        right = oracle.answer(grades, beliefs, member)
        found = model.ask(question, "x4 | x5", engine=engine)
        assert found.exact
        assert (found.belief, found.plausibility, found.conflict) == pytest.approx(right, abs=1e-9), seed
        told += right[0] > float(np.min(member)) + 1e-6
    assert told > 3


def test_a_fuzzy_question_to_a_base_that_cannot_be_listed() -> None:
    rules = [nbr.Clause(f"x{i} -> x{i + 1}", 0.99) for i in range(99)]
    model = nbr.Reasoner(nbr.World.bits(100), rules)
    found = model.ask(nbr.Fuzzy(lambda points: 0.25 + 0.5 * points[:, 0], 1.0, inputs=["x99"]), "x0")
    assert found.exact
    assert found.belief == pytest.approx(0.25 + 0.5 * 0.99**99)
    assert found.plausibility == pytest.approx(0.75)
