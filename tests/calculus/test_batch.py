"""Many small problems at once, against the engines and the paper's definitions one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
import oracle
from nbr.calculus.batch import CrispBatch, FuzzyBatch, Groups, scaled
from nbr.calculus.few import Few
from nbr.calculus.point import keep_probability


def problems(seed: int, count: int = 3, points: int = 4, rules: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    """Grades (count, points, rules) and beliefs (count, rules)."""
    random = np.random.default_rng(seed)
    grades = np.stack([models.grades(random, points, rules) for _ in range(count)])
    beliefs = np.stack([models.beliefs(random, rules) for _ in range(count)])
    return torch.from_numpy(grades), torch.from_numpy(beliefs)


@pytest.mark.parametrize("seed", range(30))
def test_beliefs_of_each_problem(seed: int) -> None:
    grades, beliefs = problems(seed)
    alone = keep_probability(grades, beliefs[:, None, :])
    best = Few().expectation(grades, beliefs)
    batch = FuzzyBatch(grades, beliefs)
    for number, (matrix, belief) in enumerate(zip(grades.numpy(), beliefs.numpy(), strict=True)):
        single = [oracle.expectation(row[None], belief) for row in matrix]
        np.testing.assert_allclose(alone[number], single, atol=1e-12)
        np.testing.assert_allclose(float(best[number]), oracle.expectation(matrix, belief), atol=1e-12)
        np.testing.assert_allclose(batch.points()[number].exp(), single, atol=1e-12)
        for chosen in range(1, 16):
            least = matrix[[bool(chosen >> point & 1) for point in range(4)]].min(axis=0)
            found = float(batch.sets()[number, chosen].exp())
            np.testing.assert_allclose(found, oracle.expectation(least[None], belief), atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_crisp_rules_are_a_product(seed: int, complete: bool) -> None:
    """The same crisp rules, as a product and by the formula for fuzzy ones."""
    random = np.random.default_rng(seed)
    table = random.integers(0 if complete else -1, 2, size=(6, 4))
    table[:, 0], table[:, 1] = 0, 1
    weights = random.normal(size=(3, 6)) * 3
    product = CrispBatch(torch.from_numpy(weights), Groups(torch.from_numpy(table)))
    plain = FuzzyBatch(product.grades, product.beliefs)
    torch.testing.assert_close(product.sets(), plain.sets(), atol=1e-9, rtol=0)
    gaps = [batch.points() - batch.points()[:, :1] for batch in (product, plain)]  # a constant is left open
    torch.testing.assert_close(*gaps, atol=1e-9, rtol=0)
    for point in range(4):
        chosen = torch.full((3,), point)
        torch.testing.assert_close(product.alone(chosen), plain.alone(chosen), atol=1e-9, rtol=0)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_scaling_does_not_change_a_single_rule_over_all_points(seed: int) -> None:
    """Equation (6) for classical sets is the same before and after, whatever the number of groups."""
    grades, beliefs = problems(seed, rules=1)
    grades, beliefs = 0.05 + 0.9 * grades, 0.99 * beliefs[0]
    stretched = scaled(grades, beliefs, Groups(torch.arange(4)[None]))
    assert isinstance(stretched, FuzzyBatch)
    for number in range(len(grades)):
        for member in np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 1]]):
            before = oracle.answer(grades[number].numpy(), beliefs.numpy(), member)
            after = oracle.answer(stretched.grades[number].numpy(), stretched.beliefs[number].numpy(), member)
            np.testing.assert_allclose(before[:2], after[:2], atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_two_groups_are_scaled_alike_beside_three(seed: int) -> None:
    """A rule of three groups that says nothing does not change what those of two say; it only takes another way."""
    random = np.random.default_rng(seed)
    table = torch.from_numpy(np.concatenate([random.permuted([[0, 1, -1]] * 4, axis=1), [[0, 1, 2]]]))
    value = random.random((3, 2, 5))
    grades = torch.ones(3, 3, 5, dtype=torch.float64)
    for rule in range(4):
        for point in range(3):
            if table[rule, point] >= 0:
                grades[:, point, rule] = torch.from_numpy(value[:, int(table[rule, point]), rule])
    beliefs = torch.from_numpy(random.random(5) * 0.99)
    both = scaled(grades, beliefs, Groups(table)), scaled(grades[..., :4], beliefs[:4], Groups(table[:4]))
    assert [type(batch) for batch in both] == [FuzzyBatch, CrispBatch]
    torch.testing.assert_close(both[0].sets(), both[1].sets(), atol=1e-9, rtol=0)


def test_a_certain_rule_rules_out_and_leaves_the_rest_as_it_is() -> None:
    """Belief 1 and grade 0: no NaN, and the labels that are left keep their order."""
    grades = torch.tensor([[[0.0, 1.0, 0.4], [1.0, 0.0, 0.4], [1.0, 1.0, 0.9]]], dtype=torch.float64)
    beliefs = torch.tensor([1.0, 0.3, 0.5], dtype=torch.float64)
    groups = Groups(torch.tensor([[0, 1, 1], [1, 0, 1], [0, 0, 1]]))
    batch = scaled(grades, beliefs, groups)
    points = batch.points()
    assert bool(points.isfinite().all())
    assert points.argsort(descending=True).tolist() == [[2, 1, 0]]
    assert float(batch.sets()[0, 1]) == -torch.inf
    lost = np.log(0.7) + np.log(0.7 / 0.95)
    assert float(points[0, 1] - points[0, 2]) == pytest.approx(lost, abs=1e-8)


@pytest.mark.parametrize("kinds", [[[0, 1]], [[0, 1], [0, 1]]])
def test_a_rule_that_grades_all_0_for_certain_says_nothing_between_them(kinds: list[list[int]]) -> None:
    """The limit of belief towards 1: 0 / (1 - b)."""
    grades = torch.zeros(2, 2, len(kinds), dtype=torch.float64)
    points = scaled(grades, torch.ones(len(kinds), dtype=torch.float64), Groups(torch.tensor(kinds))).points()
    assert points.tolist() == [[0.0, 0.0]] * 2
