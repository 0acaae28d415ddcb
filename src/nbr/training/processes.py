"""Several processes that train one model together: which of them this is, and what goes between them.

All draw the same batch, and each puts its share of the rows through the network, which is what takes time. Where a loss
is not a mean over rows, the outputs are then brought together, so that every process computes the same loss of the
whole batch: a normaliser is a mean over all processes before its logarithm is taken. Going back, each process follows
its own rows, and losses and gradients are summed. So nothing depends on how many there are, up to rounding.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed
from torch.distributed.rendezvous import rendezvous

from nbr.errors import NbrError


@dataclass(frozen=True)
class Process:
    """One of several processes that train together."""

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes files and tells how far things are."""
        return self.rank == 0

    def share(self, rows: Tensor) -> Tensor:
        """The rows of a batch that this process works on.

        >>> [Process(rank, 2).share(torch.arange(5)).tolist() for rank in (0, 1)]
        [[0, 2, 4], [1, 3]]
        """
        return rows if self.size == 1 else rows[self.rank :: self.size]

    def together(self, own: Tensor, count: int) -> Tensor:
        """The values of all rows of a batch, from those of each process's share; differentiable."""
        if self.size == 1:
            return own
        found: Tensor = _Together.apply(own, count, self)  # type: ignore[no-untyped-call]
        return found

    def part(self, whole: Tensor) -> Tensor:
        """This process's part of a loss that all have the value of: parts add up, and gradients stay as they are."""
        return whole if self.size == 1 else whole - (1 - 1 / self.size) * whole.detach()

    def once(self, term: Tensor) -> Tensor:
        """A term of a loss that belongs to no row: only one process may have it, since losses and gradients add up."""
        return term if self.first else torch.zeros_like(term)

    def summed(self, loss: float, values: Sequence[Tensor]) -> float:
        """The loss of the whole batch, and its gradients for all processes, in one message."""
        if self.size == 1:
            return loss
        grads = [torch.zeros_like(value) if value.grad is None else value.grad for value in values]
        flat = torch.cat([*(grad.reshape(-1) for grad in grads), grads[0].new_tensor([loss])])
        with _others():
            distributed.all_reduce(flat)
        *parts, total = flat.split([*(grad.numel() for grad in grads), 1])
        for value, part in zip(values, parts, strict=True):
            value.grad = part.view_as(value)
        return float(total)

    def dealt(self, costs: Sequence[float]) -> list[int]:
        """Which process does each of some jobs that cost so much, the dearest first to whoever has least to do.

        >>> Process(0, 2).dealt([3.0, 2.0, 2.0, 1.0])
        [0, 1, 1, 0]
        """
        owners, busy = [0] * len(costs), [0.0] * self.size
        for job in sorted(range(len(costs)), key=lambda job: -costs[job]):
            owners[job] = busy.index(min(busy))
            busy[owners[job]] += costs[job]
        return owners

    def exchange(self, values: Sequence[Tensor], owners: Sequence[int]) -> None:
        """Give all processes what each of them has made, in place and in one message: many cost more."""
        if self.size == 1 or not values:
            return
        parts = [[v for v, owner in zip(values, owners, strict=True) if owner == rank] for rank in range(self.size)]
        sizes = [sum(value.numel() for value in part) for part in parts]
        own = torch.cat([values[0].new_empty(0), *(value.reshape(-1) for value in parts[self.rank])])
        whole = values[0].new_empty(sum(sizes))
        with _others():
            distributed.all_to_all_single(whole, own.repeat(self.size), sizes, [len(own)] * self.size)
        made = [value for part in parts for value in part]
        for value, part in zip(made, whole.split([value.numel() for value in made]), strict=True):
            value.copy_(part.view_as(value))


ALONE = Process()


def here() -> Process:
    """This process among those that torchrun started, which wait for each other here the first time; else alone."""
    if not distributed.is_available():
        return ALONE
    if not distributed.is_initialized():
        if not distributed.is_torchelastic_launched():
            return ALONE
        store, rank, size = next(rendezvous("env://"))
        again = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")  # the store still has addresses of an earlier start
        store = distributed.PrefixStore(f"nbr/{again}", store)  # type: ignore[attr-defined]
        distributed.init_process_group("gloo", store=store, rank=rank, world_size=size)  # tensors are on the CPU
        atexit.register(_leave)  # its threads would end the process with an error
    return Process(distributed.get_rank(), distributed.get_world_size())


def _leave() -> None:
    if distributed.is_initialized():
        distributed.destroy_process_group()


@contextmanager
def _others() -> Iterator[None]:
    """Where something goes between processes: if one is gone, the others can only end too."""
    try:
        yield
    except RuntimeError as error:
        lost = "another process of this training has ended; torchrun --max-restarts restarts all of them"
        raise NbrError(f"{lost} ({str(error).splitlines()[0][:120]})") from None


class _Together(torch.autograd.Function):
    """Values brought together by a sum in which each is there once; gradients of the own ones come back."""

    @staticmethod
    def forward(context: Any, own: Tensor, count: int, process: Process) -> Tensor:
        context.process = process
        whole = own.new_zeros((count, *own.shape[1:]))
        process.share(whole).copy_(own)
        with _others():
            distributed.all_reduce(whole)
        return whole

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return context.process.share(gradient).contiguous(), None, None
