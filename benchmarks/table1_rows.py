"""The paper's Table 1 from a plain CSV file with no flag: `nbr fit` by several seeds, beside the exact answers.

python benchmarks/table1_rows.py [SEED ...]

Rows are those of section 3: every pattern of nine bits ten times from either side, an empty cell for what that side
does not see. Prints the largest error of the ten numbers for each seed; 0.03 is the most that is allowed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

import nbr
from nbr.paper.table1 import QUESTIONS, WORLD, observations

ALLOWED = 0.03


def error(model: nbr.Reasoner) -> float:
    """The largest difference to the exact answers."""
    found = [model.ask(question.asked, question.given) for question in QUESTIONS]
    pairs = [(a.belief, a.plausibility, *question.exact) for a, question in zip(found, QUESTIONS, strict=True)]
    return max(max(abs(low - least), abs(high - most)) for low, high, least, most in pairs)


def main(seeds: list[int]) -> int:
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        pd.DataFrame(observations().codes.numpy(), columns=WORLD.names).astype("Int64").to_csv(table, index=False)
        for seed in seeds:
            start = time.perf_counter()
            errors.append(error(nbr.fit(table, seed=seed)))
            print(f"seed {seed}: off by {errors[-1]:.4f}, {time.perf_counter() - start:.0f} s", flush=True)
    print(f"{sum(each <= ALLOWED for each in errors)} of {len(errors)} within {ALLOWED}")
    return int(max(errors) > ALLOWED)


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]] or list(range(5))))
