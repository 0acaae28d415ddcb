"""Networks and statements found again in words: what was planted, and that every share told is the true one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import nbr
import rule_bases
from command import run
from nbr.language.expressions import Constant
from nbr.language.shortening import shortened
from nbr.points.numbered import numbered_points
from nbr.restating.restated import Restated, Restatement, restate

BITS = nbr.World.bits(10)
SHOP = nbr.World(
    size=nbr.Choice("s", "m", "l", "xl"),
    heat=nbr.Choice("cold", "warm", "hot"),
    t=nbr.Real(-20, 45),
    n=nbr.Real(0, 50, step=1),
    u=nbr.Real(0, 1),
    b=nbr.Bit(),
)
SUM = "majority(size!=s, size in {l, xl}, size=xl, heat!=cold, heat=hot)"  # the places of both add up to 3 or more


def learned(world: nbr.World, text: str, names: list[str], steps: int = 400, seed: int = 0) -> nbr.Neural:
    """A small network trained to say what a statement says."""
    torch.manual_seed(seed)
    listed = numbered_points(nbr.World({name: world.variables[name] for name in names}))
    assert listed is not None
    points = torch.zeros(listed.count, len(world), dtype=torch.float64)
    points[:, [world.column(name) for name in names]] = listed.points
    inputs, wanted = world.encode(points, names), nbr.parse(text).holds(world, points).double()
    network = nn.Sequential(nn.Linear(inputs.shape[1], 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    network.double()
    optimiser = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(network(inputs)[:, 0], wanted).backward()
        optimiser.step()
    return nbr.Neural(names, network, 0.8)


def planted(world: nbr.World, text: str, names: tuple[str, ...]) -> nbr.Fuzzy:
    """A function that says what a statement says, and looks at other variables too."""
    statement = nbr.parse(text)
    columns = [world.column(name) for name in names]

    def grades(points: Tensor) -> Tensor:
        whole = torch.zeros(len(points), len(world), dtype=points.dtype)
        whole[:, columns] = points
        return statement.holds(world, whole).to(points.dtype)

    return nbr.Fuzzy(grades, 0.8, inputs=list(names))


def words(world: nbr.World, rule: nbr.Rule) -> Restated:
    (found,) = nbr.Reasoner(world, [rule]).restated()
    assert isinstance(found, Restated)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "x3",
        "~x3",
        "x0 & x1 & ~x5",
        "x0 | x3 | x5",
        "x0 & x1 -> x2",
        "count(x0..x5)>=2",
        "count(x0..x5)=3",
        "count(x0..x5)!=3",
        "count(x0..x5)<=3",
        "majority(x0..x8)",
        "x0 <-> x1 <-> x2",
        "~x0 <-> x1",
        "x0 <-> majority(x1..x9)",
        "x9 <-> ~majority(x0..x8)",
        "x0 -> majority(x1..x6)",
        "x0 & (x1 -> x2 | majority(x3..x7))",
        "x0 & x1 | x2 & x3 | x4 & x5",
        "(x0 <-> x1) & (x2 <-> x3)",
        "all(x0..x9)",
        "true",
    ],
)
def test_statements_about_bits_are_found_again(text: str) -> None:
    found = words(BITS, planted(BITS, text, BITS.names))
    assert (found.text, found.agreement, found.listed) == (text, 1.0, True)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("size in {l, xl} & heat=hot", ("size", "heat")),
        ("size=m -> heat=cold", ("size", "heat")),
        ("size in {s, m} <-> heat!=hot", ("size", "heat")),
        (SUM, ("size", "heat")),
        ("t>=20", ("t", "u", "b")),
        ("b -> t>=0", ("b", "t", "u")),
        ("n>=3 & b", ("n", "t", "b")),
        ("n=3", ("n", "t", "b")),
        ("t>=10 & t<20", ("t", "u", "b")),
        ("majority(t>=10, u>=0.5, b)", ("t", "u", "b")),
    ],
)
def test_choices_and_numbers_are_found_again(text: str, names: tuple[str, ...]) -> None:
    found = words(SHOP, planted(SHOP, text, names))
    assert (found.text, found.agreement) == (text, 1.0)


def test_a_network_that_learned_a_parity_says_so() -> None:
    found = words(nbr.World.bits(5), learned(nbr.World.bits(5), "x0 <-> x2 <-> x4", [f"x{i}" for i in range(5)]))
    assert (found.text, found.agreement) == ("x0 <-> x2 <-> x4", 1.0)
    assert found.words[0].belief == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("text", ["size in {l, xl} & heat!=cold", SUM])
def test_a_network_that_learned_a_threshold_on_two_choices_says_so(text: str) -> None:
    found = words(SHOP, learned(SHOP, text, ["size", "heat"]))
    assert (found.text, found.agreement) == (text, 1.0)


@pytest.mark.parametrize("block", range(4))
def test_what_is_told_of_any_statement_is_true(block: int) -> None:
    exact = 0
    for seed in range(15 * block, 15 * block + 15):
        draw = random.Random(seed)
        world = rule_bases.world(draw, 5, 2, 0)
        text = rule_bases.statement(draw, world)
        rule = planted(world, text, world.names)
        found = words(world, rule)
        listed = numbered_points(world)
        assert listed is not None
        grades = rule.bind(world).grades(listed.points)
        holds = nbr.parse(found.text).holds(world, listed.points)
        assert found.agreement == float((holds == (grades >= 0.5)).double().mean()), text
        assert found.agreement >= max(grades.mean(), 1 - grades.mean()) - 1e-12, text  # no worse than a constant
        exact += found.agreement == 1
        assert found.off == pytest.approx(0 if found.agreement == 1 else 0.8, abs=1e-9), text
    assert exact >= 13


def test_many_inputs_are_looked_at_by_draws() -> None:
    world = nbr.World.bits(40)
    found = words(world, planted(world, "x0 & x30 -> x7", world.names))
    assert (found.text, found.agreement, found.listed) == ("x0 & x30 -> x7", 1.0, False)
    assert "8,192 points drawn" in str(found)


def test_grades_on_one_side_of_a_half_are_cut_between() -> None:
    """All grades above 1/2: the rule still tells points apart, and its words carry as much belief as it did."""
    rule = nbr.Fuzzy(lambda points: 0.6 + 0.4 * points[:, 0] * points[:, 1], 0.5, inputs=["x0", "x1"])
    found = words(BITS, rule)
    (only,) = found.words
    assert (only.text, only.level) == ("x0 & x1", pytest.approx(0.8))
    assert only.belief == pytest.approx(1 - (1 - 0.5 + 0.5 * 0.6))
    assert found.off == pytest.approx(0, abs=1e-12)


def test_levels_of_a_fuzzy_rule_are_statements_of_their_own() -> None:
    """Grades 1, 0.6 and 0.1: two statements within each other, and every point and answer as before."""
    world = nbr.World.bits(3)
    both = nbr.parse("x0 & x1 & x2"), nbr.parse("x0 | x2")

    def grades(points: Tensor) -> Tensor:
        inner, outer = (statement.holds(world, points).double() for statement in both)
        return 0.1 + 0.5 * outer + 0.4 * inner

    before = nbr.Reasoner(world, [nbr.Fuzzy(grades, 0.7, inputs=world.names)])
    found = before.distil()
    (restated,) = before.restated()
    assert isinstance(restated, Restated)
    assert restated.text == "x0 | x2; x0 & x1 & x2"
    assert restated.off == pytest.approx(0, abs=1e-12)
    listed = numbered_points(world)
    assert listed is not None
    torch.testing.assert_close(found.reasoner.keep(listed.points), before.keep(listed.points))
    assert found.lost.largest == pytest.approx(0, abs=1e-9)


def test_levels_without_words_are_left_out() -> None:
    """Crisp at 1/2, noise above it: one statement, and what is off is told."""
    noise = torch.rand(1024, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def grades(points: Tensor) -> Tensor:
        place = (points @ (2.0 ** torch.arange(10, dtype=points.dtype))).long()
        return points[:, 3] * (0.6 + 0.4 * noise[place])

    found = words(BITS, nbr.Fuzzy(grades, 0.9, inputs=BITS.names))
    assert (found.text, found.agreement) == ("x3", 1.0)
    assert 0.1 < found.off < 0.3
    assert "off by up to" in str(found)


def test_brief_statements_mean_the_same() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        world = rule_bases.world(draw, 5, 2, 0)
        statement = nbr.parse(rule_bases.statement(draw, world, 3))
        listed = numbered_points(world)
        assert listed is not None
        again = nbr.parse(shortened(statement))
        assert torch.equal(again.holds(world, listed.points), statement.holds(world, listed.points)), str(statement)


def wild(bits: int, seed: int) -> nbr.Neural:
    """A network that no short statement sums up."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(bits, 64), nn.Tanh(), nn.Linear(64, 1)).double()
    for weight in network.parameters():
        nn.init.normal_(weight, std=3.0)
    return nbr.Neural([f"x{at}" for at in range(bits)], network, 0.8)


@pytest.mark.parametrize("bits", [10, 30])  # listed, and drawn
def test_no_words_are_offered_that_hardly_agree(bits: int, tmp_path: Path) -> None:
    model = nbr.Reasoner(nbr.World.bits(bits), [wild(bits, 0)])
    assert model.restated() == ["no short statement describes it: none agrees on 95% of points"]
    model.save(tmp_path / "m.nbr")
    shown = run("show", tmp_path / "m.nbr").stdout
    assert shown.count("(no short statement describes it: none agrees on 95% of points)") == 1
    assert "in words" not in shown
    assert "off by" not in shown


@pytest.mark.parametrize(("agreement", "says"), [(1.0, True), (0.99, False), (0.94, False)])
def test_true_everywhere_is_said_only_of_a_rule_that_is(agreement: float, says: bool) -> None:
    assert Restated((Restatement(Constant(True), "true", agreement, 0.8, 0.5),), 0.0, 100).says == says
    assert Restated((Restatement(nbr.parse("x0"), "x0", agreement, 0.8, 0.5),), 0.0, 100).says == (agreement >= 0.95)


def test_words_are_measured_on_points_that_they_were_not_made_from() -> None:
    world = nbr.World(**{f"t{at}": nbr.Real(0, 1) for at in range(6)})
    rule = nbr.Fuzzy(lambda points: (points[:, 0] + 0.1 * torch.sin(50 * points[:, 1]) > 0.5).double(), 0.8)
    generator = torch.Generator().manual_seed(0)
    batches = [torch.rand(count, 6, generator=generator, dtype=torch.float64) for count in (50, 4000)]
    left = list(batches)
    found = restate(rule, world, rule.bind(world).grades, world.names, lambda count: left.pop(0))
    holds = nbr.parse(found.text).holds(world, batches[1])
    assert found.points == 4000
    assert found.agreement == float((holds == (rule.bind(world).grades(batches[1]) >= 0.5)).double().mean())
