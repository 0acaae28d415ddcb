"""Model files made by hand, checksum and all: each is refused in one line, or keeps every promise that it makes.

    python benchmarks/file_fuzz.py [--count 2000] [--seed 0] [--jobs 1] [-o docs/results/file-fuzz.json]

Classifiers of all kinds, those that ship among them, and reasoners with rules and priors of all kinds, with one to
three changes each: to weights, shapes, widths, scales, shares, beliefs, boxes, epsilon, labels, types and plain data. A
classifier that loads is attacked at 20 inputs with 200 gradient steps in float64 inside the radii that it proves; a
reasoner is asked, counted, sampled and scored. Nothing but `NbrError` may be raised, no file may take longer than
`LIMIT` seconds, or memory far beyond what it holds. The tests run a few of the same.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

import nbr

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import hostile_files
import hostile_verdicts

LIMIT = 120  # seconds for one file
GROWN = 1_000  # megabytes by which one file may raise the most that was ever used
SHIPPED = ("mnist-4-9", "mnist-10")
RARE = 16  # one in so many classifiers is a shipped one, which takes longer
CHUNK = 50


class TooLong(BaseException):
    """Past every `except Exception`."""


@cache
def shipped(name: str) -> hostile_files.Model:
    model: hostile_files.Model = nbr.load(name).spec()
    return model


def one(kind: str, seed: int, number: int, folder: str) -> dict[str, Any]:
    """A file, and what became of it."""
    dice = random.Random(f"{kind} {seed} {number}")
    small = hostile_files.classifiers() if kind == "classifiers" else hostile_files.reasoners()
    ships = kind == "classifiers" and number % RARE == 0
    name = dice.choice(SHIPPED if ships else sorted(small))
    model, changes = hostile_files.changed(shipped(name) if ships else small[name], dice)
    path = Path(folder, f"{kind}-{number}.nbr")
    path.write_bytes(hostile_files.content(model))
    before, start = _memory(), time.perf_counter()
    signal.alarm(LIMIT)
    try:
        said, why = hostile_verdicts.judged(path, number, budget=0.1, attack=untimed), ""
    except (Exception, TooLong) as error:
        where = [step for step in traceback.extract_tb(error.__traceback__) if "nbr" in step.filename][-1:]
        said, why = "broken", f"{type(error).__name__}: {error} ({[f'{s.name}:{s.lineno}' for s in where]})"
    finally:
        signal.alarm(0)
        path.unlink(missing_ok=True)
    grown = _memory() - before
    if grown > GROWN:
        said, why = "broken", f"{why} took {grown:.0f} MB more"
    return {"of": name, "changes": changes, "said": said, "why": why, "seconds": time.perf_counter() - start}


def untimed(*asked: Any) -> int:
    """An attack, whose own time is not the library's: denormal numbers make gradients slow."""
    signal.alarm(0)
    return hostile_verdicts.attacked(*asked)


def some(kind: str, seed: int, numbers: range) -> list[dict[str, Any]]:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        return [{"number": number, **one(kind, seed, number, folder)} for number in numbers]


def _too_long(*_: object) -> None:
    raise TooLong(f"longer than {LIMIT} s")


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=("classifiers", "reasoners"))
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    told: dict[str, Any] = {"seed": asked.seed, "inputs": hostile_verdicts.INPUTS, "steps": hostile_verdicts.STEPS}
    broken = 0
    for kind in [asked.only] if asked.only else ["classifiers", "reasoners"]:
        parts = [range(at, min(at + CHUNK, asked.count)) for at in range(0, asked.count, CHUNK)]
        with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
            found: list[dict[str, Any]] = []
            for part in pool.map(some, [kind] * len(parts), [asked.seed] * len(parts), parts):
                found += part
                for each in part:
                    if each["said"] == "broken":
                        print(f"  {each['number']}: {each['of']}, {each['changes']}: {each['why']}", flush=True)
        wrong = [each for each in found if each["said"] == "broken"]
        broken += len(wrong)
        models = sorted({each["of"] for each in found})
        by_model = {name: Counter(each["said"] for each in found if each["of"] == name) for name in models}
        told[kind] = {
            "files": len(found),
            "said": dict(Counter(each["said"] for each in found).most_common()),
            "by model": {name: dict(counts) for name, counts in by_model.items()},
            "longest, seconds": round(max(each["seconds"] for each in found), 1),
            "broken": wrong,
        }
        print(f"{kind}: {len(found)} files", flush=True)
        for said, count in told[kind]["said"].items():
            print(f"  {count:>6}  {said}")
    if asked.output:
        asked.output.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(1 if broken else 0)


if __name__ == "__main__":
    main()
