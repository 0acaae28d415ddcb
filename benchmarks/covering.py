"""Which tests run through which line, and how long each takes: a plugin for pytest, and what it wrote, read again.

python -m coverage run --data-file=DATA --source=src/nbr -m pytest -p covering --seconds-file SECONDS tests/...
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import coverage
import pytest

SECONDS: dict[str, float] = defaultdict(float)
FAILED: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds-file", help="where to write how long each test takes")
    parser.addoption("--order-file", help="tests, one a line: they are run in this order, and no others")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--order-file"):
        place = {name: at for at, name in enumerate(Path(config.getoption("--order-file")).read_text().splitlines())}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


def pytest_runtest_setup(item: pytest.Item) -> None:
    watching = coverage.Coverage.current()
    if watching is not None:
        watching.switch_context(item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SECONDS[report.nodeid] += report.duration
    if report.failed or report.skipped:
        FAILED.add(report.nodeid)


def pytest_sessionfinish(session: Any) -> None:
    if session.config.getoption("--seconds-file"):
        passed = {test: seconds for test, seconds in SECONDS.items() if test not in FAILED}
        Path(session.config.getoption("--seconds-file")).write_text(json.dumps(passed))


class Covering:
    """The tests that run through a line, the quickest first; only those that pass on the unbroken code."""

    def __init__(self, pairs: Iterable[tuple[Path, Path]]) -> None:
        """Each pair is what coverage wrote of some tests, and how long these took."""
        self.seconds: dict[str, float] = {}
        self.data: list[tuple[coverage.CoverageData, dict[str, str]]] = []
        for data, seconds in pairs:
            self.seconds |= json.loads(seconds.read_text())
            if data.exists():
                read = coverage.CoverageData(str(data))
                read.read()
                self.data.append((read, {name[name.rindex("src/nbr/") :]: name for name in read.measured_files()}))

    def tests(self, file: str, line: int) -> list[str]:
        """Those that run through a line; of one that runs when its file is imported, all that run through the file."""
        by_line: set[str] = set()
        by_file: set[str] = set()
        imported = False
        for data, files in self.data:
            if file in files:
                for number, contexts in data.contexts_by_lineno(files[file]).items():
                    by_file.update(contexts)
                    if number == line:
                        by_line.update(contexts)
                        imported = imported or "" in contexts
        found = by_line & self.seconds.keys()
        if imported:
            found |= by_file & self.seconds.keys()
        return sorted(found, key=lambda test: (self.seconds[test], test))

    def taken(self, tests: Iterable[str]) -> float:
        return sum(self.seconds[test] for test in tests)
