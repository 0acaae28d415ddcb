import operator
from functools import reduce

import pytest
import torch
from hypothesis import assume, given
from torch.testing import assert_close

from evidence_oracles import combined_by_sets, examples, random_masses, stacks, without_empty
from nbr import evidence
from nbr.errors import NbrError

RULES = [
    evidence.conjunctive,
    evidence.dempster,
    evidence.disjunctive,
    evidence.yager,
    evidence.cautious,
    evidence.conflict,
]
ASSOCIATIVE = [evidence.conjunctive, evidence.dempster, evidence.disjunctive, evidence.cautious]
rules = pytest.mark.parametrize("rule", RULES)


def near(ours, expected):
    assert_close(ours, expected, rtol=0, atol=1e-12)


@examples
@given(stacks(3))
def test_rules_agree_with_enumeration_of_sets(masses):
    meet = combined_by_sets(masses, operator.and_)
    near(evidence.conjunctive(masses), meet)
    near(evidence.disjunctive(masses), combined_by_sets(masses, operator.or_))
    near(evidence.conflict(masses), meet[0])
    yager = meet.clone()
    yager[-1] += yager[0]
    yager[0] = 0
    near(evidence.yager(masses), yager)
    if meet[1:].sum() > 0:
        near(evidence.dempster(masses), without_empty(meet))
    else:
        with pytest.raises(NbrError, match="total conflict"):
            evidence.dempster(masses)


@pytest.mark.parametrize("rule", ASSOCIATIVE)
@examples
@given(masses=stacks(3, ignorance=1, conflict=False))
def test_order_and_grouping_do_not_matter(rule, masses):
    together = rule(masses)
    near(rule(masses.flip(0)), together)
    near(reduce(lambda a, b: rule(torch.stack([a, b])), masses), together)


@pytest.mark.parametrize("rule", [evidence.conjunctive, evidence.dempster, evidence.yager])
@examples
@given(masses=stacks(1, conflict=False))
def test_ignorance_is_neutral(rule, masses):
    labels = masses.shape[-1].bit_length() - 1
    near(rule(torch.stack([masses[0], evidence.vacuous(labels)])), masses[0])
    near(rule(masses), masses[0])


@examples
@given(stacks(1))
def test_contradiction_is_neutral_for_the_disjunctive_rule(masses):
    nothing = evidence.categorical(0, masses.shape[-1].bit_length() - 1)
    near(evidence.disjunctive(torch.stack([masses[0], nothing])), masses[0])


@examples
@given(stacks(1, ignorance=1))
def test_the_cautious_rule_counts_the_same_evidence_once(masses):
    near(evidence.cautious(masses.expand(3, -1)), masses[0])


def test_the_dempster_rule_counts_the_same_evidence_again():
    mass = evidence.simple_support(1, 0.5, labels=2)
    near(evidence.dempster(torch.stack([mass, mass])), evidence.simple_support(1, 0.75, labels=2))


@rules
def test_a_batch_is_a_loop(rule):
    masses = random_masses(3, 2, 4, 5)
    loop = torch.stack([torch.stack([rule(masses[i, :, j]) for j in range(5)]) for i in range(2)])
    near(rule(masses, dim=1), loop)
    near(rule(masses, dim=-3), loop)
    near(rule(masses.movedim(1, 0), dim=0), loop)
    near(rule(masses.movedim(1, -2)), loop)


@rules
def test_dtype_follows_and_empty_batches_pass(rule):
    assert rule(random_masses(2, 3).float()).dtype == torch.float32
    assert_close(rule(random_masses(2, 3).float()).double(), rule(random_masses(2, 3)), rtol=0, atol=1e-5)
    assert rule(torch.zeros(0, 3, 4)).shape[0] == 0


@rules
def test_gradients(rule):
    logits = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: rule(x.softmax(-1)), logits.requires_grad_())


@examples
@given(stacks(3, conflict=False))
def test_gradients_are_exact_where_masses_are_zero(masses):
    meet = combined_by_sets(masses, operator.and_)
    assume(meet[1:].sum() > 0)
    direction = torch.linspace(-1, 2, masses.shape[-1], dtype=torch.float64)
    for ours, expected in [
        (evidence.dempster, lambda x: without_empty(combined_by_sets(x, operator.and_))),
        (evidence.conjunctive, lambda x: combined_by_sets(x, operator.and_)),
        (evidence.disjunctive, lambda x: combined_by_sets(x, operator.or_)),
    ]:
        gradients = []
        for function in (ours, expected):
            leaf = masses.clone().requires_grad_()
            (function(leaf) @ direction).backward()
            gradients.append(leaf.grad)
        assert_close(*gradients, rtol=1e-9, atol=1e-9)


def two_label_answer(support, first):
    """Dempster's rule for simple supports of two labels, in logarithms by hand."""
    against_a, against_b = (torch.log1p(-support[mask]).sum() for mask in (~first, first))
    a, b = (
        against + torch.log(-torch.expm1(other)) for against, other in ((against_a, against_b), (against_b, against_a))
    )
    odds = torch.stack([a, b, against_a + against_b])
    return torch.nn.functional.pad(odds.softmax(0), (1, 0))


@pytest.mark.parametrize("strength", [0.01, 0.2, 0.9])
def test_three_thousand_sources_do_not_underflow(strength):
    generator = torch.Generator().manual_seed(3)
    support = torch.rand(3000, generator=generator, dtype=torch.float64) * strength
    first = torch.arange(3000) % 2 == 0
    subsets = torch.where(first, 1, 2)
    expected = two_label_answer(support, first)
    masses = evidence.simple_support(subsets, support, labels=2)
    assert_close(evidence.dempster(masses), expected, rtol=0, atol=1e-10)
    assert_close(evidence.separable_support(subsets, support, labels=2), expected, rtol=0, atol=1e-10)


def test_evidence_far_beyond_floating_point_still_balances():
    masses = evidence.simple_support([1] * 1500 + [2] * 1500, 0.99, labels=2)
    masses.requires_grad_()
    answer = evidence.dempster(masses)
    assert evidence.conflict(masses) == 1
    near(answer.detach(), torch.tensor([0, 0.5, 0.5, 0], dtype=torch.float64))
    near(evidence.separable_support([1] * 1500 + [2] * 1500, [0.99] * 3000, labels=2), answer.detach())
    answer[1].backward()
    assert masses.grad.isfinite().all()
    assert masses.grad[0, 1] > 0 > masses.grad[-1, 2]


def test_extremely_small_masses_count():
    tiny = torch.tensor([[0, 1, 1e-200, 0], [0, 1, 1e-320, 0]], dtype=torch.float64)
    other = torch.tensor([[0, 1e-200, 1, 0], [0, 1e-320, 1, 0]], dtype=torch.float64)
    answer = evidence.dempster(torch.cat([tiny, other]))
    assert_close(answer, torch.tensor([0, 0.5, 0.5, 0], dtype=torch.float64))
    assert_close(evidence.dempster(tiny[:1].expand(2, -1)), torch.tensor([0, 1.0, 0, 0]).double())


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("certain", [False, True])
def test_separable_support_is_dempster_of_simple_supports(labels, certain):
    generator = torch.Generator().manual_seed(labels)
    subsets = torch.randint(1, 1 << labels, (7,), generator=generator)
    support = torch.rand(4, 7, generator=generator, dtype=torch.float64)
    support[0, 3] = 1.0 if certain else 0.0
    support.requires_grad_()

    def quick(x):
        return evidence.separable_support(subsets, x, labels)

    def slow(x):
        return evidence.dempster(evidence.simple_support(subsets, x, labels))

    near(quick(support), slow(support))
    direction = torch.linspace(0, 1, 1 << labels, dtype=torch.float64)
    ours, expected = (torch.autograd.grad((f(support) @ direction).sum(), support)[0] for f in (quick, slow))
    assert_close(ours, expected, rtol=1e-9, atol=1e-9)
    by_sets = [combined_by_sets(m, operator.and_) for m in evidence.simple_support(subsets, support, labels)]
    near(quick(support), torch.stack([without_empty(m) for m in by_sets]))


def test_zadeh():
    """The classic: two doctors who agree on nothing but an unlikely illness."""
    masses = torch.tensor([[0, 0.99, 0, 0, 0.01, 0, 0, 0], [0, 0, 0.99, 0, 0.01, 0, 0, 0]], dtype=torch.float64)
    near(evidence.conflict(masses), torch.tensor(0.9999, dtype=torch.float64))
    near(evidence.dempster(masses), evidence.categorical(4, 3))


def test_total_conflict_says_where():
    quarrel = evidence.categorical([1, 2], labels=2)
    agree = evidence.categorical([1, 1], labels=2)
    with pytest.raises(NbrError, match=r"total conflict.*at index \[2\]"):
        evidence.dempster(torch.stack([agree, agree, quarrel]))
    with pytest.raises(NbrError, match=r"total conflict.*are not$"):
        evidence.dempster(quarrel)
    with pytest.raises(NbrError, match="total conflict"):
        evidence.separable_support([1, 2], [1.0, 1.0], labels=2)


def test_a_dogmatic_source_cannot_be_cautious():
    masses = torch.stack([evidence.vacuous(2), evidence.categorical(1, 2)])
    with pytest.raises(NbrError, match=r"dogmatic.*at index \[1\]"):
        evidence.cautious(masses)


@rules
def test_bad_stacks_are_refused(rule):
    good = random_masses(2, 3)
    for masses, dim, message in [
        (good[0], -2, "cannot hold the sources"),
        (good, -1, "cannot hold the sources"),
        (good, 5, "cannot hold the sources"),
        ([good[0], good[1]], -2, "torch.stack"),
        (good[:0], -2, "no source"),
        (good[:, :3], -2, "3 entries"),
        (good * 2, -2, r"sum to 1, at index \[0\]"),
    ]:
        with pytest.raises(NbrError, match=message):
            rule(masses, dim)


def test_separable_support_refuses_what_does_not_fit():
    with pytest.raises(NbrError, match="one subset for each source"):
        evidence.separable_support([1, 2], [0.5, 0.5, 0.5], labels=2)
    with pytest.raises(NbrError, match=r"support is outside \[0, 1\], at index \[1\]"):
        evidence.separable_support([1, 2], [0.5, 1.5], labels=2)
    with pytest.raises(NbrError, match="frame of 2 labels"):
        evidence.separable_support([1, 4], [0.5, 0.5], labels=2)
