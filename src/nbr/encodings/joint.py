"""What several rules can reach together within a region, from the lines above their logits.

For weights w that sum to 1, min over i of U_i(z) <= sum of w_i U_i(z), whose maximum over a box is read off corner by
corner. So every w gives a bound, and a few steps of descent find good ones (the dual of a linear program). What a
statement demands of the points, h(z) >= 0, joins in as one more line that no point of it is below: top + steep * h(z),
where top is a bound that is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nbr.encodings.halfspaces import Halfspace
from nbr.rules import Region

STEPS = 12


def together(slopes: Tensor, at: Tensor, region: Region, demands: Sequence[Halfspace]) -> tuple[Tensor, Tensor]:
    """Bounds on max over z of min over rules of slopes . z + at, shape (boxes,), and a corner of the box for each.

    Slopes have the shape (boxes, rules, variables), intercepts (boxes, rules).
    """
    top = (region.maximum(slopes) + at).amin(dim=1)
    steep = 2 * slopes.abs().amax(dim=(1, 2))
    for line, number in demands:
        slopes = torch.cat([slopes, (steep[:, None] * line)[:, None]], dim=1)
        at = torch.cat([at, (top - steep * number)[:, None]], dim=1)
    columns, centre, reach = _columns(slopes, region)
    at = at + (columns @ centre[:, :, None])[:, :, 0]
    columns = columns * reach[:, None]  # now over the cube from -1 to 1
    weight = torch.full_like(at, 1 / at.shape[1])
    best, corner = top, torch.zeros_like(centre)
    for step in range(1, STEPS + 1 if at.shape[1] > 1 else 2):
        direction = (weight[:, None] @ columns)[:, 0]
        sides = direction.sign()
        value = direction.abs().sum(dim=1) + (weight * at).sum(dim=1)
        corner = sides if step == 1 else torch.where((value < best)[:, None], sides, corner)
        best = best.minimum(value)
        each = (columns @ sides[:, :, None])[:, :, 0] + at
        spread = each - each.amin(dim=1, keepdim=True)
        weight = weight * torch.exp(-2 / step**0.5 * spread / (spread.amax(dim=1, keepdim=True) + 1e-12))
        weight = weight / weight.sum(dim=1, keepdim=True)
    return best, region.centre + corner[:, : region.low.shape[1]] * region.reach


def _columns(slopes: Tensor, region: Region) -> tuple[Tensor, Tensor, Tensor]:
    """Slopes along the variables and, as far as these go together, along the sums; the centre and reach of each."""
    if not len(region.sums):
        return slopes, region.centre, region.reach
    shares, rest = region.split(slopes)
    middle, extent = (region.least + region.most) / 2, (region.most - region.least) / 2
    return (
        torch.cat([rest, shares], dim=2),
        torch.cat([region.centre, middle], dim=1),
        torch.cat([region.reach, extent], dim=1),
    )
