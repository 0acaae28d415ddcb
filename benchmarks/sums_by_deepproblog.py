"""The sums of two digits of `sums.py`, learned by DeepProbLog: time for an example, and what is right after one pass.

    python -m venv rival && rival/bin/pip install deepproblog
    rival/bin/python benchmarks/sums_by_deepproblog.py FOLDER_OF_MNIST --seconds 600

It wants torchvision and another torch, hence an environment of its own; nothing of nbr is imported. Network, engine,
cache, batch and rate are those of its own example; pictures are as in `sums.py`, (0, 1) scaled to (-1, 1) as it does.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

PROGRAM = """nn(mnist_net,[X],Y,[0,1,2,3,4,5,6,7,8,9]) :: digit(X,Y).
addition(X,Y,Z) :- digit(X,X2), digit(Y,Y2), Z is X2+Y2.
"""


def read(folder: Path, part: str) -> tuple[torch.Tensor, list[int]]:
    raw = np.frombuffer((folder / f"{part}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16)
    labels = np.frombuffer((folder / f"{part}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8)
    return torch.from_numpy(raw.reshape(-1, 1, 28, 28) / 127.5 - 1).float(), labels.tolist()


def lenet() -> nn.Module:
    """As its example has it, with a softmax at the end."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(6, 16, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
        nn.Softmax(1),
    )


class Pictures(Mapping):  # type: ignore[type-arg]
    def __init__(self, pictures: torch.Tensor) -> None:
        self.pictures = pictures

    def __len__(self) -> int:
        return len(self.pictures)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __getitem__(self, item: object) -> torch.Tensor:
        return self.pictures[int(item[0])]  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="the four IDX files, such as ~/.cache/nbr/mnist")
    parser.add_argument("--seconds", type=float, default=600.0)
    args = parser.parse_args()
    from deepproblog.engines import ExactEngine  # type: ignore[import-not-found]
    from deepproblog.model import Model  # type: ignore[import-not-found]
    from deepproblog.network import Network  # type: ignore[import-not-found]
    from deepproblog.query import Query  # type: ignore[import-not-found]
    from problog.logic import Constant, Term  # type: ignore[import-untyped]

    torch.manual_seed(0)
    torch.set_num_threads(1)
    pictures, labels = read(args.folder, "train")
    tested, truth = read(args.folder, "t10k")
    network = lenet()
    named = Network(network, "mnist_net", batching=True)
    named.optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    model = Model(PROGRAM, [named], load=False)
    model.set_engine(ExactEngine(model), cache=True)
    model.add_tensor_source("train", Pictures(pictures))
    order = torch.randperm(len(labels)).view(-1, 2).tolist()
    start, busy, done = time.monotonic(), time.process_time(), 0
    for at in range(0, len(order), 2):
        if time.monotonic() - start > args.seconds:
            break
        named.optimizer.zero_grad()
        queries = []
        for one, other in order[at : at + 2]:
            shown = [Term("tensor", Term("train", Constant(place))) for place in (one, other)]
            queries.append(Query(Term("addition", *shown, Constant(labels[one] + labels[other]))))
        for result, query in zip(model.solve(queries), queries, strict=True):
            loss = -torch.log(result.result[query.query])
            (loss / len(queries)).backward()
        named.optimizer.step()
        done += len(queries)
    seconds, cpu = time.monotonic() - start, time.process_time() - busy
    network.eval()
    with torch.no_grad():
        found = torch.cat([network(part).argmax(dim=1) for part in tested.split(1000)])
    told, pairs = torch.tensor(truth), torch.randperm(len(truth)).view(-1, 2)
    right = found[pairs].sum(dim=1) == told[pairs].sum(dim=1)
    print(
        json.dumps(
            {
                "examples": done,
                "milliseconds_an_example": round(1000 * seconds / done, 2),
                "processor_milliseconds_an_example": round(1000 * cpu / done, 2),
                "digits_right": float((found == told).double().mean()),
                "sums_right": float(right.double().mean()),
            }
        )
    )


if __name__ == "__main__":
    main()
