"""Oracle robustness: half the distance from an image to the nearest one with another label (section 4.5 of the paper).

No classifier that is right on both images can be robust beyond that radius on both.
"""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 1000


def oracle_radii(images: Tensor, labels: Tensor) -> Tensor:
    """Half the L2 distance of each image to the nearest with another label: (n,)."""
    points = images.flatten(1).float()
    squares = points.square().sum(dim=1)
    found = []
    for rows in torch.arange(len(points)).split(CHUNK):
        squared = squares[rows, None] + squares - 2 * points[rows] @ points.T
        squared.masked_fill_(labels[rows, None] == labels, torch.inf)
        found.append(squared.amin(dim=1).clamp(min=0).sqrt() / 2)
    return torch.cat(found)
