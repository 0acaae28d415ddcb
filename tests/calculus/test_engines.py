"""One contract for all engines: values, bounds and gradients against brute force."""

import numpy as np
import pytest
import torch

import oracle
from models import beliefs, grades
from nbr.calculus import ENGINES, Problem, solve
from nbr.ways import Limits

MODELS = 500
EXACT = [name for name in ENGINES if name != "sampled"]
UNIONS = ((0,), (1,), (0, 1))


def random_problem(seed: int, most_points: int = 6) -> Problem:
    random = np.random.default_rng(seed)
    rules = int(random.integers(0, 13))
    sizes = random.integers(0, most_points + 1, 2)
    if not sizes.sum():
        sizes[0] = 1
    groups = tuple(torch.from_numpy(grades(random, int(size), rules)) for size in sizes)
    return Problem(groups, UNIONS, torch.from_numpy(beliefs(random, rules)))


def truth(problem: Problem) -> np.ndarray:
    return np.array([oracle.expectation(problem.points(u).numpy(), problem.beliefs.numpy()) for u in problem.unions])


def fitting(name: str, seed: int) -> Problem:
    if name != "point":
        return random_problem(seed)
    problem = random_problem(seed, most_points=1)
    return Problem(problem.groups, ((0,), (1,)), problem.beliefs)


@pytest.mark.parametrize("name", [*EXACT, "auto"])
def test_engine_equals_brute_force(name: str) -> None:
    for seed in range(MODELS):
        problem = fitting(name, seed)
        engine = None if name == "auto" else ENGINES[name]
        estimate = (
            solve(problem, name, Limits(tolerance=0.0))
            if engine is None
            else engine.solve(problem, Limits(tolerance=0.0))
        )
        expected = truth(problem)
        ends = np.array([estimate.bounds(union) for union in range(len(expected))])
        np.testing.assert_allclose(ends, np.stack([expected, expected], axis=1), atol=1e-9, err_msg=f"model {seed}")
        small = name == "few" and expected.max() < 1e-4  # where cancellation costs digits, it says so
        assert estimate.exact or small


@pytest.mark.parametrize("name", EXACT)
def test_reduced_problem_has_the_same_answer(name: str) -> None:
    for seed in range(MODELS, MODELS + 200):
        problem = fitting(name, seed)
        estimate = solve(problem, name, Limits(tolerance=0.0))
        low = [estimate.bounds(union)[0] for union in range(len(problem.unions))]
        np.testing.assert_allclose(low, truth(problem), atol=1e-9, err_msg=f"model {seed}")


def test_count_without_time_still_bounds_the_truth() -> None:
    loose = 0
    for seed in range(MODELS):
        problem = random_problem(seed)
        estimate = ENGINES["count"].solve(problem, Limits(deadline=0.0))
        expected = truth(problem)
        assert (estimate.low.numpy() <= expected + 1e-12).all(), seed
        assert (estimate.high.numpy() >= expected - 1e-12).all(), seed
        inside_ratios(estimate, expected, seed)
        loose += not estimate.exact
    assert loose > MODELS / 10, "a deadline in the past should leave bounds, not exact values"


def inside_ratios(estimate, expected: np.ndarray, seed: int) -> None:
    if expected[2] == 0:
        return
    for union in (0, 1):
        low, high = estimate.ratio(union, 2)
        assert low - 1e-12 <= expected[union] / expected[2] <= high + 1e-12, seed


def test_sampled_intervals_hold_95_times_in_100() -> None:
    inside = np.zeros(5)
    models = 0
    for seed in range(MODELS):
        problem = random_problem(seed)
        expected = truth(problem)
        estimate = ENGINES["sampled"].solve(problem, Limits.within(0.04, tolerance=0.1, seed=seed))
        assert estimate.kind == "95%"
        assert not estimate.exact
        hits = [estimate.bounds(u)[0] <= expected[u] + 1e-12 <= estimate.bounds(u)[1] + 2e-12 for u in range(3)]
        for union in (0, 1):
            low, high = estimate.ratio(union, 2)
            hits.append(expected[2] == 0 or low - 1e-12 <= expected[union] / expected[2] <= high + 1e-12)
        inside += hits
        models += 1
    assert (inside / models >= 0.95).all(), inside / models


def test_sampled_sees_rare_events() -> None:
    """Every point is ruled out by something believed: expectations of 1e-8 are still known to a percent."""
    random = np.random.default_rng(5)
    rules = 10
    strong = torch.full((rules,), 0.9, dtype=torch.float64)
    groups = tuple(torch.from_numpy((random.random((3, rules)) < 0.2).astype(float)) for _ in range(2))
    problem = Problem(groups, UNIONS, strong)
    expected = truth(problem)
    assert 0 < expected[2] < 1e-4
    estimate = ENGINES["sampled"].solve(problem, Limits.within(20, tolerance=0.02))
    for union in (0, 1):
        low, high = estimate.ratio(union, 2)
        assert low <= expected[union] / expected[2] <= high
        assert high - low <= 0.02


@pytest.mark.parametrize("name", ["point", "few", "lattice", "count"])
def test_gradients_equal_brute_force(name: str) -> None:
    """No ties: the expectation is linear in each belief, and in each grade up to the next one."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        rules = int(random.integers(1, 7))
        points = 1 if name == "point" else int(random.integers(1, 5))
        matrix, belief = grades(random, points, rules, ties=False), beliefs(random, rules, extremes=False)
        g = torch.tensor(matrix, requires_grad=True)
        b = torch.tensor(belief, requires_grad=True)
        ENGINES[name].solve(Problem((g,), ((0,),), b), Limits(tolerance=0.0)).low.sum().backward()
        for place in np.ndindex(matrix.shape):
            step = np.zeros_like(matrix)
            step[place] = 1e-6
            rise = oracle.expectation(matrix + step, belief) - oracle.expectation(matrix - step, belief)
            assert g.grad[place].item() == pytest.approx(rise / 2e-6, abs=1e-6)
        for rule in range(rules):
            one, zero = belief.copy(), belief.copy()
            one[rule], zero[rule] = 1, 0
            slope = oracle.expectation(matrix, one) - oracle.expectation(matrix, zero)
            assert b.grad[rule].item() == pytest.approx(slope, abs=1e-9)


def test_few_takes_thousands_of_rules_in_batches() -> None:
    """Two labels, 2,632 rules, as a classifier has them: the maximum of two points by hand."""
    random = torch.Generator().manual_seed(0)
    g = torch.rand(5, 2, 2632, generator=random, dtype=torch.float64)
    b = torch.rand(2632, generator=random, dtype=torch.float64) * 0.01
    from nbr.calculus.point import keep_probability

    both = ENGINES["few"].expectation(g, b)
    expected = keep_probability(g[:, 0], b) + keep_probability(g[:, 1], b) - keep_probability(g.amin(dim=1), b)
    torch.testing.assert_close(both, expected, atol=1e-12, rtol=0)


def test_auto_is_exact_or_bounded_for_many_rules() -> None:
    random = np.random.default_rng(1)
    groups = tuple(torch.from_numpy(random.random((5, 60))) for _ in range(2))
    problem = Problem(groups, UNIONS, torch.from_numpy(random.random(60)))
    estimate = solve(problem, "auto", Limits.within(10))
    assert estimate.exact
    assert estimate.engine == "few"
    expected = ENGINES["few"].solve(problem, Limits(tolerance=0.0)).low
    torch.testing.assert_close(estimate.low, expected)


def test_engine_that_does_not_fit_says_why() -> None:
    problem = Problem((torch.rand(30, 40, dtype=torch.float64),), ((0,),), torch.rand(40, dtype=torch.float64))
    for name, word in [("point", "one point"), ("few", "points"), ("lattice", "rules")]:
        with pytest.raises(ValueError, match=word):
            solve(problem, name, Limits(tolerance=0.0))
