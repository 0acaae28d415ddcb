"""What rules keep of observed points."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.inference.point import keep
from nbr.rules.knowledge import Knowledge

CHUNK = 1 << 14


def log_keep(knowledge: Knowledge, points: Tensor) -> Tensor:
    """log P_keep of observed points, equation (10), some thousands at a time."""
    with torch.no_grad():
        grades = (knowledge.grades_of_observed(chunk) for chunk in points.split(CHUNK))
        return torch.cat([keep(part, knowledge.likeliest).log() for part in grades])
