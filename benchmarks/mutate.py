"""Break the code on purpose and see whether the tests notice.

python benchmarks/mutate.py named                           the mistakes of mutations.toml
python benchmarks/mutate.py random --count 60 --seed 0      mistakes drawn at random in classifiers and training
python benchmarks/mutate.py random --list                   only show what would be broken

Everything happens in a copy. A mistake at random is shown to the tests that run through its line, the quickest first;
which these are is found out once, and kept for the same code with --covered FOLDER. A mistake that the tests of its
own room miss is shown to all tests with --all. A run that takes much longer than the unbroken code counts as noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from covering import Covering
from mutants import Mutant, mutant, places

ROOT = Path(__file__).resolve().parents[1]
NAMED = Path(__file__).with_name("mutations.toml")
ROOMS = {  # whose tests look at a room, the quick ones first
    "classify": ["tests/classify"],
    "lipschitz": ["tests/lipschitz", "tests/classify"],
    "training": ["tests/training", "tests/learning", "tests/classify"],
    "learning": ["tests/learning", "tests/paper/test_table1.py"],
}
WANTED = 0.8  # share of the random ones
MISSED = 1  # of the named ones
SLOWER = 5  # times the unbroken tests: it hangs


@dataclass(frozen=True)
class Verdict:
    name: str
    noticed: bool
    words: str


class Copy:
    """A copy of the project in which one file at a time is broken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns(".*cache", ".git", ".venv", "__pycache__", ".hypothesis", "*.part")
        shutil.copytree(ROOT, folder, ignore=ignored, dirs_exist_ok=True)

    def passes(self, *tests: str, limit: float | None = None) -> bool:
        """Whether tests, or files or folders of them, pass in time."""
        try:
            done = self._python("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests, limit=limit)
        except subprocess.TimeoutExpired:
            return False
        if done.returncode not in (0, 1, 2, 4):  # 2 and 4: the broken module could not even be loaded
            raise SystemExit(f"pytest ended with {done.returncode}: {done.stdout.decode()[-500:]}")
        return done.returncode == 0

    def covering(self, tests: list[str], kept: Path | None) -> Covering:
        """Which tests run through which line, from the folder where that is kept."""
        place = kept or self.folder / "covered"
        data, seconds = place / "coverage", place / "seconds.json"
        if not seconds.exists():
            place.mkdir(parents=True, exist_ok=True)
            watch = ["-m", "coverage", "run", f"--data-file={data}", f"--source={self.folder / 'src' / 'nbr'}"]
            done = self._python(*watch, "-m", "pytest", "-q", "-p", "covering", f"--seconds-file={seconds}", *tests)
            if done.returncode:
                raise SystemExit(f"the tests do not pass on the unbroken code: {done.stdout.decode()[-500:]}")
        return Covering(data, seconds)

    def _python(self, *words: str, limit: float | None = None) -> subprocess.CompletedProcess[bytes]:
        path = os.pathsep.join([str(self.folder / "src"), str(Path(__file__).parent)])
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=limit)

    def broken(self, file: str, content: str, tests: list[str], limit: float) -> bool:
        """Whether tests notice another content of a file."""
        path = self.folder / file
        whole = path.read_text()
        path.write_text(content)
        try:
            return not self.passes(*tests, limit=limit)
        finally:
            path.write_text(whole)


def named(run: Callable[..., bool], only: str | None) -> Iterator[Callable[[Copy], Verdict]]:
    for each in tomllib.loads(NAMED.read_text())["mutations"]:
        if only is None or only in each["name"]:
            yield lambda copy, each=each: _named(copy, each, run)


def _named(copy: Copy, each: dict, run: Callable[..., bool]) -> Verdict:
    path = ROOT / each["file"]
    whole = path.read_text() if path.exists() else ""
    if whole.count(each["old"]) != 1:
        words = f"STALE: {each['file']} has its text {whole.count(each['old'])} times; bring mutations.toml up to date"
        return Verdict(each["name"], False, words)
    noticed = run(copy, each["file"], whole.replace(each["old"], each["new"]), each["tests"])
    return Verdict(each["name"], noticed, each["file"])


def drawn(run: Judge, found: list[Mutant], covering: Covering) -> Iterator[Callable[[Copy], Verdict]]:
    for each in found:

        def look(copy: Copy, each: Mutant = each) -> Verdict:
            name, tests = f"{each.file}:{each.line}", covering.tests(each.file, each.line)
            if tests:
                limit = 60 + SLOWER * covering.taken(tests)
                noticed = copy.broken(each.file, each.content, tests, limit) or run.last(copy, each.file, each.content)
                return Verdict(name, noticed, f"{each.words} ({len(tests)} tests)")
            room = Path(each.file).relative_to("src/nbr").parts[0]
            return Verdict(name, run(copy, each.file, each.content, ROOMS.get(room, [f"tests/{room}"])), each.words)

        yield look


def draw(folders: list[str], count: int, seed: int) -> list[Mutant]:
    """So many places of all that can be broken, each in one way."""
    dice = random.Random(seed)
    files = [
        path for name in folders for path in sorted((ROOT / "src" / "nbr" / name).rglob("*.py")) if path.name[0] != "_"
    ]
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    everything = [(file, place) for file, source in sources.items() for place in places(source)]
    chosen = dice.sample(everything, min(count, len(everything)))
    return [mutant(sources[file], file, place, dice) for file, place in chosen]


def judge(looks: list[Callable[[Copy], Verdict]], jobs: int) -> list[Verdict]:
    """Verdicts as they come, from so many copies side by side."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            copies.put(Copy(Path(scratch) / str(number)))

        def one(look: Callable[[Copy], Verdict]) -> Verdict:
            copy = copies.get()
            began = time.monotonic()
            try:
                verdict = look(copy)
            finally:
                copies.put(copy)
            mark = "noticed " if verdict.noticed else "SURVIVED"
            print(f"{mark} {time.monotonic() - began:5.0f} s  {verdict.name:<44} {verdict.words}", flush=True)
            return verdict

        return list(pool.map(one, looks))


class Judge:
    """Runs tests on broken code, having seen that they pass on the unbroken one."""

    def __init__(self, everything: bool) -> None:
        self.everything = everything
        self.taken: dict[str, float] = {}

    def __call__(self, copy: Copy, file: str, content: str, tests: list[str]) -> bool:
        """Whether any of the tests notices, one after the other; at last, if wanted, all there are."""
        there = [test for test in (*tests, *(["."] if self.everything else [])) if (copy.folder / test).exists()]
        if not there:
            raise SystemExit(f"there are no tests for {file}: {' '.join(tests)}")
        return any(copy.broken(file, content, [test], self.limit(copy, test)) for test in there)

    def last(self, copy: Copy, file: str, content: str) -> bool:
        """Whether all tests together notice, if they are to be asked."""
        return self.everything and self(copy, file, content, [])

    def limit(self, copy: Copy, test: str) -> float:
        if test not in self.taken:
            began = time.monotonic()
            if not copy.passes(test):
                raise SystemExit(f"the tests do not pass on the unbroken code: {test}")
            self.taken[test] = time.monotonic() - began
        return 60 + SLOWER * self.taken[test]


def main(chosen: argparse.Namespace) -> int:
    run = Judge(chosen.all)
    if chosen.which == "named":
        verdicts = judge(list(named(run, chosen.only)), chosen.jobs)
        missed = sum(not each.noticed for each in verdicts)
        print(f"\n{len(verdicts) - missed} of {len(verdicts)} named mistakes are noticed")
        return int(missed > MISSED)
    found = draw(chosen.folders, chosen.count, chosen.seed)
    if chosen.list:
        print("\n".join(f"{each.file}:{each.line}  {each.words}" for each in found))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        tests = sorted({test for room in chosen.folders for test in ROOMS.get(room, [f"tests/{room}"])})
        covering = Copy(Path(scratch) / "unbroken").covering(tests, chosen.covered)
        verdicts = judge(list(drawn(run, found, covering)), chosen.jobs)
    share = sum(each.noticed for each in verdicts) / len(verdicts)
    print(f"\n{share:.0%} of {len(verdicts)} random mistakes (seed {chosen.seed}) are noticed")
    return int(share < WANTED)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["named", "random"])
    parser.add_argument("--only", help="named: those with this word in their name")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", nargs="+", default=["classify", "lipschitz", "training", "learning"])
    parser.add_argument("--list", action="store_true", help="random: only show them")
    parser.add_argument("--covered", type=lambda path: Path(path).resolve(), help="a folder for what tests run through")
    parser.add_argument("--all", action="store_true", help="show survivors to all tests")
    parser.add_argument("--jobs", type=int, default=1)
    sys.exit(main(parser.parse_args()))
