"""Each part of the three training steps does what it is there for: without it, a test here fails."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from nbr import NonexpansiveClassifier, RobustClassifier
from nbr.calculus.batch import Groups
from nbr.classify import beliefs
from nbr.classify.beliefs import ABSENT_SCORE, improve, scores_seen
from nbr.classify.experts import Experts
from nbr.classify.memories import memorise
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, TrainingSample
from nbr.classify.rules import NonexpansiveRules, ScoredRules
from nbr.lipschitz import Dense, Fixed, dense
from nbr.progress import silent

SMALL = {
    "networks": 2,
    "linear": False,
    "width": 16,
    "depth": 1,
    "head": 8,
    "epochs": 12,
    "batch_size": 64,
    "random_state": 0,
}

TWO = Experts(2, 2)


def kinds(count: int = 200, seed: int = 0, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Two labels of two clouds each, at the corners of a square: opposite corners have the same label."""
    dice = np.random.default_rng(seed)
    y, kind = dice.integers(0, 2, count), dice.integers(0, 2, count)
    X = spread * dice.normal(size=(count, 4))
    X[:, 0] += np.where(kind == 1, 1.5, -1.5)
    X[:, 1] += np.where((kind == 1) == (y == 1), 1.5, -1.5)
    return X, y


def sample(count: int = 200) -> TrainingSample:
    X, y = kinds(count)
    return TrainingSample(torch.from_numpy(X).float(), torch.from_numpy(y), None)


def recipe(**changed: object) -> Recipe:
    return Recipe(
        **{
            "epsilon": 0.5,
            "networks": 2,
            "width": 16,
            "depth": 1,
            "head": 8,
            "epochs": 12,
            "batch": 64,
        }
        | changed
    )


def linear(scale: float = 1.0) -> NonexpansiveRules:
    """Two rules that are one linear function and its negative."""
    layer = Dense(2, 1, count=2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[[-0.6, 0.8]], [[0.6, -0.8]]]))
        layer.bias.copy_(torch.tensor([[[0.25]], [[-0.25]]]))
    two = torch.ones(2, dtype=torch.float64)
    groups, none = Groups(torch.tensor([[1, 0], [0, 1]])), torch.zeros(0, dtype=torch.float64)
    fixed = Fixed(torch.nn.Sequential(layer))
    return NonexpansiveRules(groups, two, scale * two, 0.9 * two, fixed, torch.zeros(0, 2), none)


def test_the_proof_allows_for_rounding() -> None:
    """Against rational arithmetic, on inputs so long that float64 is off by more than anything else."""
    rules = linear(scale=1e6)
    classifier = RobustClassifier(1.0)
    classifier.classes_, classifier.n_features_in_, classifier.shape_ = np.array([0, 1]), 2, None
    classifier.rules_ = rules
    dice = np.random.default_rng(0)
    along = np.array([0.8, 0.6], dtype=np.float32) * dice.uniform(1e9, 1e10, size=(300, 1))
    X = along + np.array([0.6, -0.8]) * dice.uniform(-2, 2, size=(300, 1))
    weight = [Fraction(float(value)) for value in rules.networks.module()[0].weight[1, 0]]
    exact = [abs(sum(w * Fraction(float(v)) for w, v in zip(weight, row, strict=True)) - Fraction(1, 4)) for row in X]
    squared = sum(w * w for w in weight)
    for proved in (classifier.certified_radius(X), classifier.rule_radius(X)[:, 1]):
        assert all(Fraction(float(r)) ** 2 * squared <= distance**2 for r, distance in zip(proved, exact, strict=True))
        assert np.median(proved) > 0.1
    computed = rules.scores(torch.from_numpy(X))[:, 1].abs().numpy()
    assert any(Fraction(float(c)) > distance for c, distance in zip(computed, exact, strict=True))  # it matters


def one_rule(belief: float) -> RobustClassifier:
    rules = linear()
    one = torch.ones(1, dtype=torch.float64)
    layer = rules.networks.module()[0]
    fixed = Fixed(torch.nn.Sequential(Dense.of(layer.weight.detach()[1:], layer.bias.detach()[1:])))
    classifier = RobustClassifier(1.0)
    classifier.classes_, classifier.n_features_in_, classifier.shape_ = np.array([0, 1]), 2, None
    none = torch.zeros(0, dtype=torch.float64)
    classifier.rules_ = NonexpansiveRules(
        Groups(torch.tensor([[0, 1]])), one, one, belief * one, fixed, torch.zeros(0, 2), none
    )
    return classifier


@pytest.mark.parametrize("belief", [1.0, 0.9])
def test_rounding_is_counted_at_the_input_and_at_the_changed_one(belief: float) -> None:
    """Twice the slack, and more where the changed input is longer; for a rule alone, and for a rule among others."""
    classifier = one_rule(belief)
    X = (
        np.array([0.8, 0.6], dtype=np.float32).astype(float) * 1e10
        + np.array([0.6, -0.8]) * np.linspace(-2, 2, 41)[:, None]
    )
    rules, points = classifier.rules_, torch.from_numpy(X)
    scores, none = rules.scores(points), torch.zeros(41, 1, dtype=torch.float64)
    slack, bound = rules.slack(points, scores, none), float(rules.steepness)
    assert float(slack.min()) > 1e-7
    twice = ((scores.abs() - 2 * slack).clamp(min=0) / bound)[:, 0].numpy()
    for proved in (classifier.certified_radius(X), classifier.rule_radius(X)[:, 0]):
        assert bool((proved <= twice).all())
        assert bool((proved >= twice - 1e-5).all())
    longer = rules.slack(points, scores, none + 1e9)
    assert bool((longer > 1.05 * slack).all())


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_scores_are_off_by_no_more_than_is_said(size: float) -> None:
    """Networks and memories in float64 against the extended precision of numpy."""
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("numpy has no extended precision here")
    network = dense(20, [16, 8], 3, seed=0)
    generator = torch.Generator().manual_seed(0)
    memories = size * torch.randn(30, 20, generator=generator)
    reach = torch.full((30,), size, dtype=torch.float64)
    one = torch.ones(33, dtype=torch.float64)
    groups = Groups(torch.tensor([[0, 1]] * 33))
    rules = NonexpansiveRules(groups, one, one, one, Fixed(network), memories, reach)
    points = size * torch.randn(50, 20, generator=generator, dtype=torch.float64)
    points[:30] = memories.double() + 1e-3 * size * points[:30]
    scores = rules.scores(points)
    wide = points.numpy().astype(np.longdouble)
    columns = []
    for number in range(3):
        values = wide
        for layer in network:
            if isinstance(layer, Dense):
                values = values @ layer.weight[number].detach().numpy().astype(np.longdouble).T
                values = values + layer.bias[number].detach().numpy().astype(np.longdouble)
            else:
                first, second = np.split(values, 2, axis=-1)
                values = np.concatenate([np.maximum(first, second), np.minimum(first, second)], axis=-1)
        columns.append(values[:, 0])
    gaps = wide[:, None] - memories.numpy().astype(np.longdouble)
    exact = np.concatenate([np.stack(columns, axis=1), size - np.sqrt((gaps**2).sum(axis=2))], axis=1)
    off = np.abs(scores.numpy() - exact)
    slack = rules.slack(points, scores, torch.zeros(1, 1, dtype=torch.float64)).numpy()
    assert off.max() > 0
    assert bool((off <= slack).all())
    assert slack.max() < 1e-6 * size


@pytest.mark.parametrize("kind", [RobustClassifier, NonexpansiveClassifier])
def test_training_for_a_distance_gives_one(kind: type) -> None:
    """With beta the scores of the examples come out larger than without."""
    X, y = kinds() if kind is RobustClassifier else (kinds()[0], (kinds()[0][:, 0] > 0).astype(int))
    settings = (
        SMALL if kind is RobustClassifier else {"widths": (16, 8), "epochs": 12, "batch_size": 64, "random_state": 0}
    )
    reached = []
    for beta in (2.0, 1e-9):
        classifier = kind(0.5, beta=beta, **settings).fit(X, y)
        scores = classifier.rules_.networks(classifier._points(X))
        reached.append(float(scores.abs().amax(dim=1).median()))
    assert reached[0] > 1.1 * reached[1]


def test_scales_and_reaches_allow_for_a_shift() -> None:
    """Where the examples are less than the shift apart, a rule must not be steep."""
    data = sample()
    networks = TWO.train(data, recipe(), silent)
    for gamma in (0.0, 9.0):  # scales of networks; of memories
        plain, moved = (memorise(data, networks, TWO, recipe(shift=shift, gamma=gamma))[0] for shift in (0.0, 3.0))
        start = 4 if gamma else 0
        assert float(moved.scale[start:].median()) < 0.5 * float(plain.scale[start:].median())


def test_beliefs_are_learned_on_examples_moved_until_they_are_barely_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two rules, one speaks up for all examples but little, one for most and much: beta decides between them."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(200) % 2
    side = 2.0 * labels - 1
    scores = side[:, None] * torch.stack([torch.full((200,), 1.5), 0.2 + torch.rand(200, generator=generator)], dim=1)
    data, groups = TrainingSample(torch.zeros(200, 1), labels, None), Groups(torch.tensor([[0, 1], [0, 1]]))
    seen_margins: list[torch.Tensor] = []
    weight = torch.zeros(2, requires_grad=True)

    def combined(values: torch.Tensor) -> torch.Tensor:
        told = values @ weight.exp()
        if torch.is_grad_enabled():
            seen_margins.extend(told.detach().abs().chunk(2))  # as they are, and moved
        return torch.stack([-told / 2, told / 2], dim=1)

    monkeypatch.setattr(beliefs, "STEPS", 1)
    improve(scores, data, groups, [weight], combined, recipe(epsilon=2.0, omega=0.5), silent)
    barely = [margins for margins in seen_margins if float(margins.max()) < 0.05]
    assert len(seen_margins) == 2
    assert len(barely) == 1  # the other is as it is


def test_the_first_loss_is_that_of_the_paper() -> None:
    """Equation (16) at its first step, and a little for not being right at all, with one network for each label."""
    recipe = Recipe(epsilon=0.5, width=6, depth=2, head=4, epochs=1, batch=40, seed=3)
    points = torch.randn(40, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(40) % 2
    told: list[float] = []
    Experts(2, 1).train(TrainingSample(points, labels, None), recipe, lambda now: told.append(now.figures["loss"]))
    with torch.no_grad():
        scores = dense(6, [6, 6, 4], 2, 2, recipe.seed)(points)[..., 0]
    own, other = scores.gather(0, labels[None])[0], scores.gather(0, 1 - labels[None])[0]
    beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon
    robust = (softplus(-sharp * (own - beta)) + softplus(sharp * (other + beta))) / 2
    right = softplus(-2 * sharp * ((own - other) / 2 - 0.1 * recipe.epsilon))
    assert told[0] == pytest.approx(float((robust + recipe.plain * right).mean() / sharp), rel=1e-5)


def test_a_network_for_a_pair_speaks_for_the_first_of_them() -> None:
    spoken = Pairs(3).spoken(torch.zeros(3, 3), torch.tensor([0, 1, 2]))
    assert spoken.tolist() == [[True, True, False], [False, False, True], [False, False, False]]


def test_what_no_network_takes_is_memorised() -> None:
    data = sample()
    networks = TWO.train(data, recipe(), silent)
    scores = Fixed(networks)(data.points)
    own = torch.where(data.labels == 0, scores[:, :2].amax(dim=1), scores[:, 2:].amax(dim=1))
    for gamma in (0.0, 1.0, 9.0):
        rules, memory = memorise(data, networks, TWO, recipe(gamma=gamma))
        left = own < gamma * 0.5
        assert torch.equal(memory >= 0, left)
        assert torch.equal(rules.memories, data.points[left])
        assert rules.groups.table[4:].argmax(dim=1).tolist() == data.labels[left].tolist()
        held = rules.scores(data.points)[left, memory[left]]
        assert bool((held > 0).all())  # a memory takes its own example
    assert len(memorise(data, networks, TWO, recipe(gamma=9.0, memories=False))[0].memories) == 0
    X, y = kinds(60)
    assert len(RobustClassifier(0.5, gamma=9.0, **SMALL).fit(X, y).rules_.memories) == len(X)


def test_an_example_is_not_shown_its_own_memory() -> None:
    data = sample()
    rules, memory = memorise(data, TWO.train(data, recipe(), silent), TWO, recipe(gamma=1.5))
    shown, plain = scores_seen(data, rules, memory), rules.scores(data.points).float()
    held = memory >= 0
    assert 0 < int(held.sum()) < len(held)
    assert bool((shown[held, memory[held]] == ABSENT_SCORE).all())
    assert torch.equal(shown[~held], plain[~held])
    assert int((shown != plain).sum()) == int(held.sum())


def test_each_network_gets_a_kind_of_its_own() -> None:
    """Two clouds of a label: each of its two networks takes one of them, whatever the seed."""
    X, y = kinds()
    for seed in range(3):
        classifier = RobustClassifier(0.5, **SMALL | {"random_state": seed, "epochs": 20}).fit(X, y)
        scores = classifier.rules_.networks(classifier._points(X))
        for label in (0, 1):
            owner = scores[y == label][:, 2 * label : 2 * label + 2].argmax(dim=1).numpy()
            cloud = X[y == label][:, 0] > 0
            alike = (owner == cloud).mean()
            assert max(alike, 1 - alike) > 0.95


def test_pictures_are_changed_while_training_and_vectors_are_not() -> None:
    X, y = kinds(120)
    pictures = np.zeros((120, 8, 8))
    for picture, label in zip(pictures, y, strict=True):
        picture[(2, slice(2, 6)) if label else (slice(2, 6), 2)] = 1
    pictures += 0.05 * np.random.default_rng(0).random(pictures.shape)
    weights = {}
    for name, inputs in (("pictures", pictures), ("vectors", X)):
        for strength in (0.0, 1.0):
            classifier = RobustClassifier(0.5, augment=strength, **SMALL | {"epochs": 3}).fit(inputs, y)
            weights[name, strength] = torch.cat([w.flatten() for w in classifier.rules_.networks.module().parameters()])
    assert not torch.allclose(weights["pictures", 0.0], weights["pictures", 1.0], atol=1e-3)
    assert torch.equal(weights["vectors", 0.0], weights["vectors", 1.0])
    shifted = np.roll(pictures, 1, axis=(1, 2))
    right = [
        RobustClassifier(0.5, augment=strength, **SMALL).fit(pictures, y).decision_function(shifted) * (2 * y - 1)
        for strength in (0.0, 1.0)
    ]
    assert right[1].mean() > right[0].mean()


def test_a_rule_that_knows_a_share_of_its_label_says_little_against_it() -> None:
    """R below 0 as section 4.2 has it, and the share is what the rule was trained on."""
    scores = torch.linspace(-4, 4, 9, dtype=torch.float64)[:, None]
    share, scale, belief = (torch.tensor([value], dtype=torch.float64) for value in (0.25, 1.5, 0.8))
    rule = ScoredRules(Groups(torch.tensor([[1, 0]])), share, scale, belief)
    curve = 1 / (1 + np.exp(-1.5 * scores.numpy()[:, 0]))
    expected = np.where(scores.numpy()[:, 0] >= 0, curve, 0.5 - 0.25 * (0.5 - curve))
    np.testing.assert_allclose(rule.grades(scores)[:, 0, 0], expected)
    np.testing.assert_allclose(rule.grades(scores)[:, 1, 0], 1 - expected)
    odds = np.log(1 - 0.8 + 0.8 * expected) - np.log(1 - 0.8 + 0.8 * (1 - expected))
    np.testing.assert_allclose(rule.weights(scores)[:, 0], odds)
    data = sample()
    networks = TWO.train(data, recipe(), silent)
    rules, memory = memorise(data, networks, TWO, recipe(gamma=1.5))
    every = Fixed(networks)(data.points)
    for label in (0, 1):
        mine = data.labels == label
        owner = every[:, 2 * label : 2 * label + 2].argmax(dim=1) + 2 * label
        for number in (2 * label, 2 * label + 1):
            taken = int((mine & (memory < 0) & (owner == number)).sum())
            assert float(rules.share[number]) == pytest.approx(taken / int(mine.sum()))
        assert rules.share[memory[mine & (memory >= 0)]].unique().tolist() == [pytest.approx(1 / int(mine.sum()))]


def test_what_is_promised_without_settings() -> None:
    """Both are robust at L2 2 unless told otherwise, which is what figures in the documentation are of."""
    assert RobustClassifier().epsilon == NonexpansiveClassifier().epsilon == 2.0


def test_no_radius_is_looked_for_beyond_eight_times_epsilon() -> None:
    points = torch.tensor([[-100.0], [100.0]]).repeat(20, 1).numpy()
    labels = np.arange(40) % 2
    small = {
        "networks": 1,
        "linear": False,
        "width": 2,
        "depth": 1,
        "head": 2,
        "epochs": 3,
        "batch_size": 40,
        "random_state": 0,
    }
    classifier = RobustClassifier(0.5, **small).fit(points, labels)
    assert classifier.certified_radius(points).max() == pytest.approx(4.0, rel=1e-3)
