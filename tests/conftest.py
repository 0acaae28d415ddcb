"""Tests run side by side: one thread for each process, tests of a file together, the longest files first."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # processes that tests start take it over

import pytest
import torch

torch.set_num_threads(1)

LONGEST = ["test_robust", "test_fitting", "test_table1", "test_protocol", "test_rivals", "test_engines"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No process is left alone with a long file at the end; --dist loadfile keeps the tests of a file together."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))
