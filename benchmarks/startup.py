"""What a user waits for before anything happens."""

from __future__ import annotations

import subprocess
import sys

from measure import Row, best


def run() -> list[Row]:
    def seconds(*command: str) -> float:
        return best(lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True), repeat=3)

    torch, everything = seconds("-c", "import torch"), seconds("-c", "import torch, nbr; nbr.Reasoner; nbr.load")
    return [
        _row("import nbr, beyond import torch", max(everything - torch, 0.0)),
        _row("nbr --help", seconds("-m", "nbr", "--help")),
    ]


def _row(name: str, seconds: float) -> Row:
    return {"name": name, "ours_seconds": seconds, "target": "under 1 s", "met": seconds < 1, "note": ""}
