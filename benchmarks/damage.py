"""Does belief fall as damage grows? Seven kinds of damage at three strengths, on 1,000 test images of ten digits.

python benchmarks/damage.py [--model mnist-10] [-o docs/results/damage-mnist-10.json] [--ours]

For each kind and strength: how many labels are right, the mean belief in the label, and how many pictures `reject`
passes on. Then how well errors are told from right labels, all damage pooled (the area under the ROC curve): by
belief, by what `reject` goes by, by the proved radius, and by the softmax of a plain convolutional network and of an
ensemble of three, which are trained here on the same images. Doubt is learned from these seven kinds; three more are
shown that it never saw. Far inputs are in `far_inputs.py`. With `--ours` the rivals stay as they are in the file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn.functional import cross_entropy, interpolate

import nbr
from nbr.classify import damage
from nbr.classify.augment import warped
from nbr.robustness.rivals import Small

COUNT = 1000
STRENGTHS = (1 / 3, 2 / 3, 1.0)
RIVALS = ("a network", "three")
EPOCHS, BATCH = 6, 128
ABOVE, BELOW = 0.05, 0.25  # by how much the mean belief may differ from the share that is right
Array = np.ndarray


def coarse(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Shown with fewer pixels."""
    sides = (28 * (1 - 0.85 * strength)).round().long().clamp(min=1).tolist()
    each = zip(pictures, sides, strict=True)
    return torch.stack([interpolate(interpolate(p[None, None], (s, s), mode="area"), (28, 28))[0, 0] for p, s in each])


def slant(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    side = 2.0 * torch.randint(2, (len(pictures),), generator=source) - 1
    rows = torch.zeros(len(pictures), 2, 3)
    rows[:, 0, 0] = rows[:, 1, 1] = 1
    rows[:, 0, 1] = 1.2 * strength * side
    return warped(pictures, rows.to(pictures.dtype)).clamp(0, 1)


def lines(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Up to eight rows or columns are white."""
    found = pictures.clone()
    for picture, many in zip(found, (8 * strength).round().long().tolist(), strict=True):
        for place in torch.randint(28, (many,), generator=source).tolist():
            picture.T[place] = 1
            picture[place] = 1
    return found


UNSEEN = {each.__name__: each for each in (coarse, slant, lines)}


def main(model: str, output: Path | None, alone: bool) -> None:
    classifier = nbr.load(model)
    images, digits = nbr.datasets.mnist(part="test")
    rows = np.random.default_rng(0).permutation(len(images))[:COUNT]
    known = {"learned": score(classifier, images[rows], digits[rows], damage.KINDS)}
    known["never seen"] = score(classifier, images[rows], digits[rows], UNSEEN)
    if alone and output is not None:
        before = json.loads(output.read_text())
        known |= {name: before[name] for name in RIVALS}
    else:
        known |= rivals(images[rows], digits[rows])
    clean = classifier.reject(images[rows])
    known["undamaged"] = {
        "right": share(classifier.predict(images[rows]) == digits[rows]),
        "belief": share(of_label(classifier, images[rows])),
        "rejected": share(clean),
    }
    within = [ABOVE >= each["belief"] - each["right"] >= -BELOW for each in known["learned"]["rows"]]
    report = {"model": model, "images": COUNT, "within": f"{sum(within)} of {len(within)}", **known}
    print(json.dumps(report, indent=1))
    if output is not None:
        output.write_text(json.dumps(report, indent=1) + "\n")


def score(classifier: nbr.RobustClassifier, images: Array, digits: Array, kinds: dict) -> dict:
    rows, right, scores = [], [], {"belief": [], "reject": [], "proved radius": [], "conflict": []}
    for name, strength, pictures in pile(images, kinds):
        label = classifier.predict(pictures)
        good, belief, passed = label == digits, of_label(classifier, pictures), classifier.reject(pictures)
        left = share(good[~passed]) if not passed.all() else None
        about = {"kind": name, "strength": round(strength, 2), "right": share(good), "belief": share(belief)}
        rows.append({**about, "rejected": share(passed), "right of the rest": left})
        right.append(good)
        for word, told in (
            ("belief", belief),
            ("reject", classifier.trust(pictures)),
            ("proved radius", classifier.certified_radius(pictures)),
            ("conflict", -classifier.conflict(pictures)),
        ):
            scores[word].append(told)
    good = np.concatenate(right)
    return {"rows": rows, "auroc": {name: auroc(good, np.concatenate(told)) for name, told in scores.items()}}


def rivals(images: Array, digits: Array) -> dict:
    """A plain network and three together: accuracy, mean confidence in the label, and how confidence tells errors."""
    X, y = nbr.datasets.mnist()
    networks = [trained(torch.from_numpy(X).float(), torch.from_numpy(y), seed) for seed in range(3)]
    parts = zip(RIVALS, (networks[:1], networks), strict=True)
    return {name: compared(some, images, digits) for name, some in parts}


def compared(networks: list[Small], images: Array, digits: Array) -> dict:
    rows, right, sure = [], [], []
    for name, strength, pictures in pile(images, damage.KINDS):
        with torch.no_grad():
            told = sum(network(torch.from_numpy(pictures).float()).softmax(dim=1) for network in networks)
        found = (told / len(networks)).numpy()
        good, confident = found.argmax(axis=1) == digits, found.max(axis=1)
        about = {"kind": name, "strength": round(strength, 2)}
        rows.append({**about, "right": share(good), "confidence": share(confident)})
        right.append(good)
        sure.append(confident)
    return {"rows": rows, "auroc": auroc(np.concatenate(right), np.concatenate(sure))}


def trained(images: Tensor, labels: Tensor, seed: int) -> Small:
    torch.manual_seed(seed)
    network = Small(labels=10)
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH):
            optimiser.zero_grad()
            cross_entropy(network(images[rows]), labels[rows]).backward()
            optimiser.step()
    return network.eval()


def pile(images: Array, kinds: dict[str, Callable]):
    """Every kind at every strength, the same pictures for everybody."""
    source = torch.Generator().manual_seed(0)
    for name, kind in kinds.items():
        for strength in STRENGTHS:
            found = kind(torch.from_numpy(images), torch.full((len(images),), strength), source)
            yield name, strength, found.clamp(0, 1).numpy()


def of_label(classifier: nbr.RobustClassifier, pictures: Array) -> Array:
    """The belief in the label that is given."""
    label = np.searchsorted(classifier.classes_, classifier.predict(pictures))
    return classifier.belief(pictures)[np.arange(len(label)), label, 0]


def share(values: Array) -> float:
    return round(float(np.mean(values)), 4)


def auroc(right: Array, told: Array) -> float:
    return round(float(roc_auc_score(right, told)), 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mnist-10")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--ours", action="store_true")
    chosen = parser.parse_args()
    main(chosen.model, chosen.output, chosen.ours)
