"""The protocol: proof first, nothing lost, nothing repeated, the same verdicts as running everything."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import killed
from distances import STEPS, subject
from nbr import NbrError
from nbr.progress import Progress
from nbr.robustness import attacks, protocol
from nbr.robustness.protocol import measure


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

    def stop(progress: Progress) -> None:
        if progress.stage == "DDN 50" and progress.done:
            raise Stop

    whole = measure(told, STEPS, 0.1, tmp_path / "whole", skip_broken=False)
    with pytest.raises(Stop):
        measure(told, STEPS, 0.1, tmp_path / "run", stop, skip_broken=False)
    seen: list[Progress] = []
    again = measure(told, STEPS, 0.1, tmp_path / "run", seen.append, skip_broken=False)
    assert "PGD 20" not in {each.stage for each in seen}
    for name in STEPS:
        torch.testing.assert_close(again.distance[name], whole.distance[name], equal_nan=True)
    monkeypatch.setattr(attacks.Attack, "run", None)  # nothing is left to run
    measure(told, STEPS, 0.1, tmp_path / "run", skip_broken=False)


def test_an_image_leaves_an_attack_as_soon_as_it_is_broken(tmp_path: Path) -> None:
    told = subject()
    once = measure(told, {"Square": (2,)}, 0.1, tmp_path, skip_broken=False)
    seen: list[Progress] = []
    more = measure(told, {"Square": (2, 400)}, 0.1, tmp_path, seen.append, skip_broken=False)
    left = int((once.right & ~(told.radius > 0.1) & ~once.broken).sum())
    assert left > 0
    # The first stage is on disk, the second has only what is left.
    assert {(each.stage, each.of) for each in seen} == {("Square 400", left)}
    torch.testing.assert_close(more.before["Square"], once.distance["Square"], equal_nan=True)
    assert more.attacked < more.attacked_before == once.attacked


def test_proved_images_may_be_attacked_all_the_same(tmp_path: Path) -> None:
    told = subject()
    proved = told.right & (told.radius > 0.1)
    found = measure(told, STEPS, 0.1, tmp_path, everywhere=["DDN"], audit=5)
    assert int(found.audited.sum()) == 5
    assert bool(proved[found.audited].all())
    assert not bool((found.broken & proved).any())
    assert bool(found.distance["DDN"][found.right].isfinite().all())
    assert bool(found.distance["PGD"][proved & ~found.audited].isnan().all())
    assert not bool(found.distance["PGD"][found.audited].isnan().any())


def test_a_killed_run_loses_at_most_one_batch(tmp_path: Path) -> None:
    """Killed at random moments: no more batches are attacked twice than kills, and all files are the same."""

    def attacked(name: str) -> list[int]:
        log = tmp_path / f"{name}.log"
        return [int(line) for line in log.read_text().split()] if log.exists() else []

    killed.killed_and_whole(
        killed.attack, lambda name: (tmp_path / name, tmp_path / f"{name}.log"), lambda: len(attacked("broken"))
    )
    assert sum(attacked("whole")) <= sum(attacked("broken")) <= sum(attacked("whole")) + 3 * killed.KILLS
    for file in (tmp_path / "whole").iterdir():
        assert (tmp_path / "broken" / file.name).read_bytes() == file.read_bytes()


def test_a_time_ends_a_run_between_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "BATCH", 4)
    told, passed = subject(), []
    monkeypatch.setattr(protocol.clock, "now", lambda: float(len(passed)))

    def ended(progress: Progress) -> None:
        if progress.done:
            passed.append(progress)

    part = measure(told, STEPS, 0.1, tmp_path, ended, skip_broken=False, until=2)
    assert int((~part.distance["PGD"].isnan()).sum()) == 12  # the third batch begins on time
    assert bool(part.distance["DDN"].isnan().all())
    whole = measure(told, STEPS, 0.1, tmp_path, skip_broken=False)
    done = ~part.distance["PGD"].isnan()
    assert torch.equal(part.distance["PGD"][done], whole.distance["PGD"][done])


def test_long_attacks_have_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "LONG", 20)
    monkeypatch.setattr(protocol, "FEW", 5)
    seen: list[Progress] = []
    measure(subject(), {"PGD": (20,)}, 0.1, tmp_path, seen.append)
    assert [each.done for each in seen][:3] == [0, 5, 10]


def test_results_of_another_model_are_refused(tmp_path: Path) -> None:
    told = subject()
    measure(told, {"PGD": (5,)}, 0.1, tmp_path)
    told.target.module.weight[0] += 1
    with pytest.raises(NbrError, match="other data or other settings"):
        measure(told, {"PGD": (5,)}, 0.1, tmp_path)


def test_starting_points_have_another_label() -> None:
    told = subject()
    assert bool(told.target.lost(told.starts, told.labels)[told.right].all())


def test_budgets() -> None:
    assert list(protocol.steps_of("quick", ["CW", "PGD"])) == ["PGD", "CW"]
    assert protocol.steps_of("paper", None) == {name: a.stages["paper"] for name, a in attacks.ATTACKS.items()}
    with pytest.raises(NbrError, match="did you mean 'paper'"):
        protocol.steps_of("papre", None)
    with pytest.raises(NbrError, match="unknown attack 'X'"):
        protocol.steps_of("quick", ["X"])
