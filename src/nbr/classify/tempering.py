"""How sharp probabilities should be: one number, found on inputs that no rule was trained on."""

from __future__ import annotations

import math

import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

RANGE = (-7.0, 3.0)  # of the logarithm


def sharpness(scores: Tensor, truth: Tensor) -> float:
    """What to multiply log Pl (n, labels) by, so that its softmax makes the true labels likeliest: temperature scaling.

    As Platt does, labels are taken to be true but for one case in n + 2: few right ones do not make sure.

    >>> scores = torch.tensor([[4.0, 0.0]]).repeat(1000, 1)
    >>> round(sharpness(scores, torch.arange(1000) % 4 // 3), 2)  # right three times of four: log 3 over 4
    0.27
    """
    doubt = 1 / (len(truth) + 2)

    def loss(log: float) -> float:
        return float(torch.nn.functional.cross_entropy(scores * math.exp(log), truth, label_smoothing=doubt))

    return math.exp(minimize_scalar(loss, bounds=RANGE, method="bounded").x)
