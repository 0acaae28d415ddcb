"""Every operation that evtools-dst or pybelief also offers gives the same numbers."""

import pytest
import torch
from evtools import combinations, conversions, corrections
from evtools.dsvector import DSVector
from numpy.testing import assert_allclose
from pybelief import MassFunction

from evidence_oracles import random_masses
from nbr import evidence

FRAMES = {labels: list("abcd"[:labels]) for labels in (1, 2, 3, 4)}
frames = pytest.mark.parametrize("labels", FRAMES)


def theirs(mass):
    return DSVector.from_dense(FRAMES[mass.numel().bit_length() - 1], mass.numpy())


def sparse(mass):
    return MassFunction(FRAMES[mass.numel().bit_length() - 1], dict(enumerate(mass.tolist())))


def dense(mass_function):
    return [mass_function[subset] for subset in range(1 << len(mass_function.frame))]


def same(ours, others):
    assert_allclose(ours.numpy(), others, rtol=0, atol=1e-12)


@frames
@pytest.mark.parametrize(
    ("ours", "others"),
    [
        (evidence.belief, conversions.mtobel),
        (evidence.implicability, conversions.mtob),
        (evidence.plausibility, conversions.mtopl),
        (evidence.commonality, conversions.mtoq),
        (evidence.weights, conversions.mtow),
        (evidence.pignistic, conversions.betp),
        (evidence.plausibility_transform, conversions.plp),
    ],
)
def test_views_of_a_mass_agree_with_evtools(labels, ours, others):
    mass = random_masses(labels)
    same(ours(mass), others(mass.numpy()))


@frames
@pytest.mark.parametrize(
    ("there", "ours", "others"),
    [
        (evidence.belief, evidence.from_belief, conversions.beltom),
        (evidence.implicability, evidence.from_implicability, conversions.btom),
        (evidence.plausibility, evidence.from_plausibility, conversions.pltom),
        (evidence.commonality, evidence.from_commonality, conversions.qtom),
        (evidence.weights, lambda w: evidence.from_log_weights(w.log()), conversions.wtom),
    ],
)
def test_ways_back_to_the_mass_agree_with_evtools(labels, there, ours, others):
    mass = random_masses(labels)
    same(ours(there(mass)), others(there(mass).numpy()))
    same(ours(there(mass)), mass)


@frames
@pytest.mark.parametrize(
    ("ours", "others"),
    [
        (evidence.conjunctive, combinations.crc),
        (evidence.conjunctive, lambda a, b: combinations.crc(a, b, method="dense")),
        (evidence.dempster, combinations.dempster),
        (evidence.disjunctive, combinations.drc),
        (evidence.cautious, combinations.cautious),
    ],
)
def test_combinations_agree_with_evtools(labels, ours, others):
    masses = random_masses(labels, 2)
    same(ours(masses), others(theirs(masses[0]), theirs(masses[1])).dense)


@frames
def test_changes_agree_with_evtools(labels):
    mass = random_masses(labels)
    same(evidence.discount(mass, 0.7), corrections.discount(theirs(mass), 0.7).dense)
    for subset in range(1, 1 << labels):
        names = frozenset(evidence.Frame(*FRAMES[labels]).names(subset))
        same(evidence.restrict(mass, subset), combinations.condition(theirs(mass), names).dense)
        simple = DSVector.simple(FRAMES[labels], names, 0.7).dense
        if subset + 1 < 1 << labels:  # for the frame itself evtools keeps one of the two shares only
            same(evidence.simple_support(subset, 0.3, labels), simple)


@frames
def test_agrees_with_pybelief(labels):
    masses = random_masses(labels, 2)
    mass, pair = sparse(masses[0]), (sparse(masses[0]), sparse(masses[1]))
    same(evidence.yager(masses), dense(pair[0].combine_yager(pair[1])))
    same(evidence.conjunctive(masses), dense(pair[0].combine_conjunctive(pair[1])))
    same(evidence.conflict(masses), pair[0].conflict(pair[1]))
    same(evidence.condition(masses[0], 1), dense(mass.condition(1)))
    same(evidence.discount(masses[0], 0.7), dense(mass.discount(0.3)))
    same(evidence.pignistic(masses[0]), list(mass.pignistic().values()))
    same(evidence.plausibility_transform(masses[0]), list(mass.plausibility_transform().values()))
    for subset in range(1 << labels):
        same(evidence.belief(masses[0])[subset], mass.belief(subset))
        same(evidence.plausibility(masses[0])[subset], mass.plausibility(subset))
        same(evidence.commonality(masses[0])[subset], mass.commonality(subset))


def test_pairs_of_pybelief_by_dempster():
    masses = torch.stack([evidence.normalise(mass) for mass in random_masses(3, 2)])
    same(evidence.dempster(masses), dense(sparse(masses[0]) & sparse(masses[1])))
