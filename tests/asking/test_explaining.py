"""Explanations against their definitions, by points and by a solver, within the time there is."""

from __future__ import annotations

import pytest

import explanations
import nbr
import rule_bases
import selectors_oracle
from nbr.asking import explaining
from nbr.asking.answer import Answer
from nbr.clock import OutOfTime
from nbr.language import parse
from nbr.model import Model

SMALL = 1e-9


@pytest.mark.parametrize("fuzzy", [False, True])
@pytest.mark.parametrize("block", range(2))
def test_explanations_equal_their_definitions(block: int, fuzzy: bool) -> None:
    """A few of those that benchmarks/explanations.py goes through."""
    done = 0
    for seed in range(25 * block, 25 * block + 25):
        case = explanations.case(seed, fuzzy)
        if case is not None:
            explanations.check(*case)
            done += 1
    assert done > 4


def test_sets_by_a_solver_are_those_from_points(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pysat")
    for seed in range(20):
        case = explanations.case(seed)
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
        for one, other in zip(listed.rules, solved.rules, strict=True):
            assert other.without.belief == pytest.approx(one.without.belief, abs=SMALL)
            assert other.without.plausibility == pytest.approx(one.without.plausibility, abs=SMALL)
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
    assert "Rather yes: x0, believed to 0.86, because of rules 2 and 3." in found.words()


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


@pytest.mark.parametrize("listed", [True, False])
def test_what_sets_tell_is_what_asking_again_tells(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a rule, and after an observation, where rules share sources and exclude one another."""
    pytest.importorskip("pysat")
    if not listed:
        monkeypatch.setattr("nbr.asking.explaining.LISTED", 0.0)
    looked = 0
    for seed in range(12):
        model = selectors_oracle.drawn(seed)
        question, given = "a | d=red", "d in {red, green}"
        try:
            found = model.explain(question, given)
        except nbr.NbrError:
            continue
        for effect in found.rules:
            rules = [rule for number, rule in enumerate(model.rules, 1) if number != effect.rule]
            other = nbr.Reasoner(model.world, rules).ask(question, given)
            for name in ("belief", "plausibility", "conflict"):
                assert getattr(effect.without, name) == pytest.approx(getattr(other, name), abs=SMALL), seed
        for each in found.next:
            answers = [model.ask(question, f"{given}, {each.variable}={value}") for value in (0, 1)]
            shares = [1 - answer.conflict for answer in answers]
            mean = sum(a.ignorance * share for a, share in zip(answers, shares, strict=True)) / sum(shares)
            assert each.gap == pytest.approx(mean, abs=SMALL), seed
            looked += 1
        denied = model.explain(f"~({question})", given)
        assert sorted(found.against) == sorted(denied.supports)
    assert looked > 10


def test_labels_that_nothing_tells_apart_weigh_as_many() -> None:
    rules = [nbr.Clause("d=red -> a", 0.9), nbr.Clause("d!=red -> ~a", 0.3)]
    model = nbr.Reasoner(nbr.World(a=nbr.Bit(), d=nbr.Choice("red", "green", "blue", "grey")), rules)
    gaps = [model.ask("a", f"d={label}").ignorance for label in ("red", "green", "blue", "grey")]
    assert model.explain("a").next[0].gap == pytest.approx(sum(gaps) / 4)


def test_without_time_the_effects_are_bounded() -> None:
    model = rule_bases.clauses(1, 12, 14, 5)
    exact = model.explain("x0", "x1", budget=20.0)
    hasty = model.explain("x0", "x1", budget=1e-3)
    for one, other in zip(exact.rules, hasty.rules, strict=True):
        for name in ("belief", "plausibility", "conflict"):
            low, high = getattr(other.without.bounds, name)
            assert low - SMALL <= getattr(one.without, name) <= high + SMALL


def test_rules_that_were_not_examined_are_not_what_the_answer_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    world = nbr.World({f"x{at}": nbr.Bit() for at in range(6)} | {"t": nbr.Real(0, 9, step=1)})
    rules = [nbr.Clause("x0 -> x1", 0.8), nbr.Clause("hot -> x2", 0.5), nbr.Clause("x2 -> x3 | x4", 0.5)]
    model = nbr.Reasoner(world.with_words({"hot": {"t": [3, 7]}}), rules)
    true = explaining.ask

    def late(part: Model, *rest: object) -> Answer:
        if len(part.rules) < len(rules) and part.rules[0] is model.rules[0]:
            raise OutOfTime
        return true(part, *rest)

    monkeypatch.setattr(explaining, "ask", late)
    found = model.explain("x1", "x0", budget=20.0)
    assert [each.rule for each in found.effects if each.computed(found.answer)] == [1]
    assert found.about == ("x0", "x1")


def test_a_contradiction_is_told_apart_from_one_with_the_condition() -> None:
    world = nbr.World.bits(3)
    alone = nbr.Reasoner(world, [nbr.Clause("x0", 0.9), nbr.Clause("~x0", 0.8), nbr.Clause("x1 -> x2", 0.9)])
    assert "Rules 1 and 2 contradict each other." in alone.explain("x2", "x1").words()
    given = nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x0 -> ~x1", 0.8)])
    assert "Rules 1 and 2 and the condition contradict each other." in given.explain("x2", "x0").words()


def test_rules_in_no_minimal_set_are_known_to_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 rules all are told exactly, without asking again, as far as minimal sets tell it."""
    pytest.importorskip("pysat")
    chain = [nbr.Clause(f"x{i} -> x{i + 1}", 0.9) for i in range(3)]
    others = [nbr.Clause(f"y{i} | y{i + 1}", 0.7) for i in range(37)]
    world = nbr.World({f"x{i}": nbr.Bit() for i in range(4)} | {f"y{i}": nbr.Bit() for i in range(38)})
    model = nbr.Reasoner(world, [*chain, *others])
    asked = []
    true = explaining.ask
    monkeypatch.setattr(explaining, "ask", lambda model, *rest: asked.append(len(model.rules)) or true(model, *rest))
    found = model.explain("x3", "x0", budget=20.0)
    assert asked == [40]
    assert [effect.rule for effect in found.effects] == [1, 2, 3]
    assert all(effect.without.exact for effect in found.rules)
    assert [effect.without.belief for effect in found.rules[:4]] == pytest.approx([0, 0, 0, 0.9**3])
