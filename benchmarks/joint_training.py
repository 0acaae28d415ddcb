"""One training, alone or as one of the processes that torchrun starts: what `parallel.py` compares.

torchrun --nproc-per-node 2 benchmarks/joint_training.py fit --steps 60 --out OUT.pt
torchrun --nproc-per-node 2 benchmarks/joint_training.py robust --steps 46 --out OUT.pt --double
torchrun --nproc-per-node 2 benchmarks/joint_training.py ten --steps 46 --out OUT.pt
torchrun --nproc-per-node 2 benchmarks/joint_training.py sums --steps 50 --out OUT.pt      sums of gradients alone
torchrun --nproc-per-node 1 benchmarks/joint_training.py turn --steps 10 --out OUT.pt      steps of the optimiser alone
python benchmarks/joint_training.py fit --steps 20 --out OUT.pt --one-of 64     what the first of 64 would compute
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, distributed, nn

import nbr
from nbr import datasets, lipschitz, priors
from nbr.classify import descent
from nbr.classify.experts import Experts
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, TrainingSample
from nbr.learning.bank import Bank
from nbr.learning.objectives import objective
from nbr.learning.training import BankTraining, FitSettings
from nbr.progress import Progress
from nbr.tables import Table
from nbr.training import Process, here

ROWS = 20_000_000
RULES = 16
TEN = Recipe(epsilon=1.58, frames="pairs", width=256, depth=5, head=32, batch=512, beta=1.2)


class OneOf(Process):
    """The first of several processes without the others: it computes its share, and gets nothing from anybody."""

    def together(self, own: Tensor, count: int) -> Tensor:
        whole = own.new_zeros((count, *own.shape[1:]))
        whole[self.rank :: self.size] = own
        return whole

    def summed(self, loss: float, values: Sequence[Tensor]) -> float:
        return loss

    def exchange(self, values: Sequence[Tensor], owners: Sequence[int]) -> None:
        pass


def flat(module: nn.Module) -> Tensor:
    return torch.cat([value.detach().flatten() for value in module.parameters()])


def fit(steps: int, dtype: torch.dtype, losses: list[float]) -> tuple[float, Tensor]:
    """Rules for the counted rows of a table of 16 bits in which every point was seen."""
    world = nbr.World.bits(16)
    points = torch.cartesian_prod(*[torch.arange(2.0, dtype=torch.float64)] * 16)
    source = torch.Generator().manual_seed(0)
    lean = torch.randn(16, 16, generator=source, dtype=torch.float64) / 4
    weights = torch.softmax((points @ lean * points).sum(dim=1), 0)
    counts = (ROWS * weights).long() + 1
    torch.set_default_dtype(dtype)
    bank = Bank(world, [world.names], RULES, 96, 0)
    goal = objective(bank, priors.uniform(world), {"train": Table(world, points, counts=counts)}, 0, here())
    run = BankTraining(bank, goal, FitSettings(steps=steps))
    began = time.perf_counter()
    run.run(lambda progress: losses.append(progress.figures.get("log-likelihood", 0.0)))
    return time.perf_counter() - began, flat(bank)


def robust(steps: int, dtype: torch.dtype, losses: list[float]) -> tuple[float, Tensor]:
    """The networks of the classifier of 4 and 9 that ships, as it was trained, for an epoch or more of 46 steps."""
    X, y = datasets.mnist((4, 9), "train")
    points, labels = torch.from_numpy(X).flatten(1).to(dtype), torch.from_numpy((y == 9).astype("int64"))
    torch.set_default_dtype(dtype)
    sample = TrainingSample(points, labels, (28, 28))

    def watch(progress: Progress) -> None:
        losses.append(progress.figures["loss"])

    began = time.perf_counter()
    network = Experts(2, 7).train(sample, Recipe(epochs=-(-steps // 46)), watch)
    return time.perf_counter() - began, flat(network)


def ten(steps: int, dtype: torch.dtype, losses: list[float]) -> tuple[float, Tensor]:
    """The networks of the classifier of ten digits that ships, on as many images as make epochs of 46 steps."""
    X, y = datasets.mnist(None, "train")
    some = 46 * TEN.batch
    torch.set_default_dtype(dtype)
    sample = TrainingSample(torch.from_numpy(X[:some]).flatten(1).to(dtype), torch.from_numpy(y[:some]), (28, 28))
    began = time.perf_counter()
    recipe = replace(TEN, epochs=-(-steps // 46))
    network = Pairs(10).train(sample, recipe, lambda progress: losses.append(progress.figures["loss"]))
    return time.perf_counter() - began, flat(network)


def sums(steps: int, dtype: torch.dtype, losses: list[float]) -> tuple[float, Tensor]:
    """Seconds for a sum over all processes, of as many numbers as the networks of `robust` have weights."""
    values = torch.ones(1_100_000, dtype=dtype)
    began = time.perf_counter()
    for _ in range(steps):
        if here().size > 1:
            distributed.all_reduce(values.clone())
    return (time.perf_counter() - began) / steps, values[:1]


def turn(steps: int, dtype: torch.dtype, losses: list[float]) -> tuple[float, Tensor]:
    """Seconds of a step of the optimiser of `robust`, which turns matrices."""
    network = lipschitz.dense(384, [384] * 5 + [64], 14, 5, 0).to(dtype)
    for value in network.parameters():
        value.grad = torch.randn(value.shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    optimiser = lipschitz.Stiefel(network, lr=0.1)
    began = time.perf_counter()
    for _ in range(steps):
        optimiser.step()
    return (time.perf_counter() - began) / steps, flat(network)


def main(task: str, steps: int, double: bool, out: str, one_of: int) -> None:
    global here
    torch.set_num_threads(1)
    if one_of:
        here = descent.here = lambda: OneOf(0, one_of)
    spent = time.process_time()
    process, losses = here(), []
    seconds, weights = {"fit": fit, "robust": robust, "ten": ten, "sums": sums, "turn": turn}[task](
        steps, torch.float64 if double else torch.float32, losses
    )
    if process.first:
        torch.save({"seconds": seconds, "losses": losses, "weights": weights, "cpu": time.process_time() - spent}, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["fit", "robust", "ten", "sums", "turn"])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--out", required=True)
    parser.add_argument("--one-of", type=int, default=0)
    given = parser.parse_args()
    main(given.task, given.steps, given.double, given.out, given.one_of)
