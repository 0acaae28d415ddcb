"""Does the proof-first protocol give the verdicts of running every attack on every image, and how much sooner?

python benchmarks/proof_first.py                   the shipped mnist-4-9, 200 test images, budget quick
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch

import nbr
from nbr.paper import table2
from nbr.progress import reporter
from nbr.robustness.protocol import measure, steps_of


def main(images: int, budget: str) -> None:
    given = table2.data(images, seed=0)
    shipped = nbr.load("mnist-4-9")
    raw = shipped.raw_module()
    rival = table2.Rival(shipped.as_module(), table2.proof(shipped), raw, raw)
    steps, told = steps_of(budget, None), {"images": images, "budget": budget, "threads": torch.get_num_threads()}
    watch = reporter(True)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subject = table2.subject(given, rival)  # with the proofs, which the other way does not need
        first = measure(subject, steps, 2.0, Path(folder) / "first", watch)
        told["seconds, proof first"] = time.perf_counter() - began
        began = time.perf_counter()
        everything = measure(subject, steps, 2.0, Path(folder) / "all", watch, skip_proved=False, skip_broken=False)
        told["seconds, everything on every image"] = time.perf_counter() - began
    told["times faster"] = told["seconds, everything on every image"] / told["seconds, proof first"]
    told["verdicts that differ"] = int((first.broken != everything.broken)[first.right].sum())
    told |= {"natural": first.natural, "left by all attacks": first.attacked, "proved": first.proved}
    for name, value in told.items():
        print(f"{name:<40}{value:.4g}" if isinstance(value, float) else f"{name:<40}{value}")
    path = Path(__file__).parent.parent / "docs" / "results" / "proof-first.json"
    path.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--budget", default="quick")
    chosen = parser.parse_args()
    main(chosen.images, chosen.budget)
