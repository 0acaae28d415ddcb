"""What tells one run from another."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch

from nbr import __version__
from nbr.training.state import split

FORMAT = 2  # of checkpoints; a change of it, or of the version, leaves the old ones behind


def fingerprint(**decides: Any) -> str:
    """A digest of all that decides the weights: plain data and tensors, named.

    >>> fingerprint(seed=0) == fingerprint(seed=0), fingerprint(seed=0) == fingerprint(seed=1)
    (True, False)
    """
    plain, tensors = split(decides)
    digest = hashlib.sha256(json.dumps([FORMAT, __version__, plain]).encode())
    for name, tensor in tensors.items():
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
