"""The oracle radii of the paper: how far apart images of different labels are, over the MNIST training set.

python benchmarks/oracle.py
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

from nbr import datasets
from nbr.robustness.oracle import oracle_radii

PAPER = {"3": 0.51, "2.5": 0.79, "2": 0.96}


def main() -> None:
    told = {"paper, all ten": PAPER}
    for name, labels in (("all ten", None), ("4 and 9", (4, 9))):
        images, truth = datasets.mnist(labels, "train")
        radii = oracle_radii(torch.from_numpy(images), torch.from_numpy(truth))
        told[name] = {eps: float((radii > float(eps)).double().mean()) for eps in PAPER}
    print(json.dumps(told, indent=1))
    (Path(__file__).parent.parent / "docs" / "results" / "oracle.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
