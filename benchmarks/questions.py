"""500 questions with up to three conditions on tables of bits: how far from the held-out frequency is each answer?

    python benchmarks/questions.py DATA/nltcs [MODEL.nbr ...]

A folder has train.csv, valid.csv and test.csv, bits without a header. Beside models stand a Chow-Liu tree, the prior
that `fit` starts from where points cannot be listed, both learned from train.csv, and counting in train.csv.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import nbr
from nbr import World, priors, tables

QUESTIONS, LEAST = 500, 50  # and test rows that meet a condition

Conditions = list[tuple[int, int]]


def asked(test: np.ndarray, seed: int = 0) -> list[tuple[int, Conditions]]:
    """Columns to ask about, each with one to three conditions that enough test rows meet, taken from a row."""
    random, found = np.random.default_rng(seed), []
    while len(found) < QUESTIONS:
        row = test[random.integers(len(test))]
        question, *given = random.choice(test.shape[1], random.integers(2, 5), replace=False).tolist()
        conditions = [(at, int(row[at])) for at in given]
        if _met(test, conditions).sum() >= LEAST:
            found.append((question, conditions))
    return found


def _met(rows: np.ndarray, conditions: Conditions) -> np.ndarray:
    return np.all([rows[:, at] == value for at, value in conditions], axis=0)


def counting(train: np.ndarray) -> Callable[[int, Conditions], float]:
    """The frequency among training rows that meet the conditions, one row of each kind added."""

    def answer(question: int, conditions: Conditions) -> float:
        rows = train[_met(train, conditions), question]
        return float((rows.sum() + 1) / (len(rows) + 2))

    return answer


def asking(model: nbr.Reasoner) -> Callable[[int, Conditions], float]:
    names = model.world.names

    def answer(question: int, conditions: Conditions) -> float:
        given = ", ".join(f"{names[at]}={value}" for at, value in conditions)
        return model.probability(f"{names[question]}=1", given).value

    return answer


def run(folder: Path, models: list[Path]) -> None:
    train, valid, test = (np.loadtxt(folder / f"{n}.csv", delimiter=",", dtype=int) for n in ("train", "valid", "test"))
    world = World.bits(train.shape[1])
    rows, held = (tables.read(part.astype(float), world) for part in (train, valid))
    ways = {"counting in train": counting(train), "one tree": asking(nbr.Reasoner(world, prior=priors.trees(rows, 1)))}
    ways["trees"] = asking(nbr.Reasoner(world, prior=priors.trees(rows, valid=held)))
    for path in models:
        loaded = nbr.load(path)
        assert isinstance(loaded, nbr.Reasoner)
        ways[path.name] = asking(loaded)
    questions = asked(test)
    truth = np.array([test[_met(test, given), question].mean() for question, given in questions])
    for name, answer in ways.items():
        start = time.perf_counter()
        found = np.array([answer(question, given) for question, given in questions])
        off, seconds = np.abs(found - truth), time.perf_counter() - start
        error = off.std() / len(off) ** 0.5
        print(f"{folder.name}, {name}: off by {off.mean():.4f} ± {error:.4f} on average, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]])
