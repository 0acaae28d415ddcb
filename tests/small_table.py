"""A small table whose columns depend on each other, and all points of its world."""

import itertools
import math

import numpy as np
import pandas as pd
import torch

import nbr
from nbr.tables import Table

WORLD = nbr.World(a=nbr.Bit(), b=nbr.Choice("u", "v", "w"), c=nbr.Bit(), n=nbr.Choice("0", "1", "2", "3"))
POINTS = torch.tensor(list(itertools.product(range(2), range(3), range(2), range(4))), dtype=torch.float64)


def rows(count: int = 400, seed: int = 0) -> torch.Tensor:
    """Columns that depend on each other: b mostly follows a, c mostly follows b, n is larger where a is 1."""
    generator = torch.Generator().manual_seed(seed)
    u = torch.rand(count, 4, generator=generator, dtype=torch.float64)
    a = (u[:, 0] < 0.4).double()
    b = torch.where(u[:, 1] < 0.8, 2 * a, 1.0)
    c = torch.where(u[:, 2] < 0.9, (b == 2).double(), 1 - (b == 2).double())
    n = (torch.poisson(0.3 + a, generator=generator)).clamp(max=3)
    return torch.stack([a, b, c, n], dim=1)


def holed(codes: torch.Tensor, share: float, seed: int = 1) -> torch.Tensor:
    holes = torch.rand(codes.shape, generator=torch.Generator().manual_seed(seed)) < share
    return codes.masked_fill(holes, math.nan)


TABLE = Table(WORLD, rows())


def implication(rows: int = 400) -> pd.DataFrame:
    """a is a coin; b follows a nine times in ten; c is a coin that has nothing to do with them."""
    random_ = np.random.default_rng(0)
    a, c = random_.integers(0, 2, (2, rows))
    b = np.where(random_.random(rows) < 0.9, a, 1 - a)
    return pd.DataFrame({"a": a, "b": b, "c": c})


def parity(count: int, seed: int) -> torch.Tensor:
    """Bits in threes, the last of which mostly tells whether the others differ: no single tree can say that."""
    generator = torch.Generator().manual_seed(seed)
    bits = torch.rand(count, 5, 3, generator=generator) < 0.5
    bits[..., 2] = (bits[..., 0] ^ bits[..., 1]) ^ (torch.rand(count, 5, generator=generator) < 0.05)
    return bits.flatten(1).double()
