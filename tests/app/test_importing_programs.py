"""ProbLog programs: the rules answer as all choices gone through do; what cannot be taken is named by its line."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

import nbr
from command import run
from nbr.app.importing import clauses, grounding, prolog
from nbr.kinds import parsed
from nbr.storage import container

Ground = list[tuple[list[tuple[float, str]], list[tuple[str, bool]]]]


def drawn(seed: int) -> tuple[Ground, list[tuple[str, bool]]]:
    """Clauses in two layers, so that no loop goes through a negation; and what was observed."""
    draw = random.Random(seed)
    layers = [["a(1)", "a(2)", "b"], ["c", "d(x,y)"]]
    made: Ground = [([(1.0, atom)], [("never", True)]) for layer in layers for atom in layer]
    for number, layer in enumerate(layers):
        for _ in range(3):
            heads = draw.sample(layer, draw.choice([1, 1, 2]))
            chances = [1.0] if len(heads) == 1 and draw.random() < 0.2 else [draw.uniform(0.1, 0.5) for _ in heads]
            body = [(atom, True) for atom in draw.sample(layer, draw.randint(0, 1))]
            body += [(atom, draw.random() < 0.5) for atom in draw.sample(layers[0], 1)] if number else []
            made.append((list(zip(chances, heads, strict=True)), body))
    made.append(([(1.0, "never")], [("never", True)]))
    return made, [(draw.choice(layers[1]), draw.random() < 0.5)] if draw.random() < 0.6 else []


def text(made: Ground, seen: list[tuple[str, bool]]) -> str:
    lines = ["% drawn /* */"]
    for heads, body in made:
        said = "; ".join(head if chance == 1 else f"{chance!r}::{head}" for chance, head in heads)
        needs = ",\n  ".join(atom if kept else f"\\+ {atom}" for atom, kept in body)
        lines.append(f"{said}{' :- ' + needs if needs else ''}.")
    lines += [f"evidence({atom}, {str(kept).lower()})." for atom, kept in seen]
    return "\n".join([*lines, "query(a(1)). query(c). query(d(x, y))."])


def chances(made: Ground, seen: list[tuple[str, bool]]) -> dict[str, float] | None:
    """The probability of every atom, by all choices of all clauses and the least model of each, layer by layer."""
    total, found = 0.0, dict.fromkeys(["a(1)", "c", "d(x,y)"], 0.0)
    for taken in itertools.product(*([*range(len(heads)), None] for heads, _ in made)):
        weight, true = 1.0, set[str]()
        for place, (heads, _) in zip(taken, made, strict=True):
            weight *= 1 - sum(chance for chance, _ in heads) if place is None else heads[place][0]
        for layer in ({"a(1)", "a(2)", "b", "never"}, {"c", "d(x,y)"}) if weight else ():
            for _ in range(4):
                for place, (heads, body) in zip(taken, made, strict=True):
                    if place is not None and heads[place][1] in layer:
                        true |= {heads[place][1]} if all((atom in true) == kept for atom, kept in body) else set()
        if weight and all((atom in true) == kept for atom, kept in seen):
            total += weight
            for atom in found:
                found[atom] += weight * (atom in true)
    return {atom: weight / total for atom, weight in found.items()} if total > 1e-12 else None


def model(program: clauses.ImportedProgram, folder: Path) -> nbr.Reasoner:
    return parsed(container.toml(clauses.model(program)), folder, "m.toml")


@pytest.mark.parametrize("seed", range(15))
def test_belief_plausibility_and_probability_are_those_of_the_program(seed: int, tmp_path: Path) -> None:
    made, seen = drawn(seed)
    expected, read = chances(made, seen), prolog.read(text(made, seen))
    assert read.queries == ["a[1]", "c", "d[x,y]"]
    ours = model(read, tmp_path)
    if expected is None:
        with pytest.raises(nbr.NbrError, match="cannot"):
            ours.ask("c")
        return
    for query, value in zip(read.queries, expected.values(), strict=True):
        answer = ours.ask(query)
        assert (answer.exact, answer.belief, answer.plausibility) == (True, pytest.approx(value), pytest.approx(value))
        assert ours.probability(query).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("1/4::a; (1/2)::b. q :- a ; b. query(q).", 0.75),
        ("0.5::a. 0.5::a. query(a).", 0.75),  # two clauses are two reasons
        ("0.5::a. q :- \\+ (a, \\+ b). b :- fail. query(q).", 0.5),
        ("0.5::a. b :- true, not a. evidence(\\+b). query(a).", 1.0),
        ("0.5::'odd name'(\"x\", -1, f(g)). query('odd name'(\"x\", -1, f(g))).", 0.5),
        ("0.25::in. query(in). evidence(true_). true_ :- true.", 0.25),
        ("0.5::f(1). 0.2::'f[1]'. query(f(1)).", 0.5),  # two names that would be written alike
    ],
)
def test_small_programs(program: str, value: float, tmp_path: Path) -> None:
    source, output = tmp_path / "p.pl", tmp_path / "p.toml"
    source.write_text(program)
    told = json.loads(run("import", source, "-o", output, "--json").stdout)
    assert nbr.load(output).ask(told["queries"][0]).belief == pytest.approx(value)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("a :- b.\nb", "line 2: the file ends in the middle of a clause; is a full stop missing?"),
        ("0.5::a.\nb :- a a.", "line 2: a comma, a semicolon or a full stop is expected before 'a'"),
        ("0.5::a.\n\n1.5::b.", "line 3: a probability must be a number from 0 to 1, not 1.5"),
        ("a :- b.", "line 1: no clause says when b holds (write b :- fail. if it never does)"),
        ("0.5::a; 0.6::b.", "line 1: the probabilities of its heads add up to 1.1, which is more than 1"),
        ("0.5::x.\na :- x, \\+b.\nb :- \\+a.", "line 2: the closed variable 'a' depends on itself through a negation"),
        ("t(0.5)::a.", "line 1: its probability is still to be learned; put a number in its place"),
        ("0.5::a.\n?::b.", "line 2: decisions cannot be taken; say what is worth what in [actions]"),
        ("a.\nevidence(a, maybe).", "line 2: evidence is true or false, not maybe"),
        ("a :- " + "(" * 200, "line 1: more than 100 brackets within one another"),
        ("\n% nothing\n", "line 1: there is no clause in it; is this a ProbLog program?"),
        ("a. \x00", "line 1: cannot read"),
    ],
)
def test_what_cannot_be_taken_is_named_with_its_line(program: str, words: str, tmp_path: Path) -> None:
    source = tmp_path / "p.pl"
    source.write_text(program)
    done = run("import", source, "-o", tmp_path / "p.toml")
    assert done.returncode == 2
    assert f"p.pl: {words}" in " ".join(done.stderr.split())
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "p.toml").exists()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("b(1).\na(X) :- b(X).", "line 2: X is a variable"),
        (":- use_module(library(lists)).", "line 1: it is a directive"),
        ("a.\n\nb :- 1 < 2.", "line 3: < is more than a name"),
        ("a([1]).", "line 1: [ is more than a name"),
    ],
)
def test_what_has_to_be_grounded_names_the_package(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grounding.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(prolog.NotGround) as why:
        prolog.read(program)
    with pytest.raises(nbr.NbrError) as told:
        grounding.grounded(program, why.value)
    assert str(told.value).startswith(f"{reason}: such programs are grounded by the package problog, which is not")


def atom(chance: float, name: list[object], group: str) -> dict[str, object]:
    return {"kind": "atom", "name": name, "chance": chance, "group": group, "extra": False}


def choice(of: list[object]) -> list[object]:
    return ["choice", ["8"], ["0"], of]


def test_a_formula_of_the_package_becomes_rules(tmp_path: Path) -> None:
    """Friends who make each other smoke, in a circle; a denied node, a group of two, what is certain."""
    ann, bob = ["smokes", ["ann"]], ["smokes", ["bob"]]
    told = {
        "nodes": [
            atom(0.3, choice(ann), "1"),
            atom(0.4, choice(bob), "2"),
            {"kind": "disj", "name": ann, "parts": [1, 6]},
            {"kind": "disj", "name": bob, "parts": [2, 7]},
            atom(0.2, choice(["sways", ["bob"]]), "3"),
            {"kind": "conj", "name": None, "parts": [4, 5]},
            {"kind": "conj", "name": None, "parts": [3, 8]},
            atom(0.5, choice(["sways", ["ann"]]), "4"),
            atom(0.6, ["red"], "5"),
            atom(0.1, ["green"], "5"),
            {"kind": "conj", "name": None, "parts": [-3, 9]},
        ],
        "queries": [[ann, 3], [["calm"], -4], [["sure"], 0], [["never"], None], [["both"], 11]],
        "evidence": [[["green"], 10, -1]],
    }
    ours = model(grounding.program(told), tmp_path)
    smokes = 0.3 + 0.7 * 0.4 * 0.2
    expected = {
        "smokes[ann]": smokes,
        "calm": 1 - (0.4 + 0.6 * 0.3 * 0.5),
        "sure": 1,
        "never": 0,
        "both": (1 - smokes) * 0.6 / 0.9,
    }
    for query, value in expected.items():
        assert ours.ask(query).belief == pytest.approx(value), query
    assert "sways[ann]" not in ours.world.names  # what only one clause needs is how far that is believed
