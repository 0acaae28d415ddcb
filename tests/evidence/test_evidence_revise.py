import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from evidence_oracles import examples, random_masses, stacks
from nbr import evidence
from nbr.errors import NbrError


def near(ours, expected):
    assert_close(ours, expected, rtol=0, atol=1e-12)


@examples
@given(stacks(1, ignorance=1), st.integers(0, 15))
def test_conditioning_is_combining_with_a_certainty(masses, subset):
    mass, labels = masses[0], masses.shape[-1].bit_length() - 1
    subset &= (1 << labels) - 1
    pair = torch.stack([mass, evidence.categorical(subset, labels)])
    near(evidence.restrict(mass, subset), evidence.conjunctive(pair))
    if subset:
        near(evidence.condition(mass, subset), evidence.dempster(pair))


def test_each_row_can_have_its_own_condition_and_reliability():
    masses = random_masses(3, 2, 4)
    subsets = torch.tensor([1, 3, 5, 7])
    trust = torch.tensor([[0.0], [0.25]], dtype=torch.float64)
    for i in range(2):
        for j in range(4):
            mass = masses[i, j]
            near(evidence.condition(masses, subsets)[i, j], evidence.condition(mass, int(subsets[j])))
            near(evidence.discount(masses, trust)[i, j], evidence.discount(mass, float(trust[i, 0])))
    assert evidence.condition(masses[0, 0], subsets).shape == (4, 8)
    assert evidence.discount(masses[0, 0], [0.5, 0.5, 0.5]).shape == (3, 8)


@examples
@given(stacks(1), st.floats(0, 1), st.floats(0, 1))
def test_discounting_twice_multiplies_trust(masses, first, second):
    mass = masses[0]
    near(evidence.discount(evidence.discount(mass, first), second), evidence.discount(mass, first * second))
    near(evidence.discount(mass, 1), mass)
    near(evidence.discount(mass, 0), evidence.vacuous(mass.numel().bit_length() - 1))


def test_normalising_is_combining_with_ignorance():
    mass = random_masses(3)
    near(evidence.normalise(mass), evidence.dempster(torch.stack([mass, evidence.vacuous(3)])))


def test_sources():
    assert evidence.vacuous(3).tolist() == [0] * 7 + [1]
    assert evidence.vacuous(2, like=torch.zeros(1)).dtype == torch.float32
    assert evidence.categorical([1, 2], 2).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    assert evidence.simple_support(3, 0.25, labels=2).tolist() == [0, 0, 0, 1]
    assert evidence.simple_support(torch.tensor([[1], [2]]), torch.rand(5), labels=2).shape == (2, 5, 4)


def test_total_conflict_is_refused():
    nothing = evidence.categorical([1, 0], 2)
    for function in (evidence.normalise, evidence.pignistic, evidence.plausibility_transform):
        with pytest.raises(NbrError, match=r"total conflict.*at index \[1\]"):
            function(nothing)
    with pytest.raises(NbrError, match="total conflict"):
        evidence.condition(evidence.categorical(1, 2), 2)


def test_bad_arguments_are_refused():
    mass = random_masses(2)
    for trust in (-0.1, 1.1, float("nan")):
        with pytest.raises(NbrError, match=r"reliability is outside \[0, 1\]"):
            evidence.discount(mass, trust)
        with pytest.raises(NbrError, match=r"weight of support is outside \[0, 1\]"):
            evidence.simple_support(1, trust, labels=2)
    for subset in (-1, 4):
        with pytest.raises(NbrError, match="not one of a frame of 2 labels"):
            evidence.condition(mass, subset)
        with pytest.raises(NbrError, match="not one of a frame of 2 labels"):
            evidence.categorical(subset, labels=2)
    with pytest.raises(NbrError, match="at least one label"):
        evidence.vacuous(0)
    with pytest.raises(NbrError, match="integer bitmask"):
        evidence.restrict(mass, torch.tensor(1.0))


def test_frame():
    frame = evidence.Frame("a", "b", "c")
    assert len(frame) == 3
    assert repr(frame) == "Frame('a', 'b', 'c')"
    assert frame.subset("c", "a", "a") == 5
    assert frame.subset() == 0
    assert [frame.subset(*frame.names(subset)) for subset in range(8)] == list(range(8))
    assert frame.show(evidence.simple_support(frame.subset("b"), 0.75, len(frame))) == "{b} 0.75, {a, b, c} 0.25"
    with pytest.raises(NbrError, match="no label 'd' in Frame"):
        frame.subset("a", "d")
    with pytest.raises(NbrError, match="different labels"):
        evidence.Frame("a", "a")
    with pytest.raises(NbrError, match="vector of 8 numbers"):
        frame.show(evidence.vacuous(2))
    with pytest.raises(NbrError, match="frame of 3 labels"):
        frame.names(8)
