"""10,000 questions under 100 conditions to a learned model of 11 bits, and a few of them again one by one.

python benchmarks/many_questions.py [MODEL.nbr]    without a model one is learned first, from rows with holes

The rows are those of the paper's first experiment: x0 mostly tells the majority of nine bits, x10 mostly its opposite,
and no row has both. The model is saved and loaded; time counts from then on.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

import nbr

CONDITIONS, EACH, AGAIN = 100, 100, 20
STEPS = 1000  # enough for rules that say something; how good they are does not matter here


def learned(path: Path) -> None:
    draw = np.random.default_rng(0)
    rows = draw.integers(0, 2, (2000, 11)).astype(float)
    majority = rows[:, 1:10].sum(axis=1) > 4.5
    rows[:, 0] = np.where(draw.random(2000) < 0.9, majority, ~majority)
    rows[:, 10] = np.where(draw.random(2000) < 0.2, majority, ~majority)
    rows[:1000, 10] = rows[1000:, 0] = np.nan
    nbr.fit(rows, 1, seed=0, steps=STEPS).save(path)


def asked(model: nbr.Reasoner) -> list[tuple[str, str]]:
    draw, names = random.Random(0), model.world.names
    found = []
    for _ in range(CONDITIONS):
        told = draw.sample(names, draw.randint(1, 4))
        given = ", ".join(f"{name}={draw.randrange(2)}" for name in told)
        others = [name for name in names if name not in told]
        for _ in range(EACH):
            one, other = draw.sample(others, 2)
            found.append((draw.choice([one, f"{one} & {other}", f"{one} -> ~{other}", f"{one} | {other}"]), given))
    return found


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "learned.nbr"
        if not path.exists():
            learned(path)
        model = nbr.load(path)
    questions = asked(model)
    began, used = time.perf_counter(), time.process_time()
    table = model.ask_many(questions)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    worst = 0.0
    for number in range(0, len(questions), len(questions) // AGAIN):
        answer = model.ask(*questions[number])
        row = table.iloc[number]
        worst = max(worst, abs(answer.belief - row["belief"]), abs(answer.plausibility - row["plausibility"]))
    print(f"{len(questions):,} questions, {CONDITIONS} conditions, {len(model.rules)} rules: {seconds:.2f} s")
    print(f"of processor time {used:.2f} s; exact: {bool(table['exact'].all())}; asked one by one: {worst:.1e} apart")


if __name__ == "__main__":
    main()
