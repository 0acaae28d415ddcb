"""Layers of pictures that look at neighbouring pixels alone, and never move two pictures apart in L2.

A convolution that keeps all distances is made of two things that do: some channels are shifted by a pixel, and an
orthogonal matrix mixes the channels of each pixel. Blocks of pixels may become the channels of one, which makes
pictures smaller without loss. The same small matrix W at every place is a block-diagonal one, whose norm is that of W:
the bound is exact.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nbr.errors import NbrError
from nbr.lipschitz.layers import Dense, MaxMin

SHIFTS = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))  # of one part of the channels each
LARGEST, SMALLEST = 16, 4  # places on a side: after the first blocks at most, and when no more blocks are taken
CHANNELS, WIDEST = 16, 256  # for each pixel of a side of the first blocks, doubled with each further block; at most
SHIFTED = 2  # layers that shift, for each that takes blocks


class Local(nn.Module):
    """One linear map for all places of a picture: channels are shifted, blocks of pixels put together, then mixed.

    What a shift moves over the edge is dropped, and black comes in; pictures that blocks do not fill are made larger
    with black. Neither moves two pictures apart.

    Args:
        size: The height and the width of a picture.
        channels: The channels of a pixel.
        outputs: The channels that come out.
        block: The side of the blocks that become one pixel.
        shifted: Whether four fifths of the channels are shifted by a pixel, each part in another direction.
        generator: The source of randomness for the first weights.
    """

    def __init__(
        self,
        size: tuple[int, int],
        channels: int,
        outputs: int,
        block: int = 1,
        shifted: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if min(*size, channels, outputs, block) < 1:
            raise NbrError(f"sides, channels and blocks are at least 1, not {(*size, channels, outputs, block)}")
        self._hold(Dense(block * block * channels, outputs, 1, generator), size, channels, block, shifted)

    @classmethod
    def of(cls, mix: Dense, size: tuple[int, int], channels: int, block: int, shifted: bool) -> Local:
        """A layer with this matrix, that of a file, say."""
        layer = cls.__new__(cls)
        nn.Module.__init__(layer)
        layer._hold(mix, size, channels, block, shifted)
        return layer

    def _hold(self, mix: Dense, size: tuple[int, int], channels: int, block: int, shifted: bool) -> None:
        self.size, self.channels, self.block, self.shifted = size, channels, block, shifted
        self.mix = mix

    @property
    def after(self) -> tuple[int, int]:
        """The height and the width of what comes out."""
        height, width = self.size
        return -(-height // self.block), -(-width // self.block)

    @property
    def places(self) -> int:
        """How many pixels come out."""
        return self.after[0] * self.after[1]

    @property
    def outputs(self) -> int:
        """The channels that come out."""
        return self.mix.weight.shape[1]

    def forward(self, x: Tensor) -> Tensor:
        """Pictures (n, height, width, channels), in any shape that has as many numbers: (n, places, outputs)."""
        pictures = self.gathered(x.reshape(len(x), *self.size, self.channels))
        mixed: Tensor = self.mix(pictures.flatten(0, 1))[0]
        return mixed.view(len(x), self.places, self.outputs)

    def gathered(self, pictures: Tensor) -> Tensor:
        """Shifted, and blocks put together: (n, places, block * block * channels)."""
        height, width = self.size
        if self.shifted:
            wide = pad(pictures, (0, 0, 1, 1, 1, 1))
            parts = wide.tensor_split(len(SHIFTS), dim=3)
            moved = [
                part[:, 1 + down : 1 + down + height, 1 + right : 1 + right + width]
                for part, (down, right) in zip(parts, SHIFTS, strict=True)
            ]
            pictures = torch.cat(moved, dim=3)
        side, (down, right) = self.block, self.after
        if (height, width) != (down * side, right * side):
            pictures = pad(pictures, (0, 0, 0, right * side - width, 0, down * side - height))
        blocks = pictures.view(len(pictures), down, side, right, side, self.channels).transpose(2, 3)
        return blocks.reshape(len(pictures), down * right, side * side * self.channels)


def local(
    shape: tuple[int, ...], width: int, head: int, count: int, depth: int = SHIFTED, seed: int = 0
) -> nn.Sequential:
    """`count` networks of pictures that share layers which look at neighbouring pixels, and one that looks at all.

    Args:
        shape: The height and the width of a picture, and its channels if it has several.
        width: The units of the layer that looks at all pixels; even.
        head: The units of the layer that each network has for itself; even.
        count: The number of networks.
        depth: How many layers shift channels, for each that takes blocks.
        seed: The seed of the first weights.

    Returns:
        A module that maps (n, pixels) to (count, n, 1).

    >>> local((32, 32, 3), 64, 16, count=2)(torch.zeros(5, 3072)).shape
    torch.Size([2, 5, 1])
    """
    if width % 2 or head % 2:
        raise NbrError(f"widths must be even, since MaxMin takes pairs, not {[width, head]}")
    generator = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for layer in _stages(shape, depth, generator):
        layers += [layer, MaxMin()]
        pixels = layer.places * layer.outputs
    layers += [nn.Flatten(), Dense(pixels, width, 1, generator), MaxMin()]
    layers += [Dense(width, head, count, generator), MaxMin(), Dense(head, 1, count, generator)]
    return nn.Sequential(*layers)


def _stages(shape: tuple[int, ...], depth: int, generator: torch.Generator) -> Iterator[Local]:
    """Blocks until a picture is small, each followed by layers that shift."""
    size, channels, block = (
        (shape[0], shape[1]),
        shape[2] if len(shape) == 3 else 1,
        max(2, -(-max(shape[:2]) // LARGEST)),
    )
    wanted = min(CHANNELS * block, WIDEST)
    while True:
        layer = Local(size, channels, wanted, block, generator=generator)
        yield layer
        size, channels, block = layer.after, wanted, 2
        for _ in range(depth):
            yield Local(size, channels, channels, shifted=True, generator=generator)
        if max(size) <= SMALLEST:
            return
        wanted = min(2 * wanted, WIDEST)
