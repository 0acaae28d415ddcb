"""Networks that look at pictures: by name, made for a shape of pictures and a number of labels.

`lenet` is LeCun's of 1998; `convolutional` is what to take where accuracy counts, several times as slow; `dense` takes
inputs of any shape; `nonexpansive` moves no two inputs further apart than they are, so that readings have a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from nbr.errors import NbrError, suggest
from nbr.lipschitz import Dense, MaxMin

Shape = tuple[int, ...]
SMALLEST = 16  # pixels of a side, from which on filters are worth their while
WIDTHS = 128, 64  # of dense networks
STEADY = 256, 128, 64  # of nonexpansive ones
SHARPNESS = 4.0  # that these start from


class Layers(nn.Module):
    """A picture (n, height, width), or (n, height, width, channels), as filters take it: channels first."""

    def forward(self, pictures: Tensor) -> Tensor:
        return pictures[:, None] if pictures.dim() == 3 else pictures.permute(0, 3, 1, 2)


def lenet(shape: Shape, labels: int) -> nn.Module:
    """Two rounds of 5 x 5 filters and three dense layers."""
    channels, side = _picture(shape, SMALLEST, "lenet")
    for _ in range(2):
        side = tuple((each - 4) // 2 for each in side)
    return nn.Sequential(
        Layers(),
        nn.Conv2d(channels, 6, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(6, 16, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * math.prod(side), 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, labels),
    )


def convolutional(shape: Shape, labels: int) -> nn.Module:
    """Six layers of filters with normalised batches, halved three times."""
    channels, side = _picture(shape, SMALLEST, "convolutional")
    found: list[nn.Module] = [Layers()]
    widths = [channels, 16, 16, 32, 32, 64]
    for number, (before, after) in enumerate(pairwise(widths), 1):
        found += [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        if number in (2, 4, 5):
            found.append(nn.MaxPool2d(2))
            side = tuple(each // 2 for each in side)
    return nn.Sequential(*found, nn.Flatten(), nn.Linear(widths[-1] * math.prod(side), labels))


def dense(shape: Shape, labels: int) -> nn.Module:
    """Two hidden layers over all numbers of an input."""
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise([math.prod(shape), *WIDTHS]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTHS[-1], labels))


class Steady(nn.Module):
    """Nonexpansive layers to one number for each label, times a sharpness that is learned too."""

    def __init__(self, size: int, labels: int) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(int(torch.randint(1 << 31, (1,))))
        layers: list[nn.Module] = []
        for before, after in pairwise([size, *STEADY]):
            layers += [Dense(before, after, 1, source), MaxMin()]
        self.layers = nn.Sequential(*layers, Dense(STEADY[-1], labels, 1, source))
        self.log_sharpness = nn.Parameter(torch.tensor(math.log(SHARPNESS)))

    @property
    def sharpness(self) -> Tensor:
        return self.log_sharpness.exp()

    def forward(self, pictures: Tensor) -> Tensor:
        found: Tensor = self.layers(pictures.flatten(1))[0] * self.sharpness
        return found


def nonexpansive(shape: Shape, labels: int) -> nn.Module:
    """Dense layers of norm 1 with MaxMin, one number for each label."""
    return Steady(math.prod(shape), labels)


ARCHITECTURES: dict[str, Callable[[Shape, int], nn.Module]]
ARCHITECTURES = {"lenet": lenet, "convolutional": convolutional, "dense": dense, "nonexpansive": nonexpansive}


def named(name: str, shape: Sequence[int], labels: int) -> nn.Module:
    """A network by its name, with weights drawn from torch's own generator."""
    if name not in ARCHITECTURES:
        raise NbrError(
            f"there is no network {name!r}; known are {', '.join(ARCHITECTURES)}" + suggest(name, ARCHITECTURES)
        )
    network = ARCHITECTURES[name](tuple(shape), labels)
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):  # pictures then keep their channels last, for which filters are faster
            layer.weight.data = layer.weight.data.contiguous(memory_format=torch.channels_last)
    return network


def usual(shape: Sequence[int]) -> str:
    """The name of the network to take where none is asked for."""
    return "convolutional" if len(shape) in (2, 3) and min(shape[:2]) >= SMALLEST else "dense"


def _picture(shape: Shape, least: int, name: str) -> tuple[int, Shape]:
    if len(shape) not in (2, 3) or min(shape[:2]) < least:
        told = " x ".join(map(str, shape))
        raise NbrError(
            f"the network {name!r} takes pictures of {least} x {least} pixels or more, not {told}; try 'dense'"
        )
    return (1 if len(shape) == 2 else shape[2]), shape[:2]
