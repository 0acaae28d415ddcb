"""Labels as a world: the batched calculus against the paper's definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nbr
import oracle
from nbr import NbrError, evidence
from nbr.calculus.batch import Groups
from nbr.classify import frames
from nbr.classify.evaluation import GradedRules


def random_rules(seed: int, labels: int, rules: int, inputs: int = 4, everyone: bool = False):
    """Grades from binary frames: (inputs, labels, rules), beliefs, and the frames."""
    dice = np.random.default_rng(seed)
    groups = dice.integers(0 if everyone else -1, 2, size=(rules, labels))
    groups[:, 0], groups[:, 1] = 0, 1
    values = dice.random((inputs, 2, rules)).round(dice.integers(1, 6))
    grades = np.ones((inputs, labels, rules))
    for rule in range(rules):
        for label in range(labels):
            if groups[rule, label] >= 0:
                grades[:, label, rule] = values[:, groups[rule, label], rule]
    return grades, dice.random(rules).round(2), torch.tensor(groups)


def evaluated(combine: str, grades, beliefs, groups: torch.Tensor) -> GradedRules:
    return GradedRules(combine, Groups(groups), torch.as_tensor(grades), torch.as_tensor(beliefs))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 7))
def test_exact_is_the_definition(seed: int, labels: int, rules: int) -> None:
    grades, beliefs, groups = random_rules(seed, labels, rules)
    beliefs = beliefs * 0.99
    found = evaluated("exact", grades, beliefs, groups).intervals()
    scores = evaluated("exact", grades, beliefs, groups).scores()
    for number, matrix in enumerate(grades):
        for label in range(labels):
            member = np.eye(labels)[label]
            bel, pl, conflict = oracle.answer(matrix, beliefs, member)
            np.testing.assert_allclose(float(found.belief[number, label]), bel, atol=1e-9)
            np.testing.assert_allclose(float(found.plausibility[number, label]), pl, atol=1e-9)
            np.testing.assert_allclose(float(found.conflict[number]), conflict, atol=1e-9)
        np.testing.assert_allclose(
            scores[number].exp().numpy(), [oracle.expectation(row[None], beliefs) for row in matrix], atol=1e-9
        )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 6))
def test_scaled_is_dempsters_rule(seed: int, labels: int, rules: int) -> None:
    grades, beliefs, groups = random_rules(seed, labels, rules, inputs=3)
    beliefs = beliefs * 0.99  # never certain, so never a contradiction
    found = evaluated("scaled", grades, beliefs, groups).intervals()
    for number, matrix in enumerate(grades):
        focal, weight = [], []
        for rule in range(rules):
            group = groups[rule].numpy()
            value = [matrix[group == side, rule][0] for side in (0, 1)]
            loser = int(value[1] < value[0])
            low, high = min(value), max(value)
            focal.append(sum(1 << label for label in range(labels) if group[label] != loser))
            weight.append(beliefs[rule] * (high - low) / (1 - beliefs[rule] + beliefs[rule] * high))
        masses = torch.stack([evidence.simple_support(s, w, labels) for s, w in zip(focal, weight, strict=True)])
        joint = evidence.dempster(masses)
        single = [1 << label for label in range(labels)]
        torch.testing.assert_close(found.belief[number], evidence.belief(joint)[single], atol=1e-9, rtol=0)
        torch.testing.assert_close(found.plausibility[number], evidence.plausibility(joint)[single], atol=1e-9, rtol=0)
        torch.testing.assert_close(found.conflict[number], evidence.conflict(masses), atol=1e-9, rtol=0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_one_rule_that_covers_all_labels_is_the_same_either_way(seed: int, labels: int) -> None:
    grades, beliefs, groups = random_rules(seed, labels, 1, everyone=True)
    values = [evaluated(combine, grades, beliefs, groups).intervals() for combine in ("exact", "scaled", "cautious")]
    torch.testing.assert_close(values[0].belief, values[1].belief, atol=1e-9, rtol=0)
    torch.testing.assert_close(values[0].plausibility, values[1].plausibility, atol=1e-9, rtol=0)


def test_scaled_and_exact_can_choose_different_labels() -> None:
    """Three weak rules for one label multiply when scaled; as fuzzy rules, one strong rule outweighs them."""
    grades = torch.tensor([[[0.4, 0.4, 0.4, 1.0], [0.6, 0.6, 0.6, 0.35]]], dtype=torch.float64)
    beliefs, groups = torch.full((4,), 0.95, dtype=torch.float64), torch.tensor([[0, 1]] * 4)
    assert int(evaluated("scaled", grades, beliefs, groups).scores().argmax()) == 1
    assert int(evaluated("exact", grades, beliefs, groups).scores().argmax()) == 0


def test_a_classifier_is_the_same_as_a_reasoner_asked_about_labels() -> None:
    grades, beliefs, groups = random_rules(3, 4, 5, inputs=1)
    found = evaluated("exact", grades, beliefs, groups).intervals()
    world = nbr.World(label=nbr.Choice("a", "b", "c", "d"))
    rules = [
        nbr.Fuzzy(lambda p, row=grades[0, :, k]: torch.tensor(row)[p[:, 0].long()], float(beliefs[k])) for k in range(5)
    ]
    answer = nbr.Reasoner(world, rules).ask("label=c")
    assert answer.belief == pytest.approx(float(found.belief[0, 2]), abs=1e-9)
    assert answer.plausibility == pytest.approx(float(found.plausibility[0, 2]), abs=1e-9)
    assert answer.conflict == pytest.approx(float(found.conflict[0]), abs=1e-9)


def test_thousands_of_rules_stay_finite() -> None:
    dice = torch.Generator().manual_seed(0)
    own = torch.rand(50, 1, 3000, generator=dice, dtype=torch.float64)
    grades = torch.cat([own, 1 - own], dim=1)
    beliefs = torch.rand(3000, generator=dice, dtype=torch.float64)
    groups = torch.tensor([[0, 1]] * 3000)
    for combine in ("exact", "scaled", "cautious"):
        assert bool(evaluated(combine, grades, beliefs, groups).scores().isfinite().all())
        found = evaluated(combine, grades, beliefs, groups).intervals()
        assert bool(found.belief.isfinite().all())
        assert bool((found.belief <= found.plausibility).all())


def test_rules_that_contradict_each_other_for_certain_are_told() -> None:
    grades = torch.tensor([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
    for combine in ("exact", "scaled", "cautious"):
        with pytest.raises(NbrError, match="input 1"):
            evaluated(combine, grades, torch.ones(2, dtype=torch.float64), torch.tensor([[0, 1]] * 2)).intervals()


def test_frames() -> None:
    assert frames.groups([{0}, {5, 6}, {7}], range(10)).tolist() == [0, -1, -1, -1, -1, 1, 1, 2, -1, -1]
    for frame, words in [([{0}], "two groups"), ([{0}, {0}], "twice"), ([{0}, {11}], "11"), ([{0}, "x"], "set of")]:
        with pytest.raises(NbrError, match=words):
            frames.groups(frame, range(10))
    frame = [{0}, {5, 6}, {7}]
    assert frames.named(frames.groups(frame, range(10)), range(10)) == frame


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 6))
def test_cautious_rules_rule_out_each_label_by_the_strongest_objection(seed: int, labels: int, rules: int) -> None:
    """As a belief function: for each label a rule that it is another one, believed to 1 - pl."""
    grades, beliefs, groups = random_rules(seed, labels, rules, inputs=3)
    beliefs = beliefs * 0.99
    found = evaluated("cautious", grades, beliefs, groups)
    plausible = (1 - beliefs * (1 - grades)).min(axis=2)
    np.testing.assert_allclose(found.scores().exp().numpy(), plausible, atol=1e-12)
    told = found.intervals()
    for number, each in enumerate(plausible):
        other = 1 - np.eye(labels)  # rule b is `not b`
        for label in range(labels):
            bel, pl, conflict = oracle.answer(other, 1 - each, np.eye(labels)[label])
            np.testing.assert_allclose(float(told.belief[number, label]), bel, atol=1e-9)
            np.testing.assert_allclose(float(told.plausibility[number, label]), pl, atol=1e-9)
            np.testing.assert_allclose(float(told.conflict[number]), conflict, atol=1e-9)
