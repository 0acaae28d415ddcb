"""Table 2: classifiers of 4 and 9 under attack (section 4.5 of the paper), and what is proved of them.

Every classifier is trained on the same 11,791 images and attacked on the same test images. Attacks see the margin in
float64. An image whose label is proved to stay needs no attack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn

from nbr import datasets
from nbr.classify.nonexpansive import NonexpansiveClassifier
from nbr.files import load, write
from nbr.robustness import rivals
from nbr.robustness.protocol import Measured, Subject, Watcher, measure, nearest_others
from nbr.robustness.target import Target

LABELS = (4, 9)
PRINTED = ("natural", "PGD", "BA", "CW", "SCW", "attacked")
PAPER = {
    name: dict(zip(PRINTED, figures, strict=True))
    for name, figures in {
        "vanilla": (99.7, 48.8, 0.0, 0.0, 0.0, 0.0),
        "Madry": (98.6, 97.8, 10.6, 47.8, 17.6, 1.3),
        "interval": (98.9, 97.7, 15.9, 60.4, 28.3, 12.0),  # Wong and Kolter's in the paper
        "one network": (99.1, 94.4, 42.7, 41.3, 41.3, 41.3),  # the published L2NNN in the paper
        "NBR": (99.1, 92.5, 57.2, 55.5, 55.3, 55.3),
    }.items()
}
ONE_EPOCHS = 120


@dataclass(frozen=True)
class Rival:
    """A classifier as attacks see it, and the radius that is proved of each image."""

    module: nn.Module
    radius: Callable[[Tensor], Tensor]


class NearestNeighbour(nn.Module):
    """Minus the distance to the nearest training image of each label; half their gap is a proved radius."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        super().__init__()
        self.parts = [images[labels == label].flatten(1).double() for label in (0, 1)]

    def forward(self, inputs: Tensor) -> Tensor:
        flat = inputs.flatten(1)
        return torch.stack([-torch.cdist(flat, part.to(flat.dtype)).amin(dim=1) for part in self.parts], dim=1)


@dataclass(frozen=True)
class Data:
    """Training and test images of 4 and 9 as tensors, labels 0 and 1."""

    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor


def data(images: int | None, seed: int) -> Data:
    """All training images, and all or a fixed random part of the test images."""
    (X, y), (Z, z) = datasets.mnist(LABELS, "train"), datasets.mnist(LABELS, "test")
    tested, truth = torch.from_numpy(Z), torch.from_numpy((z == LABELS[1]).astype("int64"))
    if images is not None and images < len(tested):
        chosen = torch.randperm(len(tested), generator=torch.Generator().manual_seed(seed))[:images].sort().values
        tested, truth = tested[chosen], truth[chosen]
    return Data(torch.from_numpy(X), torch.from_numpy((y == LABELS[1]).astype("int64")), tested, truth)


def classifiers(given: Data, folder: Path, say: Callable[[str], None]) -> dict[str, Rival]:
    """Every row of the table; what has to be trained is kept in the folder."""
    found: dict[str, Rival] = {}
    for name in rivals.SETTINGS:
        module = _trained(name, given, folder, say).double()
        found[name] = Rival(module, lambda images: torch.zeros(len(images), dtype=torch.float64))
    one = _one_network(given, folder, say)
    found["one network"] = Rival(one.as_module(), proof(one))
    shipped = load("mnist-4-9")
    bare = shipped.without_memories()
    found["NBR"] = Rival(shipped.as_module(), proof(shipped))
    found["NBR without memories"] = Rival(bare.as_module(), proof(bare))
    nearest = NearestNeighbour(given.train, given.train_labels)

    def gap(images: Tensor) -> Tensor:
        logits: Tensor = nearest(images)
        return (logits[:, 0] - logits[:, 1]).abs() / 2

    found["nearest neighbour"] = Rival(nearest, gap)
    return found


def run(
    given: Data, rows: Mapping[str, Rival], steps: Mapping[str, int], epsilon: float, folder: Path, watch: Watcher
) -> dict[str, Measured]:
    """Attack every classifier with everything."""
    found = {}
    for name, rival in rows.items():
        target = Target(rival.module)
        starts = nearest_others(given.test, given.test_labels, given.train, given.train_labels, target)
        subject = Subject(target, given.test, given.test_labels, rival.radius(given.test), starts)

        def told(attack: str, done: int, of: int, left: float, name: str = name) -> None:
            watch(f"{name}, {attack}", done, of, left)

        found[name] = measure(subject, steps, epsilon, folder / name.replace(" ", "-"), told, skip_broken=False)
    return found


def _trained(name: str, given: Data, folder: Path, say: Callable[[str], None]) -> rivals.Small:
    path = folder / f"rival-{name.replace(' ', '-')}.safetensors"
    network = rivals.Small()
    if path.exists():
        network.load_state_dict(safetensors.torch.load(path.read_bytes()))
        return network.eval()
    network = rivals.train(
        name, given.train, given.train_labels, watch=lambda *told: say(f"{told[0]}: epoch {told[1]}")
    )
    folder.mkdir(parents=True, exist_ok=True)
    write(path, safetensors.torch.save({key: value.contiguous() for key, value in network.state_dict().items()}))
    return network


def _one_network(given: Data, folder: Path, say: Callable[[str], None]) -> NonexpansiveClassifier:
    path = folder / "rival-one-network.nbr"
    if path.exists():
        kept: NonexpansiveClassifier = load(path)
        return kept
    say("one network: training")
    folder.mkdir(parents=True, exist_ok=True)
    one = NonexpansiveClassifier(
        2.0, widths=(384,) * 5, epochs=ONE_EPOCHS, box=(0, 1), random_state=0, checkpoint=f"{path}.part", verbose=True
    ).fit(given.train.numpy(), given.train_labels.numpy())
    one.save(path)
    return one


def proof(classifier: object) -> Callable[[Tensor], Tensor]:
    """The radius that a classifier proves of images."""
    return lambda images: torch.from_numpy(classifier.certified_radius(images.numpy()))  # type: ignore[attr-defined]
