"""What rules keep of observed points."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.calculus import keep_probability
from nbr.density import closed
from nbr.model import Model

CHUNK = 1 << 14


def log_keep(model: Model, points: Tensor) -> Tensor:
    """log P_keep of observed points, equation (10), some thousands at a time; bodies of rules multiply."""
    with torch.no_grad():
        return torch.stack([_alone(body, points) for body in model.bodies]).sum(dim=0)


def _alone(model: Model, points: Tensor) -> Tensor:
    if model.closed:
        return torch.cat([closed.kept(model, chunk, model.likeliest).log() for chunk in points.split(CHUNK)])
    grades = (model.grades_of_observed(chunk) for chunk in points.split(CHUNK))
    return torch.cat([keep_probability(part, model.likeliest).log() for part in grades])
