"""Averages of mixtures from several starts: mixtures again, better on rows nobody saw, and learned part by part."""

import math

import pytest
import torch

import nbr
from nbr import priors
from nbr.errors import NbrError
from nbr.priors.search import MOST, STARTS
from nbr.tables import Table
from small_table import TABLE, WORLD, parity, rows

ONE, OTHER = (priors.trees(TABLE, 3, seed=seed) for seed in (0, 1))


def test_the_average_is_the_mean_of_probabilities() -> None:
    together = priors.Trees.average([ONE, OTHER])
    wanted = torch.logaddexp(ONE.log_prob(TABLE.codes), OTHER.log_prob(TABLE.codes)) - math.log(2)
    torch.testing.assert_close(together.log_prob(TABLE.codes), wanted)
    assert (together.starts, len(together.trees)) == (2, 6)


def test_its_parts_are_what_it_was_made_of() -> None:
    for part, whole in zip(priors.Trees.average([ONE, OTHER]).parts(), (ONE, OTHER), strict=True):
        torch.testing.assert_close(part.log_prob(TABLE.codes), whole.log_prob(TABLE.codes))
        assert part.starts == 1


def test_starts_that_no_trees_can_be_shared_out_to() -> None:
    with pytest.raises(NbrError, match="3 trees cannot be those of 2 mixtures"):
        priors.Trees(WORLD, ONE.columns, ONE.weights, ONE.trees, starts=2)


def test_parts_are_learned_anew_one_by_one() -> None:
    more = Table(WORLD, rows(1500))
    found = priors.relearned(priors.Trees.average([ONE, OTHER]), more)
    wanted = priors.Trees.average([priors.relearned(each, more) for each in (ONE, OTHER)])
    assert torch.equal(found.log_prob(more.codes), wanted.log_prob(more.codes))
    assert found.starts == 2


def test_starts_are_averaged_where_held_out_rows_gain() -> None:
    world = nbr.World.bits(15)
    train, valid, fresh = (Table(world, parity(count, seed)) for seed, count in enumerate((1500, 1000, 4000)))
    found = priors.trees(train, valid=valid)
    each = len(found.trees) // found.starts
    assert 1 < found.starts <= STARTS
    assert len(found.trees) <= MOST
    assert str(found) == f"the average of {found.starts} mixtures of {each} trees of columns"
    alone = priors.trees(train, each, valid=valid)
    assert alone.starts == 1
    parts = [float(part.log_prob(fresh.codes).mean()) for part in found.parts()]
    assert len(set(parts)) == len(parts)  # starts that differ
    assert float(alone.log_prob(fresh.codes).mean()) == pytest.approx(parts[0])
    assert float(found.log_prob(fresh.codes).mean()) > max(parts)


def test_without_rows_to_choose_by_a_tenth_of_them_chooses_and_all_are_learned_from() -> None:
    world = nbr.World.bits(15)
    table, fresh = Table(world, parity(1500, 0)), parity(4000, 2)
    found = priors.trees(table)
    assert found.starts > 1
    parts = [float(part.log_prob(fresh).mean()) for part in found.parts()]
    assert float(found.log_prob(fresh).mean()) > max(parts)


def test_it_is_saved_with_its_starts(tmp_path) -> None:
    model = nbr.Reasoner(WORLD, prior=priors.Trees.average([ONE, OTHER]))
    model.save(tmp_path / "model.nbr")
    prior = nbr.load(tmp_path / "model.nbr").prior
    assert prior.starts == 2
    assert torch.equal(prior.log_prob(TABLE.codes), model.prior.log_prob(TABLE.codes))


def test_a_single_tree_has_one_start() -> None:
    found = priors.trees(Table(nbr.World.bits(15), parity(1500, 0)), 1)
    assert (len(found.trees), found.starts, str(found)) == (
        1,
        1,
        "every column by itself",
    )  # pairs tell nothing
