"""Oracle radii against distances computed one by one."""

from __future__ import annotations

import torch

from nbr.robustness import oracle


def test_half_the_distance_to_the_nearest_of_another_label(monkeypatch) -> None:
    monkeypatch.setattr(oracle, "CHUNK", 7)
    generator = torch.Generator().manual_seed(0)
    images, labels = torch.rand(30, 4, 4, generator=generator), torch.randint(3, (30,), generator=generator)
    for image, label, radius in zip(images, labels, oracle.oracle_radii(images, labels), strict=True):
        others = images[labels != label]
        assert abs(float(radius) - min(float((image - other).norm()) for other in others) / 2) < 1e-5
