"""Words with degrees, against min, max and 1 minus written out, and models of them against the paper's definitions."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
import oracle
from command import run

WORDS = {
    "hot": {"t": [3, 7]},
    "cold": {"t": [4, 1]},
    "mild": {"t": [1, 3, 5, 9]},
    "muddy": {"ground": {"wet": 1, "damp": 0.4}},
    "bad": {"t": [8, 2], "ground": {"dry": 0.3, "wet": 0.9}},
}
VARIABLES = {"t": nbr.Real(0, 10, step=1), "ground": nbr.Choice("dry", "damp", "wet"), "a": nbr.Bit()}
WORLD = nbr.World(VARIABLES).with_words(WORDS)
POINTS = torch.cartesian_prod(torch.arange(11).double(), torch.arange(3).double(), torch.arange(2).double())


def grade(name: str, t: float, ground: str, a: float) -> float:
    ramps = {"hot": (t - 3) / 4, "cold": (4 - t) / 3, "mild": min((t - 1) / 2, (9 - t) / 4), "bad": (8 - t) / 6}
    ramp = min(1.0, max(0.0, ramps.get(name, 1.0)))
    labels = {"muddy": {"wet": 1.0, "damp": 0.4}, "bad": {"dry": 0.3, "wet": 0.9}}
    return min(ramp, labels[name].get(ground, 0.0)) if name in labels else ramp


def statement(draw: random.Random, depth: int = 2) -> tuple[str, object]:
    """A random statement, and its degree as a function of t, ground and a."""
    kind = draw.choice(["atom", "not", "and", "or", "implies", "iff", "count"]) if depth else "atom"
    if kind == "atom":
        name = draw.choice([*WORDS, "a", "t>4", "ground=wet"])
        crisp = {
            "a": lambda t, g, a: a,
            "t>4": lambda t, g, a: float(t > 4),
            "ground=wet": lambda t, g, a: float(g == "wet"),
        }
        return name, crisp.get(name, lambda t, g, a: grade(name, t, g, a))
    several = [statement(draw, depth - 1) for _ in range({"not": 1, "implies": 2, "iff": 2}.get(kind, 3))]
    said, parts = [f"({words})" for words, _ in several], [part for _, part in several]
    if kind == "not":
        return f"~{said[0]}", lambda *z: 1 - parts[0](*z)
    if kind == "and":
        return " & ".join(said), lambda *z: min(part(*z) for part in parts)
    if kind == "or":
        return " | ".join(said), lambda *z: max(part(*z) for part in parts)
    if kind == "implies":
        return " -> ".join(said), lambda *z: max(1 - parts[0](*z), parts[1](*z))
    if kind == "iff":
        return " <-> ".join(said), lambda *z: min(
            max(1 - parts[0](*z), parts[1](*z)), max(1 - parts[1](*z), parts[0](*z))
        )
    number = draw.randint(1, 3)
    return f"count({', '.join(said)})>={number}", lambda *z: sorted((part(*z) for part in parts), reverse=True)[
        number - 1
    ]


def degrees(function) -> np.ndarray:
    labels = VARIABLES["ground"].labels
    return np.array([function(t, labels[int(ground)], a) for t, ground, a in POINTS.tolist()])


@pytest.mark.parametrize("seed", range(40))
def test_models_with_words_answer_as_the_paper_defines(seed: int) -> None:
    draw = random.Random(seed)
    said = [statement(draw) for _ in range(draw.randint(1, 4))]
    beliefs = [draw.uniform(0.1, 0.9) for _ in said]
    model = nbr.Reasoner(WORLD, [nbr.Clause(words, belief) for (words, _), belief in zip(said, beliefs, strict=True)])
    table = np.stack([degrees(function) for _, function in said], axis=1)
    assert np.allclose(model.grades(POINTS).numpy(), table, atol=1e-12)
    (question, asked), (given, seen) = statement(draw, 1), statement(draw, 1)
    condition = degrees(seen)
    if condition.max() == 0:
        return
    known = oracle.answer(table, np.array(beliefs), degrees(asked), condition)
    found = model.ask(question, given=given)
    assert found.exact
    assert (found.belief, found.plausibility, found.conflict) == pytest.approx(known, abs=1e-9)


def test_bounds_hold_within_boxes_of_numbers() -> None:
    world = nbr.World({**VARIABLES, "t": nbr.Real(0, 10)}).with_words(WORDS)
    draw, generator = random.Random(0), torch.Generator().manual_seed(0)
    for _ in range(60):
        rule = nbr.Reasoner(world, [nbr.Clause(statement(draw)[0], 0.5)]).rules[0]
        low = torch.tensor([[draw.uniform(0, 10), draw.randint(0, 2), draw.randint(0, 1)]]).double()
        high = low.clone()
        high[0, 0] = draw.uniform(float(low[0, 0]), 10)
        least, most = rule.bounds(low, high)
        inside = low + torch.rand(200, 3, generator=generator, dtype=torch.float64) * (high - low)
        grades = rule.grades(inside)
        assert float(least) - 1e-12 <= float(grades.min()) <= float(grades.max()) <= float(most) + 1e-12


def test_numbers_without_a_step_are_answered_within_the_tolerance() -> None:
    world = nbr.World(t=nbr.Real(0, 50), a=nbr.Bit()).with_words({"hot": {"t": [25, 30]}})
    model = nbr.Reasoner(world, [nbr.Clause("hot -> a", 0.9)])
    assert model.ask("a", given="t=27").belief == pytest.approx(0.9 * 0.4, abs=1e-3)
    assert model.ask("a", given="hot").belief <= 0.9
    assert model.ask("a", given="t>=30").belief == pytest.approx(0.9, abs=1e-3)
    assert model.ask("hot", given="t=27").belief == pytest.approx(0.4, abs=1e-3)
    assert model.ask("a", given="t=40 @ 0.5").belief == pytest.approx(0.45, abs=1e-3)


FILE = """
[variables]
t = { from = 0, to = 10, step = 1 }
ground = ["dry", "damp", "wet"]
a = "bit"
[words]
hot = { t = [3, 7] }
muddy = { ground = { wet = 1, damp = 0.4 } }
[[rules]]
rule = "hot & muddy -> a"
belief = 0.8
source = "s"
quote = "in mud and heat"
[actions]
go = [{ when = "hot", value = 2 }, { value = 0 }]
"""


def test_words_are_saved_and_joined(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(FILE)
    model = nbr.load(tmp_path / "m.toml")
    for name in ("n.nbr", "n.toml"):
        model.save(tmp_path / name)
        again = nbr.load(tmp_path / name)
        assert again.world.words == model.world.words
        assert again.rules[0].spec() == model.rules[0].spec()
        assert again.ask("a", given="t=5, ground=damp").belief == pytest.approx(0.8 * 0.4)
    assert len((model & model).rules) == 1  # from a named source
    (tmp_path / "m.toml").write_text(FILE.replace("[3, 7]", "[4, 7]"))
    with pytest.raises(nbr.NbrError, match="the word 'hot' has different meanings"):
        model & nbr.load(tmp_path / "m.toml")
    told = json.loads(run("decide", "n.toml", "--given", "t=5", "--json", cwd=tmp_path).stdout)
    assert told["actions"][0]["lower"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hot = { s = [3, 7] }", "unknown variable 's'"),
        ("hot = { t = [3] }", "takes two numbers"),
        ("hot = { t = [3, 3] }", "are the same"),
        ("hot = { t = [3, 2, 5, 6] }", "corners of a trapezoid must ascend"),
        ("hot = { ground = [1, 2] }", "has labels"),
        ("hot = { ground = { wed = 1 } }", "did you mean 'wet'"),
        ("hot = { ground = { wet = 2 } }", "a grade must be a number from 0 to 1"),
        ("hot = { t = { wet = 1 } }", "is a number"),
        ("hot = 3", "it must name a variable"),
        ("a = { t = [3, 7] }", "a variable already has that name"),
    ],
)
def test_words_that_cannot_be_read_are_named(words: str, said: str, tmp_path: Path) -> None:
    text = FILE.replace("hot = { t = [3, 7] }", words)
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(nbr.NbrError, match=said):
        nbr.load(tmp_path / "m.toml")


def test_where_no_degree_will_do_a_word_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(FILE)
    model = nbr.load(tmp_path / "m.toml")
    for refused in (lambda: model.probability("hot"), lambda: model.ask("hot=1"), lambda: model.ask("a", "hot>1")):
        with pytest.raises(nbr.NbrError, match="'hot' is a word with degrees"):
            refused()
    assert model.ask_many([("a", "hot"), ("hot", None)]).shape[0] == 2
    assert model.explain("a", given="hot").answer.plausibility == 1


def test_a_statement_with_words_is_no_classical_one() -> None:
    """Beside crisp rules, where it was once counted as one."""
    model = nbr.Reasoner(WORLD, [nbr.Clause("~muddy", 0.5), nbr.Clause("a", 0.5)])
    assert model.rules[0].expression is None
    for engine in ("auto", "few", "counting"):
        assert model.ask("ground=damp", engine=engine).plausibility == pytest.approx(1 - 0.5 * 0.4), engine


def test_words_stand_beside_labels_in_an_order() -> None:
    world = nbr.World(t=nbr.Real(0, 10, step=1), rank=nbr.Ordered("low", "mid", "high"), a=nbr.Bit())
    model = nbr.Reasoner(world.with_words({"hot": {"t": [3, 7]}}), [nbr.Clause("hot & rank>=mid -> a", 0.8)])
    assert model.ask("a", given="t=5, rank=mid").belief == pytest.approx(0.4)
