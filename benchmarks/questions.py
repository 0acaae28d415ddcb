"""500 questions with up to three conditions on tables of bits: how far from the held-out frequency is each answer?

    python benchmarks/questions.py DATA/nltcs [--no-peers] [MODEL.nbr ...]

A folder has train.csv, valid.csv and test.csv, bits without a header. Beside models stand a Chow-Liu tree, the prior
that `fit` starts from where points cannot be listed, a hidden Chow-Liu tree of SPFlow where that is installed, all
learned from train.csv, and counting in train.csv. Where there are at most 16 columns, what models say is also held
against a sum over all points of what they score, and what they say by draws alone against that and its stated error.
Writes docs/results/questions-NAME.json.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

import density_peers
import nbr
from nbr import World, priors, tables

RESULTS = Path(__file__).parents[1] / "docs" / "results"
QUESTIONS, LEAST = 500, 50  # and test rows that meet a condition
BUDGET = 1.0  # seconds for a question, where points are drawn

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
        return model.probability(f"{names[question]}=1", given, budget=BUDGET).value

    return answer


def hidden(train: np.ndarray, valid: np.ndarray) -> Callable[[int, Conditions], float]:
    """P(question and conditions) / P(conditions) of SPFlow's circuit, whose holes are summed over."""
    model, _ = density_peers.hidden_chow_liu(train, valid)

    def answer(question: int, conditions: Conditions) -> float:
        row = torch.full((2, train.shape[1]), torch.nan)
        for at, value in conditions:
            row[:, at] = value
        row[0, question] = 1
        with torch.no_grad():
            both, alone = model.log_likelihood(row).flatten().double().tolist()
        return float(np.exp(both - alone))

    return answer


def exact(model: nbr.Reasoner, questions: list[tuple[int, Conditions]]) -> dict[str, float]:
    """How far `probability` is from a sum over all points, as it is and by draws alone, and whether its error holds."""
    points = np.array(list(itertools.product((0, 1), repeat=len(model.world))))
    mass = model.log_prob(points.astype(float)).exp().numpy()
    names, gaps, drawn, inside = model.world.names, [], [], []
    for question, given in questions:
        met = _met(points, given)
        wanted = float(mass[met & (points[:, question] == 1)].sum() / mass[met].sum())
        words = f"{names[question]}=1", ", ".join(f"{names[at]}={value}" for at, value in given)
        gaps.append(abs(model.probability(*words).value - wanted))
        with patch("nbr.density.sums.listable", return_value=None):
            found = model.probability(*words, budget=BUDGET)
        drawn.append(abs(found.value - wanted))
        inside.append(drawn[-1] <= found.error + 1e-9)
    return {"off_at_most": max(gaps), "by_draws_off_at_most": max(drawn), "within_stated_95%": float(np.mean(inside))}


def run(folder: Path, models: list[Path], peers: bool = True) -> None:
    train, valid, test = (np.loadtxt(folder / f"{n}.csv", delimiter=",", dtype=int) for n in ("train", "valid", "test"))
    world = World.bits(train.shape[1])
    rows, held = (tables.read(part.astype(float), world) for part in (train, valid))
    ways = {"counting in train": counting(train), "one tree": asking(nbr.Reasoner(world, prior=priors.trees(rows, 1)))}
    ways["trees"] = asking(nbr.Reasoner(world, prior=priors.trees(rows, valid=held)))
    if peers and importlib.util.find_spec("spflow"):
        ways["hidden tree (SPFlow)"] = hidden(train, valid)
    for path in models:
        loaded = nbr.load(path)
        assert isinstance(loaded, nbr.Reasoner)
        ways[path.name] = asking(loaded)
    questions = asked(test)
    truth = np.array([test[_met(test, given), question].mean() for question, given in questions])
    told: dict[str, object] = {"questions": QUESTIONS}
    for name, answer in ways.items():
        start = time.perf_counter()
        found = np.array([answer(question, given) for question, given in questions])
        off, seconds = np.abs(found - truth), time.perf_counter() - start
        error = off.std() / len(off) ** 0.5
        print(f"{folder.name}, {name}: off by {off.mean():.4f} ± {error:.4f} on average, {seconds:.1f} s", flush=True)
        told[name] = {"off_by": float(off.mean()), "error": float(error), "seconds": seconds}
    if len(world) <= 16:
        for path in models:
            told[f"{path.name}, exactly"] = found = exact(nbr.load(path), questions)
            print(f"{folder.name}, {path.name}: {found}", flush=True)
    RESULTS.joinpath(f"questions-{folder.name}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--no-peers"]
    run(Path(words[0]), [Path(word) for word in words[1:]], "--no-peers" not in sys.argv)
