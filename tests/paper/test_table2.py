"""Table 2's report, and the proof of the nearest neighbour; the run itself is a matter of hours."""

from __future__ import annotations

import torch

from nbr.paper import report2
from nbr.paper.table2 import PAPER, NearestNeighbour
from nbr.robustness.protocol import Measured


def measured(radius: list[float], distance: dict[str, list[float]], wrong: int = 0) -> Measured:
    right = torch.arange(len(radius)) >= wrong
    return Measured(2.0, right, torch.tensor(radius), {name: torch.tensor(far) for name, far in distance.items()})


GOOD = measured(
    [0.5, 2.5, 1.0, 0.2],
    {"PGD": [0.0, torch.nan, torch.inf, 1.5], "CW": [0.0, torch.nan, 1.9, 1.4], "BA": [0.0, torch.nan, 2.5, 3.0]},
    wrong=1,
)


def test_figures_and_checks() -> None:
    (row,) = report2.rows({"NBR": GOOD}, PAPER)
    assert row["natural"] == 75
    assert row["proved"] == 25
    assert row["left_by"] == {"PGD": 50, "CW": 25, "BA": 75}
    assert row["attacked"] == 25
    assert row["paper"]["attacked"] == 55.3
    assert all(held for _, held in report2.checks({"NBR": GOOD}))
    shown = report2.text([row], report2.checks({"NBR": GOOD}))
    assert "25.0 (55.5)" in shown
    assert "NO" not in shown
    assert "<th>proved</th>" in report2.page("Table 2", [row], report2.checks({"NBR": GOOD}), "how")


def test_a_broken_proof_and_a_weak_attack_are_told() -> None:
    broken = measured([0.5, 1.0], {"PGD": [torch.inf, 0.9], "BA": [1.0, 0.9]})
    told = dict(report2.checks({"x": broken}))
    assert told["no image was broken within its proved radius"] is False
    assert told["attacks without gradients are weaker than the best with them"] is False


def test_half_the_gap_of_nearest_neighbours_is_a_proof() -> None:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(40, 3, 3, generator=generator, dtype=torch.float64)
    labels = torch.arange(40) % 2
    network = NearestNeighbour(images, labels)
    inputs = torch.rand(100, 3, 3, generator=generator, dtype=torch.float64)
    logits = network(inputs)
    radius = (logits[:, 0] - logits[:, 1]).abs() / 2
    for _ in range(50):
        away = torch.randn(inputs.shape, generator=generator, dtype=torch.float64)
        away = away / away.flatten(1).norm(dim=1).view(-1, 1, 1) * (0.999 * radius).view(-1, 1, 1)
        assert torch.equal(network(inputs + away).argmax(dim=1), logits.argmax(dim=1))
