"""Timing that a noisy machine disturbs little: the best of several runs, compared within one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def best(call: Callable[[], object], repeat: int = 5) -> float:
    """Seconds of the quickest of several calls."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def rival(name: str, ours: float, theirs: float, target: float | None, note: str) -> Row:
    """Ours against another way of doing the same."""
    row: Row = {"name": name, "ours_seconds": ours, "theirs_seconds": theirs, "ratio": theirs / ours, "note": note}
    if target is not None:
        row |= {"target": f"at least {target:,.0f}x", "met": row["ratio"] >= target}
    return row


def scaling(name: str, seconds: dict[int, float], target: float) -> list[Row]:
    """How the cost grows with a size, beside the smallest one."""
    smallest = min(seconds)
    rows: list[Row] = []
    for size, taken in seconds.items():
        row: Row = {
            "name": f"{name}, K = {size:,}",
            "ours_seconds": taken,
            "ratio": taken / seconds[smallest],
            "note": "",
        }
        row["note"] = f"times the cost at K = {smallest}"
        if size == max(seconds):
            row |= {"target": f"at most {target:,.0f}x", "met": row["ratio"] <= target}
        rows.append(row)
    return rows
