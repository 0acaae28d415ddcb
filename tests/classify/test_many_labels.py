"""More than two labels: frames of any shape, proofs for every pair, files, and what is told about bad ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import nbr
from nbr import BeliefClassifier, NbrError, NonexpansiveClassifier, RobustClassifier
from nbr.calculus.batch import Groups
from nbr.classify import certificate, frames
from nbr.classify.descent import rightness
from nbr.classify.recipe import Recipe
from nbr.classify.rules import NonexpansiveRules, ScoredRules
from nbr.lipschitz import Fixed, dense

ONE = {"widths": (16, 8), "epochs": 10, "batch_size": 64, "random_state": 0}


def hand_made(labels: int = 4, networks: int = 6, memories: int = 20, seed: int = 0) -> RobustClassifier:
    """A classifier of random rules, each with its own two groups of labels; some leave labels out."""
    dice = torch.Generator().manual_seed(seed)
    rules = networks + memories
    table = torch.randint(-1, 2, (rules, labels), generator=dice)
    table[:, 0], table[:, 1] = 0, 1
    table = torch.stack([row[torch.randperm(labels, generator=dice)] for row in table])
    draw = torch.rand(4, rules, generator=dice, dtype=torch.float64)
    found = RobustClassifier(1.0)
    found.classes_, found.n_features_in_, found.shape_ = np.array(list("abcdefgh"[:labels])), 5, None
    found.recipe_ = {}
    found.rules_ = NonexpansiveRules(
        Groups(table),
        0.2 + 0.8 * draw[0],
        0.5 + 3 * draw[1],
        0.95 * draw[2],
        Fixed(dense(5, [8, 8], networks, seed=seed)),
        torch.randn(memories, 5, generator=dice),
        1 + draw[3, networks:],
    )
    return found


@pytest.mark.parametrize("combine", ["scaled", "exact", "cautious"])
@pytest.mark.parametrize("labels", [2, 3, 5])
def test_rules_of_any_groups_are_proved(combine: str, labels: int) -> None:
    """Steps down the margin of every rival, and random ones, to the proved radius: the label stays."""
    classifier = hand_made(labels).set_params(combine=combine)
    X = np.random.default_rng(1).normal(size=(60, 5))
    radius, best = classifier.certified_radius(X), classifier.decision_function(X)
    best = np.where(best > 0, 1, 0) if labels == 2 else best.argmax(axis=1)
    assert np.median(radius) > 0.02
    module, start, label = classifier.as_module(), torch.from_numpy(X), torch.from_numpy(best)
    reach = torch.from_numpy(radius)[:, None]
    beaten = False
    for step in range(1, labels):
        rival = (label + step) % labels
        for length in (reach, 8 * reach + 0.5):
            moved = start
            for _ in range(30):
                moved = moved.detach().requires_grad_()
                logits = module(moved)
                gap = (logits.gather(1, label[:, None]) - logits.gather(1, rival[:, None]))[:, 0]
                if length is reach:
                    assert bool((gap[radius > 0] > 0).all())
                beaten |= bool((gap < 0).any())
                (slope,) = torch.autograd.grad(gap.sum(), moved)
                away = moved.detach() - 0.3 * length * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12) - start
                moved = start + away * (length / away.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
    assert beaten  # further away the steps do succeed


@pytest.mark.parametrize("labels", [3, 4])
def test_the_proof_moves_every_score_the_worst_way(labels: int) -> None:
    """Against all corners of the box of scores: scaled, the radius is where the first corner loses the label."""
    random = np.random.default_rng(0)
    for seed in range(6):
        classifier = hand_made(labels, 2, 3, seed)
        rules = classifier.rules_
        plain = ScoredRules(rules.groups, rules.share, rules.scale, rules.belief)
        scores, steep = torch.from_numpy(random.normal(size=(1, 5))), torch.ones(5, dtype=torch.float64)
        corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 5)
        for combine in ("scaled", "exact", "cautious"):

            def combined(values: torch.Tensor, plain: ScoredRules = plain, combine: str = combine) -> torch.Tensor:
                return plain.batch(values, combine).points()

            none = torch.zeros(1, 5, dtype=torch.float64)
            known = (scores, none, none[:, 0], steep, rules.groups, combined)
            radius = float(
                certificate.proved_radius(
                    *known, exact=combine == "exact", most=none[:, 0] + 10, shared=combine == "cautious"
                )
            )
            best = int(combined(scores).argmax())
            inside = combined(scores + (radius - 1e-6) * corners).argmax(dim=1)
            assert radius <= 1e-6 or bool((inside == best).all())
            outside = combined(scores + (radius + 1e-4) * corners)
            ahead = outside[:, [best]] - outside[:, [k for k in range(labels) if k != best]]
            assert combine != "scaled" or radius == 10 or float(ahead.min()) < 1e-6


def test_files_of_many_labels(tmp_path: Path) -> None:
    classifier = hand_made(4)
    classifier.save(tmp_path / "m.nbr")
    again, X = nbr.load(tmp_path / "m.nbr"), np.random.default_rng(1).normal(size=(20, 5))
    np.testing.assert_array_equal(again.belief(X), classifier.belief(X))
    np.testing.assert_array_equal(again.certified_radius(X), classifier.certified_radius(X))
    assert again.reasons(X) == classifier.reasons(X)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"groups": Groups(torch.ones(26, 4, dtype=torch.long))}, "tells two groups of labels apart"),
        ({"groups": Groups(torch.full((26, 4), 2))}, "tells two groups of labels apart"),
        ({"groups": Groups(torch.tensor([[0, 1]] * 25))}, "share of 25 rules has shape"),
        ({"share": torch.full((26,), 1.5)}, "share of rule 1 is a share from 0 to 1, not 1.5"),
        ({"share": torch.full((26,), -0.5)}, "share of rule 1 is a share from 0 to 1, not -0.5"),
        ({"scale": torch.zeros(26)}, "scale of rule 1 is a number above 0, not 0"),
        ({"scale": torch.full((26,), torch.inf)}, "scale of rule 1 is a number above 0, not inf"),
        ({"belief": torch.full((26,), torch.nan)}, "belief of rule 1 is a number from 0 to 1, not nan"),
        ({"memories": torch.zeros(20, 4)}, "memories .20, 4. with reaches"),
        ({"reach": torch.full((20,), torch.nan)}, "not a finite number"),
    ],
)
def test_what_the_proof_assumes_is_checked_where_rules_are_made(wrong: dict, words: str) -> None:
    with pytest.raises(NbrError, match=words):
        replace(hand_made(4).rules_, **wrong)


def test_intervals_of_too_many_labels_are_refused() -> None:
    classifier, X = hand_made(8), np.zeros((2, 5))
    labels = 17
    dice = torch.Generator().manual_seed(0)
    table = torch.randint(0, 2, (26, labels), generator=dice)
    table[:, 0], table[:, 1] = 0, 1
    classifier.classes_, classifier.rules_ = np.arange(labels), replace(classifier.rules_, groups=Groups(table))
    assert classifier.predict(X).shape == (2,)
    with pytest.raises(NbrError, match="up to 16 labels"):
        classifier.belief(X)


def test_being_right_is_asked_for_by_a_margin() -> None:
    """The loss of an example: log(1 + exp(-2 s / epsilon (margin - epsilon / 10)))."""
    recipe = Recipe(epsilon=0.5, sharpness=3.0)
    margin = torch.tensor([-0.2, 0.05, 0.4], dtype=torch.float64)
    wanted = (1 + (-12 * (margin - 0.05)).exp()).log()
    torch.testing.assert_close(rightness(margin, recipe), wanted)


@pytest.mark.parametrize("kind", [frames.rest, frames.hierarchy])
def test_a_belief_classifier_is_saved_with_its_networks(kind, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    rules = [(NonexpansiveClassifier(0.3, **ONE), frame) for frame in kind(sorted(set(names)))]
    classifier = BeliefClassifier(rules, random_state=0).fit(X, names)
    classifier.save(tmp_path / "b.nbr")
    again = nbr.load(tmp_path / "b.nbr")
    found, known = again.verdict(X), classifier.verdict(X)
    for part in ("labels", "intervals", "conflict", "radius"):
        np.testing.assert_array_equal(getattr(found, part), getattr(known, part))
    assert found.reasons == known.reasons
    again.save(tmp_path / "c.nbr")
    assert (tmp_path / "c.nbr").read_bytes() == (tmp_path / "b.nbr").read_bytes()
    again.beliefs_ = torch.full_like(again.beliefs_, 1.5)
    again.save(tmp_path / "w.nbr")
    with pytest.raises(NbrError, match="belief of a classifier's rule"):
        nbr.load(tmp_path / "w.nbr")
    # What it was made of came along: fitted again it learns the same.
    np.testing.assert_array_equal(again.fit(X, names).predict_proba(X), classifier.predict_proba(X))


def test_an_estimator_that_cannot_be_saved_is_named(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    rules = [(NonexpansiveClassifier(0.3, **ONE), [{0}, {1, 2}]), (GaussianNB(), [{1}, {2}])]
    classifier = BeliefClassifier(rules, random_state=0).fit(X, y)
    with pytest.raises(NbrError, match="rule 2, a GaussianNB, cannot be saved"):
        classifier.save(tmp_path / "b.nbr")
    assert not (tmp_path / "b.nbr").exists()
    assert classifier.verdict(X[:3]).radius is None
    with pytest.raises(NbrError, match="lipschitz_"):
        classifier.certified_radius(X)


@pytest.mark.parametrize("combine", ["scaled", "exact", "cautious"])
def test_estimators_without_frames_tell_all_labels_apart(combine: str) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    classifier = BeliefClassifier([LogisticRegression(), GaussianNB()], combine=combine, random_state=0).fit(X, y)
    assert classifier.score(X, y) > 0.85
    interval = classifier.belief(X[:50])
    assert interval.shape == (50, 10, 2)
    assert bool((interval[..., 0] <= interval[..., 1]).all())
    one = [{label} for label in range(10)]
    framed = BeliefClassifier([(LogisticRegression(), one), (GaussianNB(), one)], combine=combine, random_state=0)
    np.testing.assert_array_equal(framed.fit(X, y).belief(X[:50]), interval)


@pytest.mark.parametrize("rules", [[], "abc", [1], [LogisticRegression], [(LogisticRegression(), "ab")]])
def test_what_is_no_rule_is_told(rules: object) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NbrError, match="estimator"):
        BeliefClassifier(rules).fit(X, y)


def corners(count: int = 240, labels: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A cloud for each label, around the ends of the axes."""
    dice = np.random.default_rng(seed)
    y = dice.integers(0, labels, count)
    return 2 * np.eye(labels, 6)[y] + 0.4 * dice.normal(size=(count, 6)), y


MANY = {
    "networks": 2,
    "linear": False,
    "width": 16,
    "depth": 1,
    "head": 8,
    "epochs": 15,
    "batch_size": 64,
    "random_state": 0,
}


@pytest.mark.parametrize("frames_", ["pairs", "rest"])
def test_a_robust_classifier_of_many_labels(frames_: str, tmp_path: Path) -> None:
    """It learns, its proofs hold against steps at every rival, and a file of it answers the same."""
    X, y = corners()
    names = np.array(["b", "a", "d", "c"])[y]
    classifier = RobustClassifier(0.7, frames=frames_, **MANY).fit(X, names)
    Z, z = corners(seed=1)
    assert classifier.score(Z, np.array(["b", "a", "d", "c"])[z]) > 0.97
    assert classifier.contents()["networks"] == {"pairs": 6, "rest": 8}[frames_]
    radius, best = classifier.certified_radius(Z), torch.from_numpy(classifier.decision_function(Z).argmax(axis=1))
    assert np.median(radius) > 0.4
    reach, start = torch.from_numpy(radius)[:, None], torch.from_numpy(Z)
    for module in (classifier.as_module(), classifier.raw_module()):
        for step in (1, 2, 3):
            moved = start
            for _ in range(20):
                moved = moved.detach().requires_grad_()
                logits = module(moved)
                gap = (logits.gather(1, best[:, None]) - logits.gather(1, ((best + step) % 4)[:, None]))[:, 0]
                (slope,) = torch.autograd.grad(gap.sum(), moved)
                away = moved.detach() - 0.3 * reach * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12) - start
                moved = start + away * (reach / away.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
            assert bool((classifier.as_module()(moved).argmax(dim=1) == best)[radius > 0].all())
    classifier.save(tmp_path / "many.nbr")
    again = nbr.load(tmp_path / "many.nbr")
    np.testing.assert_array_equal(again.certified_radius(Z), radius)
    np.testing.assert_array_equal(again.belief(Z), classifier.belief(Z))


def test_pairs_are_proved_as_far_as_their_smallest_lead() -> None:
    """Without memories the radius of a label is the smallest score of its own pairs, if not a little more."""
    X, y = corners()
    classifier = RobustClassifier(0.7, memories=False, **MANY).fit(X, y)
    rules, Z = classifier.rules_, corners(seed=2)[0]
    assert rules.groups.table.tolist() == [
        [1, 0, -1, -1], [1, -1, 0, -1], [1, -1, -1, 0], [-1, 1, 0, -1], [-1, 1, -1, 0], [-1, -1, 1, 0],
    ]  # fmt: skip
    scores = rules.scores(classifier._points(Z))
    label = torch.from_numpy(classifier.predict(Z))
    ranks = rules.groups.rank[label]
    smallest = torch.where(ranks != 0, ranks * scores, torch.inf).amin(dim=1).clamp(min=0).numpy()
    assert bool((classifier.certified_radius(Z) >= smallest - 1e-5).all())
    assert np.median(classifier.certified_radius(Z) - smallest) < 1e-5


def test_rows_count_by_their_weights() -> None:
    """A row of weight 0 is as good as not there; heavy rows win where labels overlap."""
    X, y = corners(labels=3)
    weights = np.where(np.arange(len(X)) < 200, 1.0, 0.0)
    weighed = RobustClassifier(0.5, **MANY).fit(X, y, sample_weight=weights)
    fewer = RobustClassifier(0.5, **MANY).fit(X[:200], y[:200], sample_weight=np.ones(200))
    np.testing.assert_array_equal(weighed.decision_function(X), fewer.decision_function(X))
    X = X[:80]
    both, labels = np.concatenate([X, X]), np.repeat([0, 1], len(X))
    for heavy in (0, 1):
        told = RobustClassifier(0.5, **MANY).fit(both, labels, sample_weight=np.where(labels == heavy, 20.0, 1.0))
        assert np.mean(told.predict(X) == heavy) > 0.95


def test_unknown_frames_are_told() -> None:
    with pytest.raises(NbrError, match="did you mean 'pairs'"):
        RobustClassifier(frames="pair", **MANY).fit(*corners())


def test_probabilities_are_calibrated_on_rows_that_were_held_out(tmp_path: Path) -> None:
    """Labels that are wrong in a fifth of all rows: sure of itself before, about right after; nothing else changes."""
    X, y = corners(900, labels=3)
    dice = np.random.default_rng(5)
    noisy = np.where(dice.random(900) < 0.2, dice.integers(0, 3, 900), y)
    plain = RobustClassifier(0.3, memories=False, **MANY).fit(X[:600], noisy[:600])
    before, radius = plain.predict_proba(X[600:]), plain.certified_radius(X[600:])
    told = plain.calibrate(X[600:750], noisy[600:750])
    after = told.predict_proba(X[600:])

    def loss(chances: np.ndarray) -> float:
        return -float(np.log(chances[np.arange(150, 300), noisy[750:]]).mean())

    assert loss(after) < loss(before)
    np.testing.assert_array_equal(told.certified_radius(X[600:]), radius)
    np.testing.assert_array_equal(after.argmax(axis=1), before.argmax(axis=1))
    told.save(tmp_path / "c.nbr")
    np.testing.assert_array_equal(nbr.load(tmp_path / "c.nbr").predict_proba(X[600:]), after)
    held = RobustClassifier(0.3, held_out=0.25, **MANY).fit(X, noisy)
    assert held.sharpness_ != 1
    with pytest.raises(NbrError, match="does not know the label 7"):
        told.calibrate(X[:2], [0, 7])
    with pytest.raises(NbrError, match="one label for each input"):
        told.calibrate(X[:2], [0])
    with pytest.raises(NbrError, match="held_out must be a share"):
        RobustClassifier(held_out=1.0, **MANY).fit(X, y)


def test_a_radius_is_suggested_from_the_data() -> None:
    X, y = corners()
    classifier = RobustClassifier("auto", **MANY).fit(X, y)
    wide = RobustClassifier("auto", **MANY).fit(10 * X, y)
    assert wide.recipe_["epsilon"] == pytest.approx(10 * classifier.recipe_["epsilon"], rel=1e-4)
    proved = (classifier.predict(X) == y) & (classifier.certified_radius(X) > classifier.recipe_["epsilon"])
    assert proved.mean() > 0.5
    with pytest.raises(NbrError, match="epsilon must be a finite number above 0.*'auto'"):
        RobustClassifier("outo", **MANY).fit(X, y)
    with pytest.raises(NbrError, match="no radius can be suggested"):
        RobustClassifier("auto", **MANY).fit(np.zeros((40, 3)), np.arange(40) % 2)


@pytest.mark.parametrize("labels", [2, 3])
def test_refitted_cloned_pickled_or_asked_by_threads_it_answers_the_same(labels: int, tmp_path: Path) -> None:
    X, y = corners(labels=labels)

    def said(classifier: RobustClassifier) -> list[np.ndarray]:
        return [
            classifier.predict(X),
            classifier.belief(X),
            classifier.certified_radius(X),
            classifier.predict_proba(X),
        ]

    classifier = RobustClassifier(0.5, **MANY).fit(X, y)
    first = said(classifier)
    joblib.dump(classifier, tmp_path / "c.joblib")
    classifier.set_params(epochs=1).fit(X + 1, y).set_params(epochs=15)  # and back: nothing of the other fit is left
    with ThreadPoolExecutor(4) as pool:
        threads = list(pool.map(lambda _: said(joblib.load(tmp_path / "c.joblib")), range(2)))
        shared = joblib.load(tmp_path / "c.joblib")
        threads += list(pool.map(lambda _: said(shared), range(4)))
    for told in (said(classifier.fit(X, y)), said(clone(classifier).fit(X, y)), *threads):
        for one, other in zip(told, first, strict=True):
            np.testing.assert_array_equal(one, other)
