"""Table 2: classifiers of 4 and 9 under attack (section 4.5 of the paper), and what is proved of them.

Every classifier is trained on the same 11,791 images and attacked on the same test images. Attacks see the margin in
float64. An image whose label is proved to stay needs no attack.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from nbr import datasets
from nbr.classify import NonexpansiveClassifier, RobustClassifier
from nbr.errors import NbrError, suggest
from nbr.kinds import load_as
from nbr.progress import Progress, Watcher, reporter
from nbr.robustness import Measured, Stages, Subject, Target, measure, nearest_others, rivals
from nbr.storage import checkpoints

LABELS = (4, 9)
PRINTED = ("natural", "PGD", "BA", "CW", "SCW", "attacked")
PAPER = {
    name: dict(zip(PRINTED, figures, strict=True))
    for name, figures in {
        "vanilla": (99.7, 48.8, 0.0, 0.0, 0.0, 0.0),
        "Madry": (98.6, 97.8, 10.6, 47.8, 17.6, 1.3),
        "Wong and Kolter": (98.9, 97.7, 15.9, 60.4, 28.3, 12.0),
        "one network": (99.1, 94.4, 42.7, 41.3, 41.3, 41.3),  # the published L2NNN in the paper
        "NBR": (99.1, 92.5, 57.2, 55.5, 55.3, 55.3),
    }.items()
}
CANDIDATES = 4  # for the nearest neighbour
ONE_EPOCHS = 240
AUDITED = 100  # proved images that are attacked all the same
CURVES = ("DDN",)  # attacks that draw the curves: on all images


@dataclass(frozen=True)
class Rival:
    """A classifier as attacks see it, the radius that is proved of each image, and what else an attacker may use."""

    module: nn.Module
    radius: Callable[[Tensor], Tensor]
    surrogate: nn.Module
    raw: nn.Module | None = None


class NearestNeighbour(nn.Module):
    """Minus the distance to the nearest training image of each label; half their gap is a proved radius."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        super().__init__()
        self.parts = [images[labels == label].flatten(1).double() for label in (0, 1)]
        self.quick = [part.float().T.contiguous() for part in self.parts]
        self.squares = [part.square().sum(dim=0) for part in self.quick]

    def forward(self, inputs: Tensor) -> Tensor:
        flat = inputs.flatten(1)
        found = []
        for part, quick, squares in zip(self.parts, self.quick, self.squares, strict=True):
            with torch.no_grad():  # a few candidates in float32; gradients go through the nearest image alone
                few = torch.addmm(squares, flat.float(), quick, alpha=-2).topk(CANDIDATES, largest=False).indices
                nearest = (flat.double()[:, None] - part[few]).square().sum(dim=2).argmin(dim=1)
            chosen = part[few.gather(1, nearest[:, None])[:, 0]]
            found.append(-(flat - chosen.to(flat.dtype)).norm(dim=1))
        return torch.stack(found, dim=1)


@dataclass(frozen=True)
class Data:
    """Training and test images of 4 and 9 as tensors, labels 0 and 1."""

    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor


def data(images: int, seed: int) -> Data:
    """All training images, and all or a fixed random part of the test images."""
    (X, y), (Z, z) = datasets.mnist(LABELS, "train"), datasets.mnist(LABELS, "test")
    tested, truth = torch.from_numpy(Z), torch.from_numpy((z == LABELS[1]).astype("int64"))
    if not 0 < images <= len(tested):
        raise NbrError(f"there are {len(tested):,} test images, so --images is 1 to {len(tested)}")
    if images < len(tested):
        chosen = torch.randperm(len(tested), generator=torch.Generator().manual_seed(seed))[:images].sort().values
        tested, truth = tested[chosen], truth[chosen]
    return Data(torch.from_numpy(X), torch.from_numpy((y == LABELS[1]).astype("int64")), tested, truth)


def classifiers(given: Data, folder: Path, only: Sequence[str], say: Callable[[str], None]) -> dict[str, Rival]:
    """The rows of the table; what has to be trained is kept in the folder."""
    shipped = load_as(RobustClassifier, "mnist-4-9")
    bare, raw = shipped.without_memories(), shipped.raw_module()
    nearest = NearestNeighbour(given.train, given.train_labels)

    def gap(images: Tensor) -> Tensor:
        logits: Tensor = nearest(images)
        return (logits[:, 0] - logits[:, 1]).abs() / 2

    def rival(name: str) -> Callable[[], Rival]:
        return lambda: Rival(_trained(name, given, folder, say).double(), _nothing, raw)

    def one_network() -> Rival:
        one = _one_network(given, folder, say)
        return Rival(one.as_module(), proof(one), raw)

    known: dict[str, Callable[[], Rival]] = {name: rival(name) for name in rivals.SETTINGS}
    known["one network"] = one_network
    known["NBR"] = lambda: Rival(shipped.as_module(), proof(shipped), raw, raw)
    known["NBR without memories"] = lambda: Rival(bare.as_module(), proof(bare), raw, raw)
    known["nearest neighbour"] = lambda: Rival(nearest, gap, raw)
    return {name: known[name]() for name in chosen(only, known)}


def chosen(only: Sequence[str], known: Collection[str]) -> list[str]:
    """The rows asked for, or all, in the order of the table."""
    for name in only:
        if name not in known:
            raise NbrError(f"no row {name!r}" + suggest(name, known))
    return [name for name in known if not only or name in only]


def subject(given: Data, rival: Rival) -> Subject:
    """A classifier with its test images, what is proved of them, and starting points."""
    target = Target(rival.module, raw=rival.raw, surrogate=rival.surrogate)
    starts = nearest_others(given.test, given.test_labels, given.train, given.train_labels, target)
    return Subject(target, given.test, given.test_labels, rival.radius(given.test), starts)


def run(
    subjects: Mapping[str, Subject],
    steps: Mapping[str, Stages],
    epsilon: float,
    folder: Path,
    watch: Watcher,
    jobs: int | None = None,
) -> dict[str, Measured]:
    """Attack every classifier with everything, and some images of the NBR that are proved already."""
    found = {}
    for name, each in subjects.items():

        def told(progress: Progress, name: str = name) -> None:
            watch(replace(progress, stage=f"{name}, {progress.stage}"))

        place, audit = folder / name.replace(" ", "-"), AUDITED if name == "NBR" else 0
        found[name] = measure(
            each, steps, epsilon, place, told, skip_broken=False, everywhere=CURVES, audit=audit, jobs=jobs
        )
    return found


def _nothing(images: Tensor) -> Tensor:
    """The radius that is proved of a classifier without a proof."""
    return torch.zeros(len(images), dtype=torch.float64)


def _trained(name: str, given: Data, folder: Path, say: Callable[[str], None]) -> rivals.Small:
    path = folder / f"rival-{name.replace(' ', '-')}.safetensors"
    told = {"rival": name, "setting": asdict(rivals.SETTINGS[name])}
    known = checkpoints.restore(path, told)
    if known is not None:
        network = rivals.Small(width=rivals.SETTINGS[name].width)
        network.load_state_dict(known[1])
    else:
        after = rivals.SETTINGS[name].after
        start = None if after is None else _trained(after, given, folder, say)
        say(f"{name}: training")
        network = rivals.train(name, given.train, given.train_labels, watch=reporter(True), start=start)
        folder.mkdir(parents=True, exist_ok=True)
        checkpoints.save(path, told, {}, network.state_dict())
    return network.eval().requires_grad_(False)


def _one_network(given: Data, folder: Path, say: Callable[[str], None]) -> NonexpansiveClassifier:
    path = folder / "rival-one-network.nbr"
    if path.exists():
        return load_as(NonexpansiveClassifier, path)
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
