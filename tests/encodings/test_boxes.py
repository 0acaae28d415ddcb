"""Branch and bound over boxes: every bound holds, and answers are those of the definitions."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

import nbr
import oracle
from nbr.encodings.halfspaces import halfspaces
from nbr.encodings.subcubes import Subcubes
from nbr.language import parse
from nbr.language.intervals import holds_within
from nbr.rules.linear import Region

MIXED = nbr.World(
    a=nbr.Bit(), b=nbr.Bit(), c=nbr.Choice("red", "green", "blue"), n=nbr.Real(0, 4, 1), t=nbr.Real(-1, 1)
)
STATEMENTS = [
    "a & ~b",
    "a -> c=red",
    "c in {red, blue} | t>=0.25",
    "c in {red, green, blue}",
    "n in {0, 1, 2, 3, 4}",
    "a <-> b <-> n>2",
    "count(a, b, t<0, c=green)>=2",
    "majority(a, ~b, n!=3)",
    "n=2 & t<=0",
    "~(t>0.5 -> a)",
    "count(a, ~b)=1",
]


def points_within(low: torch.Tensor, high: torch.Tensor, count: int, seed: int) -> torch.Tensor:
    chance = torch.rand(count, *low.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return MIXED.snap((low + chance * (high - low)).flatten(0, 1)).view(count, *low.shape)


def boxes(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    first, second = (torch.rand(count, 5, generator=generator, dtype=torch.float64) for _ in range(2))
    least, most = torch.tensor([0, 0, 0, 0, -1.0]), torch.tensor([1, 1, 2, 4, 1.0])
    first, second = (MIXED.snap(least + each * (most - least)) for each in (first, second))
    return first.minimum(second), first.maximum(second)


@pytest.mark.parametrize("text", STATEMENTS)
def test_truth_within_boxes(text: str) -> None:
    low, high = boxes(200, 0)
    surely, possibly = holds_within(parse(text), MIXED, low, high)
    inside = points_within(low, high, 50, 1)
    holds = torch.stack([parse(text).holds(MIXED, points) for points in inside])
    assert not bool((surely & ~holds.all(dim=0)).any())
    assert not bool((holds.any(dim=0) & ~possibly).any())
    single = points_within(low, low, 1, 0)[0]
    surely, possibly = holds_within(parse(text), MIXED, single, single)
    assert torch.equal(surely, possibly)
    assert torch.equal(surely, parse(text).holds(MIXED, single))


def network(inputs: int, seed: int, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    torch.manual_seed(seed)
    made = nn.Sequential(nn.Linear(inputs, 8), activation(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 2)).double()
    for parameter in made.parameters():
        parameter.data *= 3
    return made


@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh, nn.Identity])
def test_lines_lie_above_a_network_within_its_region(activation: type[nn.Module]) -> None:
    world = nbr.World.bits(6)
    rule = nbr.Neural(["x0", "x1", "x3", "x4", "x5"], network(5, 3, activation), 0.5, output=1).bind(world)
    sums = torch.tensor([[1.0, 1, 1, 1, 1, 1], [2, -1, 0, 0, 1, 0.5]], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.rand(40, 6, generator=generator, dtype=torch.float64) for _ in range(2))
    low, high = first.minimum(second), first.maximum(second)
    inside = low + torch.rand(200, 40, 6, generator=generator, dtype=torch.float64) * (high - low)
    reached = inside @ sums.T
    least = reached.amin(dim=0) + 0.3 * (reached.amax(dim=0) - reached.amin(dim=0))
    region = Region(low, high, sums, least, reached.amax(dim=0))
    found = rule.lines(region)
    assert found is not None
    slopes, at = found
    wide = torch.randn(40, 3, 6, generator=generator, dtype=torch.float64)
    most = region.maximum(wide)
    for points, total in zip(inside, reached, strict=True):
        kept = (total >= least).all(dim=1)
        logits = torch.logit(rule.grades(points))
        assert bool((logits <= (slopes * points).sum(dim=1) + at + 1e-9)[kept].all())
        assert bool(((wide @ points[:, :, None])[:, :, 0] <= most + 1e-9)[kept].all())


@pytest.mark.parametrize(
    "text", ["count(x0, ~x1, x2)>=2", "majority(x0..x3)", "count(x0..x3)=2, ~(x0 | count(x1, x2)<1)"]
)
@pytest.mark.parametrize("holds", [True, False])
def test_half_spaces_follow_from_statements(text: str, holds: bool) -> None:
    world = nbr.World.bits(4)
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 4)
    inside = points[parse(text).holds(world, points) == holds]
    for line, number in halfspaces(parse(text), holds, world):
        assert bool((inside @ line >= number).all())
        assert bool((points @ line < number).any())


def test_ranges_of_a_rule_that_reads_few_bits_are_exact() -> None:
    world = nbr.World.bits(5)
    rule = nbr.Neural(["x4", "x0", "x2"], network(3, 1), 0.5).bind(world)
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 5)
    low, high = points[:, None].minimum(points).flatten(0, 1), points[:, None].maximum(points).flatten(0, 1)
    least, most = Subcubes(rule).bounds(low, high)
    grades = rule.grades(points)
    inside = ((points >= low[:, None]) & (points <= high[:, None])).all(dim=2)
    torch.testing.assert_close(most, torch.where(inside, grades, -1.0).amax(dim=1))
    torch.testing.assert_close(least, torch.where(inside, grades, 2.0).amin(dim=1))


def drawn_model(seed: int, reals: bool) -> tuple[nbr.Reasoner, str, str | None]:
    draw = random.Random(seed)
    names = ["a", "b", "c", "n"] + (["t"] if reals else [])
    world = nbr.World({name: MIXED.variables[name] for name in names})
    rules: list[nbr.Rule] = []
    numbers = [name for name in names if name != "c"]
    for number in range(draw.randint(1, 4)):
        kind = draw.choice(["clause", "clause", "network", "network of labels", "memory"])
        if kind == "clause":
            texts = [text for text in STATEMENTS if reals or parse(text).names() <= set(names)]
            rules.append(nbr.Clause(draw.choice(texts), draw.choice([0.3, 0.7, 1.0])))
        elif kind == "network":
            rules.append(nbr.Neural(numbers, network(len(numbers), seed + number), draw.random()))
        elif kind == "network of labels":
            rules.append(nbr.Neural(["c", "a"], network(4, seed + number), draw.random(), output=1))
        else:
            point = {"a": 1, "c": "green", **({"t": 0.3} if reals else {"n": 3})}
            rules.append(nbr.Memory(point, draw.choice([0.3, 0.8]), draw.random()))
    given = draw.choice([None, "a | n>=2", "c!=red"])
    return nbr.Reasoner(world, rules), draw.choice(["b", "n<2", "count(a, b, c=blue)>=2"]), given


@pytest.mark.parametrize("block", range(3))
def test_bounds_hold_the_truth(block: int) -> None:
    answered = 0
    for seed in range(20 * block, 20 * block + 20):
        model, question, given = drawn_model(seed, reals=False)
        try:
            right = model.ask(question, given, engine="lattice")
        except nbr.NbrError as error:
            with pytest.raises(nbr.NbrError) as other:
                model.ask(question, given, engine="boxes", tolerance=0.0)
            assert str(other.value) == str(error)
            continue
        for settings in ({"tolerance": 0.0}, {"tolerance": 0.2}, {"budget": 0.01}):
            found = model.ask(question, given, engine="boxes", **settings)
            for name in ("belief", "plausibility", "conflict"):
                low, high = getattr(found.bounds, name)
                assert low - 1e-9 <= getattr(right, name) <= high + 1e-9, (seed, settings)
                assert high - low <= settings.get("tolerance", 1) + 1e-8, (seed, settings)
        answered += 1
    assert answered > 10


def test_reals_by_boxes_hold_what_a_fine_list_of_points_reaches() -> None:
    narrow = 0
    for seed in range(20):
        model, question, given = drawn_model(100 + seed, reals=True)
        steps = [torch.arange(2.0), torch.arange(2.0), torch.arange(3.0), torch.arange(5.0), torch.linspace(-1, 1, 161)]
        points = torch.cartesian_prod(*[step.double() for step in steps])
        points = points if given is None else points[parse(given).holds(model.world, points)]
        with torch.no_grad():
            grades = model.grades(points).numpy()
        holds = parse(question).holds(model.world, points).double().numpy()
        if oracle.expectation(grades, model.beliefs.numpy()) == 0:
            continue
        right = oracle.answer(grades, model.beliefs.numpy(), holds)
        found = model.ask(question, given, engine="boxes", budget=0.5)
        for name, value in zip(("belief", "plausibility", "conflict"), right, strict=True):
            low, high = getattr(found.bounds, name)
            assert low - 0.02 <= value <= high + 0.02, (seed, name)  # the list is fine, not complete
            narrow += high - low < 0.01
    assert narrow > 40


def test_networks_of_all_bits_of_a_world_too_large_to_list() -> None:
    names = [f"x{i}" for i in range(30)]
    torch.manual_seed(0)
    many = nn.Sequential(nn.Linear(30, 8), nn.ReLU(), nn.Linear(8, 1)).double()
    many[0].weight.data = torch.ones(8, 30, dtype=torch.float64) + 0.1 * torch.randn(8, 30, dtype=torch.float64)
    many[0].bias.data.fill_(-20.0)
    many[2].weight.data.fill_(1.0)
    many[2].bias.data.fill_(-3.0)
    model = nbr.Reasoner(nbr.World.bits(30), [nbr.Neural(names, many, 0.8), nbr.Clause("~x0", 0.5)])
    answer = model.ask("count(x0..x29)>=10", budget=20.0)
    assert answer.bounds.kind == "proved"
    assert answer.uncomputed < 0.01
    assert 0.7 < answer.belief < 0.8  # sigmoid(-3) is left where fewer are on
    assert any("boxes" in how for how in answer.how)


def test_what_boxes_cannot_take_is_said() -> None:
    model = nbr.Reasoner(nbr.World.bits(30), [nbr.Fuzzy(lambda z: z.mean(dim=1), 0.5)])
    with pytest.raises(nbr.NbrError, match="gives no bounds"):
        model.ask("x0", engine="boxes")
