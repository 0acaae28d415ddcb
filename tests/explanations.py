"""Explanations held against their definitions, by brute force over sets of rules and points."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
import torch

import nbr
import oracle
import rule_bases
from nbr.language import parse
from nbr.points.numbered import numbered_points

SMALL = 1e-9
LEVELS = (0.0, 0.2, 0.49, 0.5, 0.8, 1.0)


def points_of(model: nbr.Reasoner, given: str | None) -> torch.Tensor:
    listed = numbered_points(model.world)
    assert listed is not None
    points = listed.points
    return points if given is None else points[parse(given).holds(model.world, points)]


def minimal_sets(rows: torch.Tensor, rules: list[int]) -> list[frozenset[int]]:
    """Minimal sets of rules that no row satisfies together."""
    found: list[frozenset[int]] = []
    for size in range(len(rules) + 1):
        for some in combinations(rules, size):
            inside = any(each <= set(some) for each in found)
            if not inside and not bool(rows[:, list(some)].all(dim=1).any()):
                found.append(frozenset(some))
    return found


def case(seed: int, fuzzy: bool = False) -> tuple[nbr.Reasoner, str, str] | None:
    """A random model, question and condition; None where there is no answer, or a real cannot be listed.

    If `fuzzy`, some of its rules are functions with a few levels of grade.
    """
    model, question, given = rule_bases.mixed(seed, rules=6)
    if any(isinstance(variable, nbr.Real) and not variable.step for variable in model.world.variables.values()):
        return None
    if fuzzy:
        model = nbr.Reasoner(model.world, [softened(rule, seed + n) for n, rule in enumerate(model.rules)])
    try:
        model.ask(question, given)
    except nbr.NbrError:
        return None
    return model, question, given


def softened(rule: nbr.Rule, seed: int) -> nbr.Rule:
    """The same rule, or one that is graded between by another variable."""
    draw = random.Random(seed)
    if draw.random() < 0.5:
        return rule
    levels = torch.tensor([draw.choice(LEVELS) for _ in range(64)], dtype=torch.float64)

    def grades(points: torch.Tensor) -> torch.Tensor:
        places = points.new_tensor([7.0, 3.0, 11.0, 5.0, 13.0, 17.0, 19.0, 23.0, 29.0])[: points.shape[1]]
        return levels[(points @ places).long() % 64]

    return nbr.Fuzzy(grades, rule.degree)


def shown_sets(sets: list[frozenset[int]]) -> set[tuple[int, ...]]:
    return {tuple(sorted(rule + 1 for rule in each)) for each in sets}


def check(model: nbr.Reasoner, question: str, given: str) -> None:
    """Effects are what removing a rule gives, sets are the minimal ones, points are the best of their side."""
    found = model.explain(question, given, budget=20.0)
    points = points_of(model, given)
    holds = parse(question).holds(model.world, points)
    grades, beliefs, member = (part.double().numpy() for part in (model.grades(points), model.beliefs, holds))
    for effect in found.rules:
        others = np.arange(len(beliefs)) != effect.rule - 1
        truth = oracle.answer(grades[:, others], beliefs[others], member)
        for name, value in zip(("belief", "plausibility", "conflict"), truth, strict=True):
            assert getattr(effect.without, name) == pytest.approx(value, abs=SMALL), name
    rows = model.grades(points) >= 0.5
    rules = [number for number, rule in enumerate(model.rules) if rule.degree > 0]
    conflicts = minimal_sets(rows, rules)
    supports = [each for each in minimal_sets(rows[~holds], rules) if bool(rows[:, sorted(each)].all(dim=1).any())]
    assert found.supports_complete
    assert found.conflicts_complete
    assert {tuple(each) for each in found.conflicts} == shown_sets(conflicts)
    assert {tuple(each) for each in found.supports} == shown_sets(supports)
    for point, side in ((found.witness, True), (found.counter, False)):
        assert (point is None) == (not bool((holds == side).any()))
        if point is not None:
            codes = model.world.point(point.values)[None]
            assert bool(parse(question).holds(model.world, codes)[0]) is side
            assert bool(parse(given).holds(model.world, codes)[0])
            assert point.plausibility == pytest.approx(float(model.keep(points[holds == side]).max()), abs=SMALL)
            assert point.plausibility == pytest.approx(float(model.keep(codes)[0]), abs=SMALL)
