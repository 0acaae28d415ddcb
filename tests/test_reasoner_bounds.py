"""Answers that are not listed exactly: reals, worlds too large to list, budgets; bounds hold, and say so."""

import numpy as np
import pytest
import torch

import nbr
import oracle
from models import look_up, table_1
from nbr.encodings import listing as rows


def test_reals_between_cuts_need_no_grid() -> None:
    """Statements change only at the numbers they name, so clauses over reals are answered exactly."""
    world = nbr.World(t=nbr.Real(-20, 45), ice=nbr.Bit())
    rules = [nbr.Clause("t<0 -> ice", 0.9), nbr.Clause("t>30 -> ~ice", 0.8), nbr.Clause("t=30.5", 0.25)]
    reasoner = nbr.Reasoner(world, rules)
    answer = reasoner.ask("ice", given="t<-1")
    assert answer.exact
    assert answer.belief == pytest.approx(0.9)
    hot = reasoner.ask("ice", given="30 < t < 31")
    assert (hot.belief, hot.plausibility) == pytest.approx((0.0, 0.2))
    assert reasoner.ask("t=30.5").belief == pytest.approx(0.25)
    assert reasoner.ask("t>=100").plausibility == 0


def smooth_model(lipschitz: float | None) -> nbr.Reasoner:
    warm = nbr.Fuzzy(lambda t: torch.sigmoid((t[:, 0] - 20.03) / 4), 0.8, inputs="t", lipschitz=lipschitz)
    cool = nbr.Fuzzy(lambda t: torch.sigmoid((10.07 - t[:, 0]) / 3), 0.7, inputs="t", lipschitz=lipschitz)
    return nbr.Reasoner(nbr.World(t=nbr.Real(-20, 45)), [warm, cool])


def fine_answer(reasoner: nbr.Reasoner) -> tuple[float, float]:
    """Bel and Pl of t>=15 on a grid so fine that the error is below 1e-4."""
    t = torch.linspace(-20, 45, 400_001, dtype=torch.float64)[:, None]
    grades = reasoner.grades(t).numpy()
    high, low = grades[t[:, 0] >= 15], grades[t[:, 0] < 15]
    b = reasoner.beliefs.numpy()
    top = [np.maximum(0, oracle.expectation(_front(g), b)) for g in (high, low, grades)]
    return 1 - top[1] / top[2], top[0] / top[2]


def _front(grades: np.ndarray) -> np.ndarray:
    best = np.maximum.accumulate(grades[np.lexsort((-grades[:, 1], -grades[:, 0]))][:, 1])
    order = grades[np.lexsort((-grades[:, 1], -grades[:, 0]))]
    return order[np.r_[True, best[1:] > best[:-1]]][::25]


@pytest.mark.parametrize("lipschitz", [None, 0.1])
@pytest.mark.parametrize("grid", [1, 4, 32, 256])
def test_smooth_rules_over_reals_are_bounded_on_a_grid(lipschitz: float | None, grid: int) -> None:
    reasoner = smooth_model(lipschitz)
    belief, plausibility = fine_answer(reasoner)
    answer = reasoner.ask("t>=15", grid=grid)
    assert not answer.exact
    assert answer.bounds.kind == "proved"
    assert answer.bounds.belief[0] <= belief + 1e-4 <= answer.bounds.belief[1] + 2e-4
    assert answer.bounds.plausibility[0] <= plausibility + 1e-4 <= answer.bounds.plausibility[1] + 2e-4
    assert (answer.belief, answer.plausibility) == (answer.bounds.belief[0], answer.bounds.plausibility[1])
    if lipschitz and grid == 256:
        assert answer.bounds.belief[1] - answer.bounds.belief[0] < 0.05


def test_networks_over_reals_get_bounds_that_shrink() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    world = nbr.World(t=nbr.Real(-1, 1), x=nbr.Bit())
    reasoner = nbr.Reasoner(world, [nbr.Neural(["t", "x"], net, 0.9), nbr.Clause("t<=0.3 & x", 0.5)])
    widths = []
    for grid in (4, 64, 1024):
        low, high = reasoner.ask("t<=0.3 & x", grid=grid).bounds.plausibility
        widths.append(high - low)
        fine = reasoner.ask("t<=0.3 & x", grid=4000).bounds.plausibility
        assert low <= fine[0] + 1e-9
        assert fine[1] <= high + 1e-9
    assert widths[0] > 3 * widths[1] > 9 * widths[2]


def test_a_world_too_large_to_list_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = table_1().ask("x10", "x0=1")
    monkeypatch.setattr(rows, "LISTED", 100)
    for question in ("x10", nbr.Clause("x10", 1.0)):  # as a statement, and as a fuzzy set
        answer = table_1().ask(question, "x0=1", engine="lattice")
        assert not answer.exact
        assert answer.bounds.belief[0] <= exact.belief <= answer.bounds.belief[1]
        assert answer.bounds.plausibility[0] <= exact.plausibility <= answer.bounds.plausibility[1]


def test_only_variables_that_are_read_are_listed() -> None:
    reasoner = nbr.Reasoner(nbr.World.bits(500), [nbr.Clause("x3 -> x400", 0.7)])
    answer = reasoner.ask("x400", given="x3")
    assert answer.exact
    assert answer.belief == pytest.approx(0.7)
    assert answer.points == 2


def test_budget_holds_and_the_answer_says_so() -> None:
    import time

    random = np.random.default_rng(0)
    rules = [nbr.Fuzzy(look_up(random.random(256)), 0.3) for _ in range(80)]
    start = time.process_time()
    answer = nbr.Reasoner(nbr.World.bits(8), rules).ask("x0", budget=1.0)
    assert time.process_time() - start < 4
    assert not answer.exact
    low, high = answer.bounds.plausibility
    assert 0 <= low <= answer.plausibility <= high <= 1


def test_many_violated_rules_do_not_underflow() -> None:
    """Twenty, or four hundred, believed rules that the condition breaks say nothing of z."""
    for count in (20, 400):
        names = {f"x{i}": nbr.Bit() for i in range(count)}
        world = nbr.World({**names, "y": nbr.Bit(), "z": nbr.Bit()})
        rules = [nbr.Clause(f"x{i} -> y", 0.9) for i in range(count)]
        answer = nbr.Reasoner(world, [*rules, nbr.Clause("z", 0.7)]).ask("z", given=f"x0..x{count - 1}, ~y")
        assert (answer.belief, answer.plausibility) == pytest.approx((0.7, 1.0), abs=1e-9)
        assert answer.conflict == pytest.approx(1, abs=1e-9)
        assert answer.exact


def test_tiny_expectations_are_exact_or_said_not_to_be() -> None:
    world = nbr.World.bits(2)
    rules = [nbr.Fuzzy(lambda z: 1e-300 * (1 + z[:, 0]), 1.0), nbr.Clause("x0", 0.5)]
    reasoner = nbr.Reasoner(world, rules)
    for engine in ("auto", "lattice", "count", "few"):
        answer = reasoner.ask("x1", engine=engine)
        assert answer.bounds.belief[0] <= 0
        assert answer.bounds.plausibility[1] >= 1
        assert answer.exact == (engine != "few")


def test_budget_holds_for_many_points_and_fuzzy_questions() -> None:
    import time

    random = np.random.default_rng(0)
    crowded = nbr.Reasoner(
        nbr.World.bits(14),
        [nbr.Memory({f"x{i}": int(random.integers(2)) for i in range(14)}, 2.0, 0.5) for _ in range(40)],
    )
    soft = nbr.Reasoner(nbr.World.bits(10), [nbr.Fuzzy(look_up(random.random(1024)), 0.5) for _ in range(8)])
    for reasoner, question in ((crowded, "x0"), (soft, look_up(random.random(1024)))):
        start = time.process_time()
        answer = reasoner.ask(question, budget=1.0)
        assert time.process_time() - start < 5
        assert answer.bounds.belief[0] <= answer.bounds.belief[1]


def test_a_grid_grows_finer_until_the_bounds_are_narrow() -> None:
    reasoner = smooth_model(0.1)
    for tolerance in (1e-2, 1e-3):
        low, high = reasoner.ask("t>=15", tolerance=tolerance).bounds.belief
        assert high - low <= tolerance
    coarse = reasoner.ask("t>=15", grid=8).bounds.belief
    assert coarse[1] - coarse[0] > 0.1


@pytest.mark.parametrize("engine", ["auto", "counting", "drawn", "relations"])
def test_contradiction_in_a_world_too_large_to_list(engine: str) -> None:
    reasoner = nbr.Reasoner(nbr.World.bits(40), [nbr.Clause("x0", 1.0), nbr.Clause("majority(x0..x39)", 0.5)])
    with pytest.raises(nbr.NbrError, match=r"contradicts rule 1 \(x0\)"):
        reasoner.ask("x1", given="~x0", budget=1.0, engine=engine)


@pytest.mark.parametrize("engine", ["lattice", "counting"])
def test_a_contradiction_blames_no_rule_without_need(engine: str) -> None:
    """Of the rules that must hold, with a list of points and without: those that the condition contradicts."""
    said = ["x0 | x1", "x0 -> x2", "x2 -> ~x3", "x1 | x3 | x4", "x4 -> x5"]
    rules = [*(nbr.Clause(words, 1.0) for words in said), nbr.Clause("x5 -> x6", 0.5)]
    with pytest.raises(nbr.NbrError) as error:
        nbr.Reasoner(nbr.World.bits(7), rules).ask("x6", given="x0 & x3", engine=engine, budget=20.0)
    named = "rule 2 (x0 -> x2) and rule 3 (x2 -> ~x3)"
    assert str(error.value) == f"the condition contradicts {named}, which must hold (belief 1)"


def test_fuzzy_question_about_a_decoded_real() -> None:
    world, latent = nbr.World(a=nbr.Real(0, 1), b=nbr.Real(0, 1)), nbr.World(u=nbr.Real(0, 1))
    reasoner = nbr.Reasoner(
        world, [nbr.Memory({"u": 0.3}, 0.1, 0.5)], latent=latent, decoder=lambda z: torch.cat([z, 1 - z], dim=1)
    )
    assert not reasoner.ask(lambda x: x[:, 1]).exact
