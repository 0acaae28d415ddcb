"""Random products of tables."""

from __future__ import annotations

import random

import torch


def product(seed: int, zeros: bool = True) -> tuple[list[tuple[int, ...]], list[int], list[torch.Tensor]]:
    draw = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    sizes = [draw.randint(1, 4) for _ in range(draw.randint(1, 7))]
    scopes = [
        tuple(draw.sample(range(len(sizes)), draw.randint(0, min(3, len(sizes))))) for _ in range(draw.randint(1, 8))
    ]
    scopes += [(variable,) for variable in range(len(sizes))]
    tables = [torch.rand([sizes[v] for v in scope], generator=generator, dtype=torch.float64) for scope in scopes]
    if zeros:
        tables = [torch.where(torch.rand(t.shape, generator=generator) < 0.1, 0.0, t) for t in tables]
    return scopes, sizes, tables
