"""The paper's Table 1 from a plain CSV file with no flag: `nbr fit` by several seeds, beside the exact answers.

python benchmarks/table1_rows.py [SEED ...]

Rows are those of section 3: every pattern of nine bits ten times from either side, an empty cell for what that side
does not see. Prints the largest error of the ten numbers for each seed: by default, with beliefs that rows do not
reject at 95%, 0.04 is the most that is allowed, and with the likeliest ones (`confidence=None`) 0.02.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

import nbr
from nbr.paper.table1 import TABLE_1

ALLOWED = {0.95: 0.04, None: 0.02}  # by confidence


def error(model: nbr.Reasoner) -> float:
    """The largest difference to the exact answers."""
    found = [model.ask(question.asked, question.given) for question in TABLE_1.questions]
    pairs = [(a.belief, a.plausibility, *question.exact) for a, question in zip(found, TABLE_1.questions, strict=True)]
    return max(max(abs(low - least), abs(high - most)) for low, high, least, most in pairs)


def main(seeds: list[int]) -> int:
    errors: dict[float | None, list[float]] = {level: [] for level in ALLOWED}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        pd.DataFrame(TABLE_1.observations().codes.numpy(), columns=TABLE_1.world.names).astype("Int64").to_csv(
            table, index=False
        )
        for seed in seeds:
            start = time.perf_counter()
            model = nbr.fit(table, seed=seed)
            likeliest = nbr.Reasoner(model.world, [rule.with_belief(float(rule.likeliest)) for rule in model.rules])
            for level, each in ((0.95, model), (None, likeliest)):
                errors[level].append(error(each))
            off = ", ".join(f"{found[-1]:.4f} at {level}" for level, found in errors.items())
            print(f"seed {seed}: off by {off}, {time.perf_counter() - start:.0f} s", flush=True)
    for level, found in errors.items():
        print(f"confidence {level}: {sum(e <= ALLOWED[level] for e in found)} of {len(found)} within {ALLOWED[level]}")
    return int(any(max(found) > ALLOWED[level] for level, found in errors.items()))


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]] or list(range(5))))
