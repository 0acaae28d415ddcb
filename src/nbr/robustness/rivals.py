"""The classifiers that ours is compared with, trained here on the same images: each is a setting of one small network.

The network is that of Wong and Kolter (2018): two convolutions with stride 2, then 100 hidden units. What differs is
what it is trained on: images as they are; images attacked in L-infinity (Madry and others, 2018) or in L2; or boxes
around images, which intervals (Gowal and others, 2018) or the linear dual of Wong and Kolter take through the network:
that proves L-infinity robustness. The dual costs a hundred times as much, so that it begins with what intervals found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, cross_entropy, linear, softplus
from torch.optim.lr_scheduler import LambdaLR

from nbr.classify import random_maps, warped
from nbr.errors import NbrError, suggest
from nbr.progress import Watcher, silent
from nbr.robustness.linear_dual import lowest_leads
from nbr.training import Loop

BATCH = 128


@dataclass(frozen=True)
class Setting:
    """How a rival is trained: `norm` of the attack, its size, its steps; or a `bound`; `after` whom it begins."""

    epochs: int
    norm: str | None = None  # "linf" or "l2"
    size: float = 0.0
    steps: int = 0
    bound: str | None = None  # "interval" or "dual"
    after: str | None = None
    width: int = 1  # times the units of the small network
    augment: float = 0.0  # strength of changes to pictures
    rate: float = 1e-3


SETTINGS = {
    "vanilla": Setting(epochs=15),
    "Madry": Setting(epochs=20, norm="linf", size=0.3, steps=10),
    "interval": Setting(epochs=40, size=0.1, bound="interval"),
    "Wong and Kolter": Setting(epochs=2, size=0.1, bound="dual", after="interval"),
    "L2 adversarial": Setting(epochs=30, norm="l2", size=2.0, steps=10, width=2, augment=0.3),
}


class Small(nn.Sequential):
    """From pictures (n, 28, 28) to two logits."""

    def __init__(self, labels: int = 2, width: int = 1) -> None:
        super().__init__(
            nn.Unflatten(1, (1, 28)),
            nn.Conv2d(1, 16 * width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16 * width, 32 * width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * width * 7 * 7, 100 * width),
            nn.ReLU(),
            nn.Linear(100 * width, labels),
        )


def train(
    name: str, images: Tensor, labels: Tensor, seed: int = 0, watch: Watcher = silent, start: Small | None = None
) -> Small:
    """A rival by name, trained on pictures (n, 28, 28) in [0, 1] and labels 0 and 1.

    `start` is the one that it begins with, if it does and that is there already.
    """
    if name not in SETTINGS:
        raise NbrError(f"unknown rival {name!r}" + suggest(name, SETTINGS))
    setting, images = SETTINGS[name], images.float()
    if setting.after is not None and start is None:
        start = train(setting.after, images, labels, seed, watch)
    count = math.ceil(len(images) / BATCH)
    batches: tuple[Tensor, ...] = ()

    def loss(step: int) -> Tensor:
        nonlocal batches
        epoch, number = divmod(step, count)
        if number == 0:
            batches = torch.randperm(len(images)).split(BATCH)
        rows = batches[number]
        pictures = images[rows]
        if setting.augment:
            pictures = warped(pictures, random_maps(len(rows), setting.augment, torch.default_generator)).clamp(0, 1)
        return _loss(network, pictures, labels[rows], setting, epoch / setting.epochs)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Small(width=setting.width).float()
        if start is not None:
            network.load_state_dict(start.state_dict())
        optimiser = torch.optim.Adam(network.parameters(), lr=setting.rate)
        schedule = LambdaLR(optimiser, lambda step: min(1.0, 2 * (1 - step // count / setting.epochs)))
        Loop(optimiser, loss, setting.epochs * count, schedule=schedule).run(watch, name)
    return network.eval()


def _loss(network: Small, images: Tensor, labels: Tensor, setting: Setting, share: float) -> Tensor:
    """The size of changes grows from 0 during the first half: from the start it would leave nothing to learn from."""
    size = setting.size * (1.0 if setting.after else min(1.0, 2 * share))
    if setting.bound == "dual":
        leads = lowest_leads(network, (images - size).clamp(0, 1), (images + size).clamp(0, 1), labels)
        return softplus((-leads).logsumexp(dim=1)).mean()  # the cross-entropy of the worst logits
    if setting.bound == "interval":
        worst = worst_logits(network, images, labels, size)
        return 0.5 * cross_entropy(network(images), labels) + 0.5 * cross_entropy(worst, labels)
    if setting.norm is not None and size:
        images = _attacked(network, images, labels, replace(setting, size=size))
    return cross_entropy(network(images), labels)


def _attacked(network: Small, images: Tensor, labels: Tensor, setting: Setting) -> Tensor:
    """Steps up the loss inside the ball, from a random start."""
    size, stride = setting.size, 2.5 * setting.size / setting.steps
    away = torch.empty_like(images).uniform_(-1, 1)
    moved = (images + (size * away if setting.norm == "linf" else size * torch.rand(1) * _unit(away))).clamp(0, 1)
    for _ in range(setting.steps):
        moved = moved.detach().requires_grad_()
        (slope,) = torch.autograd.grad(cross_entropy(network(moved), labels), moved)
        with torch.no_grad():
            if setting.norm == "linf":
                moved = images + (moved + stride * slope.sign() - images).clamp(-size, size)
            else:
                gone = moved + stride * _unit(slope) - images
                moved = images + gone * (size / gone.flatten(1).norm(dim=1).clamp(min=size)).view(-1, 1, 1)
            moved = moved.clamp(0, 1)
    return moved.detach()


def _unit(values: Tensor) -> Tensor:
    lengths: Tensor = values.flatten(1).norm(dim=1).clamp(min=1e-12)
    return values / lengths.view(-1, 1, 1)


def worst_logits(network: Small, images: Tensor, labels: Tensor, size: float) -> Tensor:
    """Logits no better than any in the L-infinity ball: the label's lowest, the others' highest, by intervals."""
    low, high = (images - size).clamp(0, 1), (images + size).clamp(0, 1)
    for layer in network:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            centre, spread = (low + high) / 2, (high - low) / 2
            if isinstance(layer, nn.Conv2d):
                middle = layer(centre)
                reach = conv2d(spread, layer.weight.abs(), None, layer.stride, layer.padding)
            else:
                middle, reach = layer(centre), linear(spread, layer.weight.abs())
            low, high = middle - reach, middle + reach
        else:
            low, high = layer(low), layer(high)
    own = nn.functional.one_hot(labels, high.shape[1]).bool()
    return torch.where(own, low, high)
