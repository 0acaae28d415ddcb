"""Doing without variables: nothing changes for those that are kept."""

from __future__ import annotations

import itertools
import random

import pytest

from nbr.calculus.avoiding import avoiding
from nbr.calculus.resolution import GROWTH, eliminated

Clauses = list[tuple[int, ...]]


def formula(seed: int, variables: int, clauses: int) -> Clauses:
    draw = random.Random(seed)
    chosen = [draw.sample(range(1, variables + 1), draw.choice([1, 2, 2, 3, 3])) for _ in range(clauses)]
    return [tuple(draw.choice([-1, 1]) * each for each in some) for some in chosen]


def settings(clauses: Clauses, keep: list[int], variables: int) -> set[tuple[bool, ...]]:
    """All ways to set the variables kept that some model has."""
    found = set()
    for values in itertools.product([False, True], repeat=variables):
        if all(any(values[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses):
            found.add(tuple(values[each - 1] for each in keep))
    return found


@pytest.mark.parametrize("growth", [0, GROWTH[-1]])
def test_the_variables_kept_can_be_set_as_before(growth: int) -> None:
    shorter = impossible = 0
    for seed in range(120):
        variables = 9
        clauses = formula(seed, variables, 6 + seed % 16)
        keep = random.Random(seed).sample(range(1, variables + 1), 4)
        left = eliminated(clauses, keep, float("inf"), growth)
        right = settings(clauses, keep, variables)
        if left is None:
            assert not right, seed
            impossible += 1
            continue
        assert settings(left, keep, variables) == right, seed
        shorter += {abs(literal) for clause in left for literal in clause} <= set(keep)
    assert impossible > 5
    assert shorter > (100 - impossible if growth else 20)


def test_what_was_not_done_in_time_is_left() -> None:
    clauses = formula(3, 9, 12)
    left = eliminated(clauses, [1, 2, 3], -1.0)
    assert left is not None
    assert settings(left, [1, 2, 3], 9) == settings(clauses, [1, 2, 3], 9)


def test_worlds_around_no_core() -> None:
    for seed in range(40):
        draw = random.Random(seed)
        chance = {each: draw.random() for each in range(1, 9)}
        cores = [
            tuple(-each for each in draw.sample(range(1, 9), draw.randint(1, 4))) for _ in range(draw.randint(0, 7))
        ]
        right = 0.0
        for values in itertools.product([False, True], repeat=8):
            if all(any(not values[-each - 1] for each in core) for core in cores):
                weight = 1.0
                for each, there in zip(range(1, 9), values, strict=True):
                    weight *= chance[each] if there else 1 - chance[each]
                right += weight
        assert avoiding(cores, chance) == pytest.approx(right, abs=1e-12)


def test_only_what_has_a_probability_is_counted_by_hand() -> None:
    assert avoiding([(-1, 2)], {1: 0.5, 2: 0.4}) == pytest.approx(0.5 + 0.5 * 0.4)
    assert avoiding([(-1, 2)], {1: 0.5}) is None
    assert avoiding([(-1, -3)], {1: 0.5}) is None
    assert avoiding([], {}) == 1.0
    assert avoiding([()], {}) == 0.0
