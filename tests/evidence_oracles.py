"""What the evidence tests compare with: enumeration of pairs of sets, and masses to try."""

from collections.abc import Callable
from itertools import product

import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

examples = settings(deadline=None, max_examples=40)


def combined_by_sets(masses: Tensor, rule: Callable[[int, int], int]) -> Tensor:
    """m(A) = sum of m1(B) m2(C) over all pairs of sets with rule(B, C) = A, source by source."""
    answer = masses[0]
    for mass in masses[1:]:
        result = [mass.new_zeros(()) for _ in mass]
        for b, c in product(range(len(mass)), repeat=2):
            result[rule(b, c)] = result[rule(b, c)] + answer[b] * mass[c]
        answer = torch.stack(result)
    return answer


def without_empty(mass: Tensor) -> Tensor:
    kept = torch.cat([mass.new_zeros(1), mass[1:]])
    return kept / kept.sum()


def random_masses(labels: int, *batch: int, seed: int = 0) -> Tensor:
    """Masses with conflict and ignorance, nowhere zero."""
    generator = torch.Generator().manual_seed(seed)
    table = torch.rand(*batch, 1 << labels, generator=generator, dtype=torch.float64) + 0.05
    return table / table.sum(-1, keepdim=True)


@st.composite
def stacks(draw: st.DrawFn, sources: int, *, ignorance: int = 0, conflict: bool = True) -> Tensor:
    """`sources` masses on one frame, many entries zero; `ignorance` > 0 keeps them from being dogmatic."""
    labels = draw(st.integers(1, 3))
    rows = []
    for _ in range(sources):
        parts = draw(st.lists(st.integers(0, 9), min_size=1 << labels, max_size=1 << labels))
        parts[0] = parts[0] if conflict else 0
        parts[-1] += ignorance if any(parts) else 1
        rows.append(torch.tensor(parts, dtype=torch.float64) / sum(parts))
    return torch.stack(rows)
