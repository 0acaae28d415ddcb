"""Learning: what is found, that it is the least that explains the data, and that nothing interrupts it."""

import inspect
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import killed
import nbr
from nbr import priors, tables
from nbr.learning import fitting, objectives
from nbr.learning.bank import Bank
from nbr.progress import Progress
from nbr.training import loop
from small_table import implication


def test_bank_and_its_export_agree() -> None:
    world = nbr.World(a=nbr.Bit(), b=nbr.Choice("u", "v", "w"), t=nbr.Real(-5, 20))
    bank = Bank(world, [("a", "t"), ("b",)], rules=3, width=8, seed=0)
    points = torch.tensor([[0, 2, -5.0], [1, 0, 3.3], [1, 1, 20]], dtype=torch.float64)
    reasoner = nbr.Reasoner(world, bank.export())
    expected = bank(bank.encode(points)).double()
    torch.testing.assert_close(reasoner.grades(points), expected, atol=1e-5, rtol=0)
    assert len(reasoner.rules) == 6
    assert reasoner.rules[0].inputs == ("a", "t")
    moved = points.clone()
    moved[:, 1] = 1
    torch.testing.assert_close(reasoner.grades(moved)[:, :3], reasoner.grades(points)[:, :3])


def test_objective_equals_the_score_of_the_exported_model() -> None:
    frame = implication(60)
    frame.loc[::3, "b"] = np.nan
    data = tables.read(frame)
    prior = priors.marginals(data)
    bank = Bank(data.world, [data.world.names], rules=4, width=8, seed=1)
    goal = objectives.objective(bank, prior, {"train": data}, seed=0)
    assert isinstance(goal, objectives.ListedObjective)
    model = nbr.Reasoner(data.world, bank.export(), prior=prior)
    assert goal.mean(bank, "train") == pytest.approx(model.log_prob(frame).mean().item(), abs=1e-4)


def test_alpha_loss_has_the_gradient_of_the_likelihood() -> None:
    """Equations (11) and (13) agree where the sampled parts are large."""
    data = tables.read(implication(4000))
    prior = priors.marginals(data)
    bank = Bank(data.world, [data.world.names], rules=2, width=8, seed=1)
    exact = objectives.objective(bank, prior, {"train": data}, seed=0)
    sampled = objectives.SampledObjective(bank, prior, {"train": data}, seed=0)
    exact.loss(bank, 0).backward()
    expected = bank.doubt.grad.clone()
    total = torch.zeros_like(expected)
    for step in range(400):
        bank.zero_grad()
        sampled.loss(bank, step).backward()
        total += bank.doubt.grad / 400
    torch.testing.assert_close(total, expected, atol=3e-3, rtol=0.1)


def test_fit_finds_the_relation_and_leaves_the_rest_open() -> None:
    model = nbr.fit(implication(), prior="marginals", seed=0, steps=400)
    assert len(model.rules) <= 4
    yes = model.ask("b", given="a")
    assert yes.belief > 0.7
    assert yes.plausibility == pytest.approx(1, abs=0.05)
    open_question = model.ask("c", given="a")
    assert open_question.ignorance > 0.7
    sampled = model.sample(5000, given="a", seed=0)
    assert sampled["b"].mean() == pytest.approx(0.9, abs=0.05)


def test_rules_read_only_what_rows_show_together() -> None:
    frame = implication()
    first, second = frame[["a", "b"]], frame[["b", "c"]]
    report = fitting.fit_report([first, second], rules=1, steps=50)
    assert report.inputs == [("a", "b"), ("b", "c")]
    assert {rule.inputs for rule in report.reasoner.rules} == {("a", "b"), ("b", "c")}


def test_table_1_from_plain_rows_with_holes() -> None:
    """The 11-bit world of the paper: ten columns of eleven at a time, with no flag."""
    names = [f"x{i}" for i in range(11)]
    rows = []
    for middle in itertools.product([0, 1], repeat=9):
        majority = int(sum(middle) >= 5)
        for copy in range(10):
            rows.append([majority if copy < 9 else 1 - majority, *middle, None])
            rows.append([None, *middle, majority if copy < 2 else 1 - majority])
    model = nbr.fit(pd.DataFrame(rows, columns=names), budget=None)  # a busy machine would cut it short
    assert len(model.rules) == 2
    for question, given, belief, plausibility in [
        ("x10", "x0=1", 0, 1 / 3),
        ("x10", "x0=0", 2 / 3, 1),
        ("x5", "x0=1, x1..x4=0", 8 / 9, 1),
        ("x5", "x0=1, x1..x4=0, x10=1", 2 / 3, 1),
        ("x5", "x0=1, x1..x4=0, x6..x10=1", 2 / 3, 3 / 4),
    ]:
        answer = model.ask(question, given)
        assert answer.belief == pytest.approx(belief, abs=0.03)
        assert answer.plausibility == pytest.approx(plausibility, abs=0.03)


def test_a_second_model_learns_only_what_the_first_does_not_know() -> None:
    """Modular knowledge: first a -> b, then data that also has c -> d, with the first as prior."""
    random_ = np.random.default_rng(1)
    a, c = random_.integers(0, 2, (2, 3000))
    follow = lambda x: np.where(random_.random(3000) < 0.9, x, 1 - x)  # noqa: E731
    old = pd.DataFrame({"a": a, "b": follow(a), "c": c, "d": random_.integers(0, 2, 3000)})
    new = pd.DataFrame({"a": a, "b": follow(a), "c": c, "d": follow(c)})
    first = nbr.fit(old, prior="uniform", rules=1, steps=300)
    second = nbr.fit(new, prior=first, rules=1, steps=300, world=first.world)
    assert first.ask("b", given="a").belief > 0.75
    assert first.ask("d", given="c").ignorance > 0.8
    assert second.ask("d", given="c").belief > 0.75
    assert second.ask("b", given="a").ignorance > 0.8
    both = first & second
    assert both.ask("b", given="a").belief > 0.7
    assert both.ask("d", given="c").belief > 0.7


def test_numbers_and_choices_are_learned_by_sampling() -> None:
    random_ = np.random.default_rng(0)
    t = random_.uniform(-10, 30, 1500)
    frame = pd.DataFrame({"t": t, "sky": np.where(t + random_.normal(0, 2, 1500) > 10, "clear", "grey")})
    frame.loc[::5, "sky"] = None
    model = nbr.fit(frame, rules=2, steps=300)
    hot, cold = model.sample(3000, given="t>20", seed=0), model.sample(3000, given="t<0", seed=0)
    assert (hot["sky"] == "clear").mean() > 0.8
    assert (cold["sky"] == "clear").mean() < 0.2


def written(folder: Path) -> int:
    """When a checkpoint was last written."""
    return max((file.stat().st_mtime_ns for file in folder.glob("*.safetensors")), default=0)


def test_a_killed_run_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    implication().to_csv(tmp_path / "t.csv", index=False)
    part = tmp_path / "broken.nbr.part"
    killed.killed_and_whole(
        killed.fit, lambda name: (tmp_path / "t.csv", tmp_path / f"{name}.nbr"), lambda: written(part)
    )
    assert (tmp_path / "broken.nbr").read_bytes() == (tmp_path / "whole.nbr").read_bytes()
    assert not part.exists()


class Stop(Exception):
    pass


def stopped(folder: Path, table: pd.DataFrame | None = None, **settings) -> None:
    """A run that is stopped half-way and leaves a checkpoint."""

    def stop(progress: Progress) -> None:
        if progress.done == 20 and not progress.ended:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "SECONDS", 0.0)
        with pytest.raises(Stop):
            nbr.fit(implication() if table is None else table, checkpoint=folder, progress=stop, **settings)
    assert list(folder.glob("*.safetensors"))


def test_a_broken_checkpoint_is_refused(tmp_path: Path) -> None:
    stopped(tmp_path / "p", rules=1, steps=30)
    for path in (tmp_path / "p").glob("*.safetensors"):
        path.write_bytes(b"broken")
    with pytest.raises(nbr.NbrError, match="delete it to start again"):
        nbr.fit(implication(), rules=1, steps=30, checkpoint=tmp_path / "p")


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"width": 12},
        {"steps": 31},
        {"inputs": [["a", "b"]]},
        {"prior": "uniform"},
        {"prior": "weights"},
        {"prior": "distribution"},
        {"table": implication(401)},
        {"table": implication()[::-1]},
    ],
    ids=str,
)
def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path, other: dict) -> None:
    """Whatever decides the weights is told apart: a prior of the same class with other parameters too."""
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit())
    bits = [priors.Independent(world, [torch.tensor([1.0, weight])] * 3) for weight in (1.0, 2.0)]
    drawn = [torch.distributions.Independent(torch.distributions.Bernoulli(torch.full((3,), p)), 1) for p in (0.4, 0.6)]
    by_name = {"weights": bits, "distribution": drawn, "uniform": ("marginals", "uniform")}
    first: dict = {"table": implication(), "rules": 1, "steps": 30, "width": 8}
    second = first | other
    if "prior" in other:
        first["prior"], second["prior"] = by_name[other["prior"]]
    stopped(tmp_path / "p", **first)
    with pytest.raises(nbr.NbrError, match="other data or other settings"):
        nbr.fit(**second, checkpoint=tmp_path / "p")
    nbr.fit(**first, checkpoint=tmp_path / "p")
    assert not list(tmp_path.iterdir())


def test_two_runs_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    """The second is refused, and the first ends as if nothing had happened."""
    refused = []

    def second(progress: Progress) -> None:
        if progress.done == 10 and not refused:
            with pytest.raises(nbr.NbrError, match="has not ended"):
                nbr.fit(implication(), rules=1, steps=30, checkpoint=tmp_path / "p")
            refused.append(True)

    model = nbr.fit(implication(), rules=1, steps=30, checkpoint=tmp_path / "p", progress=second)
    alone = nbr.fit(implication(), rules=1, steps=30)
    assert refused
    assert torch.equal(model.beliefs, alone.beliefs)


def test_progress_has_one_scale() -> None:
    """Both figures are nats a row, and end beside the report's."""
    told = []
    frame = implication(600)
    frame["t"] = np.random.default_rng(1).normal(size=600) + frame["a"]
    report = fitting.fit_report(frame, rules=2, steps=150, valid=frame[::4], progress=told.append)
    last = told[-1]
    assert last.ended
    assert last.figures["held out"] == pytest.approx(report.held_out.log_likelihood, abs=0.01)
    late = [progress.figures["log-likelihood"] for progress in told[-20:]]
    assert np.mean(late) == pytest.approx(report.train, abs=0.1)


def test_a_column_of_one_label_or_none_is_kept() -> None:
    """A choice of one label, and a column that no row shows, are part of the world and stop nothing."""
    world = nbr.World(a=nbr.Bit(), only=nbr.Choice("this"), b=nbr.Bit(), unseen=nbr.Choice("x", "y"), t=nbr.Real(0, 1))
    codes = torch.full((200, 5), torch.nan, dtype=torch.float64)
    codes[:, 0] = torch.arange(200) % 2
    codes[:, 1] = 0
    codes[:, 2] = codes[:, 0]
    for prior in ("marginals", "uniform"):
        model = nbr.fit(tables.Table(world, codes), prior=prior, rules=1, steps=200)
        assert model.ask("b", given="a").belief > 0.7
        assert model.ask("only=this").belief == 1
        assert not any(name in rule.inputs for rule in model.rules for name in ("unseen", "t"))
        assert model.ask("unseen=x").ignorance == pytest.approx(1)
        assert set(model.sample(10, seed=0)["only"]) == {"this"}
    listed = nbr.World({name: variable for name, variable in world.variables.items() if name != "t"})
    model = nbr.fit(tables.Table(listed, codes[:, :4]), rules=1, steps=200)
    assert model.ask("b", given="a").belief > 0.7


def test_settings_are_shown_and_misspelt_ones_named() -> None:
    names = inspect.signature(nbr.fit).parameters
    assert list(names)[:3] == ["table", "rules", "prior"]
    assert {"valid", "inputs", "world", "seed", "width", "steps", "checkpoint", "progress"} <= set(names)
    with pytest.raises(nbr.NbrError, match="unknown setting 'sead'; did you mean 'seed'?"):
        nbr.fit(implication(), sead=1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rules": 0}, "above 0"),
        ({"rules": "many"}, "'auto'"),
        ({"steps": 0}, "above 0"),
        ({"prior": "gut feeling"}, "unknown prior"),
        ({"inputs": [["a", "z"]]}, "unknown variable 'z'"),
    ],
)
def test_wrong_settings(settings: dict, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        nbr.fit(implication(20), **settings)
