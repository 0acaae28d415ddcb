"""A moving average of weights, which is steadier than the weights themselves."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

YOUNG = 9  # the average of few steps looks back about a tenth of them


def averaged(model: nn.Module, memory: float) -> AveragedModel:
    """A copy of a model that `update_parameters` moves by 1 - min(memory, n / (n + 9)) towards it in step n."""

    def blend(averages: Sequence[Tensor], values: Sequence[Tensor], count: Tensor | int) -> None:
        step = int(count)
        weight = 1 - min(memory, step / (step + YOUNG))
        for average, value in zip(averages, values, strict=True):
            average.lerp_(value, weight)

    found = AveragedModel(model, multi_avg_fn=blend)
    found.n_averaged.fill_(1)  # the weights to start from are the first
    return found
