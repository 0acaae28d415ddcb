"""Every way of answering against the definitions of the paper, on random rule bases."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import nbr
import oracle
import rule_bases
from nbr.language import parse
from nbr.points.cell_grid import world_cells

pytest.importorskip("pyganak")
pytest.importorskip("pysat")


def truth(model: nbr.Reasoner, question: str, given: str | None) -> tuple[float, float, float] | None:
    """Belief, plausibility and conflict by going through all points and all worlds; None where nothing is possible."""
    cuts: dict[str, set[float]] = {}
    for text in (question, *([given] if given else []), *(rule.describe() for rule in model.rules)):
        if "network" not in text and "near" not in text:
            for name, numbers in parse(text).cuts(model.world).items():
                cuts.setdefault(name, set()).update(numbers)
    points = torch.cat([chunk for chunk, _ in world_cells(model.world, cuts, (), 1).chunks()])
    if given:
        points = points[parse(given).holds(model.world, points)]
    with torch.no_grad():
        grades, beliefs = model.grades(points).numpy(), model.beliefs.numpy()
    if not len(points) or oracle.expectation(grades, beliefs) == 0:
        return None
    return oracle.answer(grades, beliefs, parse(question).holds(model.world, points).double().numpy())


def numbers(answer: nbr.Answer) -> tuple[float, float, float]:
    return answer.belief, answer.plausibility, answer.conflict


@pytest.mark.parametrize("engine", ["auto", "counting", "lattice"])
@pytest.mark.parametrize("block", range(4))
def test_every_way_equals_the_definitions(block: int, engine: str) -> None:
    answered = 0
    for seed in range(40 * block, 40 * block + 40):
        model, question, given = rule_bases.mixed(seed)
        right = truth(model, question, given)
        if right is None:
            with pytest.raises(nbr.NbrError, match="contradict|cannot hold"):
                model.ask(question, given, engine=engine)
            continue
        answer = model.ask(question, given, engine=engine)
        assert answer.exact, seed
        assert numbers(answer) == pytest.approx(right, abs=1e-9), seed
        answered += 1
    assert answered > 15


def disjoint(seed: int) -> nbr.Reasoner:
    """Several parts that share no variable, some of them fuzzy."""
    draw = random.Random(seed)
    rules: list[nbr.Rule] = []
    for part in range(3):
        names = [f"x{2 * part}", f"x{2 * part + 1}"]
        for _ in range(2):
            sign = draw.choice(["", "~"])
            rules.append(nbr.Clause(f"{names[0]} -> {sign}{names[1]}", draw.random()))
            rules.append(nbr.Clause(draw.choice(["", "~"]) + draw.choice(names), draw.random()))
        if draw.random() < 0.5:
            rules.append(nbr.Memory({names[0]: draw.randint(0, 1), names[1]: 1}, 0.5, draw.random(), sharpness=3.0))
    return nbr.Reasoner(nbr.World.bits(6), draw.sample(rules, 8))


@pytest.mark.parametrize("engine", ["auto", "counting"])
def test_parts_that_are_not_connected(engine: str) -> None:
    for seed in range(40):
        model = disjoint(seed)
        for question, given in (("x0", None), ("x0 & x2", "x4"), ("true", None), ("x5", "x0 | x1")):
            answer = model.ask(question, given, engine=engine, tolerance=0.0)
            assert numbers(answer) == pytest.approx(truth(model, question, given), abs=1e-9), (seed, question)


def test_fuzzy_parts_do_not_cancel() -> None:
    memory = nbr.Memory({"x2": 1}, 0.5, 0.9, sharpness=2.0)
    rules = [nbr.Memory({"x0": 1}, 0.5, 0.8, sharpness=2.0), memory, nbr.Clause("~x2", 0.7)]
    model = nbr.Reasoner(nbr.World.bits(4), rules)
    right = truth(model, "x0", None)
    assert right is not None
    alone = nbr.Reasoner(model.world, rules[:1]).ask("x0")
    assert abs(alone.belief - right[0]) > 0.01  # what leaving the other part out would say
    assert numbers(model.ask("x0", engine="counting", tolerance=0.0)) == pytest.approx(right, abs=1e-9)
    assert numbers(model.ask("x0")) == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_tabulated_networks_are_counted_level_by_level(seed: int) -> None:
    torch.manual_seed(seed)
    draw = random.Random(seed)
    rules: list[nbr.Rule] = [nbr.Clause("x0 -> x5", 0.7), nbr.Clause("~x5 | x3", 0.4)]
    for _ in range(3):
        names = sorted(draw.sample([f"x{i}" for i in range(6)], 3))
        rules.append(
            nbr.Neural(
                names, torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1)), draw.random()
            )
        )
    model = nbr.Reasoner(nbr.World.bits(6), rules)
    right = truth(model, "x0 | x1", "x2")
    assert right is not None
    assert numbers(model.ask("x0 | x1", "x2", engine="counting", tolerance=0.0)) == pytest.approx(right, abs=1e-9)
    rough = model.ask("x0 | x1", "x2", engine="counting", tolerance=0.1)
    for name, value in zip(("belief", "plausibility", "conflict"), right, strict=True):
        low, high = getattr(rough.bounds, name)
        assert low - 1e-9 <= value <= high + 1e-9


@pytest.mark.parametrize("block", range(4))
def test_drawn_worlds_hold_the_truth(block: int) -> None:
    held = asked_for = 0
    for seed in range(10 * block, 10 * block + 10):
        model, question, given = rule_bases.mixed(seed)
        right = truth(model, question, given)
        if right is None:
            continue
        found = model.ask(question, given, engine="drawn", budget=1.0, tolerance=0.05)
        for name, value in zip(("belief", "plausibility", "conflict"), right, strict=True):
            low, high = getattr(found.bounds, name)
            asked_for += 1
            held += low - 1e-9 <= value <= high + 1e-9
            if found.sure is not None:
                least, most = getattr(found.sure, name)
                assert least - 1e-9 <= value <= most + 1e-9, (seed, name)
    assert asked_for > 9
    assert held >= 0.9 * asked_for


def test_drawn_worlds_hold_the_truth_where_nearly_all_contradict_themselves() -> None:
    """Plain draws would hardly meet a world that allows a point; counted answers beside."""
    held = asked_for = 0
    for seed in range(8):
        model = rule_bases.clauses(seed, 6, 30, 12)
        right = model.ask("x0", "x1", engine="counting", budget=60.0)
        assert right.exact
        assert right.conflict > 0.9
        found = model.ask("x0", "x1", engine="drawn", budget=20.0, tolerance=0.12, seed=seed)
        for name in ("belief", "plausibility", "conflict"):
            value, (low, high) = getattr(right, name), getattr(found.bounds, name)
            asked_for += 1
            held += low - 1e-9 <= value <= high + 1e-9
            if found.sure is not None:
                least, most = getattr(found.sure, name)
                assert least - 1e-9 <= value <= most + 1e-9, (seed, name)
    assert held >= 0.85 * asked_for


def test_a_chain_of_implications() -> None:
    model = nbr.Reasoner(nbr.World.bits(200), [nbr.Clause(f"x{i} -> x{i + 1}", 0.99) for i in range(199)])
    answer = model.ask("x199", "x0", budget=120.0)
    assert answer.exact
    assert answer.belief == pytest.approx(0.99**199, abs=1e-9)
    assert answer.plausibility == 1.0


def test_a_grid_of_horn_rules_is_counted_by_its_completion() -> None:
    rules = [nbr.Clause("g00", 1.0)]
    for i in range(3):
        for j in range(3):
            rules += [nbr.Clause(f"g{i}{j} -> g{k}{m}", 0.8) for k, m in ((i + 1, j), (i, j + 1)) if k < 3 and m < 3]
    model = nbr.Reasoner(nbr.World({f"g{i}{j}": nbr.Bit() for i in range(3) for j in range(3)}), rules)
    answer = model.ask("g22", engine="counting")
    assert answer.belief == pytest.approx(model.ask("g22", engine="lattice").belief, abs=1e-9)


def test_nothing_known_is_shown_as_nothing_known() -> None:
    answer = nbr.Reasoner(nbr.World.bits(40), [nbr.Clause("x1 -> x2", 0.5)]).ask("x0")
    assert (answer.belief, answer.plausibility, answer.exact) == (0.0, 1.0, True)


def test_an_interval_never_leaves_out_what_may_be_true(monkeypatch: pytest.MonkeyPatch) -> None:
    model = rule_bases.clauses(3, 24, 33, 8)
    right = model.ask("x0", "x1")
    assert right.exact
    monkeypatch.setattr("nbr.calculus.ganak.available", lambda: False)
    monkeypatch.setattr("nbr.calculus.sat.available", lambda: False)
    monkeypatch.setattr("nbr.encodings.path.Path.of", lambda *_: None)
    poor = model.ask("x0", "x1", budget=0.3)
    assert not poor.exact
    assert poor.belief <= right.belief + 1e-9
    assert poor.plausibility >= right.plausibility - 1e-9
    assert poor.conflict >= right.conflict - 1e-9
    assert any("pyganak" in note for note in poor.notes)
    assert any("python-sat" in note for note in poor.notes)


@pytest.mark.parametrize("seed", range(8))
def test_a_fuzzy_condition_is_counted_level_by_level(seed: int) -> None:
    draw = random.Random(seed)
    rules: list[nbr.Rule] = [nbr.Clause(rule_bases.clause(draw, 5, 2), draw.random()) for _ in range(5)]
    if seed % 2:
        rules.append(nbr.Memory({"x0": 1, "x3": 0}, 0.7, draw.random(), sharpness=2.0))
    model = nbr.Reasoner(nbr.World.bits(5), rules)
    near = nbr.Memory({"x1": 1, "x2": draw.randint(0, 1), "x4": 1}, 0.6, 1.0, sharpness=1.5)
    points = torch.cat([chunk for chunk, _ in world_cells(model.world, {}, (), 1).chunks()])
    with torch.no_grad():
        given = near.bind(model.world).grades(points)[:, None]
        grades = torch.cat([model.grades(points), given], dim=1).numpy()
    beliefs = np.append(model.beliefs.numpy(), 1.0)
    right = oracle.answer(grades, beliefs, parse("x0 | x2").holds(model.world, points).double().numpy())
    answer = model.ask("x0 | x2", near, engine="counting", tolerance=0.0)
    assert numbers(answer) == pytest.approx(right, abs=1e-9)


def test_a_fuzzy_condition_that_cannot_hold_is_told() -> None:
    model = nbr.Reasoner(nbr.World.bits(3), [nbr.Clause("x0", 1.0)])
    with pytest.raises(nbr.NbrError, match=r"condition contradicts rule 1"):
        model.ask("x1", nbr.Fuzzy(lambda t: 0.5 * (1 - t[:, 0]), 1.0, inputs=["x0"]), engine="counting")


def test_one_session_keeps_conditions_apart_beside_memories() -> None:
    rules = [nbr.Memory({f"x{i}": 1}, 0.5, 0.6, sharpness=1e9) for i in range(9)]
    rules += [nbr.Memory({f"x{i}": 0}, 0.5, 0.7, sharpness=1e9) for i in range(9)]
    model = nbr.Reasoner(nbr.World.bits(40), [*rules, nbr.Clause(" | ".join(f"x{i}" for i in range(40)), 0.5)])
    session = model.given("x0 | x9")
    session.ask("x1")
    other = model.given("x1 & x2")
    assert numbers(session.given("x1 & x2").ask("x0")) == pytest.approx(numbers(other.given("x0 | x9").ask("x0")))


def test_a_contradiction_is_named_by_counting() -> None:
    rules = [nbr.Clause("x0 -> x30", 1.0), nbr.Clause("~x30", 1.0), nbr.Clause("x1 | x2", 1.0)]
    rules += [nbr.Clause(f"x{i} -> x{i + 1}", 0.5) for i in range(3, 29)]
    with pytest.raises(nbr.NbrError, match=r"contradicts rule 1 .* and rule 2 .*belief 1"):
        nbr.Reasoner(nbr.World.bits(31), rules).ask("x5", "x0, x3", engine="counting")


def test_witnesses_are_attained_and_covers_dominate() -> None:
    from nbr.asking.question import as_set
    from nbr.encodings.listing import Listing
    from nbr.ways import Limits

    for seed in range(20):
        model, question, given = rule_bases.mixed(seed)
        listing = Listing.of(model.model, as_set(question, model.world, "q"), as_set(given, model.world, "c"), grid=4)
        every = listing.rows(Limits.within(10))
        assert every.complete
        few = listing.rows(Limits.within(-1))  # only the first part
        for rows in (every, few):
            grades = listing.model.grades(rows.points)
            assert torch.equal(grades, rows.witnesses)
            most = rows.most
            for row in every.witnesses:
                assert bool((most >= row).all(dim=1).any())


def test_probed_rows_count() -> None:
    """In a world too large to list, what was seen bounds from below and what was not from above."""
    names = [f"x{i}" for i in range(40)]
    rules = [nbr.Fuzzy(lambda t: 0.5 + 0.5 * t.mean(dim=1), 0.5, inputs=names), nbr.Clause("x0", 0.6)]
    answer = nbr.Reasoner(nbr.World.bits(40), rules).ask("x0", budget=0.5)
    assert not answer.exact
    assert answer.bounds.plausibility[0] > 0.5
    assert answer.bounds.belief[1] < 1.0
    assert np.isfinite(answer.bounds.conflict).all()


def test_drawn_worlds_answer_about_a_variable_that_no_rule_reads() -> None:
    model = nbr.Reasoner(nbr.World.bits(3), [nbr.Clause("x1", 0.5)])
    answer = model.ask("x0", "x2", engine="drawn", budget=1.0)
    assert (answer.belief, answer.plausibility) == (0.0, 1.0)
