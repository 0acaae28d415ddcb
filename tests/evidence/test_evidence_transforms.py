import pytest
import torch
from hypothesis import given
from torch.testing import assert_close

from evidence_oracles import examples, random_masses, stacks
from nbr import evidence
from nbr.errors import NbrError

VIEWS = {
    "belief": lambda b, a: b != 0 and b & a == b,
    "implicability": lambda b, a: b & a == b,
    "plausibility": lambda b, a: b & a != 0,
    "commonality": lambda b, a: b & a == a,
}
views = pytest.mark.parametrize("name", VIEWS)


def near(ours, expected):
    assert_close(ours, expected, rtol=0, atol=1e-12)


@views
@examples
@given(masses=stacks(1))
def test_views_agree_with_enumeration_of_sets(name, masses):
    subsets = range(masses.shape[-1])
    expected = [sum(masses[0, b] for b in subsets if VIEWS[name](b, a)) + masses.new_zeros(()) for a in subsets]
    near(getattr(evidence, name)(masses[0]), torch.stack(expected))


@views
@examples
@given(masses=stacks(2))
def test_every_view_leads_back_to_the_mass(name, masses):
    near(getattr(evidence, f"from_{name}")(getattr(evidence, name)(masses)), masses)


@pytest.mark.parametrize("side", ["subsets", "supersets"])
def test_moebius_undoes_zeta(side):
    table = torch.randn(3, 2, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    zeta, moebius = (getattr(evidence, f"{kind}_{side}") for kind in ("zeta", "moebius"))
    kept = table.clone()
    near(moebius(zeta(table)), table)
    near(zeta(moebius(table)), table)
    near(zeta(table.mT.contiguous().mT), zeta(table))
    near(zeta(table[:1, :1].expand(3, 2, 32))[2, 1], zeta(table[0, 0]))
    assert torch.equal(table, kept)
    assert torch.autograd.gradcheck(zeta, table[..., :4].clone().requires_grad_())
    assert torch.autograd.gradgradcheck(lambda x: moebius(x) ** 2, table[0, :, :4].clone().requires_grad_())


@examples
@given(stacks(1, conflict=False))
def test_belief_and_plausibility_frame_the_truth(masses):
    belief, plausibility = evidence.belief(masses[0]), evidence.plausibility(masses[0])
    assert (belief <= plausibility + 1e-12).all()
    near(belief, 1 - plausibility.flip(-1))
    for probability in (evidence.pignistic(masses[0]), evidence.plausibility_transform(masses[0])):
        near(probability.sum(), torch.ones(()).double())
    inside = evidence.pignistic(masses[0])
    singletons = [1 << bit for bit in range(len(inside))]
    assert (belief[singletons] <= inside + 1e-12).all()
    assert (inside <= plausibility[singletons] + 1e-12).all()


@examples
@given(stacks(2, ignorance=1))
def test_weights_lead_back_and_add_up(masses):
    logs = evidence.log_weights(masses)
    near(evidence.from_log_weights(logs), masses)
    near(evidence.from_log_weights(logs.sum(0)), evidence.conjunctive(masses))
    near(evidence.weights(masses), logs.exp())
    assert (logs[..., -1] == 0).all()


def test_weights_of_a_simple_support():
    near(evidence.weights(evidence.simple_support(2, 0.75, 2)), torch.tensor([1, 1, 0.25, 1]).double())


@pytest.mark.parametrize(
    "function",
    [
        evidence.belief,
        evidence.plausibility,
        evidence.commonality,
        evidence.log_weights,
        evidence.weights,
        evidence.pignistic,
        evidence.plausibility_transform,
        evidence.normalise,
        lambda mass: evidence.from_belief(evidence.belief(mass)),
        lambda mass: evidence.from_plausibility(evidence.plausibility(mass)),
        lambda mass: evidence.from_commonality(evidence.commonality(mass)),
        lambda mass: evidence.condition(mass, 5),
        lambda mass: evidence.restrict(mass, torch.tensor([1, 6])),
        lambda mass: evidence.discount(mass, mass[..., 0]),
        lambda mass: evidence.simple_support([3, 4], mass[..., 0], labels=3),
        lambda mass: evidence.separable_support([1, 3, 6], mass[..., :3], labels=3),
    ],
)
def test_gradients_and_precision(function):
    logits = torch.randn(2, 8, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: function(x.softmax(-1)), logits.requires_grad_())
    assert function(random_masses(3, 2).float()).dtype == torch.float32


def test_a_frame_of_one_label():
    mass = torch.tensor([0.25, 0.75], dtype=torch.float64)
    near(evidence.belief(mass), torch.tensor([0, 0.75]).double())
    near(evidence.pignistic(mass), torch.ones(1).double())


@pytest.mark.parametrize(
    ("mass", "message"),
    [
        (torch.tensor([0.5, 0.25, 0.25]), "3 entries; a frame of L labels needs 2"),
        (torch.tensor([1.0]), "1 entries"),
        (torch.tensor(1.0), "0 entries"),
        (torch.tensor([0, 1, 0, 0]), "floating point"),
        (torch.tensor([[0, 1.0, 0, 0], [0, torch.nan, 0, 1]]), r"NaN\), at index \[1, 1\]"),
        (torch.tensor([0, 1.5, 0, -0.5]), r"negative, at index \[3\]"),
        (torch.tensor([[0, 1.0, 0, 0], [0, 0.5, 0, 0.4]]), r"do not sum to 1, at index \[1\]"),
        (torch.tensor([0, torch.inf, 0, 0]), "do not sum to 1"),
    ],
)
def test_what_is_not_a_mass_is_refused(mass, message):
    for function in (evidence.belief, evidence.commonality, evidence.pignistic, evidence.weights):
        with pytest.raises(NbrError, match=message):
            function(mass)


def test_tables_without_a_mass_are_refused():
    with pytest.raises(NbrError, match=r"no mass function.*negative or NaN, at index \[3\]"):
        evidence.from_belief(torch.tensor([0, 0.7, 0.7, 1.0]).double())
    with pytest.raises(NbrError, match="no mass function.*not sum to 1"):
        evidence.from_commonality(torch.tensor([0.9, 0.4, 0.5, 0.2]).double())
    with pytest.raises(NbrError, match="negative or NaN"):
        evidence.from_plausibility(torch.tensor([0, torch.nan, 0.7, 1.0]).double())
    with pytest.raises(NbrError, match="3 entries"):
        evidence.from_belief(torch.zeros(3))


def test_rounding_leaves_no_negative_mass_and_takes_no_gradient():
    mass = torch.tensor([0, 0.1, 0.2, 0, 0.7, 0, 0, 0], dtype=torch.float64)
    implicability = evidence.implicability(mass).requires_grad_()
    rounded = evidence.moebius_subsets(implicability)
    answer = evidence.from_implicability(implicability)
    assert rounded.min() < 0 <= answer.min()
    direction = torch.linspace(1, 2, 8, dtype=torch.float64)
    ours, expected = (torch.autograd.grad(x @ direction, implicability)[0] for x in (answer, rounded))
    near(ours, expected)


def test_a_dogmatic_mass_has_no_weights():
    with pytest.raises(NbrError, match=r"dogmatic: with m\(frame\) = 0"):
        evidence.log_weights(evidence.categorical(1, 2))
