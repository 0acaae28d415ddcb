"""`nbr train`: from class folders of pictures to a classifier with a proof, and its worth on pictures held out.

With a model and a table of examples, its sensors learn from statements: see `nbr.app.teaching`.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nbr.app import teaching
from nbr.app.options import Force, Jobs, Json, fresh

if TYPE_CHECKING:
    from nbr.classify import Files, Pile

Report = dict[str, Any]
FOLDER = Annotated[
    Path,
    typer.Argument(help="A folder with a sub-folder of pictures for each label; or a model.", metavar="FOLDER|MODEL"),
]
EXAMPLES = Annotated[
    Path | None,
    typer.Argument(help="With a model: file names in a column for each variable, and what is known.", metavar="CSV"),
]
SAYS = Annotated[
    str | None,
    typer.Option(help="With a model: a statement that holds for every row, such as '10*a + b = s', with s a column."),
]
NETWORK = Annotated[
    str | None, typer.Option(help="With a model: lenet, convolutional, dense, or nonexpansive, which has proofs.")
]
BELIEFS = Annotated[bool, typer.Option("--beliefs", help="With a model: learn the beliefs of its rules, too.")]
GROUPS = Annotated[
    int | None,
    typer.Option(
        help="With a model: cluster the pictures into N groups, and find out which labels stay open.", metavar="N"
    ),
]
SIDE = 32
OUTPUT = Annotated[
    Path, typer.Option("-o", "--output", callback=fresh, help="The .nbr file for the classifier.", metavar="MODEL.nbr")
]
EPSILON = Annotated[
    float | None,
    typer.Option(help="The L2 length of the changes to resist. Default: chosen from the data."),
]
SIZE = Annotated[int, typer.Option(help="Scale larger pictures to N pixels on their longer side.")]
EPOCHS = Annotated[int | None, typer.Option(help="The number of passes over the pictures in training.")]
SEED = Annotated[int, typer.Option(help="The seed of all randomness.")]
FEWEST = 5  # pictures of a label, so that one can be held out
HELD = 0.2  # of each label
FEW = 2000  # pictures, below which they are looked at oftener and fewer at a time
EPOCHS_OF_FEW, BATCH_OF_FEW = 200, 64


def train(
    folder: FOLDER,
    output: OUTPUT,
    examples: EXAMPLES = None,
    force: Force = False,
    epsilon: EPSILON = None,
    size: SIZE = SIDE,
    epochs: EPOCHS = None,
    says: SAYS = None,
    network: NETWORK = None,
    beliefs: BELIEFS = False,
    groups: GROUPS = None,
    seed: SEED = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Train a classifier from folders of pictures, or a model's sensors from statements.

    The folder has a sub-folder of pictures for each label: grey or colour, of any size. With a model, the
    table has a column of picture files for each variable that is seen and a column `says`, such as
    "d1 + d2 = 7". A run that was stopped continues where it was.

    \b
    nbr train pictures -o mine.nbr
    nbr train sums.toml sums.csv -o reader.nbr
    """
    from nbr.errors import NbrError
    from nbr.storage import hold

    if output.suffix.lower() != ".nbr":
        raise NbrError(f"the name of a model file must end in .nbr, not {output.name!r}")
    if size < 1:
        raise NbrError(f"the size must be a number of pixels, at least 1, not {size}")
    if epochs is not None and epochs < 1:
        raise NbrError(f"the number of epochs must be at least 1, not {epochs}")
    if examples is not None:
        teaching.check(epsilon, size, SIDE)
        with hold(output):
            report = teaching.taught(folder, examples, output, says, network, beliefs, epochs, groups, seed, jobs)
        typer.echo(json.dumps(report) if as_json else teaching.shown(report))
        return
    if says is not None or network is not None or beliefs:
        raise NbrError("--says, --network and --beliefs need a model and a table: nbr train MODEL EXAMPLES.csv -o ..")
    with hold(output):
        report = _trained(folder, output, epsilon, size, epochs, seed, jobs)
    typer.echo(json.dumps(report) if as_json else _shown(report))


def _trained(
    folder: Path, output: Path, epsilon: float | None, size: int, epochs: int | None, seed: int, jobs: int | None
) -> Report:
    import time

    from nbr.app.classifying import aside
    from nbr.classify import Preparation, RobustClassifier, comparison_file, folders

    files = folders.listed(folder)
    _check(files, folder)
    looked = folders.survey(files, jobs)
    preparation = Preparation("scale", looked.shape(size), (0.0, 1.0))
    aside(f"{folder}: {looked.words()}; {len(files.known)} labels")
    aside(f"picture files: {preparation.words()}")
    learn, held = _split(files, seed)
    pile = folders.read(learn, preparation, jobs)
    for note in pile.notes:
        aside(note)
    aside(_proposed(pile, learn, epsilon))
    few = len(learn.paths) < FEW
    part = output.with_name(output.name + ".part")
    if part.exists() or comparison_file(part).exists():
        aside(f"continuing the run that was stopped ({part})")
    start = time.monotonic()
    classifier = RobustClassifier(
        "auto" if epsilon is None else epsilon,
        box=(0, 1),
        preparation="scale",
        epochs=epochs or (EPOCHS_OF_FEW if few else "auto"),
        batch_size=BATCH_OF_FEW if few else RobustClassifier().batch_size,
        random_state=seed,
        checkpoint=part,
        verbose=True,
    )
    try:
        classifier.fit(pile.pixels, learn.labels)
    except KeyboardInterrupt:
        if part.exists() or comparison_file(part).exists():
            aside(f"stopped; the same command continues from {part}")
        raise
    figures = _measured(classifier, held, folders.read(held, preparation, jobs))
    figures |= {"made_of": next(iter(classifier.contents())), "compared": classifier.recipe_.get("worth", {})}
    figures |= {"learned_from": len(learn.paths), "seconds": round(time.monotonic() - start)}
    classifier.figures_ = {"data": folder.name, **figures}
    classifier.save(output)
    return {"output": str(output), "labels": files.known, "preparation": preparation.as_json(), **figures}


def _check(files: "Files", folder: Path) -> None:
    from nbr.errors import NbrError

    if len(files.known) < 2:
        raise NbrError(f"{folder} has one label, {files.known[0]!r}; a classifier needs two sub-folders or more")
    for label in files.known:
        count = files.labels.count(label)
        if count < FEWEST:
            raise NbrError(f"{folder / label} has {count} pictures; {FEWEST} or more are needed, to hold one out")


def _proposed(pile: "Pile", learn: "Files", epsilon: float | None) -> str:
    """The length to be robust at, and where it comes from, in words."""
    from nbr.classify import CLOSE_SHARE, RobustClassifier, suggested_epsilon

    if epsilon is not None:
        return f"to be robust at L2 {epsilon:g} of the prepared picture, as requested"
    sample = RobustClassifier(box=(0, 1), preparation="scale")._sample(pile.pixels, learn.labels)
    length = suggested_epsilon(sample)
    words = f"to be robust at L2 {length:.2g} of the prepared picture"
    if pile.stretch is not None and abs(pile.stretch - 1) > 1e-9:
        words += f", which is {length / pile.stretch:.2g} of the file"
    apart = length / CLOSE_SHARE
    usual = f"the nearest picture of another label is usually {apart:.2g} away, and this is a quarter of that"
    return f"{words}: {usual}; --epsilon sets another"


def _split(files: "Files", seed: int) -> "tuple[Files, Files]":
    """Files to learn from, and some of each label that are held out."""
    from sklearn.model_selection import StratifiedShuffleSplit

    count = max(round(HELD * len(files.paths)), len(files.known))
    splitter = StratifiedShuffleSplit(1, test_size=count, random_state=seed)
    learn, held = next(splitter.split(files.labels, files.labels))
    return files.only(sorted(learn.tolist())), files.only(sorted(held.tolist()))


def _measured(classifier: Any, held: "Files", pile: "Pile") -> Report:
    """What it is worth on pictures that it has not seen, at the length that it was made for; of files where that is
    known of all of them."""
    import numpy as np

    right = classifier.predict(pile.pixels) == np.array(held.labels)
    radius = classifier.certified_radius(pile.pixels)
    epsilon, stretch = float(classifier.recipe_["epsilon"]), pile.stretch
    if stretch is not None:
        radius = np.array([each.proved(float(far)) for each, far in zip(pile.prepared, radius, strict=True)])
    length = float(f"{epsilon / (stretch or 1.0):.2g}")  # a length that one can say
    return {
        "held_out": len(right),
        "right": float(right.mean()),
        "epsilon": epsilon,
        "length": length,
        "proved": float((right & (radius > length)).mean()),
        "proved_of": pile.prepared[0].proved_of if stretch is not None else "prepared picture",
        "median_radius": float(np.median(radius)),
    }


def _shown(report: Report) -> str:
    """In words."""
    from nbr.app.screen import apart

    what = "the file, pixels from 0 to 1," if report["proved_of"] == "file" else "the prepared picture"
    change = f"no change of {what} of L2 length {report['length']:g} alters the label"
    kind = ", by linear rules, which were as good as networks" if report["made_of"] == "linear rules" else ""
    lines = [
        f"{report['output']}: {apart(report['labels'])}{kind}",
        f"  right on {report['right']:.0%}; proved of {report['proved']:.0%}: {change}",
        f"  measured on {report['held_out']:,} held-out pictures; learned from {report['learned_from']:,}",
    ]
    if report["right"] < (1 + 1 / len(report["labels"])) / 2:
        lines.append("  that is close to guessing: more pictures, or pictures that differ more, would help")
    return "\n".join(lines)
