"""Checkpoints: whole, or refused in one line that says what to do."""

import random
from pathlib import Path

import pytest
import safetensors.torch
import torch

from nbr import NbrError
from nbr.storage import checkpoints

RUN = {"fingerprint": "f"}
STATE = {"step": 12, "done": False, "loss": 0.1, "kept": [[1, {"tensor": "weights"}]]}
TENSORS = {"weights": torch.arange(12.0).view(3, 4), "count": torch.tensor(7), "none": torch.zeros(0)}


def same(found: tuple | None) -> bool:
    assert found is not None
    state, tensors = found
    return state == STATE and all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "run"
    assert checkpoints.restore(path, RUN) is None
    checkpoints.save(path, RUN, STATE, TENSORS)
    assert same(checkpoints.restore(path, RUN))
    with pytest.raises(NbrError, match="other data or other settings"):
        checkpoints.restore(path, {"fingerprint": "g"})


def test_flipped_bytes_are_noticed_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "run"
    checkpoints.save(path, RUN, STATE, TENSORS)
    content, dice, refused = path.read_bytes(), random.Random(0), 0
    for _ in range(600):
        flipped = bytearray(content)
        for _ in range(dice.choice([1, 1, 2, 8])):
            flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
        path.write_bytes(flipped)
        try:
            assert same(checkpoints.restore(path, RUN))
        except NbrError as error:
            assert "\n" not in str(error)
            assert "delete it to start again" in str(error)
            refused += 1
    assert refused > 500


def test_what_an_earlier_version_wrote_is_not_gone_on_with(tmp_path: Path) -> None:
    header = '{"run": {"fingerprint": "f"}, "state": {"step": 1}}'
    (tmp_path / "run").write_bytes(safetensors.torch.save(TENSORS, metadata={"checkpoint": header}))
    with pytest.raises(NbrError, match="without a checksum; delete it to start again"):
        checkpoints.restore(tmp_path / "run", RUN)
