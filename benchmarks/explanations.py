"""Explanations of 500 random models held against brute force: too many for the tests, which take a few of them.

python benchmarks/explanations.py [--models 500]

Half of the models are statements alone, in the other half about every second rule is a function with levels of grade.
Prints how many were checked, and every one that fails; exit code 1 if one does.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import explanations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=500)
    wanted = parser.parse_args().models
    began, seed, done, failed = time.perf_counter(), 0, 0, []
    while done < wanted:
        case = explanations.case(seed, fuzzy=seed % 2 == 1)
        if case is not None:
            done += 1
            try:
                explanations.check(*case)
            except AssertionError as error:
                failed.append(seed)
                print(f"seed {seed}: {case[1]} given {case[2]}: {error}")
            if done % 50 == 0:
                print(f"{done} models, {time.perf_counter() - began:.0f} s", flush=True)
        seed += 1
    print(f"{done} models, {len(failed)} wrong" + (f": seeds {failed}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
