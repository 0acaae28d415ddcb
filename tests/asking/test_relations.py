"""What rules and evidence leave possible: against the definitions, and bounds where forms are too many."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import nbr
import oracle
from eyes import Eye, glances
from nbr.asking.asked import AskedPart
from nbr.asking.by_relations import RelationTables
from nbr.asking.components import Component
from nbr.asking.outcome import of_formula
from nbr.language import parse
from nbr.points.cell_grid import world_cells

WORLD = nbr.World(
    a=nbr.Choice("u", "v", "w"), b=nbr.Choice("u", "v", "w"), c=nbr.Choice("u", "v"), t=nbr.Real(0, 3), x=nbr.Bit()
)
ALONE = ["a=u", "a!=v", "b=w", "b!=u", "c=u", "t<1", "t>=2", "x", "~x"]


def small(seed: int) -> tuple[nbr.Reasoner, str, str | None]:
    """Rules about a variable each, and some about several."""
    draw = random.Random(seed)
    beliefs = [0.0, 0.3, 0.5, 0.9, 0.999, 1.0]
    said = [f"{draw.choice('~ ')}({each})" for each in draw.sample(ALONE, 5)]
    said += draw.sample(
        ["a=u <-> b=u", "a=u <-> c=u", "x -> t>=1", "b=w | c=v", "a=w -> ~x", "one(a=u, b=u, x)"],
        draw.choice([0, 2, 3]),
    )
    rules = [nbr.Clause(each, draw.choice(beliefs)) for each in said]
    question = draw.choice(["a=u", "a=u, b=w", "a=v | b=v", "a=u <-> b=w", "x, t<2, c=u", "~(a=u & b=u & c=u)"])
    return nbr.Reasoner(WORLD, rules), question, draw.choice([None, "x", "a!=w | t>=2"])


def expected(model: nbr.Reasoner, question: str, given: str | None) -> list[float]:
    points = torch.cat([chunk for chunk, _ in world_cells(WORLD, {"t": {1.0, 2.0}}, (), 1).chunks()])
    points = points if given is None else points[parse(given).holds(WORLD, points)]
    holds = parse(question).holds(WORLD, points).numpy()
    grades, beliefs = model.grades(points).numpy(), model.beliefs.numpy()
    return [oracle.expectation(grades[some], beliefs) for some in (holds, ~holds, holds | True)]


@pytest.mark.parametrize("forms", [1024, 2])
def test_expectations_are_those_of_the_definitions(forms: int) -> None:
    compared = cut = 0
    for seed in range(150):
        model, question, given = small(seed)
        condition = None if given is None else parse(given)
        part = Component(model.model, tuple(range(len(model.rules))), parse(question), condition, True)
        found = RelationTables.of(AskedPart(part)).estimate(forms, None)
        right = expected(model, question, given)
        for union in range(3):
            low, high = found.bounds(union)
            assert low - 1e-12 <= right[union] <= high + 1e-12, seed
        cut += not found.exact
        compared += 0 < right[2] < 1
        if right[2] > 0:
            outcome = of_formula(found)
            assert outcome.plausibility[0] - 1e-9 <= right[0] / right[2] <= outcome.plausibility[1] + 1e-9
    assert compared > 40
    assert cut == 0 if forms == 1024 else cut > 20


def test_full_readings_by_every_set_of_labels_that_is_left() -> None:
    """Two pictures of ten labels: 2^20 worlds of objections, with the rule and without it."""
    world = nbr.World(d1=nbr.Real(0, 9, 1), d2=nbr.Real(0, 9, 1))
    model = nbr.Reasoner(world, [nbr.Clause("(d1 + d2) mod 10 = 0", 0.9)], sensors={"d1..d2": Eye(*range(10))})
    sets = (np.arange(1024)[:, None] >> np.arange(10) & 1).astype(bool)
    for seed in range(3):
        logs = glances(seed, 2, 10)
        seen = model.see(d1=logs[0], d2=logs[1])
        best = seen.best().point
        chance = [np.where(sets, np.exp(each), -np.expm1(each)).prod(axis=1) for each in logs]
        for asked in ({"d1": int(best["d1"]), "d2": int(best["d2"])}, {"d1": int(best["d1"])}, {"d2": 3}):
            sums = np.zeros(3)
            for ruled, weight in ((True, 0.9), (False, 0.1)):
                pairs = [(a, b) for a in range(10) for b in range(10) if not ruled or (a + b) % 10 == 0]
                mine = [p for p in pairs if all(p[name == "d2"] == value for name, value in asked.items())]
                others = [p for p in pairs if p not in mine]
                for place, some in enumerate((mine, others, pairs)):
                    joined = np.zeros((10, 10))
                    joined[tuple(np.array(some).T)] = 1.0
                    left = (sets @ joined @ sets.T) > 0
                    sums[place] += weight * (chance[0] @ left @ chance[1])
            found = seen.ask(", ".join(f"{name}={value}" for name, value in asked.items()), engine="relations")
            assert found.exact
            assert found.plausibility == pytest.approx(sums[0] / sums[2], abs=1e-12)
            assert found.belief == pytest.approx(1 - sums[1] / sums[2], abs=1e-12)
            assert found.conflict == pytest.approx(1 - sums[2], abs=1e-12)


def test_a_check_digit() -> None:
    world = nbr.World({f"d{place}": nbr.Real(0, 9, 1) for place in range(1, 4)})
    rule = nbr.Clause("(d1 + d2 - d3) mod 10 = 0", 0.99)
    logs = 4 * glances(1, 3, 10)
    seen = nbr.Reasoner(world, [rule], sensors={"d1..d3": Eye(*range(10))}).see(
        dict(zip(world.names, logs, strict=True))
    )
    whole = seen.ask(
        ", ".join(f"{name}={value}" for name, value in seen.best().point.items()), engine="relations", budget=60
    )
    alone = seen.ask(f"d1={seen.best().point['d1']}", engine="relations", budget=60)
    assert whole.exact
    assert alone.exact
    quick = seen.ask(whole.question, budget=100)  # without being asked for, and at least nearly
    assert (quick.engine, quick.bounds.kind) == ("relations", "proved")
    assert quick.bounds.belief[0] - 1e-12 <= whole.belief <= quick.bounds.belief[1] + 1e-12
    assert quick.uncomputed < 1e-3
    assert 0 < whole.belief <= alone.belief < 1
    assert whole.plausibility <= alone.plausibility
    assert whole.conflict == pytest.approx(alone.conflict)


def test_a_sum_whose_regions_are_too_many_to_list() -> None:
    """Four digits and their sum: bounds hold what listing all sets of labels says, and questions of others agree."""
    world = nbr.World({**{f"d{place}": nbr.Real(0, 4, 1) for place in range(1, 5)}, "s": nbr.Real(0, 16, 1)})
    logs = glances(5, 4, 5)
    eyes = {"d1..d4": Eye(*range(5))}
    model = nbr.Reasoner(world, [nbr.Clause("d1 + d2 + d3 + d4 = s", 0.9)], sensors=eyes)
    seen = model.see({f"d{place + 1}": logs[place] for place in range(4)})
    sets = (np.arange(32)[:, None] >> np.arange(5) & 1).astype(bool)
    masks = np.array([sum(1 << value for value in np.flatnonzero(row)) for row in sets])
    chances = [np.where(sets, np.exp(each), -np.expm1(each)).prod(axis=1) for each in logs]
    reached: dict[int, float] = {1: 1.0}
    for chance in chances:
        now: dict[int, float] = {}
        for sums, before in reached.items():
            for mask, weight in zip(masks.tolist(), chance.tolist(), strict=True):
                after = 0
                for value in range(5):
                    if mask >> value & 1:
                        after |= sums << value
                if after and weight:
                    now[after] = now.get(after, 0.0) + before * weight
        reached = now
    some = sum(reached.values())
    likely = {total: sum(weight for sums, weight in reached.items() if sums >> total & 1) for total in range(17)}
    total = max(likely, key=lambda each: likely[each])
    others = sum(weight for sums, weight in reached.items() if sums & ~(1 << total))
    found = seen.ask(f"s={total}", budget=60)
    assert found.engine == "relations"
    assert found.uncomputed < 1e-3
    # with the rule; without it, believed to 0.1, every value of s is possible wherever something is left
    low, high = found.bounds.plausibility
    assert low - 1e-9 <= (0.9 * likely[total] + 0.1 * some) / some <= high + 1e-9
    low, high = found.bounds.belief
    assert low - 1e-9 <= 1 - (0.9 * others + 0.1 * some) / some <= high + 1e-9


def test_a_sliver_of_what_is_possible_keeps_its_digits() -> None:
    """Where next to nothing is left, forms that are next to impossible count."""
    eyes = {"a": Eye("u", "v", "w"), "b": Eye("u", "v", "w")}
    model = nbr.Reasoner(WORLD, [nbr.Clause("a=v <-> b=v", 1.0), nbr.Clause("~(a=u | a=w)", 1.0)], sensors=eyes)
    seen = model.see(a=np.array([0.0, -19.0, -19.5]), b=np.array([0.0, -18.0, -19.0]))
    found = seen.ask("a=v", engine="relations")
    assert found.exact
    assert 1 - found.conflict == pytest.approx(np.exp(-37.0), rel=1e-6) or found.conflict == 1
    assert (found.belief, found.plausibility) == (1, 1)


def test_what_it_does_not_take() -> None:
    bits = nbr.World.bits(4)
    knit = nbr.Reasoner(bits, [nbr.Clause("x0 -> x1", 0.5), nbr.Clause("x1 -> x2", 0.5), nbr.Clause("x3", 0.5)])
    with pytest.raises(nbr.NbrError, match="half or more are about a single variable"):
        knit.ask("x2", "x0", engine="relations")
    told = nbr.Reasoner(bits, [nbr.Clause("x0", 1.0), nbr.Clause("~x0", 1.0)])
    with pytest.raises(nbr.NbrError, match="rule 1 .* and rule 2 .* contradict each other"):
        told.ask("x0 | x1", engine="relations")
