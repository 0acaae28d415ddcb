"""The state of a long run on disk: whole or not there at all, and never taken for another run's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.storage.atomic import write
from nbr.storage.container import checksum


def save(path: Path, run: Mapping[str, Any], state: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write what the run is, where it stands and its tensors, under a temporary name that is then renamed."""
    clean = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    told = {"run": run, "state": state}
    header = json.dumps({**told, "checksum": checksum(json.loads(json.dumps(told)), clean)})
    write(path, safetensors.torch.save(clean, metadata={"checkpoint": header}))


def restore(path: Path, run: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    """State and tensors of the same run, or None if there is no checkpoint."""
    if not path.exists():
        return None
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = json.loads(file.metadata()["checkpoint"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        told, state = header["run"], header["state"]
        whole = header.get("checksum")
        sound = whole is None or whole == checksum({"run": told, "state": state}, tensors)
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        why = " ".join(str(error).split())
        raise NbrError(f"{path}: the checkpoint cannot be read ({why}); delete it to start again") from None
    if whole is None:
        raise NbrError(
            f"{path}: an earlier version wrote this checkpoint, without a checksum; delete it to start again"
        )
    if not sound:
        raise NbrError(f"{path}: the checkpoint is damaged, its checksum does not fit; delete it to start again")
    if told != json.loads(json.dumps(run)):
        raise NbrError(f"{path}: the checkpoint belongs to other data or other settings; delete it to start again")
    return state, tensors
