"""Is the proof sound, and what does it cost? Measured on a classifier of labels of MNIST.

python benchmarks/certified.py                   the shipped mnist-4-9
python benchmarks/certified.py --model mnist-10 --images 1000 --steps 100
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import foolbox
import numpy as np
import torch

import nbr
from measure import best
from nbr import datasets
from nbr.calculus.batch import Groups
from nbr.classify.evaluation import evaluate
from nbr.classify.robust import RobustClassifier
from nbr.lipschitz import bound

PAIRS = 100_000
RULES = 2632


def main(model: str, images: int | None, steps: int) -> None:
    classifier = nbr.load(model)
    X, y = datasets.mnist(tuple(classifier.classes_), "test")
    told = {"threads": torch.get_num_threads(), **soundness(classifier, X)}
    if len(classifier.classes_) == 2:
        told |= speed(classifier, X)
    told |= attacked(classifier, X[:images], y[:images], steps)
    stem = "certified" if model == "mnist-4-9" else f"certified-{Path(model).stem}"
    path = Path(__file__).parent.parent / "docs" / "results" / f"{stem}.json"
    path.write_text(json.dumps(told, indent=1) + "\n")
    for name, value in told.items():
        print(f"{name:<44}{value:.9g}" if isinstance(value, float) else f"{name:<44}{value:,}")


def soundness(classifier: RobustClassifier, X: np.ndarray) -> dict:
    """How far pairs of inputs move apart, as a share of the stated bound: random ones, and along gradients."""
    network, generator = classifier.rules_.networks.module().double(), torch.Generator().manual_seed(0)
    images, most = torch.from_numpy(X).flatten(1), bound(network)
    worst = {"random pairs": 0.0, "adversarial pairs": 0.0}
    for scale in (1e-3, 0.1, 1.0, 5.0):
        for _ in range(PAIRS // 8 // 500):
            first = images[torch.randint(len(images), (500,), generator=generator)]
            away = torch.randn(first.shape, generator=generator, dtype=torch.float64)
            second = first + scale * away / away.norm(dim=1, keepdim=True)
            worst["random pairs"] = max(worst["random pairs"], _stretch(network, first, second, most))
            moved = first.clone().requires_grad_()
            chosen = torch.randint(len(most), (1,), generator=generator)
            (slope,) = torch.autograd.grad(network(moved)[chosen].sum(), moved)
            worst["adversarial pairs"] = max(
                worst["adversarial pairs"], _stretch(network, first, first + scale * slope, most)
            )
    return {"pairs": PAIRS, "stated bound": float(most.max())} | {
        f"largest stretch over bound, {k}": v for k, v in worst.items()
    }


def _stretch(network: torch.nn.Module, first: torch.Tensor, second: torch.Tensor, most: torch.Tensor) -> float:
    with torch.no_grad():
        moved = (network(first) - network(second))[..., 0].abs()
    return float((moved / (first - second).norm(dim=1) / most[:, None]).max())


def speed(classifier: RobustClassifier, X: np.ndarray) -> dict:
    """Images a second, and the share of the belief part with as many rules as the paper has."""
    points = torch.from_numpy(X[:1000]).flatten(1)
    train, labels = datasets.mnist(tuple(classifier.classes_), "train")
    rules, networks = classifier.rules_, classifier.rules_.first_memory
    memories, extra = RULES - networks, np.random.default_rng(0).choice(len(train), RULES - networks, replace=False)
    second = torch.from_numpy((labels[extra] == classifier.classes_[1]).astype(int))
    grown = replace(
        rules,
        memories=torch.from_numpy(train[extra]).flatten(1).float(),
        reach=torch.full((memories,), 2.0, dtype=torch.float64),
        groups=Groups(torch.cat([rules.groups.table[:networks], torch.nn.functional.one_hot(second)])),
        share=torch.cat([rules.share[:networks], torch.full((memories,), 1 / 5900, dtype=torch.float64)]),
        scale=torch.cat([rules.scale[:networks], torch.full((memories,), 4.0, dtype=torch.float64)]),
        belief=torch.cat([rules.belief[:networks], torch.full((memories,), 0.5, dtype=torch.float64)]),
    )
    found = {}
    with torch.no_grad():
        for dtype in (torch.float32, torch.float64):
            inputs, name = points.to(dtype), str(dtype).removeprefix("torch.")
            told = evaluate(grown, inputs, "scaled")
            rest, belief = best(lambda i=inputs: grown.scores(i)), best(told.scores)
            found[f"belief part over the rest, {name}"] = belief / rest
            found[f"predicted images a second, {name}"] = len(inputs) / (rest + belief)
    full = RobustClassifier(epsilon=classifier.epsilon)
    full.__dict__.update({**classifier.__dict__, "rules_": grown})
    full.certified_radius(X[:10])
    found[f"predict, images a second, {RULES} rules"] = 1000 / best(lambda: full.predict(X[:1000]), 2)
    found[f"certificates a second, {RULES} rules"] = 1000 / best(lambda: full.certified_radius(X[:1000]), 1)
    found["predict, images a second"] = 1000 / best(lambda: classifier.predict(X[:1000]))
    found["certificates a second"] = 1000 / best(lambda: classifier.certified_radius(X[:1000]), 2)
    return found


def attacked(classifier: RobustClassifier, X: np.ndarray, y: np.ndarray, steps: int) -> dict:
    """DDN on every image: what it leaves at the radius trained for, and whether it breaks a certified image."""
    eps = float(classifier.recipe_["epsilon"])
    radius = classifier.certified_radius(X)
    right = classifier.predict(X) == y
    model = foolbox.PyTorchModel(classifier.as_module().eval(), bounds=(0, 1))
    attack = foolbox.attacks.DDNAttack(steps=steps)
    distance = np.full(len(X), np.inf)
    for rows in np.array_split(np.arange(len(X)), 8):
        images = torch.from_numpy(X[rows])
        labels = torch.from_numpy(np.searchsorted(classifier.classes_, y[rows]))
        _, moved, success = attack(model, images, labels, epsilons=None)
        far = (moved - images).flatten(1).norm(dim=1).numpy()
        distance[rows] = np.where(success.numpy(), far, np.inf)
        print(f"DDN: {rows[-1] + 1} of {len(X)}", flush=True)
    distance[~right] = 0
    proved = right & (radius > 0)
    return {
        "DDN: steps": steps,
        "DDN: certified images": int(proved.sum()),
        "DDN: broken within their radius": int((proved & (distance <= radius)).sum()),
        "DDN: smallest distance over radius": float((distance[proved] / radius[proved]).min()),
        "natural": float(right.mean()),
        f"proved at {eps:g}": float((right & (radius > eps)).mean()),
        f"left by DDN at {eps:g}": float((distance > eps).mean()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mnist-4-9")
    parser.add_argument("--images", type=int, help="the first so many test images; all of them if not given")
    parser.add_argument("--steps", type=int, default=500)
    chosen = parser.parse_args()
    main(chosen.model, chosen.images, chosen.steps)
