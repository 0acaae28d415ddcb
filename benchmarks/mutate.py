"""Break the code on purpose and see whether the tests notice.

python benchmarks/mutate.py named                           the mistakes of mutations.toml
python benchmarks/mutate.py random --count 120 --seed 1     mistakes drawn at random from every room
python benchmarks/mutate.py random --list                   only show what would be broken

Everything happens in a copy. A mistake at random is shown to the tests that run through its line, wherever they are,
the quickest first, until one fails: of each mistake as many tests as take --seconds on the unbroken code. Which tests
run through which line is found out once (that takes a while), and kept with the verdicts in a folder, so that a run
that was ended goes on where it was. What is drawn depends on the broken line alone, not on the rest of the code.

A run that takes much longer than the unbroken code counts as noticed. Mistakes that change nothing that anybody could
see are listed by hand, with the reason, in mutations.toml; they are told apart, and count for nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from covering import Covering
from mutants import Mutant, mutant, places

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("mutations.toml")
WANTED = 0.8  # share of the random ones
SLOWER = 5  # times the unbroken tests: it hangs
START = 60  # seconds that pytest may take before the first test
MEMORY = 16 << 30  # bytes that broken code may ask for
NOTICED, UNNOTICED, NOTHING = "noticed", "UNNOTICED", "changes nothing"


@dataclass(frozen=True)
class Verdict:
    name: str
    verdict: str
    words: str


RUNNING: set[int] = set()  # processes, each with a group of its own
STOPPED: list[int] = []  # signals that came


def end(process: int) -> None:
    """A process with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def stop(number: int, _: object) -> None:
    """Leave no test running behind; what was found out so far is kept."""
    STOPPED.append(number)
    for process in list(RUNNING):
        end(process)
    raise SystemExit("ended; the same command continues from here")


class Copy:
    """A copy of the project in which one file at a time is broken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = (".*cache", ".git", ".venv", "__pycache__", ".hypothesis", "*.part", "build", "node_modules")
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*names), dirs_exist_ok=True)

    def noticed(self, file: str, content: str, tests: list[str], limit: float) -> str | None:
        """What notices another content of a file: a test, or that it hangs; None if nothing does."""
        path = self.folder / file
        whole = path.read_text()
        path.write_text(content)
        try:
            return self.failing(tests, limit)
        finally:
            path.write_text(whole)

    def failing(self, tests: list[str], limit: float) -> str | None:
        """The first of some tests, or files or folders of them, that fails."""
        order = self.folder / "order"
        order.write_text("\n".join(tests))
        ordered = ["-p", "covering", f"--order-file={order}"] if any("::" in test for test in tests) else []
        options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", *ordered]
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        code, said = self.python(["-m", "pytest", *options, *files], limit)
        if code is None:
            return f"it takes more than {limit:.0f} s"
        if code == 0:
            return None
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return (failed[0].split(" - ")[0] if failed else f"pytest ends with {code}") or None

    def python(self, words: list[str], limit: float | None = None) -> tuple[int | None, str]:
        """How a run of Python ended, None where it took too long, and what it said; its children end with it."""
        path = os.pathsep.join([str(self.folder / "src"), str(Path(__file__).parent)])
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        if STOPPED:
            raise SystemExit("ended")
        with tempfile.TemporaryFile() as said:
            run = subprocess.Popen(
                [sys.executable, *words],
                cwd=self.folder,
                env=environment,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            )
            RUNNING.add(run.pid)
            try:
                code: int | None = run.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                end(run.pid)
                run.wait()
                RUNNING.discard(run.pid)
            if STOPPED:
                raise SystemExit("ended")
            said.seek(0)
            return code, said.read().decode(errors="replace")


class Kept:
    """What was found out before: which tests run through which line, and verdicts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.tests = digest([ROOT / "tests"])
        self.file = folder / "verdicts.jsonl"
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.known = {each["key"]: each for each in map(json.loads, lines)}

    def verdict(self, key: str, shown: list[str]) -> Verdict | None:
        """A verdict on the same broken file; that nothing noticed it holds only for the same tests."""
        each = self.known.get(key)
        if each is None or (each["verdict"] != NOTICED and each["tests"] != self._of(shown)):
            return None
        return Verdict(each["name"], each["verdict"], each["words"])

    def keep(self, key: str, shown: list[str], verdict: Verdict) -> None:
        with self.file.open("a") as file:
            file.write(json.dumps({"key": key, "tests": self._of(shown), **asdict(verdict)}) + "\n")

    def _of(self, shown: list[str]) -> str:
        """A number for some tests as they are now."""
        return hashlib.sha256("\n".join([self.tests, *sorted(shown)]).encode()).hexdigest()

    def covering(self, jobs: int, only: list[str]) -> Covering:
        """Which tests run through which line, from one run of each group of tests on the unbroken code."""
        source = digest([ROOT / "src", *(ROOT / "tests").glob("*.py")])
        groups = [folder for folder in sorted((ROOT / "tests").iterdir()) if any(folder.glob("test_*.py"))]
        groups += sorted((ROOT / "tests").glob("test_*.py"))
        wanted = [(str(group.relative_to(ROOT)), digest([group]) + source) for group in groups]
        wanted += [("src", source), ("README.md CONTRIBUTING.md docs", source + digest([ROOT / "docs"]))]
        wanted = [each for each in wanted if not only or each[0] in only]
        places = [self.folder / hashlib.sha256(f"{name}{key}".encode()).hexdigest()[:16] for name, key in wanted]
        todo = [(name, place) for (name, _), place in zip(wanted, places, strict=True) if not _seconds(place).exists()]
        with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
            if todo:
                copy = Copy(Path(scratch) / "unbroken")
                list(pool.map(lambda each: _covered(copy, *each), todo))
        return Covering((place, _seconds(place)) for place in places)


def _seconds(place: Path) -> Path:
    return place.with_suffix(".json")


def _covered(copy: Copy, group: str, place: Path) -> None:
    began = time.monotonic()
    watch = ["-m", "coverage", "run", f"--data-file={place}", f"--source={copy.folder / 'src' / 'nbr'}"]
    seconds = place.with_suffix(".part")
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "covering", f"--seconds-file={seconds}"]
    place.unlink(missing_ok=True)
    code, said = copy.python([*watch, *tests, *group.split()])
    if not seconds.exists():
        raise SystemExit(f"the tests of {group} do not run: {said[-500:]}")
    seconds.rename(_seconds(place))
    failed = "" if code == 0 else ", left out: " + " ".join(w for w in said.split() if "::" in w)[:300]
    print(f"covered  {time.monotonic() - began:5.0f} s  {group}{failed}", flush=True)


def digest(paths: Iterable[Path]) -> str:
    """A number for the content of all Python files and pages below some paths."""
    found = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*") if path.is_dir() else [path]):
            if file.suffix in (".py", ".md", ".toml"):
                found.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return found.hexdigest()


def draw(folders: list[str], count: int, seed: int) -> list[Mutant]:
    """So many places of all that can be broken, each in one way.

    Every place draws its own number, from the seed, its file and the mistake itself; the smallest are taken. What
    changes elsewhere changes nothing here.
    """
    found: list[tuple[str, Mutant]] = []
    source = ROOT / "src" / "nbr"
    for path in sorted(source.rglob("*.py")):
        file, room = str(path.relative_to(ROOT)), path.relative_to(source).parts[0].removesuffix(".py")
        if path.name == "__main__.py" or (folders and room not in folders):
            continue
        text, seen = path.read_text(), Counter[str]()
        for place, words in places(text):
            seen[words] += 1
            number = hashlib.sha256(f"{seed}\0{file}\0{words}\0{seen[words]}".encode()).hexdigest()
            found.append((number, (text, file, place)))  # type: ignore[arg-type]
    found.sort(key=lambda each: each[0])
    return [mutant(*each, random.Random(number)) for number, each in found[:count]]  # type: ignore[misc]


def named(only: str | None, everything: bool) -> Iterator[Callable[[Copy], Verdict]]:
    for each in tomllib.loads(LIST.read_text())["mutations"]:
        if only is None or only in each["name"]:
            yield lambda copy, each=each: _named(copy, each, everything)


def _named(copy: Copy, each: dict, everything: bool) -> Verdict:
    path = ROOT / each["file"]
    whole = path.read_text() if path.exists() else ""
    if whole.count(each["old"]) != 1:
        words = f"STALE: {each['file']} has its text {whole.count(each['old'])} times; bring mutations.toml up to date"
        return Verdict(each["name"], UNNOTICED, words)
    by = None
    for tests in [*each["tests"], *(["tests"] if everything else [])]:
        by = by or copy.noticed(each["file"], whole.replace(each["old"], each["new"]), [tests], 1200)
    return Verdict(each["name"], UNNOTICED if by is None else NOTICED, by or each["file"])


def drawn(found: list[Mutant], covering: Covering, kept: Kept, seconds: float) -> Iterator[Callable[[Copy], Verdict]]:
    nothing = {
        (each["file"], each["change"]): each["why"] for each in tomllib.loads(LIST.read_text()).get("nothing", [])
    }
    for each in found:

        def look(copy: Copy, each: Mutant = each) -> Verdict:
            name, key = f"{each.file}:{each.line}", hashlib.sha256(each.content.encode()).hexdigest()
            if (each.file, each.words) in nothing:
                return Verdict(name, NOTHING, f"{each.words}    ({nothing[each.file, each.words]})")
            tests = covering.tests(each.file, each.line)
            shown = [test for at, test in enumerate(tests) if not at or covering.taken(tests[: at + 1]) <= seconds]
            known = kept.verdict(key, shown)
            if known is not None:
                return known
            by = copy.noticed(each.file, each.content, shown, START + SLOWER * covering.taken(shown)) if shown else None
            words = f"{each.words}    ({len(shown)} of {len(tests)} tests{'' if by is None else f': {by}'})"
            verdict = Verdict(name, UNNOTICED if by is None else NOTICED, words)
            kept.keep(key, shown, verdict)
            return verdict

        yield look


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
            took = f"{time.monotonic() - began:5.0f} s"
            print(f"{verdict.verdict:<15} {took}  {verdict.name:<44} {verdict.words}", flush=True)
            return verdict

        return list(pool.map(one, looks))


def summary(verdicts: list[Verdict], seed: int) -> int:
    """How many of each kind, those that nothing noticed again, and whether that is good enough."""
    count = Counter(each.verdict for each in verdicts)
    for kind in (UNNOTICED, NOTHING):
        if count[kind]:
            print(f"\n{kind.lower()}:")
            print("\n".join(f"  {each.name}  {each.words}" for each in verdicts if each.verdict == kind))
    told = count[NOTICED] + count[UNNOTICED]
    share = count[NOTICED] / max(1, told)
    print(
        f"\n{len(verdicts)} random mistakes, seed {seed}: {count[NOTICED]} noticed, {count[UNNOTICED]} unnoticed, ",
        end="",
    )
    print(f"{count[NOTHING]} change nothing; {share:.0%} of the {told} that change something are noticed")
    return int(share < WANTED)


def main(chosen: argparse.Namespace) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    if chosen.which == "named":
        verdicts = judge(list(named(chosen.only, chosen.all)), chosen.jobs)
        missed = sum(each.verdict != NOTICED for each in verdicts)
        print(f"\n{len(verdicts) - missed} of {len(verdicts)} named mistakes are noticed")
        return int(missed > 0)
    found = draw(chosen.folders, chosen.count, chosen.seed)
    if chosen.list:
        print("\n".join(f"{each.file}:{each.line}  {each.words}" for each in found))
        return 0
    kept = Kept(chosen.kept)
    verdicts = judge(list(drawn(found, kept.covering(chosen.jobs, chosen.tests), kept, chosen.seconds)), chosen.jobs)
    return summary(verdicts, chosen.seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["named", "random"])
    parser.add_argument("--only", help="named: those with this word in their name")
    parser.add_argument("--all", action="store_true", help="named: show survivors to all tests")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="+", default=[], help="random: only these rooms")
    parser.add_argument("--tests", nargs="+", default=[], help="random: only these folders and files, as tests/rules")
    parser.add_argument("--seconds", type=float, default=60.0, help="random: of tests, for each mistake")
    parser.add_argument("--list", action="store_true", help="random: only show them")
    parser.add_argument(
        "--kept",
        type=lambda path: Path(path).resolve(),
        default=ROOT / "build" / "mutate",
        help="a folder for verdicts, and for what tests run through",
    )
    parser.add_argument("--jobs", type=int, default=1)
    sys.exit(main(parser.parse_args()))
