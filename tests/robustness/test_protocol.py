"""The protocol: proof first, nothing lost, nothing repeated, the same verdicts as running everything."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from distances import SIZE, Linear
from nbr import NbrError
from nbr.robustness import attacks, protocol
from nbr.robustness.protocol import Subject, measure, nearest_others
from nbr.robustness.target import Target
from nbr.training import Progress

STEPS = {"PGD": (20,), "DDN": (50,), "margin": (20,)}


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


RUN = """
import sys
from pathlib import Path
from nbr.robustness import attacks, protocol
from test_protocol import STEPS, subject
protocol.BATCH = 3
true = attacks.Attack.run
def counted(self, target, attempt, steps):
    with open(sys.argv[2], "a") as file:
        file.write(f"{len(attempt.images)}\\n")
    return true(self, target, attempt, steps)
attacks.Attack.run = counted
found = protocol.measure(subject(), STEPS, 0.1, Path(sys.argv[1]), skip_broken=False, skip_proved=False)
print(found.attacked)
"""


def test_a_killed_run_loses_at_most_one_batch(tmp_path: Path) -> None:
    """Killed at random moments: no more batches are attacked twice than kills, and all files are the same."""
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parent.parent)])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}

    def start(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", RUN, str(tmp_path / name), str(tmp_path / f"{name}.log")]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    def attacked(name: str) -> list[int]:
        log = tmp_path / f"{name}.log"
        return [int(line) for line in log.read_text().split()] if log.exists() else []

    assert start("whole").wait(120) == 0
    dice, kills = random.Random(0), 4
    for _ in range(kills):
        before = len(attacked("broken"))
        process = start("broken")
        while process.poll() is None and len(attacked("broken")) <= before:
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL, "the run ended before it could be killed so often"
    assert start("broken").wait(120) == 0
    assert sum(attacked("whole")) <= sum(attacked("broken")) <= sum(attacked("whole")) + 3 * kills
    for file in (tmp_path / "whole").iterdir():
        assert (tmp_path / "broken" / file.name).read_bytes() == file.read_bytes()


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
