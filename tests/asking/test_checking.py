"""Checking a rule base: what is found against brute force, and expected answers as tests of it."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
import rule_bases
from command import run
from nbr import registry
from nbr.asking import checking, expecting
from nbr.asking.question import AskSettings
from nbr.calculus import sat
from nbr.points.cell_grid import world_cells

BITS = nbr.World({name: nbr.Bit() for name in "abcdef"})


def reasoner(*rules: tuple[str, float]) -> nbr.Reasoner:
    return nbr.Reasoner(BITS, [nbr.Clause(text, belief) for text, belief in rules])


def findings(*rules: tuple[str, float]) -> list[tuple[str, tuple[int, ...]]]:
    return [(each.kind, each.rules) for each in reasoner(*rules).check().findings if each.kind != "unread"]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([("a -> b", 0.5), ("b -> c", 0.5)], []),
        ([("a | ~a", 0.5)], [("always true", (1,))]),
        ([("a & ~a", 0.5), ("b", 0.5)], [("never true", (1,))]),
        ([("a", 0.5), ("b", 0.6), ("~a | ~b", 0.5)], [("contradiction", (1, 2, 3))]),
        ([("a", 0.5), ("~a", 0.6)], [("contradiction", (1, 2))]),
        ([("a -> b", 0.5), ("a -> ~b", 0.5)], [("premise ruled out", (1, 2))]),
        ([("a -> b", 0.5), ("b -> c", 0.5), ("a -> c", 0.5)], [("follows", (3, 1, 2))]),
        ([("a -> b", 0.5), ("~b -> ~a", 0.5)], [("the same", (1, 2))]),
        ([("a & c -> b", 0.5), ("a -> b", 0.5)], [("follows", (1, 2))]),
        ([("a -> b", 1.0), ("a & c -> b", 0.5)], [("belief 1", (1,)), ("never matters", (2, 1))]),
        ([("a", 0.0)], [("belief 0", (1,))]),
        ([("a", 0.5), ("~a", 0.5), ("b", 0.5)], [("contradiction", (1, 2))]),  # b does not follow from nonsense
    ],
)
def test_findings(rules, expected) -> None:
    assert findings(*rules) == expected


def test_words_and_probability() -> None:
    found = reasoner(("a", 0.5), ("~a", 0.6), ("b", 0.5)).check()
    unread, quarrel = found.findings
    assert unread.text == "c, d, e and f are variables that no rule reads"
    assert quarrel.text.startswith("rules 1 (a) and 2 (~a) contradict each other: all are present with probability 0.3")
    assert quarrel.probability == pytest.approx(0.3)
    assert found.complete
    assert found.findings[0].text in str(found)


def test_rules_that_are_no_statements_are_named(monkeypatch) -> None:
    soft = nbr.Fuzzy(lambda points: points[:, 0] * 0.5, 0.5)
    found = nbr.Reasoner(BITS, [nbr.Clause("a", 0.5), soft, nbr.Clause("~a", 0.5)]).check()
    assert "rule 2" in found.notes[0]
    assert [each.rules for each in found.findings if each.kind == "contradiction"] == [(1, 3)]
    monkeypatch.setattr(sat, "available", lambda: False)
    without = nbr.Reasoner(BITS, [nbr.Clause("a", 0.5)]).check()
    assert not without.complete
    assert "python-sat" in without.notes[-1]


def test_no_rules_and_no_time() -> None:
    assert reasoner().check().complete
    many = rule_bases.clauses(3, 40, 80, 30).check(budget=0.01)
    assert not many.complete


def truths(base: nbr.Reasoner) -> np.ndarray:
    """(points, rules): which rules hold, at one point for every way to tell points apart."""
    cuts: dict[str, set[float]] = {}
    for rule in base.rules:
        for name, numbers in rule.cuts().items():
            cuts.setdefault(name, set()).update(numbers)
    points = torch.cat([chunk for chunk, _ in world_cells(base.world, cuts, (), 1).chunks()])
    return base.grades(points).numpy() > 0


@pytest.mark.parametrize("seed", range(40))
def test_against_brute_force(seed: int) -> None:
    base, _, _ = rule_bases.mixed(seed, rules=6)
    held, rules = truths(base), range(6)
    found = base.check()
    assert found.complete

    def possible(some, also=True) -> bool:
        return bool((held[:, list(some)].all(axis=1) & also).any())

    sets = [frozenset(some) for size in range(7) for some in itertools.combinations(rules, size)]
    bad = [some for some in sets if not possible(some)]
    minimal = {tuple(sorted(r + 1 for r in some)) for some in bad if not any(other < some for other in bad)}
    assert {each.rules for each in found.findings if each.kind in ("contradiction", "never true")} == minimal
    always = {(rule + 1,) for rule in rules if held[:, rule].all()}
    assert {each.rules for each in found.findings if each.kind == "always true"} == always

    def entails(some, rule) -> bool:
        return possible(some) and not possible(some, ~held[:, rule])

    told: dict[int, frozenset[int]] = {}
    for each in found.findings:
        if each.kind in ("follows", "never matters"):
            told[each.rules[0] - 1] = frozenset(rule - 1 for rule in each.rules[1:])
        if each.kind == "the same":
            one, other = (rule - 1 for rule in each.rules)
            assert np.array_equal(held[:, one], held[:, other])
            told |= {one: frozenset({other}), other: frozenset({one})}
    dull = {rule for rule in rules if held[:, rule].all() or not held[:, rule].any()}
    for rule in set(rules) - dull:
        from_others = any(entails(some, rule) for some in sets if rule not in some)
        assert (rule in told) == from_others
        if rule in told:
            assert entails(told[rule], rule)
            assert not any(entails(told[rule] - {one}, rule) for one in told[rule])


def test_premises_against_brute_force() -> None:
    draw = random.Random(5)
    for _ in range(30):
        said = []
        for _ in range(5):
            one, other = draw.sample("abcd", 2)
            said.append(f"{draw.choice(['', '~'])}{one} -> {draw.choice(['', '~'])}{other}")
        base = nbr.Reasoner(nbr.World({name: nbr.Bit() for name in "abcd"}), [nbr.Clause(text, 0.5) for text in said])
        held = truths(base)
        points = torch.cat([chunk for chunk, _ in world_cells(base.world, {}, (), 1).chunks()])
        expected = set()
        for text in said:
            meets = nbr.parse(text).premise.holds(base.world, points).numpy()
            sets = [frozenset(s) for size in range(6) for s in itertools.combinations(range(5), size)]
            bad = [some for some in sets if not (held[:, list(some)].all(axis=1) & meets).any()]
            expected |= {some for some in bad if not any(other < some for other in bad)}
        expected = {tuple(sorted(r + 1 for r in some)) for some in expected if not any(o < some for o in expected)}
        found = {each.rules for each in base.check().findings if each.kind == "premise ruled out"}
        assert {some for some in found if not any(set(o) < set(some) for o in found)} == expected


MODEL = """
[variables]
rain = "bit"
grass = ["dry", "wet", "mown"]

[[rules]]
rule = "rain -> grass=wet"
belief = 0.9
"""
PASSED = """
[[expect]]
ask = "grass=wet"
given = "rain"
belief = 0.9
plausibility = [0.99, 1]
conflict = 0

[[expect]]
ask = "grass"
given = "rain"
best = "wet"
"""


def judged(model: str) -> list[expecting.ExpectationResult]:
    data = tomllib.loads(model)
    base = nbr.Reasoner.from_spec(data, registry.Parts())
    return list(expecting.judged(base.model, expecting.read(data), AskSettings()))


def command(tmp_path: Path, model: str, *words: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "m.toml").write_text(model)
    return run("check", "m.toml", *words, cwd=tmp_path)


def test_expected_answers(tmp_path) -> None:
    done = command(tmp_path, MODEL + PASSED)
    assert done.returncode == 0, done.stderr
    assert "no problems" in done.stdout
    assert "expected answers: 2 of 2 as expected" in done.stdout


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ('ask = "grass=wet"\ngiven = "rain"\nbelief = 0.8', "belief is 0.9000, expected 0.79 to 0.81"),
        ('ask = "grass=wet"\ngiven = "rain"\nbelief = 0.91\ntolerance = 0.001', "belief is 0.9000"),
        ('ask = "grass=wet"\nplausibility = [0.2, 0.3]', "plausibility is 1.0000, expected 0.2 to 0.3"),
        ('ask = "grass"\ngiven = "rain"\nbest = "dry"', "the first is wet, not dry"),
        ('ask = "grass"\nbest = "dry"', "the first is dry and wet and mown, not dry"),
        ('ask = "grass=wet"\ngiven = "rain & ~rain"\nbelief = 1', "cannot hold"),
    ],
)
def test_failed_expectations(expect: str, words: str) -> None:
    verdicts = judged(f"{MODEL}{PASSED}[[expect]]\n{expect}\n")
    assert [each.passed for each in verdicts] == [True, True, False]
    assert any(words in said for said in verdicts[2].says)


def test_a_failed_expectation_ends_with_1(tmp_path) -> None:
    model = f'{MODEL}{PASSED}[[expect]]\nask = "grass=wet"\ngiven = "rain"\nbelief = 0.8\n'
    done = command(tmp_path, model)
    assert done.returncode == 1, done.stderr
    assert "2 of 3 as expected" in done.stdout
    assert "expect 3 FAILED: grass=wet | rain: belief is 0.9000, expected 0.79 to 0.81" in done.stdout
    done = command(tmp_path, model, "--json")
    assert done.returncode == 1
    assert [each["passed"] for each in json.loads(done.stdout)["expected"]] == [True, True, False]


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ('ask = "grass=wett"\nbelief = 1', "expect 1: question: .*did you mean 'wet'"),
        ('ask = "grass=wet"\ngiven = "rian"\nbelief = 1', "expect 1: condition: .*'rain'"),
        ('ask = "grass=wet"', "says nothing"),
        ("belief = 1", "has no ask"),
        ('ask = "rain"\nbeleif = 1', "did you mean 'belief'"),
        ('ask = "rain"\nbelief = "high"', "must be a number"),
        ('ask = "rain"\nbelief = [1]', "a number or two"),
        ('ask = "rain"\nbelief = [1, 0]', "the lower number comes first"),
        ('ask = "rain"\nbest = "1"', "for a choice or a number"),
        ('ask = "grass"\nbelief = 1', "has many values"),
    ],
)
def test_wrong_expectations(expect: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words) as error:
        judged(f"{MODEL}[[expect]]\n{expect}\n")
    assert "\n" not in str(error.value)


def test_a_wrong_expectation_ends_with_2(tmp_path) -> None:
    done = command(tmp_path, MODEL + '[[expect]]\nask = "rian"\nbelief = 1\n')
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("nbr: m.toml: expect 1: question: unknown variable 'rian'")


def test_check_of_a_saved_model(tmp_path) -> None:
    reasoner(("a", 0.5), ("~a", 0.5)).save(tmp_path / "m.nbr")
    done = run("check", "m.nbr", "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert [each["kind"] for each in told["findings"]] == ["unread", "contradiction"]
    assert told["expected"] == []
    assert checking.Check((), True).as_json()["complete"] is True


@pytest.mark.parametrize(
    ("rules", "causes", "effects"),
    [
        ([("a -> b", 0.5), ("b -> c", 0.5)], "a", ["b", "c"]),
        ([("a & b -> c", 0.5), ("d -> c", 0.5)], "a, b and d", ["c"]),
        ([("a -> b", 0.5), ("b -> a", 0.5)], None, []),  # b speaks for a
        ([("a -> b", 0.5), ("a | c", 0.5)], None, []),
        ([("a -> ~b", 0.5)], None, []),  # that b is not so cannot be closed
        ([("a -> b", 0.5), ("~b", 0.5)], None, []),
        ([("count(a, b)>=2 -> c", 0.5)], "a and b", ["c"]),
        ([("count(a, b)<2 -> c", 0.5)], None, []),
        ([("majority(a, b, d) -> c & e", 0.5)], "a, b and d", ["c", "e"]),
        ([("(a <-> b) -> c", 0.5)], None, []),
    ],
)
def test_causes_that_nothing_can_support_are_told_and_what_to_close(
    rules: list[tuple[str, float]], causes: str | None, effects: list[str]
) -> None:
    model = reasoner(*rules)
    notes = model.check().notes
    if causes is None:
        assert notes == ()
        return
    (note,) = notes
    assert note.startswith(f"nothing can support {causes}: ")
    assert f"closed = [{', '.join(json.dumps(name) for name in effects)}]" in note
    cause = causes.split(",")[0].split(" and ")[0]
    for others in itertools.product(["", "~"], repeat=5):  # whatever else is known
        given = ", ".join(sign + name for sign, name in zip(others, set("abcdef") - {cause}, strict=True))
        assert model.ask(cause, given).belief == 0
    closed = nbr.Reasoner(BITS, [*model.rules, nbr.Clause(causes.replace(", ", " & ").replace(" and ", " & "), 0.1)])
    closed = nbr.Reasoner(BITS, closed.rules, closed=effects)
    assert closed.ask(cause, effects[-1]).belief > 0
    assert not any("nothing can support" in note for note in closed.check().notes)


def test_closed_variables_that_nothing_makes_so_are_found() -> None:
    model = nbr.Reasoner(BITS, [nbr.Clause("a -> b", 0.5)], closed=["a", "b"])
    found = [each.text for each in model.check().findings if each.kind == "unmade"]
    assert found == ["nothing can make a so: closed, and no rule says it"]


def test_choices_that_can_be_left_by_exclusion_are_supported() -> None:
    world = nbr.World(light=nbr.Choice("red", "green", "off"), stop=nbr.Bit(), go=nbr.Bit())
    rules = [nbr.Clause("light=red -> stop", 0.9), nbr.Clause("light=green -> go", 0.9)]
    assert nbr.Reasoner(world, rules).check().notes == ()  # off is what is left where neither follows
    assert nbr.Reasoner(world, rules).ask("light=off", "~stop, ~go").belief > 0
    (note,) = nbr.Reasoner(world, rules[:1]).check().notes
    assert "nothing can support light" in note
