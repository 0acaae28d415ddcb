"""An optimiser that stays on the Stiefel manifold.

Gradients of a margin point mostly out of the manifold: larger weights would give larger margins. So the part along
the manifold is taken first. It is then orthogonalised, so that all directions move alike (Newton-Schulz), and after the
step one Björck iteration brings the weights back: W <- W - lr D, then W <- 3/2 W - 1/2 W W'W.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nbr.lipschitz.layers import Dense

if TYPE_CHECKING:
    from nbr.training import Process

# An odd quintic that drives singular values towards 1, fast rather than exactly (Jordan and others, Muon, 2024).
LINEAR, CUBIC, QUINTIC = 3.4445, -4.7750, 2.0315
ROUNDS = 5
HALF = 128  # rows from which half precision pays, where the processor has it
BIAS_PACE = 0.1  # of biases, whose steps are normalised one by one
FORGET = 0.99  # of the squares that normalise them


class Stiefel(torch.optim.Optimizer):
    """An optimiser: momentum on the Stiefel manifold for dense layers, normalised steps for everything else.

    Args:
        network: The module to train.
        lr: The learning rate.
        momentum: The momentum.
        process: Of a training in several processes, this one; the matrices are shared out among them.
    """

    def __init__(
        self, network: nn.Module, lr: float = 0.1, momentum: float = 0.9, process: Process | None = None
    ) -> None:
        weights = [layer.weight for layer in network.modules() if isinstance(layer, Dense)]
        taken = {id(weight) for weight in weights}
        others = [value for value in network.parameters() if id(value) not in taken]
        groups = [{"params": weights, "matrices": True}, {"params": others, "matrices": False}]
        super().__init__([group for group in groups if group["params"]], {"lr": lr, "momentum": momentum})
        self.process = process
        owners = [0] * len(weights) if process is None else process.dealt([_cost(weight) for weight in weights])
        self.owner = {id(weight): owner for weight, owner in zip(weights, owners, strict=True)}

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for value in group["params"]:
                if value.grad is None:
                    continue
                state = self.state[value]
                if not state:
                    state["momentum"], state["square"] = torch.zeros_like(value), torch.zeros_like(value)
                state["momentum"].mul_(group["momentum"]).add_(value.grad)
                if group["matrices"]:
                    if self.process is None or self.owner[id(value)] == self.process.rank:
                        _turn(value, value.grad + group["momentum"] * state["momentum"], group["lr"])
                else:
                    state["square"].lerp_(value.grad.square(), 1 - FORGET)
                    pace = BIAS_PACE * (1 - group["momentum"]) * group["lr"]
                    value.sub_(pace * state["momentum"] / (state["square"].sqrt() + 1e-8))
        if self.process is not None:
            turned = [value for value in self.param_groups[0]["params"] if id(value) in self.owner]
            self.process.exchange(turned, [self.owner[id(value)] for value in turned])
        return loss


def _cost(weight: Tensor) -> float:
    """Of a turn, up to a factor."""
    count, rows, columns = weight.shape
    return float(count * min(rows, columns) ** 2 * (rows + columns))


def _turn(weight: Tensor, direction: Tensor, lr: float) -> None:
    """One step of matrices along the manifold, and back onto it."""
    tall = weight.shape[-2] > weight.shape[-1]
    rows, towards = (weight.mT, direction.mT) if tall else (weight, direction)
    inner = torch.bmm(towards, rows.mT)
    along = torch.baddbmm(towards, inner + inner.mT, rows, alpha=-0.5)
    moved = retract(rows - lr * orthogonalised(along))
    weight.copy_(moved.mT if tall else moved)


def orthogonalised(matrices: Tensor) -> Tensor:
    """Matrices (count, rows, columns) with the same singular vectors, and singular values near 1 instead of theirs.

    A direction need not be exact: large ones in float32 are worked out in bfloat16 where that is twice as fast.
    """
    found: Tensor = matrices / (matrices.flatten(1).norm(dim=1)[:, None, None] + 1e-12)
    if matrices.dtype == torch.float32 and matrices.shape[-2] >= HALF and _has_bfloat16():
        found = found.bfloat16()
    for _ in range(ROUNDS):
        gram = torch.bmm(found, found.mT)
        gram = torch.baddbmm(gram, gram, gram, beta=CUBIC, alpha=QUINTIC)
        found = torch.baddbmm(found, gram, found, beta=LINEAR)
    return found.to(matrices.dtype)


@lru_cache
def _has_bfloat16() -> bool:
    """Whether the processor multiplies in bfloat16 itself: where that is only imitated, it is slow."""
    told: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(told.get("avx512_bf16") or told.get("amx_bf16"))


def retract(rows: Tensor, rounds: int = 1) -> Tensor:
    """Björck's iteration towards orthonormal rows."""
    for _ in range(rounds):
        rows = torch.baddbmm(rows, torch.bmm(rows, rows.mT), rows, beta=1.5, alpha=-0.5)
    return rows
