"""A latent space for a world of bits: an autoencoder that loses no point (section 3 of the paper)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from nbr.errors import NbrError
from nbr.points import numbered_points
from nbr.rules import Codec
from nbr.training import Loop
from nbr.world import Real, World

WIDTH = 128
RATE = 0.003
MOST_STEPS = 6000
LOOK, GOOD = 100, 0.01  # steps between looks at whether all points survive, once the loss is low
NOISE = 0.05  # added to codes in training, so that points keep a distance


def autoencode(world: World, latent: int = 8, seed: int = 0) -> Codec:
    """Train encoder and decoder on all points of a world of bits, until each comes back as it was."""
    listed = numbered_points(world)
    if listed is None or not all(variable.boolean for variable in world.variables.values()):
        raise NbrError("an autoencoder is trained on a world of bits that can be listed")
    points = listed.points.float()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = _mlp(len(world), latent)
        decoder = _mlp(latent, len(world))
        optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=RATE)

        def loss(step: int) -> Tensor:
            codes = encoder(points)
            spread = codes.detach().std(dim=0)
            logits = decoder(codes + NOISE * spread * torch.randn_like(codes))
            return nn.functional.binary_cross_entropy_with_logits(logits, points)

        def after(steps: int, loss: float) -> bool:
            return steps % LOOK == 0 and loss < GOOD and _survive(encoder, decoder, points)

        schedule = LambdaLR(optimiser, lambda step: 1 - 0.9 * step / MOST_STEPS)
        Loop(optimiser, loss, MOST_STEPS, schedule=schedule, after=after).run()
    if not _survive(encoder, decoder, points):
        raise NbrError(f"after {MOST_STEPS} steps some points still do not survive {latent} dimensions")
    with torch.no_grad():
        codes = encoder(points)
    edges = [(low - 1, high + 1) for low, high in zip(codes.amin(0).tolist(), codes.amax(0).tolist(), strict=True)]
    space = World({f"z{i}": Real(low, high) for i, (low, high) in enumerate(edges)})
    return Codec(world, space, nn.Sequential(decoder, nn.Sigmoid()), encoder)


def _mlp(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, outputs)
    )


def _survive(encoder: nn.Module, decoder: nn.Module, points: Tensor) -> bool:
    with torch.no_grad():
        return bool(((decoder(encoder(points)) > 0) == (points > 0.5)).all())
