"""Networks trained on planted votes: rules whose right answer is neither 0 nor 1.

A rule sees some bits as votes of unequal weight, and holds where the weighted votes for it are clearly more than those
against it. It is a ReLU network with two hidden layers of 32, trained on rows that are not near the edge.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import nn

import nbr

ROWS, STEPS = 8192, 500
LEAD, GAP = 0.2, 0.05  # of the votes: what is a clear lead, and how near to it no row is shown


def network(signs: Sequence[float], seed: int) -> nn.Module:
    """A network of as many bits as there are signs; a bit of sign -1 is a vote against."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    bits = len(signs)
    weights = torch.tensor(signs) * (1 + 0.3 * torch.randn(bits, generator=generator))
    often = torch.rand(ROWS, 2, generator=generator).repeat_interleave(bits // 2, dim=1)  # of each half
    rows = (torch.rand(ROWS, bits, generator=generator) < often).float()
    lead = (rows - 0.5) @ weights - LEAD * bits
    rows, lead = rows[lead.abs() > GAP * bits], lead[lead.abs() > GAP * bits]
    made = nn.Sequential(nn.Linear(bits, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    optimiser = torch.optim.Adam(made.parameters(), 1e-2)
    for _ in range(STEPS):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(made(rows)[:, 0], (lead > 0).float()).backward()
        optimiser.step()
    return made


def all_bits(bits: int, seed: int = 0) -> tuple[nbr.Reasoner, str]:
    """Four rules that read all bits: most are on, most are off, more of the first half, more of the second half."""
    half = [1.0 if i < bits // 2 else -1.0 for i in range(bits)]
    signs = [[1.0] * bits, [-1.0] * bits, half, [-sign for sign in half]]
    names = [f"x{i}" for i in range(bits)]
    rules = [
        nbr.Neural(names, network(sign, seed + number), belief)
        for number, (sign, belief) in enumerate(zip(signs, (0.8, 0.6, 0.7, 0.5), strict=True))
    ]
    return nbr.Reasoner(nbr.World.bits(bits), rules), f"majority(x0..x{bits - 1})"


def some_bits(bits: int, rules: int, reads: int, seed: int = 0) -> tuple[nbr.Reasoner, str]:
    """Rules that read some of the bits each, by turns for and against them; asked about the bits of the first."""
    draw = random.Random(seed)
    made = []
    for number in range(rules):
        names = sorted(draw.sample([f"x{i}" for i in range(bits)], reads), key=lambda name: int(name[1:]))
        made.append(nbr.Neural(names, network([(-1.0) ** number] * reads, seed + number), draw.uniform(0.4, 0.9)))
    return nbr.Reasoner(nbr.World.bits(bits), made), f"majority({', '.join(made[0].inputs)})"


def truth(model: nbr.Reasoner, question: str) -> tuple[float, float, float]:
    """Belief, plausibility and conflict by going through all points: for up to about 20 bits."""
    answer = model.ask(question, engine="lattice", budget=1e6)
    assert answer.exact
    return answer.belief, answer.plausibility, answer.conflict
