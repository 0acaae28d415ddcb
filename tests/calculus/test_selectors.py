"""Rules that share selectors, against the enumeration of every source, selector, world and point."""

import numpy as np
import pytest
import torch

import nbr
import selectors_oracle as oracle
from nbr.asking import masses
from nbr.calculus import Problem, selectors, solve
from nbr.calculus.auto import ENGINES
from nbr.calculus.selectors import Selectors
from nbr.density import counted, keeping
from nbr.density.contracted import contracted
from nbr.language import parse
from nbr.ways import Limits

POINTS = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * 3, torch.arange(3).double())
BYS = ("auto", "few", "lattice", "counting", "boxes", "elimination")


def asked(seed: int, model: nbr.Reasoner) -> tuple[str, str, np.ndarray, np.ndarray] | None:
    """A question and a condition that leaves something, and where they hold."""
    draw = np.random.default_rng(seed + 10**6)
    question, condition = oracle.statement(draw), oracle.statement(draw)
    member, inside = (nbr.Clause(said, 1.0).bind(model.world).grades(POINTS).numpy() for said in (question, condition))
    present, chance = oracle.worlds(model.rules)
    mu = oracle.memberships(model.grades(POINTS).numpy(), present) * inside
    return None if chance @ mu.max(axis=1) < 1e-9 else (question, condition, member, inside)


@pytest.mark.parametrize("seed", range(18))
def test_every_way_that_fits_is_exact(seed: int) -> None:
    model = oracle.drawn(seed, fuzzy=seed % 3 == 0)
    told = asked(seed, model)
    if told is None:
        return
    question, condition, member, inside = told
    *wanted, often = oracle.answer(model, POINTS, member, inside)
    fitting = 0
    for by in BYS:
        try:
            found = model.ask(question, condition, engine=by)
        except nbr.NbrError:
            continue
        if found.exact:
            fitting += 1
            assert (found.belief, found.plausibility, found.conflict) == pytest.approx(wanted, abs=1e-9), by
    assert fitting >= 4
    found = model.ask(question, condition)
    assert found.exact
    assert model.probability(question, condition).value == pytest.approx(often, abs=1e-9)
    (row,) = model.ask_many([(question, condition)]).to_dict("records")
    assert [row["belief"], row["plausibility"]] == pytest.approx(wanted[:2], abs=1e-9)
    parsed = parse(question), parse(condition)
    if isinstance(model.model.presence, Selectors) and seed % 3:
        (share,) = contracted(model.model, [parsed], 1.0) or [None]
        assert share == pytest.approx(often, abs=1e-9)
        both, whole = counted.counted(model.model, *parsed, float("inf"))
        assert both / whole == pytest.approx(often, abs=1e-9)


@pytest.mark.parametrize("by", ["drawn", "frontier", "count"])
def test_a_way_for_independent_rules_says_that_it_does_not_fit(by: str) -> None:
    source = nbr.Source("witness", 0.9)
    rules = [nbr.Clause(said, 0.5, source=source) for said in ("x0", "x0 -> x1")]
    model = nbr.Reasoner(nbr.World.bits(2), rules)
    with pytest.raises(nbr.NbrError, match="share a source"):
        model.ask("x1", engine=by)
    assert model.ask("x1").belief == pytest.approx(0.9 * 0.25)


def drawn_selectors(seed: int) -> Selectors:
    found = oracle.drawn(seed, most=6).model.presence
    if isinstance(found, Selectors):
        return found
    return drawn_selectors(seed + 1000)


@pytest.mark.parametrize("seed", range(8))
def test_one_point_draws_and_worlds(seed: int) -> None:
    rules = oracle.drawn(seed, most=6).rules
    told = nbr.Reasoner(nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit(), d=nbr.Choice("red", "green", "blue")), rules)
    presence = told.model.presence
    present, chance = oracle.worlds(rules)
    grades = torch.rand(50, len(rules), generator=torch.Generator().manual_seed(seed)).double().round(decimals=1)
    crisp = (grades > 0.5).double()
    for some in (grades, crisp):
        wanted = chance @ oracle.memberships(some.numpy(), present)
        assert keeping.keep_probability(some, presence).numpy() == pytest.approx(wanted, abs=1e-12)
    number = (present * (1 << np.arange(len(rules)))).sum(axis=1)
    whole = np.zeros(1 << len(rules))
    np.add.at(whole, number, chance)
    assert selectors.world_probabilities(presence).numpy() == pytest.approx(whole, abs=1e-12)
    subset = {0, 2, 3}
    assert selectors.probability_together(presence, subset) == pytest.approx(
        chance @ present[:, sorted(subset)].all(axis=1)
    )
    assert selectors.probability_absent(presence, subset) == pytest.approx(
        chance @ ~present[:, sorted(subset)].any(axis=1)
    )
    drawn = selectors.draw_worlds(presence, 40_000, torch.Generator().manual_seed(0)).double()
    assert drawn.mean(dim=0).numpy() == pytest.approx(chance @ present, abs=0.02)
    assert (drawn.T @ drawn / len(drawn)).numpy() == pytest.approx((present * chance[:, None]).T @ present, abs=0.02)
    if isinstance(presence, Selectors):
        without = torch.zeros(40_000, len(rules), dtype=torch.bool)
        without[:, [1, 4]] = True
        kept = ~present[:, [1, 4]].any(axis=1)
        if chance @ kept > 0.01:
            drawn = presence.draw(40_000, torch.Generator().manual_seed(0), without).double()
            wanted = (chance * kept) @ present / (chance @ kept)
            assert drawn.mean(dim=0).numpy() == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_drawn_worlds_hold_the_truth(seed: int) -> None:
    presence = drawn_selectors(seed)
    grades = torch.rand(30, len(presence), generator=torch.Generator().manual_seed(seed)).double()
    for scale in (1.0, 1e-3):  # worlds alone, and worlds with a point that is alive in them
        problem = Problem((grades[:10] * scale, grades[10:] * scale), ((0,), (1,), (0, 1)), presence)
        exact = solve(problem, "lattice", Limits())
        found = ENGINES["sampled"].solve(problem, Limits.within(0.2, tolerance=1e-9))
        assert bool(((found.low <= exact.low + 1e-12) & (exact.high <= found.high + 1e-12)).all())


def test_the_slope_by_reliability_and_beliefs() -> None:
    belief = torch.tensor([0.5, 0.4, 0.3, 0.2], dtype=torch.float64, requires_grad=True)
    reliability = torch.tensor([0.9, 0.7], dtype=torch.float64, requires_grad=True)
    grades = torch.tensor([[0.1, 0.6, 0.3, 0.0], [0.0, 1.0, 0.0, 1.0]], dtype=torch.float64)

    def kept(belief: torch.Tensor, reliability: torch.Tensor) -> torch.Tensor:
        return Selectors(belief, (0, 0, 1, 1), (-1, -1, -1, -1), reliability, (False, True)).keep(grades)

    assert torch.autograd.gradcheck(kept, (belief, reliability))


def test_masses_of_worlds() -> None:
    model = nbr.Reasoner(nbr.World.bits(1), nbr.one_of({"x0": 0.3, "~x0": 0.5}))
    assert masses.of_worlds(model.model).tolist() == pytest.approx([0.2, 0.3, 0.5, 0.0])
