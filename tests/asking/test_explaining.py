"""Explanations against their definitions, by brute force over sets of rules and points."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

import nbr
import rule_bases
from nbr.language import parse
from nbr.points.numbered import listing

SMALL = 1e-9


def points_of(model: nbr.Reasoner, given: str | None) -> torch.Tensor:
    listed = listing(model.world)
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


def random_case(seed: int) -> tuple[nbr.Reasoner, str, str] | None:
    model, question, given = rule_bases.mixed(seed, rules=6)
    if any(isinstance(variable, nbr.Real) for variable in model.world.variables.values()):
        return None
    try:
        model.ask(question, given)
    except nbr.NbrError:
        return None
    return model, question, given


def shown_sets(sets: list[frozenset[int]]) -> set[tuple[int, ...]]:
    return {tuple(sorted(rule + 1 for rule in each)) for each in sets}


@pytest.mark.parametrize("block", range(6))
def test_explanations_equal_their_definitions(block: int) -> None:
    done = 0
    for seed in range(25 * block, 25 * block + 25):
        case = random_case(seed)
        if case is None:
            continue
        model, question, given = case
        found = model.explain(question, given, budget=20.0)
        done += 1
        for effect in found.rules:
            others = [rule for n, rule in enumerate(model.rules, 1) if n != effect.rule]
            truth = nbr.Reasoner(model.world, others).ask(question, given)
            assert effect.without.belief == pytest.approx(truth.belief, abs=SMALL)
            assert effect.without.plausibility == pytest.approx(truth.plausibility, abs=SMALL)
            assert effect.without.conflict == pytest.approx(truth.conflict, abs=SMALL)
        points = points_of(model, given)
        rows = model.grades(points) > 0.5
        holds = parse(question).holds(model.world, points)
        rules = [number for number, rule in enumerate(model.rules) if rule.degree > 0]
        conflicts = minimal_sets(rows, rules)
        supports = [each for each in minimal_sets(rows[~holds], rules) if bool(rows[:, sorted(each)].all(dim=1).any())]
        assert found.supports_complete
        assert found.conflicts_complete
        assert {tuple(each) for each in found.conflicts} == shown_sets(conflicts), seed
        assert {tuple(each) for each in found.supports} == shown_sets(supports), seed
        for point, side in ((found.witness, True), (found.counter, False)):
            assert (point is None) == (not bool((holds == side).any()))
            if point is not None:
                codes = model.world.point(point.values)[None]
                assert bool(parse(question).holds(model.world, codes)[0]) is side
                assert bool(parse(given).holds(model.world, codes)[0])
                assert point.plausibility == pytest.approx(float(model.keep(points[holds == side]).max()), abs=SMALL)
                assert point.plausibility == pytest.approx(float(model.keep(codes)[0]), abs=SMALL)
    assert done > 4


def test_sets_by_a_solver_are_those_from_points(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pysat")
    for seed in range(20):
        case = random_case(seed)
        if case is None:
            continue
        model, question, given = case
        listed = model.explain(question, given, budget=20.0)
        monkeypatch.setattr("nbr.asking.explaining.LISTED", 0.0)
        monkeypatch.setattr("nbr.asking.points.LISTED", 0.0)
        solved = model.explain(question, given, budget=20.0)
        monkeypatch.undo()
        assert solved.conflicts_complete
        assert sorted(solved.conflicts) == sorted(listed.conflicts), seed
        assert sorted(solved.supports) == sorted(listed.supports), seed
        assert (solved.witness is None) == (listed.witness is None)
        if solved.witness is not None:
            codes = model.world.point(solved.witness.values)[None]
            assert bool((parse(question).holds(model.world, codes) & parse(given).holds(model.world, codes))[0])


def test_sets_are_ranked_by_their_probability() -> None:
    model = nbr.Reasoner(
        nbr.World.bits(3), [nbr.Clause("x0", 0.5), nbr.Clause("x1 & x2", 0.9), nbr.Clause("x1 -> x0", 0.8)]
    )
    found = model.explain("x0")
    assert found.supports == [[2, 3], [1]]
    assert [effect.rule for effect in found.effects] == [2, 3, 1]
    assert "Yes: x0, because of rules 2 and 3." in found.words()


def test_what_to_observe_next() -> None:
    model = nbr.Reasoner(
        nbr.World.bits(4), [nbr.Clause("x1 -> x0", 0.9), nbr.Clause("~x1 -> ~x0", 0.9), nbr.Clause("x2 -> x0", 0.2)]
    )
    found = model.explain("x0", "~x3")
    assert [each.variable for each in found.next] == ["x1", "x2"]
    gaps = [model.ask("x0", f"~x3, x1={value}").ignorance for value in (0, 1)]
    shares = [model.ask(f"x1={value}", "~x3").plausibility for value in (0, 1)]
    mean = sum(gap * share for gap, share in zip(gaps, shares, strict=True)) / sum(shares)
    assert found.next[0].gap == pytest.approx(mean)


def test_without_time_the_effects_are_bounded() -> None:
    model = rule_bases.clauses(1, 12, 14, 5)
    exact = model.explain("x0", "x1", budget=20.0)
    hasty = model.explain("x0", "x1", budget=1e-3)
    for one, other in zip(exact.rules, hasty.rules, strict=True):
        for name in ("belief", "plausibility", "conflict"):
            low, high = getattr(other.without.bounds, name)
            assert low - SMALL <= getattr(one.without, name) <= high + SMALL
