"""Two processes that train together against one alone: the same losses, step by step, and the same model."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import distributed

from nbr import priors, tables
from nbr.classify.experts import Experts
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, TrainingSample
from nbr.learning import objectives, training
from nbr.learning.bank import Bank
from nbr.progress import Progress
from nbr.storage import checkpoints
from nbr.training import Checkpoint, Process, here
from small_table import WORLD, holed, rows

Run = tuple[list[float], torch.Tensor]  # losses, weights in the end


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([value.detach().flatten() for value in module.parameters()])


def learned(listed: bool, folder: Path) -> Run:
    """Rules for a table with holes, in a world that is listed or from draws; early stopping and checkpoints too."""
    torch.set_default_dtype(torch.float64)
    parts = {"train": tables.Table(WORLD, holed(rows(90), 0.2)), "valid": tables.Table(WORLD, rows(31, seed=5))}
    bank = Bank(WORLD, [("a", "b"), ("b", "c", "n")], rules=2, width=6, seed=0)
    goal = objectives.objective(bank, priors.marginals(parts["train"]), parts, 0, here())
    if not listed:
        goal = objectives.SampledObjective(bank, priors.marginals(parts["train"]), parts, 0, here())
    losses: list[float] = []
    settings = training.FitSettings(steps=12, every=5)
    run = training.BankTraining(bank, goal, settings, Checkpoint(folder / f"{listed}.safetensors", "same"))
    run.run(lambda progress: losses.append(progress.figures.get("log-likelihood", 0.0)))
    return [*losses, goal.mean(bank, "valid")], flat(bank)


def robust(layout: Experts | Pairs) -> Run:
    torch.set_default_dtype(torch.float64)
    source = torch.Generator().manual_seed(0)
    labels = torch.arange(60) % 3 % layout.labels
    points = torch.rand(60, 9, generator=source) + labels[:, None]
    sample = TrainingSample(points, labels, (3, 3))
    losses: list[float] = []

    def watch(progress: Progress) -> None:
        losses.append(progress.figures["loss"])

    recipe = Recipe(epsilon=0.2, width=6, depth=2, head=4, epochs=3, batch=13, settled=0.5)
    return losses, flat(layout.train(sample, recipe, watch))


def all_runs(folder: Path) -> list[Run]:
    before = torch.get_default_dtype()
    try:
        return [learned(True, folder), learned(False, folder), robust(Experts(2, 2)), robust(Pairs(3))]
    finally:
        torch.set_default_dtype(before)


def join(rank: int, folder: Path) -> None:
    store = distributed.FileStore(str(folder / "store"), 2)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)


OTHER = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from test_processes import all_runs, join
join(1, Path(sys.argv[1]))
found = all_runs(Path(sys.argv[1]))
torch.save([weights for _, weights in found], Path(sys.argv[1]) / "other.pt")
"""


def test_two_processes_and_one(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parent.parent), *sys.path])
    other = subprocess.Popen([sys.executable, "-c", OTHER, str(tmp_path)], env={**os.environ, "PYTHONPATH": path})
    alone = tmp_path / "alone"
    alone.mkdir()
    expected = all_runs(alone)  # while the other one is starting
    join(0, tmp_path)
    try:
        assert (here().rank, here().size) == (0, 2)
        found = all_runs(tmp_path)
    finally:
        assert other.wait(60) == 0
        distributed.destroy_process_group()
    assert here().size == 1
    theirs = torch.load(tmp_path / "other.pt")
    for (losses, weights), (ours, own), last in zip(expected, found, theirs, strict=True):
        assert len(losses) > 10
        assert losses == pytest.approx(ours, abs=1e-9)
        torch.testing.assert_close(weights, own, atol=1e-8, rtol=0)
        assert torch.equal(own, last)  # both ended with the same bits
    for name in ("True.safetensors", "False.safetensors"):  # the first process wrote them
        states = [checkpoints.restore(folder / name, {"fingerprint": "same"}) for folder in (alone, tmp_path)]
        assert states[0] is not None
        assert states[1] is not None
        assert states[0][0]["step"] == states[1][0]["step"] > 0


@pytest.mark.parametrize("size", [1, 2, 4])
def test_parts_of_a_loss_add_up_and_keep_its_gradient(size: int) -> None:
    value = torch.tensor(3.0, requires_grad=True)
    parts = [Process(rank, size).part(value**2) for rank in range(size)]
    assert sum(part.item() for part in parts) == pytest.approx(9)
    assert float(torch.autograd.grad(parts[-1], value)[0]) == pytest.approx(6)
    once = [Process(rank, size).once(2 * value) for rank in range(size)]
    assert sum(term.item() for term in once) == pytest.approx(6)
