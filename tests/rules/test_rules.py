"""One contract for all kinds of rules, and what is special to each."""

import pytest
import torch
from torch import nn

import nbr

WORLD = nbr.World(rain=nbr.Bit(), grass=nbr.Choice("dry", "wet", "soaked"), t=nbr.Real(-10, 30))


def network(inputs: int) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(inputs, 8), nn.ReLU(), nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1))


RULES = {
    "clause": nbr.Clause("rain -> grass=wet & t>=0", 0.9),
    "neural": nbr.Neural(["rain", "grass", "t"], network(5), 0.8),
    "neural of one": nbr.Neural("grass", network(3), 0.8, name="grass only"),
    "memory": nbr.Memory({"rain": 1, "grass": "wet", "t": 12.5}, radius=0.4, belief=0.7),
    "memory of a row": nbr.Memory([1, 2, 12.5], radius=0.4, belief=0.7),
    "fuzzy": nbr.Fuzzy(lambda z: 0.5 * z[:, 0] + 0.1 * z[:, 1], 0.6),
    "fuzzy of one": nbr.Fuzzy(lambda t: torch.sigmoid(t), 0.6, inputs="t", lipschitz=0.25),
}
SAVED = [name for name in RULES if not name.startswith("fuzzy")]


def sample_points(count: int = 200) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    bits, labels = (torch.randint(size, (count,), generator=generator) for size in (2, 3))
    columns = [bits, labels, torch.rand(count, generator=generator) * 40 - 10]
    return torch.stack([column.double() for column in columns], dim=1)


@pytest.mark.parametrize("kind", RULES)
def test_contract(kind: str) -> None:
    rule = RULES[kind].bind(WORLD)
    points = sample_points()
    grades = rule.grades(points)
    assert grades.shape == (200,)
    assert grades.dtype == torch.float64
    assert ((grades >= 0) & (grades <= 1)).all()
    assert rule.grades(points[:0]).shape == (0,)
    assert set(rule.inputs) <= set(WORLD.names)
    assert rule.describe() in repr(rule)
    single = torch.cat([rule.grades(point[None]) for point in points])
    torch.testing.assert_close(single, grades, atol=1e-12, rtol=0)
    unread = [WORLD.column(name) for name in WORLD.names if name not in rule.inputs]
    changed = points.clone()
    changed[:, unread] = 0
    torch.testing.assert_close(rule.grades(changed), grades, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", RULES)
def test_bounds_hold_within_boxes(kind: str) -> None:
    rule = RULES[kind].bind(WORLD)
    first, second = sample_points(), sample_points().flip(0)
    low, high = first.minimum(second), first.maximum(second)
    low[:50], high[:50] = first[:50], first[:50]
    low[50:100, :2] = high[50:100, :2]  # only the real varies
    high[50:100, 2] = low[50:100, 2] + torch.linspace(0, 4, 50)
    least, most = rule.bounds(low, high)
    grades = rule.grades(first[:50])
    torch.testing.assert_close(least[:50], grades, msg="without an extent the bounds are the grade")
    torch.testing.assert_close(most[:50], grades)
    for share in torch.linspace(0, 1, 21, dtype=torch.float64):
        inside = low + share * (high - low)
        inside[:, :2] = inside[:, :2].round()
        assert (least <= rule.grades(inside) + 1e-12).all()
        assert (rule.grades(inside) <= most + 1e-12).all()
    if rule.bounded:
        assert bool((most - least < 1)[50:100].any())


@pytest.mark.parametrize("kind", SAVED)
def test_saved_and_loaded(kind: str, tmp_path) -> None:
    before = nbr.Reasoner(WORLD, [RULES[kind]])
    before.save(tmp_path / "m.nbr")
    after = nbr.load(tmp_path / "m.nbr")
    points = sample_points()
    assert torch.equal(after.grades(points), before.grades(points))
    assert after.world == before.world
    assert str(after.rules[0]) == str(before.rules[0])
    assert after.beliefs.tolist() == before.beliefs.tolist()


@pytest.mark.parametrize("belief", [-0.1, 1.2, float("nan"), float("inf")])
def test_belief_outside_0_and_1(belief: float) -> None:
    with pytest.raises(nbr.NbrError, match="from 0 to 1"):
        nbr.Clause("x", belief)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (nbr.Clause("rian", 0.5), "did you mean 'rain'"),
        (nbr.Clause("grass=damp", 0.5), "not one of its labels"),
        (nbr.Neural(["rain", "wind"], network(2), 0.5), "unknown variable 'wind'"),
        (nbr.Memory({"rain": 3}, 1, 0.5), "0 or 1"),
        (nbr.Memory([1, 2], 1, 0.5), "2 values, the world 3"),
        (nbr.Memory({}, 1, 0.5), "at least one"),
    ],
)
def test_rule_of_another_world(rule: nbr.Rule, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=f"rule 1: .*{words}"):
        nbr.Reasoner(WORLD, [rule])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda z: z[:, 2], "not a number from 0 to 1"),
        (lambda z: z[:, 0] * float("nan"), "not a number from 0 to 1"),
        (lambda z: z, "shape"),
        (lambda z: 0.5, "shape"),
    ],
)
def test_function_that_gives_no_grades(function, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        nbr.Fuzzy(function, 0.5).bind(WORLD).grades(sample_points())


def test_network_that_does_not_fit() -> None:
    with pytest.raises(nbr.NbrError, match="does not take 1 columns"):
        nbr.Neural("rain", network(7), 0.5).bind(WORLD).grades(sample_points())
    broken = network(1)
    with torch.no_grad():
        broken[0].weight.fill_(float("nan"))
    with pytest.raises(nbr.NbrError, match="NaN"):
        nbr.Neural("rain", broken, 0.5).bind(WORLD).grades(sample_points())


def test_what_cannot_be_saved_is_named(tmp_path) -> None:
    for rule, words in [(RULES["fuzzy"], "lambda"), (nbr.Neural("rain", nn.GRU(1, 1), 0.5), "network of rain")]:
        with pytest.raises(nbr.NbrError, match=f"{words}.*cannot be saved"):
            nbr.Reasoner(WORLD, [rule]).save(tmp_path / "m.nbr")
    assert list(tmp_path.iterdir()) == []


def test_fuzzy_rule_keeps_its_columns_when_worlds_join() -> None:
    first = nbr.Reasoner(nbr.World(a=nbr.Bit()), [nbr.Clause("a", 0.5)])
    second = nbr.Reasoner(nbr.World(b=nbr.Bit()), [nbr.Fuzzy(lambda z: z[:, 0], 0.9)])
    assert (first & second).ask("b").belief == pytest.approx(0.9)


def test_gradients_reach_the_network_and_the_belief() -> None:
    belief = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    rule = nbr.Neural(["rain", "grass", "t"], network(5), belief)
    reasoner = nbr.Reasoner(WORLD, [rule])
    from nbr.calculus.point import keep_probability

    keep_probability(reasoner.grades(sample_points()), reasoner.beliefs).log().sum().backward()
    assert belief.grad is not None
    assert belief.grad.abs() > 0
    assert rule.network[0].weight.grad.abs().sum() > 0


def test_a_network_with_its_own_forward_gets_no_false_bounds(tmp_path) -> None:
    class Squared(nn.Sequential):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) ** 2

    rule = nbr.Neural("t", Squared(nn.Linear(1, 1)), 0.5).bind(WORLD)
    low, high = rule.bounds(sample_points() - 1, sample_points() + 1)
    assert (low == 0).all()
    assert (high == 1).all()
    with pytest.raises(nbr.NbrError, match="cannot be saved"):
        nbr.Reasoner(WORLD, [rule]).save(tmp_path / "m.nbr")


def test_dropout_does_not_make_an_answer_random() -> None:
    net = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    rule = nbr.Neural("rain", net, 0.5).bind(WORLD)
    assert torch.equal(rule.grades(sample_points()), rule.grades(sample_points()))
    assert net.training, "the network is left as it was"


@pytest.mark.parametrize(
    "make",
    [
        lambda: nbr.Clause("x0", "much"),
        lambda: nbr.Clause("x0", None),
        lambda: nbr.Memory({"x0": 1}, "far", 0.5),
        lambda: nbr.Fuzzy(lambda z: z[:, 0], 0.5, lipschitz=-1),
        lambda: nbr.Fuzzy(lambda z: z[:, 0], 0.5, lipschitz=float("nan")),
        lambda: nbr.Memory([1, 7, 0], 1, 0.5).bind(WORLD),
        lambda: nbr.Reasoner(WORLD, nbr.Clause("rain", 0.5)),
    ],
)
def test_values_of_the_wrong_kind(make) -> None:
    with pytest.raises(nbr.NbrError):
        make()


def test_asking_a_network_changes_nothing_of_it() -> None:
    """Neither mode nor precision, also while it is asked; dropout and batch statistics play no part."""
    seen: list[bool] = []

    class Watched(torch.nn.Module):
        def forward(self, values: torch.Tensor) -> torch.Tensor:
            seen.append(network.training and network[0].weight.dtype is torch.float32)
            return values

    network = torch.nn.Sequential(
        torch.nn.Linear(2, 8), Watched(), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)
    ).train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    rule = nbr.Neural(["x0", "x1"], network, 0.5).bind(nbr.World.bits(2))
    points = torch.tensor([[0, 1], [1, 1], [1, 0]], dtype=torch.float64)
    first = rule.grades(points)
    assert torch.equal(first, rule.grades(points))
    assert seen == [True, True]
    assert network.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    (slope,) = torch.autograd.grad(first.sum(), network[0].weight)
    assert bool(slope.abs().sum() > 0)


def test_two_threads_may_ask_one_network() -> None:
    from concurrent.futures import ThreadPoolExecutor

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.GELU(), torch.nn.Linear(64, 1))
    rule = nbr.Neural(["x0", "x1"], network, 0.5).bind(nbr.World.bits(2))
    points = torch.randint(0, 2, (50, 2)).double()
    with torch.no_grad():
        alone = rule.grades(points)
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda _: rule.grades(points), range(400)))
    assert all(torch.equal(alone, each) for each in together)
    assert network[0].weight.dtype is torch.float32
    assert network[0].weight.requires_grad
