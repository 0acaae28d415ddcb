"""Sums that do not settle the digits: what a sensor says is possible, beside the same network taught without doubt.

python benchmarks/shortcuts.py half        pairs 0 0, 0 1, 2 3, 2 4 of five labels: 0 and 1 are settled
python benchmarks/shortcuts.py even        pairs of even digits and of odd ones, ten labels: nothing is settled
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch

import nbr
from nbr.rules.sensor import LEAST_LOG
from nbr.teaching.network import NetworkSensor

WORLDS = {
    "half": (5, [(0, 0), (0, 1), (2, 3), (2, 4)]),
    "even": (10, [(0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9)]),
}
SAID = 0.5  # plausibility from which on a label is said to be possible
BINS = 10


def examples(world: str, rows: int, seed: int) -> tuple[dict[str, object], np.ndarray]:
    labels, pairs = WORLDS[world]
    pictures, digits = nbr.datasets.mnist(part="train")
    dice = np.random.default_rng(seed)
    left = {digit: list(dice.permutation(np.flatnonzero(digits == digit))) for digit in range(labels)}
    chosen = [dice.permutation(pairs[dice.integers(len(pairs))]) for _ in range(rows)]
    taken = np.array([[left[one].pop(), left[other].pop()] for one, other in chosen])
    shown = {"a": pictures[taken[:, 0]], "b": pictures[taken[:, 1]], "s": digits[taken].sum(axis=1)}
    return shown, digits[taken]


def statements(told: dict[str, object], digits: np.ndarray, labelled: int) -> list[str]:
    """The sum of each row; of some rows, each kind of pair in turn, both digits."""
    says = [f"a + b = {total}" for total in np.asarray(told["s"]).tolist()]
    kinds: dict[tuple[int, ...], list[int]] = {}
    for row, pair in enumerate(np.sort(digits, axis=1).tolist()):
        kinds.setdefault(tuple(pair), []).append(row)
    for number in range(labelled):
        row = list(kinds.values())[number % len(kinds)].pop(0)
        says[row] = f"a = {digits[row, 0]}, b = {digits[row, 1]}"
    return says


def calibration(sure: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error in %: how far confidence and truth are apart, in ten bins."""
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    each = [abs(sure[bins == k].mean() - right[bins == k].mean()) * (bins == k).mean() for k in set(bins.tolist())]
    return 100 * float(sum(each))


def judged(sensor: NetworkSensor, pictures: torch.Tensor, truth: np.ndarray) -> dict[str, float]:
    scores = sensor.scores(pictures).double()
    plausible = (scores - scores.amax(dim=1, keepdim=True)).clamp(min=LEAST_LOG).exp()
    chance = plausible / plausible.sum(dim=1, keepdim=True)
    said = (plausible >= SAID).numpy()
    best, one = chance.argmax(dim=1).numpy(), said.sum(axis=1) == 1
    return {
        "possible": float(said[np.arange(len(truth)), truth].mean()),
        "labels_said": float(said.sum(axis=1).mean()),
        "settled": float(one.mean()),
        "settled_right": float((best == truth)[one].mean()) if one.any() else float("nan"),
        "right": float((best == truth).mean()),
        "calibration_error": calibration(chance.amax(dim=1).numpy(), best == truth),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("world", choices=sorted(WORLDS))
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--groups", type=int, default=60)
    parser.add_argument("--epochs", type=float, default=10.0)
    parser.add_argument("--labelled", type=int, default=0, help="rows of which both digits are told")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    labels, _ = WORLDS[args.world]
    pictures, truth = nbr.datasets.mnist(labels=tuple(range(labels)), part="test")
    model = nbr.Reasoner(nbr.World({name: nbr.Real(0, labels - 1, step=1) for name in "ab"}))
    told, digits = examples(args.world, args.rows, args.seed)
    says = statements(told, digits, args.labelled)
    for groups in (args.groups, None):
        start = time.monotonic()
        settings = {"network": "lenet", "epochs": args.epochs, "groups": groups, "seed": args.seed}
        taught = nbr.train(model, told, says, **settings)
        sensor = taught.model.sensors["a"]
        assert isinstance(sensor, NetworkSensor)
        found = judged(sensor, torch.as_tensor(pictures).float(), truth)
        print(
            json.dumps(
                {
                    "world": args.world,
                    "labelled": args.labelled,
                    **settings,
                    **found,
                    "seconds": round(time.monotonic() - start),
                }
            )
        )
        for note in sensor.notes:
            print(note, flush=True)


if __name__ == "__main__":
    main()
