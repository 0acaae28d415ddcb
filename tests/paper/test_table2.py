"""Table 2's report, and the proof of the nearest neighbour; the run itself is a matter of hours."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nbr import NbrError
from nbr.paper import attack_report, gallery
from nbr.paper.table2 import PAPER, Data, NearestNeighbour, _trained, chosen
from nbr.robustness import rivals
from nbr.robustness.protocol import Measured, Subject
from nbr.robustness.target import Target


def measured(radius: list[float], distance: dict[str, list[float]], wrong: int = 0) -> Measured:
    right = torch.arange(len(radius)) >= wrong
    found = {name: torch.tensor(far) for name, far in distance.items()}
    return Measured(2.0, right, torch.tensor(radius), found, found, torch.zeros(len(right), dtype=torch.bool))


GOOD = measured(
    [0.5, 2.5, 1.0, 0.2],
    {"PGD": [0.0, torch.nan, torch.inf, 1.5], "CW": [0.0, 4.0, 1.9, 1.4], "BA": [0.0, torch.nan, 2.5, 3.0]},
    wrong=1,
)


def test_figures_and_checks() -> None:
    (row,) = attack_report.rows({"NBR": GOOD}, PAPER)
    assert row["natural"] == 75
    assert row["proved"] == 25
    assert row["left_by"] == {"PGD": 50, "CW": 25, "BA": 75}
    assert row["attacked"] == 25
    assert row["paper"]["attacked"] == 55.3
    assert all(held for _, held in attack_report.checks({"NBR": GOOD}))
    shown = attack_report.text([row], attack_report.checks({"NBR": GOOD}))
    assert shown.splitlines()[1].split() == ["right", "PGD", "CW", "BA", "all", "proved"]
    assert shown.splitlines()[4].split() == ["ours", "75.0", "50.0", "25.0", "75.0", "25.0", "25.0"]
    assert shown.splitlines()[5].split() == ["paper", "99.1", "92.5", "55.5", "57.2", "55.3"]
    assert max(map(len, shown.splitlines())) <= 80
    assert "NO" not in shown
    assert ">proved</th>" in attack_report.page("Table 2", [row], attack_report.checks({"NBR": GOOD}), [], "how")


def test_the_table_as_csv_and_its_pictures() -> None:
    told = attack_report.rows({"NBR": GOOD}, PAPER)
    head, line = attack_report.table(told).splitlines()
    shown = dict(zip(head.split(","), line.split(","), strict=True))
    assert shown["attacked"] == "25.00"
    assert shown["paper CW"] == "55.5"
    drawn = attack_report.curves({"NBR": GOOD})
    assert "NBR, proved" in drawn
    assert "75.0% above 2.5" in attack_report.oracle(torch.tensor([1.0, 2.6, 2.7, 4.0]))


def test_more_steps_and_proved_images_are_looked_at() -> None:
    first = {"CW": torch.tensor([3.0, 3.0])}
    last = {"CW": torch.tensor([3.0, 1.0])}
    audited = torch.tensor([True, False])
    told = dict(
        attack_report.checks({"x": Measured(2.0, audited | True, torch.tensor([2.5, 0.0]), last, first, audited)})
    )
    assert (
        told["the last stages, most of the steps, take at most 1 point from the worst case (they take 50.0)"] is False
    )
    assert told["1 proved images were attacked with everything all the same, and none broke"] is True
    broken = {"CW": torch.tensor([1.0, 1.0])}
    told = dict(
        attack_report.checks({"x": Measured(2.0, audited | True, torch.tensor([2.5, 0.0]), broken, first, audited)})
    )
    assert told["1 proved images were attacked with everything all the same, and none broke"] is False


def test_the_gallery_shows_every_change() -> None:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(12, 4, 4, generator=generator, dtype=torch.float64)
    labels = torch.arange(12) % 2
    target = Target(NearestNeighbour(images, labels))
    starts = images[[1, 0] * 6]
    rows = gallery.chosen(labels, 2)
    assert labels[rows].tolist() == [0, 0, 1, 1]
    found = gallery.nearest(Subject(target, images, labels, torch.zeros(12), starts), rows, 2.0)
    assert bool(target.lost(found.inputs, labels[rows]).all())
    drawn = gallery.picture(images[rows], {"nearest neighbour": found})
    assert drawn.count("<image") == 8
    assert f"{float(found.distance[0]):.2f}" in drawn


def test_rows_are_asked_for_by_name() -> None:
    assert chosen(["NBR", "Madry"], ["vanilla", "Madry", "NBR"]) == ["Madry", "NBR"]
    with pytest.raises(NbrError, match="did you mean 'NBR'"):
        chosen(["NRB"], ["vanilla", "NBR"])


def test_a_broken_proof_and_a_weak_attack_are_told() -> None:
    broken = measured([0.5, 1.0], {"PGD": [torch.inf, 0.9], "BA": [1.0, 0.9]})
    told = dict(attack_report.checks({"x": broken}))
    assert told["no image was broken within its proved radius"] is False
    assert told["attacks without gradients are weaker than the best with them"] is False


def test_half_the_gap_of_nearest_neighbours_is_a_proof() -> None:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(40, 3, 3, generator=generator, dtype=torch.float64)
    labels = torch.arange(40) % 2
    network = NearestNeighbour(images, labels)
    inputs = torch.rand(100, 3, 3, generator=generator, dtype=torch.float64)
    logits = network(inputs)
    for label in (0, 1):
        exact = torch.cdist(inputs.flatten(1), images[labels == label].flatten(1)).amin(dim=1)
        torch.testing.assert_close(-logits[:, label], exact)
    radius = (logits[:, 0] - logits[:, 1]).abs() / 2
    for _ in range(50):
        away = torch.randn(inputs.shape, generator=generator, dtype=torch.float64)
        away = away / away.flatten(1).norm(dim=1).view(-1, 1, 1) * (0.999 * radius).view(-1, 1, 1)
        assert torch.equal(network(inputs + away).argmax(dim=1), logits.argmax(dim=1))


def test_a_rival_is_kept_with_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images, labels = torch.rand(32, 28, 28, dtype=torch.float64), torch.arange(32) % 2
    given, said = Data(images, labels, images, labels), []
    monkeypatch.setitem(rivals.SETTINGS, "vanilla", rivals.Setting(epochs=1))
    first, second = (_trained("vanilla", given, tmp_path, said.append) for _ in range(2))
    assert said == ["vanilla: training"]
    torch.testing.assert_close(first(images.float()), second(images.float()))
    monkeypatch.setitem(rivals.SETTINGS, "vanilla", rivals.Setting(epochs=2))
    with pytest.raises(NbrError, match="other settings"):
        _trained("vanilla", given, tmp_path, said.append)
