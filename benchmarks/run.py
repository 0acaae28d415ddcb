"""Run all benchmarks, print a table, and write results.json beside this file.

python benchmarks/run.py            all of them
python benchmarks/run.py engines    only some
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread for everybody: the fairest and the least noisy

import torch

import engines
import evidence_peers
import learning
import startup

SUITES = {"engines": engines.run, "evidence": evidence_peers.run, "learning": learning.run, "startup": startup.run}
RESULTS = Path(__file__).with_name("results.json")


def main(names: list[str], data: list[Path]) -> int:
    torch.set_num_threads(1)
    results = json.loads(RESULTS.read_text())["suites"] if RESULTS.exists() else {}
    suites = dict(SUITES)
    if data:
        import density

        suites["density"] = lambda: [row for folder in data for row in density.run(folder)]
    for name in names or suites:
        print(f"\n{name}", flush=True)
        results[name] = suites[name]()
        for row in results[name]:
            print(_line(row))
    machine = {"python": platform.python_version(), "torch": torch.__version__, "threads": 1}
    RESULTS.write_text(json.dumps({"machine": machine, "suites": results}, indent=1) + "\n")
    missed = [row["name"] for rows in results.values() for row in rows if row.get("met") is False]
    print(f"\nmissed: {', '.join(missed) if missed else 'no target'}")
    return 1 if missed else 0


def _line(row: dict) -> str:
    ours = f"{row['ours_seconds']:.3g} s"
    theirs = f"{row['theirs_seconds']:.3g} s" if "theirs_seconds" in row else ""
    ratio = f"{row['ratio']:,.0f}x" if "ratio" in row else ""
    mark = {True: "ok", False: "MISSED"}.get(row.get("met"), "")
    return f"  {row['name']:<48}{ours:>10}{theirs:>10}{ratio:>9}  {row.get('target', ''):<18}{mark:<7}{row['note']}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*")
    parser.add_argument(
        "--data", type=Path, nargs="+", default=[], help="folders with train.csv, valid.csv and test.csv each"
    )
    chosen = parser.parse_args()
    sys.exit(main(chosen.suites, chosen.data))
