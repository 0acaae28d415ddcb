"""The proof: a radius around an input within which the label cannot change.

With two labels log Pl_1 - log Pl_0 rises with every G_i that speaks for label 1 and falls with every other one,
whatever the rest are. No G_i moves by more than L_i eps when the input moves by eps in L2. So if the label stays when
every G_i is moved by L_i eps against it, all at once, no input within eps has another label.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

HALVINGS = 40
SURE = 1e-7  # by which the moved margin must exceed 0: far above rounding, and what small weights leave out


def radius(
    scores: Tensor, signs: Tensor, steepness: Tensor, slack: Tensor, margin: Callable[[Tensor], Tensor], most: float
) -> Tensor:
    """The largest proved radius of each input, up to `most`: (n,).

    `margin` maps scores (n, rules) to log Pl_1 - log Pl_0; `signs` says which way each score moves it; `slack` is how
    far scores may be off.
    """
    label = torch.where(margin(scores) >= 0, 1.0, -1.0).to(scores.dtype)

    def stays(eps: Tensor) -> Tensor:
        against = label[:, None] * signs * (eps[:, None] * steepness + slack)
        return margin(scores - against) * label > SURE

    low, high = torch.zeros_like(label), torch.full_like(label, most)
    sure = stays(low)
    low = torch.where(stays(high), high, low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        held = stays(middle)
        low, high = torch.where(held, middle, low), torch.where(held, high, middle)
    return torch.where(sure, low, 0.0)
