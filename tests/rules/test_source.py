"""Sources: what is refused, what combining two models keeps, files, and what the author is told."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
import selectors_oracle as oracle
from nbr import evidence

WORLD = nbr.World(night=nbr.Bit(), dark=nbr.Bit(), lamp=nbr.Choice("on", "off"))
HANDBOOK = nbr.Source("handbook", 0.9, "nested")
TOML = """
[things]
person = ["ann", "bob"]
[variables]
night = "bit"
dark = "bit"
"seen[person]" = "bit"
[sources]
handbook = { reliability = 0.9, rules = "nested" }
[[rules]]
rule = "night -> dark"
belief = 0.8
source = "handbook"
[[rules]]
one_of = [{ rule = "night", belief = 0.3 }, { rule = "~night", belief = 0.5 }]
source = "ann"
[[rules]]
for = { p = "person" }
one_of = [{ rule = "seen[p]", belief = 0.5 }, { rule = "~seen[p]", belief = 0.25 }]
"""


def test_the_figures_of_the_books() -> None:
    """Of alternatives the strongest counts, of a chain the weakest link, and contradictions do so at full strength."""
    a, graded = nbr.World.bits(4), nbr.Source("graded", rules="nested")
    several = nbr.Reasoner(a, [nbr.Clause(f"x{i} -> x3", b, source=graded) for i, b in enumerate((0.5, 0.6, 0.4))])
    assert several.ask("x3", "x0, x1, x2").belief == pytest.approx(0.6)
    assert nbr.Reasoner(a, [nbr.Clause(r.text, r.belief) for r in several.rules]).ask("x3", "x0, x1, x2").belief == (
        pytest.approx(0.88)
    )
    chain = nbr.Reasoner(a, [nbr.Clause(each, 0.5, source=graded) for each in ("x0 -> x1", "x1 -> x2")])
    assert chain.ask("x2", "x0").belief == pytest.approx(0.5)
    torn = nbr.Reasoner(a, [nbr.Clause("x0", 0.5, source=graded), nbr.Clause("~x0", 0.4, source=graded)])
    assert torn.ask("x0").conflict == pytest.approx(0.4)
    both = nbr.Reasoner(a, nbr.one_of({"x0": 0.3, "~x0": 0.5}))
    assert (both.ask("x0").belief, both.ask("x0").plausibility, both.ask("x0").conflict) == pytest.approx((0.3, 0.5, 0))


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (
            [nbr.Clause("night", 0.5, source=HANDBOOK), nbr.Clause("dark", 0.5, source="handbook")],
            "described in two ways",
        ),
        ([nbr.Clause("night", 0.5, source="a"), nbr.Clause(" night ", 0.6, source="a")], "rule 2 is rule 1 again"),
    ],
)
def test_what_a_model_refuses(rules: list[nbr.Rule], says: str) -> None:
    with pytest.raises(nbr.NbrError, match=says):
        nbr.Reasoner(WORLD, rules)


def test_what_is_no_source_and_no_choice() -> None:
    for wrong, says in (({"reliability": 1.5}, "from 0 to 1"), ({"rules": "nestd"}, "did you mean 'nested'")):
        with pytest.raises(nbr.NbrError, match=says):
            nbr.Source("handbook", **wrong)
    with pytest.raises(nbr.NbrError, match=r"add up to 1\.2"):
        nbr.one_of({"night": 0.7, "~night": 0.5})
    with pytest.raises(nbr.NbrError, match="cannot belong to the source 'handbook'"):
        nbr.one_of({"night": 0.2, "~night": 0.5}, source=HANDBOOK)


def sourced(seed: int) -> nbr.Reasoner:
    """A model whose rules all have a source."""
    found = oracle.drawn(seed, most=8)
    return nbr.Reasoner(found.world, [rule for rule in found.rules if rule.source is not None])


def numbers(model: nbr.Reasoner, seed: int) -> tuple[float, ...]:
    draw = np.random.default_rng(seed)
    question, condition = oracle.statement(draw), oracle.statement(draw)
    try:
        found = model.ask(question, condition)
        return found.belief, found.plausibility, found.conflict, model.probability(question, condition).value or 0.0
    except nbr.NbrError:
        return ()


@pytest.mark.parametrize("seed", range(8))
def test_the_same_twice_is_the_same(seed: int) -> None:
    model = sourced(seed)
    twice = model & model
    assert [str(rule) for rule in twice.rules] == [str(rule) for rule in model.rules]
    assert numbers(twice, seed) == pytest.approx(numbers(model, seed), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_order_of_combining_does_not_matter(seed: int) -> None:
    whole = oracle.drawn(seed, most=9)
    draw = np.random.default_rng(seed)
    one, two, three = (_part(whole, draw) for _ in range(3))
    wanted = numbers((one & two) & three, seed)
    for each in (one & (two & three), (three & two) & one, (two & one) & three):
        assert numbers(each, seed) == pytest.approx(wanted, abs=1e-10)


def test_a_function_from_a_source_is_the_same_in_two_models() -> None:
    soft = nbr.Fuzzy(lambda points: points[:, 0], 0.5, name="soft").from_source("a")
    one, two = nbr.Reasoner(WORLD, [soft]), nbr.Reasoner(WORLD, [soft, nbr.Clause("dark", 0.5, source="a")])
    assert len((one & two).rules) == len((two & one).rules) == 2
    assert (two & two & one).ask("night") == two.ask("night")
    other = nbr.Reasoner(WORLD, [nbr.Fuzzy(lambda points: points[:, 0], 0.5, name="soft").from_source("a")])
    assert len((one & other).rules) == 2  # nobody knows that it says the same


def _part(whole: nbr.Reasoner, draw: np.random.Generator) -> nbr.Reasoner:
    """Some of the rules, all possibilities of a choice or none."""
    keys = {rule.choice or rule for rule in whole.rules if rule.source is not None or draw.random() < 0.5}
    chosen = {key for key in keys if draw.random() < 0.6}
    return nbr.Reasoner(whole.world, [rule for rule in whole.rules if (rule.choice or rule) in chosen])


def test_told_differently_is_refused() -> None:
    one = nbr.Reasoner(WORLD, [nbr.Clause("night", 0.5, source="a")])
    for other, says in (
        (nbr.Reasoner(WORLD, [nbr.Clause("night", 0.6, source="a")]), "believed to 0.5 in one model and to 0.6"),
        (nbr.Reasoner(WORLD, [nbr.Clause("dark", 0.6, source=nbr.Source("a", 0.9))]), "described in two ways"),
    ):
        with pytest.raises(nbr.NbrError, match=says):
            one & other
    night = {"night": 0.3, "~night": 0.5}
    choice = nbr.Reasoner(WORLD, nbr.one_of(night, source="a"))
    assert len((choice & choice).rules) == 2
    with pytest.raises(nbr.NbrError, match=r"believed to 0.3 in one model and to 0.4"):
        choice & nbr.Reasoner(WORLD, nbr.one_of({"night": 0.4, "~night": 0.5}, source="a"))
    unsaid = nbr.Reasoner(WORLD, nbr.one_of(night))
    assert (unsaid & unsaid).ask("night").conflict == pytest.approx(2 * 0.3 * 0.5)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(TOML)
    model = nbr.load(tmp_path / "m.toml")
    assert len(model.rules) == 7
    assert model.ask("dark").belief == pytest.approx(0.9 * 0.8 * 0.3)
    for name in ("again.nbr", "again.toml"):
        model.save(tmp_path / name)
        again = nbr.load(tmp_path / name)
        assert numbers_of(again) == numbers_of(model)
        assert len((model & again).rules) == 7 + 4  # what bob and ann are seen to do has no source


def numbers_of(model: nbr.Reasoner) -> list[tuple[float, ...]]:
    asked = ("night", "dark", "seen[ann] & night", "dark & ~seen[bob]")
    return [(a.belief, a.plausibility, a.conflict) for a in map(model.ask, asked)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('source = "handbook"', 'source = "handbok"'),
            "line 11: rule 1: .*source 'handbok'; did you mean 'handbook'",
        ),
        (('"nested" }', '"nested", weight = 1 }'), "source 'handbook': unknown entry 'weight'"),
        (("belief = 0.3 }", "belief = 0.6 }"), r"rule 2: the beliefs of one_of \(night, ..\) add up to 1.1"),
        ((", belief = 0.3 }", " }"), "rule 2: a possibility has only a rule and a belief"),
        (('source = "ann"', 'source = "handbook"'), "rule 2: one_of .* cannot belong to the source 'handbook'"),
    ],
)
def test_what_a_file_may_not_say(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    assert change[0] in TOML
    (tmp_path / "m.toml").write_text(TOML.replace(*change))
    with pytest.raises(nbr.NbrError, match=says):
        nbr.load(tmp_path / "m.toml")


def test_explanations_know_how_likely_sets_of_rules_are() -> None:
    source = nbr.Source("guide", 0.5)
    rules = [nbr.Clause("night", 0.9, source=source), nbr.Clause("night -> dark", 0.9, source=source)]
    found = nbr.Reasoner(WORLD, [*rules, nbr.Clause("dark", 0.42)]).explain("dark")
    assert found.supports == [[3], [1, 2]]  # 0.42, and 0.5 * 0.81: without the source it would be 0.81
    torn = nbr.Reasoner(WORLD, [*nbr.one_of({"night": 0.3, "~night": 0.5}), nbr.Clause("night -> dark", 0.7)])
    assert torn.explain("dark").conflicts == []
    for one, other in combinations(torn.explain("dark").rules, 2):
        assert one.without.exact
        assert other.without.exact
    assert torn.explain("dark").rules[0].without.belief == 0


def test_the_author_is_told_of_nested_rules_that_contradict() -> None:
    a = [nbr.Clause("night -> dark", 0.5, source=HANDBOOK), nbr.Clause("lamp=on -> ~dark", 0.4, source=HANDBOOK)]
    (found,) = [each for each in nbr.Reasoner(WORLD, a).check().findings if each.kind == "nested contradiction"]
    assert found.rules == (1, 2)
    assert found.probability == pytest.approx(0.9 * 0.4)
    apart = [nbr.Clause(each.text, each.belief, source="notes") for each in a]
    assert not [each for each in nbr.Reasoner(WORLD, apart).check().findings if each.kind == "nested contradiction"]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "over",
    [
        ["animal=cat", "animal=dog", 'animal="red fox"'],
        ["hungry & animal=cat", "hungry & animal!=cat", "~hungry"],
    ],
)
def test_any_mass_function_can_be_entered_over_variables(seed: int, over: list[str]) -> None:
    draw = torch.Generator().manual_seed(seed)
    masses = torch.rand(2, 8, generator=draw, dtype=torch.float64) ** 3
    masses[1] *= torch.rand(8, generator=draw) < 0.6
    masses = (masses + 1e-9 * (masses.sum(dim=1, keepdim=True) == 0)) / masses.sum(dim=1, keepdim=True)
    world = nbr.World(animal=nbr.Choice("cat", "dog", "red fox"), hungry=nbr.Bit())
    said = [rule for mass in masses for rule in nbr.one_of(mass, over=over, source=None)]
    model = nbr.Reasoner(world, said)
    together = evidence.conjunctive(masses)
    belief, plausibility = evidence.belief(evidence.dempster(masses)), evidence.plausibility(evidence.dempster(masses))
    for subset in range(1, 8):
        asked = " | ".join(f"({label})" for bit, label in enumerate(over) if subset >> bit & 1)
        found = model.ask(asked)
        assert found.exact
        assert found.belief == pytest.approx(float(belief[subset]), abs=1e-9)
        assert found.plausibility == pytest.approx(float(plausibility[subset]), abs=1e-9)
        assert found.conflict == pytest.approx(float(together[0]), abs=1e-9)


def test_mass_functions_that_cannot_be_entered() -> None:
    over = ["night", "~night"]
    for mass, labels, said in (
        (torch.tensor([0, 0.5, 0.5, 0]), None, "needs the statement of each of its labels"),
        (torch.tensor([0, 0.5, 0.5, 0]), ["night"], "needs the statement of each of its labels"),
        (torch.tensor([0, 0.5, 0.7, 0]), over, "add up to 1, not 1.2"),
        (torch.tensor([0, -0.5, 0.7, 0.8]), over, "must not be negative"),
        (torch.tensor([0.0, 0, 0, 1]), over, "vacuous"),
    ):
        with pytest.raises(nbr.NbrError, match=said):
            nbr.one_of(mass, over=labels)
    with pytest.raises(nbr.NbrError, match="over= is for a mass function"):
        nbr.one_of({"night": 0.3}, over=over)
