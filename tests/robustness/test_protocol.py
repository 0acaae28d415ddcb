"""The protocol: proof first, nothing lost, nothing repeated, the same verdicts as running everything."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from distances import SIZE, Linear
from nbr import NbrError
from nbr.robustness import attacks, protocol
from nbr.robustness.protocol import Subject, measure, nearest_others
from nbr.robustness.target import Target

STEPS = {"PGD": 20, "DDN": 50, "margin": 20}


def subject(count: int = 60) -> Subject:
    model, generator = Linear(), torch.Generator().manual_seed(5)
    images = 0.5 + 0.15 * torch.randn(count, SIZE, generator=generator, dtype=torch.float64)
    images = images.clamp(0, 1)
    signed = model.signed(images)
    labels = (signed > 0).long()
    labels[:3] = 1 - labels[:3]  # three that are wrong from the start
    target = Target(model)
    return Subject(target, images, labels, 0.9 * signed.abs(), nearest_others(images, labels, images, labels, target))


def test_proof_first_gives_the_same_verdicts(tmp_path: Path) -> None:
    told = subject()
    quick = measure(told, STEPS, 0.1, tmp_path / "a")
    slow = measure(told, STEPS, 0.1, tmp_path / "b", skip_proved=False, skip_broken=False)
    assert quick.broken[quick.right].tolist() == slow.broken[slow.right].tolist()
    assert quick.attacked == slow.attacked
    assert quick.natural == pytest.approx(57 / 60)
    exact = float((told.right & (told.target.module.signed(told.images).abs() > 0.1)).double().mean())
    assert quick.proved <= exact <= quick.attacked <= quick.natural
    run = sum(int((~far.isnan()).sum()) for far in quick.distance.values())
    assert 3 * run < sum(int((~far.isnan()).sum()) for far in slow.distance.values())


def test_a_stopped_run_goes_on_and_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "BATCH", 4)
    told = subject()

    class Stop(Exception):
        pass

    def stop(name: str, done: int, of: int, left: float) -> None:
        if name == "DDN":
            raise Stop

    whole = measure(told, STEPS, 0.1, tmp_path / "whole", skip_broken=False)
    with pytest.raises(Stop):
        measure(told, STEPS, 0.1, tmp_path / "run", stop, skip_broken=False)
    seen: list[tuple[str, int]] = []
    again = measure(told, STEPS, 0.1, tmp_path / "run", lambda *t: seen.append(t[:2]), skip_broken=False)
    assert "PGD" not in {name for name, _ in seen}
    for name in STEPS:
        torch.testing.assert_close(again.distance[name], whole.distance[name], equal_nan=True)
    monkeypatch.setattr(attacks.Attack, "run", None)  # nothing is left to run
    measure(told, STEPS, 0.1, tmp_path / "run", skip_broken=False)


def test_results_of_another_model_are_refused(tmp_path: Path) -> None:
    told = subject()
    measure(told, {"PGD": 5}, 0.1, tmp_path)
    told.target.module.weight[0] += 1
    with pytest.raises(NbrError, match="other data or other settings"):
        measure(told, {"PGD": 5}, 0.1, tmp_path)


def test_starting_points_have_another_label() -> None:
    told = subject()
    assert bool(told.target.lost(told.starts, told.labels)[told.right].all())


def test_budgets() -> None:
    assert list(protocol.steps_of("quick", ["CW", "PGD"])) == ["PGD", "CW"]
    assert set(protocol.BUDGETS["quick"]) == set(attacks.attacks())
    with pytest.raises(NbrError, match="did you mean 'paper'"):
        protocol.steps_of("papre", None)
    with pytest.raises(NbrError, match="unknown attack 'X'"):
        protocol.steps_of("quick", ["X"])
