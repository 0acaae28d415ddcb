"""How far work is: a bar where somebody watches, a line now and then where nobody does, silence unless asked."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

QUIET = 10.0  # seconds between lines
BAR = 12  # signs of a bar, so that a line with its figures fits 80 columns
FRAME = 0.1  # seconds between pictures of the bar


@dataclass(frozen=True)
class Progress:
    """Where work is. `ended` is told once, whether it was finished, stopped early or broken off."""

    stage: str
    done: int
    of: int
    figures: Mapping[str, float] = field(default_factory=dict)
    ended: bool = False

    @property
    def words(self) -> str:
        return ", ".join(f"{name} {_figure(value)}" for name, value in self.figures.items())


def _figure(value: float) -> str:
    """Four decimals, and none where it is a count."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4f}"


Watcher = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Tell nobody."""


def reporter(show: bool | Watcher | None) -> Watcher:
    """Somebody to tell: stderr if asked for, a function of the caller's, or nobody; None tells in a notebook alone."""
    if show is None:
        show = in_notebook()
    if callable(show):
        return show
    if not show:
        return silent
    if sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
        return ProgressBar()
    return Lines()


def in_notebook() -> bool:
    """Whether a notebook runs this, where somebody looks at a cell and waits."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


class Lines:
    """A line on stderr every ten seconds, and one at the end of a stage."""

    def __init__(self) -> None:
        self.stage, self.began, self.first, self.shown = "", 0.0, 0, 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage != self.stage:
            self.stage, self.began, self.first, self.shown = progress.stage, now, progress.done, now
        if now - self.shown < QUIET and not progress.ended:
            return
        self.shown = now
        parts = [f"{progress.stage}: {progress.done:,} of {progress.of:,}", progress.words]
        gone = progress.done - self.first
        if gone > 0 and not progress.ended:
            parts.append(f"up to {(now - self.began) / gone * (progress.of - progress.done):.0f} s left")
        print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)
        if progress.ended:
            self.stage = ""


class ProgressBar:
    """A bar on stderr for each stage, with its figures and the time left."""

    def __init__(self) -> None:
        self.bars: Bars | None = None
        self.shown = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.shown < FRAME and not progress.ended and self.bars is not None:
            return
        self.shown = now
        if self.bars is None:
            self.bars = _bars(progress.stage, progress.of)
            self.bars.add_task(progress.stage, completed=progress.done, total=progress.of, words="")
            self.bars.start()
        task = self.bars.tasks[0]
        self.bars.update(task.id, completed=progress.done, total=progress.of, words=progress.words)
        if progress.ended:
            self.bars.stop()
            self.bars = None


def _bars(stage: str, of: int) -> Bars:
    """A bar whose stage and count are never cut; figures are, where the terminal is narrow."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    count = TextColumn(
        "{task.description} {task.completed:,.0f}/{task.total:,.0f}",
        table_column=Column(no_wrap=True, min_width=len(f"{stage} {of:,}/{of:,}")),
    )
    figures = TextColumn("{task.fields[words]}", table_column=Column(no_wrap=True, overflow="ellipsis"))
    left = TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True, min_width=len("00:00")))
    screen = Console(file=sys.__stderr__)  # a bar steers the terminal, which other words may not
    columns = [count, BarColumn(bar_width=BAR), figures, left]
    return Bars(*columns, console=screen, redirect_stdout=False, redirect_stderr=False)
