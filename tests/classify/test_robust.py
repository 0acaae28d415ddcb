"""The robust classifier: it learns, its proofs hold, and it behaves as scikit-learn expects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import nbr
from nbr import BeliefClassifier, NbrError, NonexpansiveClassifier, RobustClassifier
from nbr.classify import beliefs, frames, memories

QUICK = {
    "networks": 2,
    "linear": False,
    "width": 16,
    "depth": 1,
    "head": 8,
    "epochs": 30,
    "batch_size": 64,
    "random_state": 0,
}


def clouds(count: int = 400, size: int = 10, apart: float = 3.0, seed: int = 0):
    """Two labels, each of two clouds."""
    dice = np.random.default_rng(seed)
    y = dice.integers(0, 2, count)
    kind = dice.integers(0, 2, count)
    X = dice.normal(size=(count, size)) * 0.5
    X[:, 0] += apart * (y - 0.5)
    X[:, 1] += 2.0 * kind * np.where(y == 1, 1, -1)
    return X, y


@pytest.fixture(scope="module")
def trained() -> RobustClassifier:
    X, y = clouds()
    return RobustClassifier(epsilon=0.5, **QUICK).fit(X, np.where(y == 1, "yes", "no"))


ONE = {"widths": (16, 8), "epochs": 20, "batch_size": 64, "random_state": 0}
CHECKED = [RobustClassifier(**QUICK | {"epochs": 8}), BeliefClassifier(random_state=0), NonexpansiveClassifier(**ONE)]


# Training draws rows, so a row that counts twice and a row that is there twice differ a little, as in SGDClassifier.
WEIGHED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "rows are drawn at random while training",
)


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda estimator: WEIGHED)
def test_scikit_learn_conventions(estimator, check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beliefs, "STEPS", 40)  # conventions do not depend on how well it was trained
    monkeypatch.setattr(memories, "STEPS", 30)
    check(estimator)


def test_it_learns_and_tells_intervals(trained: RobustClassifier) -> None:
    X, y = clouds(seed=1)
    truth = np.where(y == 1, "yes", "no")
    assert trained.score(X, truth) > 0.97
    interval = trained.belief(X)
    assert interval.shape == (400, 2, 2)
    assert bool((interval[..., 0] <= interval[..., 1]).all())
    np.testing.assert_allclose(interval[:, 0, 0], 1 - interval[:, 1, 1], atol=1e-9)
    chances = trained.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    # The softmax of log Pl is the plausibility of each label over the sum of both, before inputs are found unfamiliar.
    interval = clone_with(trained, "scaled").set_params(discount=False).belief(X)
    np.testing.assert_allclose(chances, interval[..., 1] / interval[..., 1].sum(axis=1, keepdims=True), atol=1e-9)
    assert set(trained.predict_set(X)[0]) <= {"no", "yes"}
    assert trained.conflict(X).shape == (400,)
    assert trained.weights_of_evidence(X).argmax(axis=1).tolist() == chances.argmax(axis=1).tolist()


def attack(classifier: RobustClassifier, X: np.ndarray, reach: np.ndarray, steps: int = 60) -> np.ndarray:
    """The best of gradient steps on the margin in float64, all the way to the sphere; the margin towards the label."""
    module, start = classifier.as_module(), torch.from_numpy(X)
    label = torch.where(torch.from_numpy(classifier.decision_function(X)) >= 0, 1.0, -1.0)
    radius = torch.from_numpy(reach)[:, None]
    generator = torch.Generator().manual_seed(0)
    worst = torch.full((len(X),), torch.inf, dtype=torch.float64)
    for _ in range(3):
        away = torch.randn(start.shape, generator=generator, dtype=torch.float64)
        moved = start + 0.1 * radius * away / away.norm(dim=1, keepdim=True)
        for _ in range(steps):
            moved = moved.detach().requires_grad_()
            logits = module(moved)
            margin = (logits[:, 1] - logits[:, 0]) * label
            worst = torch.minimum(worst, margin.detach())
            (slope,) = torch.autograd.grad(margin.sum(), moved)
            step = moved.detach() - 0.3 * radius * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12)
            away = step - start
            moved = start + away * (radius / away.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
    return worst.numpy()


@pytest.mark.parametrize("combine", ["scaled", "exact"])
def test_no_attack_breaks_a_certified_input(trained: RobustClassifier, combine: str) -> None:
    X, _ = clouds(seed=2)
    classifier = clone_with(trained, combine)
    radius = classifier.certified_radius(X)
    assert radius.max() > 0.3
    assert bool((attack(classifier, X, radius) > 0).all())
    # Far enough beyond the proved radius an attack succeeds on some, so the attack is not a sham.
    assert bool((attack(classifier, X, 3 * radius + 0.2) < 0).any())


def clone_with(classifier: RobustClassifier, combine: str) -> RobustClassifier:
    found = clone(classifier).set_params(combine=combine)
    found.__dict__.update({k: v for k, v in classifier.__dict__.items() if k.endswith("_")})
    return found


def test_the_radius_is_the_largest_shift_of_all_scores(trained: RobustClassifier) -> None:
    """Against a plain search over a grid of shifts."""
    X, _ = clouds(seed=3, count=50)
    rules, rising = trained.rules_, (2.0 * trained.rules_.groups.table[:, 1] - 1).double()
    scores = rules.scores(trained._points(X))
    label = torch.where(rules.weights(scores) @ rising >= 0, 1.0, -1.0).double()
    proved = trained.certified_radius(X)
    for eps in np.linspace(0, 2, 41):
        shifted = (rules.weights(scores - label[:, None] * rising * eps) @ rising) * label > 0
        assert bool((shifted.numpy() == (proved > eps))[np.abs(proved - eps) > 1e-5].all())


def test_a_linear_rule_has_its_exact_distance() -> None:
    """One network of one layer is a linear function: the proved radius is the distance to the hyperplane."""
    from nbr.calculus.batch import Groups
    from nbr.classify.rules import NonexpansiveRules
    from nbr.lipschitz import Dense, Fixed

    layer = Dense(3, 1, count=2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[[-1.0, 0, 0]], [[1.0, 0, 0]]]))
        layer.bias.copy_(torch.tensor([[[0.5]], [[-0.5]]]))
    two = torch.ones(2, dtype=torch.float64)
    classifier = RobustClassifier()
    classifier.classes_, classifier.n_features_in_, classifier.shape_ = np.array([0, 1]), 3, None
    none = torch.zeros(0, dtype=torch.float64)
    groups, fixed = Groups(torch.tensor([[1, 0], [0, 1]])), Fixed(torch.nn.Sequential(layer))
    classifier.rules_ = NonexpansiveRules(groups, two, two, two / 2, fixed, torch.zeros(0, 3), none)
    X = np.array([[0.7, 5.0, 5.0], [-1.5, 0.0, 0.0], [0.5, 1.0, 1.0]])
    np.testing.assert_allclose(classifier.certified_radius(X), [0.2, 2.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(classifier.rule_radius(X)[0], [0.2, 0.2], atol=1e-6)


def test_saved_and_loaded_it_answers_the_same(trained: RobustClassifier, tmp_path: Path) -> None:
    X, _ = clouds(seed=4, count=30)
    trained.save(tmp_path / "c.nbr")
    again = nbr.load(tmp_path / "c.nbr")
    np.testing.assert_array_equal(again.predict(X), trained.predict(X))
    np.testing.assert_array_equal(again.certified_radius(X), trained.certified_radius(X))
    np.testing.assert_array_equal(again.belief(X), trained.belief(X))
    again.save(tmp_path / "d.nbr")
    assert (tmp_path / "d.nbr").read_bytes() == (tmp_path / "c.nbr").read_bytes()


def test_a_stopped_run_ends_as_if_it_had_not_been(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbr.classify import robust
    from nbr.progress import Progress
    from nbr.training import loop

    X, y = clouds(count=200)
    settings = QUICK | {"epochs": 8}
    whole = RobustClassifier(epsilon=0.5, **settings).fit(X, y)

    class Stop(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done > 0.7 * progress.of and not progress.ended:
            raise Stop

    monkeypatch.setattr(loop, "SECONDS", 0.0)

    monkeypatch.setattr(robust, "progress", lambda verbose: stop)
    path = tmp_path / "run"
    with pytest.raises(Stop):
        RobustClassifier(epsilon=0.5, checkpoint=path, **settings).fit(X, y)
    monkeypatch.undo()
    assert path.exists()
    for others in ({"epsilon": 0.7}, {"width": 12}, {"networks": 3}, {"random_state": 1}):
        with pytest.raises(NbrError, match="other data or other settings"):
            RobustClassifier(checkpoint=path, **{"epsilon": 0.5, **settings, **others}).fit(X, y)
    with pytest.raises(NbrError, match="other data or other settings"):
        RobustClassifier(epsilon=0.5, checkpoint=path, **settings).fit(X * 1.01, y)
    again = RobustClassifier(epsilon=0.5, checkpoint=path, **settings).fit(X, y)
    np.testing.assert_array_equal(again.certified_radius(X), whole.certified_radius(X))
    assert not path.exists()


def test_one_network_of_another_width_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbr.classify import nonexpansive
    from nbr.progress import Progress
    from nbr.training import loop

    def stop(progress: Progress) -> None:
        if progress.done > 0.7 * progress.of and not progress.ended:
            raise KeyboardInterrupt

    X, y = clouds(count=100)
    monkeypatch.setattr(loop, "SECONDS", 0.0)
    monkeypatch.setattr(nonexpansive, "progress", lambda verbose: stop)
    with pytest.raises(KeyboardInterrupt):
        NonexpansiveClassifier(**ONE, checkpoint=tmp_path / "run").fit(X, y)
    with pytest.raises(NbrError, match="other data or other settings"):
        NonexpansiveClassifier(**ONE | {"widths": (16, 4)}, checkpoint=tmp_path / "run").fit(X, y)


def test_pictures_and_the_box() -> None:
    dice = np.random.default_rng(0)
    y = dice.integers(0, 2, 120)
    X = dice.random((120, 6, 5)) * 0.3
    X[:, 2:4, 2:4] += 0.6 * y[:, None, None]
    classifier = RobustClassifier(epsilon=0.3, box=(0, 1), **QUICK).fit(X, y)
    assert classifier.score(X, y) > 0.95
    np.testing.assert_array_equal(classifier.predict(X), classifier.predict(X.reshape(120, 30)))
    X[3, 1, 1] = 1.5
    with pytest.raises(NbrError, match="input 3 has 1.5 at position 6; values lie between 0 and 1"):
        classifier.predict(X)
    with pytest.raises(NbrError, match="5 x 5; the classifier knows 6 x 5"):
        classifier.predict(X[:, 1:])


def test_bad_input_is_told() -> None:
    X, y = clouds(40)
    with pytest.raises(NbrError, match="one class, 0"):
        RobustClassifier(**QUICK).fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="NaN"):
        RobustClassifier(**QUICK).fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(NbrError, match="epsilon must be a finite number above 0"):
        RobustClassifier(0, **QUICK).fit(X, y)
    with pytest.raises(NbrError, match="did you mean 'exact'"):
        RobustClassifier(combine="exakt", **QUICK).fit(X, y)


def test_pipelines_and_searches() -> None:
    X, y = clouds(120)
    search = GridSearchCV(RobustClassifier(**QUICK | {"epochs": 5}), {"epsilon": [0.3, 1.0]}, cv=2)
    assert make_pipeline(StandardScaler(), search).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("kind", [frames.rest, frames.pairs, frames.hierarchy])
def test_many_labels_are_proved_too(kind) -> None:
    """No label changes within the proved radius, along random directions and straight at the other clouds."""
    dice = np.random.default_rng(0)
    centres = 3 * np.eye(4)
    y = dice.integers(0, 4, 300)
    X = centres[y] + 0.3 * dice.normal(size=(300, 4))
    rules = [(NonexpansiveClassifier(1.0, **ONE), frame) for frame in kind([0, 1, 2, 3])]
    classifier = BeliefClassifier(rules, random_state=0).fit(X, y)
    assert classifier.score(X, y) > 0.97
    radius = classifier.certified_radius(X)
    assert np.median(radius) > 0.3
    label = classifier.predict(X)
    towards = [centres[other] - X for other in range(4)] + [dice.normal(size=X.shape) for _ in range(20)]
    for away in towards:
        step = away / np.linalg.norm(away, axis=1, keepdims=True) * radius[:, None]
        np.testing.assert_array_equal(classifier.predict(X + step), label)
    with pytest.raises(NbrError, match="lipschitz_"):
        BeliefClassifier([DecisionTreeClassifier()], random_state=0).fit(X, y).certified_radius(X)


def test_one_network_is_nonexpansive(tmp_path: Path) -> None:
    X, y = clouds()
    network = NonexpansiveClassifier(0.5, **ONE).fit(X, y)
    assert network.score(X, y) > 0.95
    other = X[::-1]
    moved = np.abs(network.decision_function(X) - network.decision_function(other))
    assert bool((moved <= network.lipschitz_ * np.linalg.norm(X - other, axis=1) + 1e-9).all())
    assert network.lipschitz_ <= 1 + 1e-6
    network.save(tmp_path / "n.nbr")
    again = nbr.load(tmp_path / "n.nbr")
    np.testing.assert_array_equal(again.certified_radius(X), network.certified_radius(X))
    logits = again.as_module()(torch.from_numpy(X)).detach().numpy()
    np.testing.assert_allclose(logits[:, 1] - logits[:, 0], network.decision_function(X))


@pytest.mark.parametrize("small", [1.0, 1e-4])
def test_the_weights_are_those_of_the_scaled_grades(trained: RobustClassifier, small: float) -> None:
    """Closed form and shortcut against the scaling trick on the grades, also for scores far from everything."""
    from dataclasses import replace

    from nbr.calculus.batch import Groups, scaled

    X, _ = clouds(seed=5)
    dice = torch.Generator().manual_seed(0)
    networks, extra = trained.rules_.first_memory, 200
    draw = torch.rand(5, networks + extra, generator=dice, dtype=torch.float64)
    rules = replace(
        trained.rules_,
        memories=torch.from_numpy(X[:extra]).float(),
        reach=3 * torch.rand(extra, generator=dice, dtype=torch.float64),
        groups=Groups(torch.nn.functional.one_hot((draw[0] > 0.5).long())),
        share=draw[1] * small,
        scale=0.1 + 20 * draw[2],
        belief=draw[3],
    )
    scores = rules.scores(torch.from_numpy(X))
    scores[:, networks:] -= 10 * torch.rand(scores[:, networks:].shape, generator=dice, dtype=torch.float64)
    scores[0, -1] = 0.7  # within the reach of a memory
    assert rules._weak is (small < 1)
    told = scaled(rules.grades(scores), rules.belief, rules.groups)
    torch.testing.assert_close(rules.weights(scores), told.weights, atol=2e-8, rtol=0)
    torch.testing.assert_close(rules.batch(scores, "scaled").points(), told.points(), atol=2e-8, rtol=0)


def test_the_networks_alone_are_a_classifier_too(trained: RobustClassifier) -> None:
    X, _ = clouds(seed=6, count=40)
    trained.certified_radius(X)
    bare = trained.without_memories()
    assert len(bare.rules_.memories) == 0
    assert bare.certified_radius(X).shape == (40,)
    assert len(trained.rules_) == trained.rule_radius(X).shape[1]
