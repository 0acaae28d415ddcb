"""Networks in BIF: the rules answer as the network does, every joint entry gone through."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import pytest

import nbr
from command import run
from nbr.app.importing import bif
from nbr.asking import by_functions
from nbr.kinds import parsed
from nbr.storage import container

Network = tuple[dict[str, list[str]], dict[str, list[str]], dict[str, dict[tuple[str, ...], list[float]]]]


def network(seed: int) -> Network:
    """Variables with labels, parents of each, and tables; some entries are 0 or 1."""
    draw = random.Random(seed)
    words = ["yes", "no", "<5", "TRUE", "10_20", "a-b"]
    labels = {f"v{i}": draw.sample(words, draw.randint(2, 3)) for i in range(5)}
    parents = {
        name: draw.sample(list(labels)[:place], min(place, draw.randint(0, 2))) for place, name in enumerate(labels)
    }
    tables: dict[str, dict[tuple[str, ...], list[float]]] = {}
    for name, above in parents.items():
        tables[name] = {}
        for row in itertools.product(*(labels[each] for each in above)):
            numbers = [draw.choice([0.0, draw.random(), draw.random()]) for _ in labels[name]]
            numbers[0] += not sum(numbers)
            tables[name][row] = [number / sum(numbers) for number in numbers]
    return labels, parents, tables


def written(made: Network, style: int) -> str:
    labels, parents, tables = made
    text = 'network "a b" { property author me; }\n'
    for name, values in labels.items():
        text += f"variable {name} {{ // {name}\n  type discrete [ {len(values)} ] {{ {', '.join(values)} }};\n}}\n"
    for name, above in parents.items():
        text += f"probability ( {name}{' | ' if above else ''}{', '.join(above)} ) {{\n"
        rows = tables[name]
        if not above or style == 1:  # the values of the variable come first
            flat = [rows[row][place] for place in range(len(labels[name])) for row in rows]
            text += f"  table {', '.join(map(repr, flat))};\n}}\n"
            continue
        for row, numbers in rows.items():
            text += f"  ({', '.join(row)}) {', '.join(map(repr, numbers))};\n"
        text += "}\n"
    return text


def chance(made: Network, holds: dict[str, str]) -> float:
    """The probability of some values, summed over all points."""
    labels, parents, tables = made
    total = 0.0
    for point in itertools.product(*labels.values()):
        values = dict(zip(labels, point, strict=True))
        if all(values[name] == value for name, value in holds.items()):
            rows = ((name, tuple(values[each] for each in parents[name])) for name in labels)
            total += math.prod(tables[name][row][labels[name].index(values[name])] for name, row in rows)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_belief_plausibility_and_probability_are_those_of_the_network(seed: int, tmp_path: Path) -> None:
    made = network(seed)
    model = parsed(container.toml(bif.model(written(made, seed % 2))), tmp_path, "m.toml")
    assert by_functions.settled(model.model)
    labels, draw = made[0], random.Random(seed)
    for _ in range(4):
        asked, seen = draw.sample(list(labels), 2)
        question, given = {asked: draw.choice(labels[asked])}, {seen: draw.choice(labels[seen])}
        whole = chance(made, given)
        if whole == 0:
            continue
        known = chance(made, question | given) / whole
        said = [nbr.language.expressions.Atom(name, "=", (value,)) for name, value in (question | given).items()]
        assert model.probability(said[0], said[1]).value == pytest.approx(known, abs=1e-9)
        for engine in ("auto", "contraction", "counting"):
            answer = model.ask(said[0], said[1], engine=engine)
            assert answer.exact
            assert (answer.belief, answer.plausibility) == (pytest.approx(known, abs=1e-9),) * 2
            assert answer.conflict == pytest.approx(1 - whole, abs=1e-9)


def test_other_rules_beside_a_network_only_take_points_away(tmp_path: Path) -> None:
    for seed in range(6):
        spec = bif.model(written(network(seed), 0))
        first, second = list(spec["variables"])[:2]
        more = [
            {
                "rule": f'{first}="{spec["variables"][first][0]}" | {second}="{spec["variables"][second][0]}"',
                "belief": 0.6,
            }
        ]
        model = parsed(container.toml({**spec, "rules": [*spec["rules"], *more]}), tmp_path, "m.toml")
        question = f'v4="{spec["variables"]["v4"][0]}"'
        ours, counted = (model.ask(question, engine=engine) for engine in ("contraction", "counting"))
        assert ours.exact
        assert ours.belief == pytest.approx(counted.belief, abs=1e-9)
        assert ours.plausibility == pytest.approx(counted.plausibility, abs=1e-9)
        assert ours.conflict == pytest.approx(counted.conflict, abs=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        lambda rules: rules[:-1],  # a row is missing
        lambda rules: [*rules[:-1], {**rules[-1], "belief": 0.9}],  # it may have no value
        lambda rules: [{**rule, "source": "s"} for rule in rules],
    ],
)
def test_what_may_leave_several_points_is_not_taken_for_a_network(change, tmp_path: Path) -> None:
    rules = [{"rule": "a=x", "belief": 1}, {"rule": "a=x -> b=x", "belief": 1}, {"rule": "a=y -> b=y", "belief": 1}]
    spec = {"variables": {"a": ["x", "y"], "b": ["x", "y"]}, "sources": {"s": {"reliability": 0.5}}}
    assert by_functions.settled(parsed(container.toml({**spec, "rules": rules}), tmp_path, "m.toml").model)
    other = parsed(container.toml({**spec, "rules": change(rules)}), tmp_path, "m.toml")
    assert not by_functions.settled(other.model)
    round_about = [{"rule": f"{p}={v} -> {q}={v}", "belief": 1} for p, q in ("ab", "ba") for v in "xy"]
    assert not by_functions.settled(parsed(container.toml({**spec, "rules": round_about}), tmp_path, "m.toml").model)


HEAD = "variable a { type discrete [2] { y, n }; }\nvariable b { type discrete [2] { y, n }; }\n"
A, B = "probability (a) { table 0.5, 0.5; }\n", "probability (b | a) { (y) 0.1, 0.9; (n) 0.2, 0.8; }\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + A + "probability (b | c) { table 1, 0; }", "line 4: unknown variable 'c'"),
        (HEAD + A + "probability (b | a) { (y) 0.1, 0.9; }", r"line 4: the table of 'b' has no row \(n\)"),
        (
            HEAD + A + "probability (b | a) {\n (y) 0.1, 0.8; (n) 0.2, 0.8; }",
            "line 5: the chances of 'b' add up to 0.9",
        ),
        (HEAD + A + "probability (b | a) { (x) 0.1, 0.9; }", r"line 4: \(x\) is not a row"),
        (HEAD + A + "probability (b | a) { (y) 0.1; }", "line 4: 2 numbers are needed here, not 1"),
        (HEAD + A + "probability (b | a) { (y) much, 0.9; }", "line 4: 'much' is no number"),
        (HEAD + A + "probability (b | a) { (y) 1.5, -0.5; }", "line 4: a probability must be a number from 0 to 1"),
        (HEAD + A, "'b' has no probability"),
        (HEAD + A + B + A, "line 5: 'a' has a second table"),
        (HEAD + "probability (a | b) { table 1, 0, 1, 0; }\n" + B, "depends on itself"),
        ("variable a { type continuous; }", "line 1: 'a' is 'continuous': only discrete"),
        ("variable a { type discrete [3] { y, n }; }", "said to have 3 values, and has 2"),
        ("nodes a;", "line 1: network, variable or probability is expected, not 'nodes'"),
        (HEAD + "probability (a) { table 0.5", "the file ends in the middle"),
        ("", "no variable in it"),
    ],
)
def test_what_cannot_be_taken_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(nbr.NbrError, match=said):
        bif.model(text)


def test_the_command_writes_a_model_that_loads(tmp_path: Path) -> None:
    (tmp_path / "n.bif").write_text(HEAD + A + B)
    assert run("import", "n.bif", "-o", "n.toml", cwd=tmp_path).stdout == "n.toml: 2 variables, 6 rules\n"
    told = json.loads(run("ask", "n.toml", "b=y", "--json", cwd=tmp_path).stdout)
    assert (told["belief"], told["plausibility"]) == (pytest.approx(0.15), pytest.approx(0.15))
    assert run("import", "n.bif", "-o", "n.toml", cwd=tmp_path).returncode == 2  # it is there already
    assert run("import", "n.pl", "-o", "m.toml", cwd=tmp_path).returncode == 2
    (tmp_path / "bad.bif").write_text(HEAD)
    done = run("import", "bad.bif", "-o", "m.toml", cwd=tmp_path)
    assert "bad.bif: the variable 'a' has no probability" in done.stderr
    assert not (tmp_path / "m.toml").exists()
