"""Digits learned from sums of numbers alone: how often the sum of two numbers of N digits is read right.

    python benchmarks/sums.py --digits 15 --network lenet --seeds 0 1 2 3 4

Each training picture of MNIST stands in one sum, and nothing but the sums is known. The test pictures are put into
sums at random, 200 times; a sum is right if the numbers that are read add up to it. With `--held-out` 10,000 of the
training pictures are judged in their place. A run that is stopped goes on; what was measured is kept in a file.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

import nbr
from nbr.teaching.network import NetworkSensor

GROUPINGS, HELD_OUT = 200, 10_000


def names(digits: int) -> list[str]:
    """Of the digits of both numbers, the lowest first."""
    return [f"{letter}{place}" for letter in "ab" for place in range(digits)]


def sums(labels: torch.Tensor, digits: int) -> list[int]:
    """Of rows of labels, (rows, 2 * digits): whole numbers of any length."""
    return [sum((row[k] + row[digits + k]) * 10**k for k in range(digits)) for row in labels.tolist()]


def examples(pictures: torch.Tensor, labels: torch.Tensor, digits: int, seed: int) -> tuple[dict[str, object], str]:
    """All pictures, each in one sum, and the text that says what is known."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    rows = order[: len(order) // (2 * digits) * 2 * digits].view(-1, 2 * digits)
    columns: dict[str, object] = {name: pictures[rows[:, place]] for place, name in enumerate(names(digits))}
    said = " + ".join(f"1{'0' * place}*{letter}{place}" for letter in "ab" for place in range(digits))
    return {**columns, "s": sums(labels[rows], digits)}, f"{said} = s"


def right(read: torch.Tensor, labels: torch.Tensor, digits: int) -> list[float]:
    """The share of sums that are right, in each of the groupings of test pictures."""
    source, found = torch.Generator().manual_seed(0), []
    for _ in range(GROUPINGS):
        order = torch.randperm(len(labels), generator=source)
        rows = order[: len(order) // (2 * digits) * 2 * digits].view(-1, 2 * digits)
        off = (read[rows] - labels[rows]).view(-1, 2, digits).sum(dim=1)  # digits of the error of a sum
        good, carry = torch.ones(len(off), dtype=torch.bool), torch.zeros(len(off), dtype=torch.long)
        for place in range(digits):
            total = off[:, place] + carry
            good &= total % 10 == 0
            carry = total.div(10, rounding_mode="floor")
        found.append(float((good & (carry == 0)).double().mean()))
    return found


def run(args: argparse.Namespace, seed: int) -> dict[str, object]:
    pictures, labels = (torch.as_tensor(each) for each in nbr.datasets.mnist(part="train"))
    pictures, labels = pictures.float(), labels.long()
    if args.held_out:
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(12345))
        judge, learn = order[:HELD_OUT], order[HELD_OUT:]
        test, truth, pictures, labels = pictures[judge], labels[judge], pictures[learn], labels[learn]
    else:
        test, truth = (torch.as_tensor(each) for each in nbr.datasets.mnist(part="test"))
        test, truth = test.float(), truth.long()
    model = nbr.Reasoner(nbr.World({name: nbr.Real(0, 9, step=1) for name in names(args.digits)}))
    columns, said = examples(pictures, labels, args.digits, seed)
    checkpoint = args.output.with_name(
        f"{args.output.stem}-{args.digits}-{args.network}-{args.shift}-{args.augment}-{seed}.part"
    )
    start, busy = time.monotonic(), time.process_time()
    trained = nbr.train(
        model,
        columns,
        said,
        network=args.network,
        epochs=args.epochs,
        batch=args.batch,
        rate=args.rate,
        shift=args.shift,
        augment=args.augment,
        seed=seed,
        checkpoint=checkpoint,
        verbose=True,
    )
    seconds, cpu = time.monotonic() - start, time.process_time() - busy
    sensor = trained.model.sensors["a0"]
    assert isinstance(sensor, NetworkSensor)
    read = sensor.scores(test).argmax(dim=1)
    shares = torch.tensor(right(read, truth, args.digits))
    settings = {
        "digits": args.digits,
        "network": args.network,
        "shift": args.shift,
        "augment": args.augment,
        "epochs": args.epochs,
        "seed": seed,
    }
    return {
        **settings,
        "held_out": args.held_out,
        "batch": args.batch,
        "rate": args.rate,
        "digits_right": float((read == truth).double().mean()),
        "sums_right": float(shares.mean()),
        "spread": float(shares.std()),
        "seconds": round(seconds),
        "processor_seconds": round(cpu),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--digits", type=int, default=1)
    parser.add_argument("--network", default="lenet")
    parser.add_argument("--shift", type=int, default=2)
    parser.add_argument("--augment", type=float, default=0.0)
    parser.add_argument("--epochs", type=float, default=20.0)
    parser.add_argument("--batch", type=int, default=120)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--held-out", action="store_true", help="judge on training pictures that are held out")
    parser.add_argument("--output", type=Path, default=Path("sums.jsonl"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    for seed in args.seeds:
        found = run(args, seed)
        print(json.dumps(found), flush=True)
        with args.output.open("a") as file:
            file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
