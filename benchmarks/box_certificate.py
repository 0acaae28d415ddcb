"""Could a proof that uses the box of pixel values prove more? What the first layer leaves of it.

python benchmarks/box_certificate.py mnist-4-9 --radius 2
python benchmarks/box_certificate.py mnist-10 --radius 1.58

A change d of a picture x lives in the cone that the box leaves: it may not darken a black pixel nor brighten a white
one. If the first layer W shortened all such changes, |W d| <= k |d| with k < 1, the proved radius would be r / k. k is
the largest value of a convex function on a cone, so every d found gives a lower bound on k, and so an upper bound on
all that a proof by way of the first layer could gain. Looked for by projected power iteration from several starts, also
within the box itself at the radius asked about. Training images, since nothing here is learned.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import nbr
from nbr import datasets
from nbr.lipschitz import Dense

IMAGES, STARTS, STEPS = 300, 4, 60


def main(model: str, radius: float) -> None:
    classifier = nbr.load(model)
    labels = tuple(classifier.classes_.tolist())
    X, y = datasets.mnist(labels, "train")
    rows = np.random.default_rng(0).permutation(len(X))[:IMAGES]
    X, y = X[rows], y[rows]
    points = torch.from_numpy(X.reshape(IMAGES, -1)).float()
    first = next(layer for layer in classifier.rules_.networks.module() if isinstance(layer, Dense))
    square = first.weight[0].detach().T @ first.weight[0].detach()
    torch.manual_seed(0)
    cone = torch.stack([longest(square, points, None) for _ in range(STARTS)]).amax(dim=0)
    box = torch.stack([longest(square, points, radius) for _ in range(STARTS)]).amax(dim=0)
    right, proved = classifier.predict(X) == y, classifier.certified_radius(X)

    def share(radii: np.ndarray) -> float:
        return float((right & (radii > radius)).mean())

    told = {
        "model": model,
        "radius": radius,
        "images": IMAGES,
        "k_in_the_cone": quantiles(cone),
        "k_in_the_box": quantiles(box),
        "proved": share(proved),
        "at_most_with_the_cone": share(proved / cone.numpy()),
        "at_most_with_the_box": share(proved / box.numpy()),
    }
    print(json.dumps(told, indent=1))
    path = Path(__file__).parent.parent / "docs" / "results" / f"box-{model}.json"
    path.write_text(json.dumps(told, indent=1) + "\n")


def longest(square: Tensor, points: Tensor, radius: float | None) -> Tensor:
    """The largest |W d| / |d| found, d in the cone, or in the box with |d| at most a radius: (n,)."""
    change = torch.randn_like(points)
    for _ in range(STEPS):
        towards = change @ square
        change = allowed(towards / towards.norm(dim=1, keepdim=True), points, radius)
    length = change.norm(dim=1) if radius is None else torch.full((len(points),), radius)
    return (((change @ square) * change).sum(dim=1).clamp(min=0).sqrt() / length).clamp(max=1)


def allowed(towards: Tensor, points: Tensor, radius: float | None) -> Tensor:
    """What is left of a direction: without what leaves the cone, or as far as box and radius let it go."""
    if radius is None:
        left = towards.masked_fill((points <= 0) & (towards < 0), 0).masked_fill((points >= 1) & (towards > 0), 0)
        return left / left.norm(dim=1, keepdim=True)
    low, high = torch.zeros(len(points), 1), torch.full((len(points), 1), 1e3)
    for _ in range(30):
        middle = (low + high) / 2
        short = (points + middle * towards).clamp(0, 1).sub(points).norm(dim=1, keepdim=True) <= radius
        low, high = torch.where(short, middle, low), torch.where(short, high, middle)
    return (points + low * towards).clamp(0, 1) - points


def quantiles(values: Tensor) -> dict[str, float]:
    return {str(q): round(float(values.quantile(q)), 4) for q in (0.0, 0.05, 0.5, 0.95)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["mnist-4-9", "mnist-10"])
    parser.add_argument("--radius", type=float, default=2.0)
    chosen = parser.parse_args()
    main(chosen.model, chosen.radius)
