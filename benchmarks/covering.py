"""Which tests run through which line, and how long each takes: a plugin for pytest, and what it wrote, read again.

python -m coverage run --data-file=DATA --source=src/nbr -m pytest -p covering --seconds-file SECONDS tests/...
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import coverage
import pytest

SECONDS: dict[str, float] = defaultdict(float)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds-file", help="where to write how long each test takes")


def pytest_runtest_setup(item: pytest.Item) -> None:
    watching = coverage.Coverage.current()
    if watching is not None:
        watching.switch_context(item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SECONDS[report.nodeid] += report.duration


def pytest_sessionfinish(session: Any) -> None:
    Path(session.config.getoption("--seconds-file")).write_text(json.dumps(SECONDS))


class Covering:
    """The tests that run through a line, the quickest first."""

    def __init__(self, data: Path, seconds: Path) -> None:
        self.data = coverage.CoverageData(str(data))
        self.data.read()
        self.seconds: dict[str, float] = json.loads(seconds.read_text())
        self.files = {name[name.rindex("src/nbr/") :]: name for name in self.data.measured_files()}

    def tests(self, file: str, line: int) -> list[str]:
        found = self.data.contexts_by_lineno(self.files[file]).get(line, []) if file in self.files else []
        return sorted((test for test in found if test in self.seconds), key=lambda test: self.seconds[test])

    def taken(self, tests: list[str]) -> float:
        return sum(self.seconds[test] for test in tests)
