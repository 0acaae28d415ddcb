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


def save(path: Path, run: Mapping[str, Any], state: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write what the run is, where it stands and its tensors, under a temporary name that is then renamed."""
    clean = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    header = json.dumps({"run": run, "state": state})
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
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise NbrError(f"{path}: the checkpoint cannot be read ({error}); delete it to start again") from None
    if told != json.loads(json.dumps(run)):
        raise NbrError(f"{path}: the checkpoint is of other data or other settings; delete it to start again")
    return state, tensors
