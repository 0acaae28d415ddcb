"""Two versions side by side: the median of several runs of each, taken in turn, so that a busy machine harms both.

python benchmarks/compare.py OLD NEW           folders that hold the package nbr (src), or revisions of git
python benchmarks/compare.py main~5 src

Each run is a new process with one thread, and its CPU time counts; modules are compiled once, as where they are
installed. A figure that is more than 15% worse, or that the
new version cannot give any more, is marked, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path(__file__).with_name("figures.py")
WORSE = 1.15

Figures = dict[str, float | str]


def source(named: str, scratch: Path) -> Path:
    """The folder of a version; a revision is unpacked first."""
    folder = Path(named).resolve()
    if (folder / "nbr").is_dir():
        return folder
    if (folder / "src" / "nbr").is_dir():
        return folder / "src"
    place = scratch / named.replace("/", "-")
    place.mkdir()
    packed = subprocess.run(["git", "archive", named, "src"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        raise SystemExit(f"{named} is neither a folder with nbr in it nor a revision: {packed.stderr.decode().strip()}")
    subprocess.run(["tar", "x"], cwd=place, input=packed.stdout, check=True)
    return place / "src"


def figures(folder: Path) -> Figures:
    """One run of a version."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder.parent / "build" / "bytecode")}
    done = subprocess.run([sys.executable, str(FIGURES)], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{folder}: {done.stderr.strip().splitlines()[-1]}")
    found: Figures = json.loads(done.stdout)
    return found


def compared(old: list[Figures], new: list[Figures]) -> list[tuple[str, str, bool]]:
    """A line for each figure, and whether it is worse."""
    lines = []
    for name in dict.fromkeys(name for run in (*old, *new) for name in run):
        before, after = ([run.get(name, "not there") for run in runs] for runs in (old, new))
        was, now = (_median(each) for each in (before, after))
        if isinstance(now, str):
            lines.append((name, f"{_shown(was)}  {now}", not isinstance(was, str)))
        elif isinstance(was, str):
            lines.append((name, f"{'none':>10} {_shown(now)}   new", False))
        else:
            lines.append((name, f"{_shown(was)} {_shown(now)} {now / was:>8.2f}x", now / was > WORSE))
    return lines


def _median(values: list[float | str]) -> float | str:
    numbers = [value for value in values if not isinstance(value, str)]
    return statistics.median(numbers) if len(numbers) == len(values) else str(values[0])


def _shown(value: float | str) -> str:
    return f"{value:>10}" if isinstance(value, str) else f"{1000 * value:>8.1f}ms"


def main(old: str, new: str, runs: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folders = [source(named, Path(scratch)) for named in (old, new)]
        taken: list[list[Figures]] = [[], []]
        for number in range(runs):
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                taken[which].append(figures(folders[which]))
            print(f"run {number + 1} of {runs}", file=sys.stderr, flush=True)
    lines = compared(*taken)
    print(f"{'':<36}{'old':>10} {'new':>10} {'ratio':>9}")
    for name, shown, worse in lines:
        print(f"{name:<36}{shown}{'   WORSE' if worse else ''}")
    bad = [name for name, _, worse in lines if worse]
    print(f"\nmore than {WORSE - 1:.0%} worse: {', '.join(bad) or 'nothing'}")
    return int(bool(bad))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    sys.exit(main(chosen.old, chosen.new, chosen.runs))
