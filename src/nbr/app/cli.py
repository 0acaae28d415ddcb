"""The commands of `nbr`. Each loads what it needs, so that --help is quick.

Annotations are evaluated where they stand, here and wherever commands are: as texts, typer would compile each of them
twice at every start.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

import nbr
from nbr.app import (
    beginning,
    checking,
    collecting,
    combining,
    comparing,
    deciding,
    distilling,
    filling,
    picturing,
    repeating,
    schema,
    train,
)
from nbr.app.agents import command as agents
from nbr.app.groups import GroupedCommands
from nbr.app.importing import command as importing
from nbr.app.options import Budget, Force, Given, Guard, Jobs, Json, Model, NbrFile, See, Seed, condition, fresh
from nbr.app.serving import command

app = typer.Typer(
    cls=GroupedCommands,
    rich_markup_mode=None,
    help="Ask models of incomplete knowledge: answers are [belief, plausibility] and a conflict.",
)
Plot = Annotated[Path | None, typer.Option(help="Also draw it: a .png, .svg or .pdf file.", metavar="FILE")]
Tables = Annotated[
    list[Path], typer.Argument(help="CSV or Parquet tables, each with its own columns.", metavar="TABLE")
]


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
        str | None,
        typer.Argument(
            help="What to ask, such as 'grass=wet & ~rain'. A name alone ranks its values.", metavar="QUESTION"
        ),
    ] = None,
    given: Given = None,
    see: See = None,
    every: Annotated[bool, typer.Option("--all", help="Show how likely every value of every variable is.")] = False,
    belief: Annotated[bool, typer.Option("--belief", help="With --all: also show belief and plausibility.")] = False,
    batch: Annotated[
        Path | None, typer.Option(help="A CSV file of questions, with the columns question and given.", metavar="FILE")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", callback=fresh, help="With --batch: the CSV file to write.", metavar="FILE"),
    ] = None,
    force: Force = False,
    engine: Annotated[
        str, typer.Option(help="The engine: auto, or one of those listed in docs/guide.md.", metavar="NAME")
    ] = "auto",
    budget: Budget = 10.0,
    tolerance: Annotated[float, typer.Option(help="The width of the bounds at which to stop.", metavar="WIDTH")] = 1e-3,
    grid: Annotated[
        int | None, typer.Option(help="Cut a number that a network reads into N pieces.", metavar="N")
    ] = None,
    seed: Seed = 0,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also show how the answer was computed, and why that way.")
    ] = False,
    plot: Plot = None,
    guard: Guard = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Ask a question and get belief, plausibility and conflict.

    A model with base rates also says how likely it is. The bare name of a variable ranks its values.

    \b
    nbr ask garden.toml rain --given "grass=wet, ~sprinkler"
    nbr ask learned.nbr "income>=3000" --given "age>=40"
    nbr ask learned.nbr --all --given "age>=40"
    """
    from nbr.app import asked, everything
    from nbr.errors import NbrError

    about = condition(given)
    settings = {"engine": engine, "budget": budget, "tolerance": tolerance, "grid": grid, "seed": seed}
    if every or belief:
        others = {"a question": question, "--batch": batch, "--plot": plot}
        typer.echo(everything.answered(model, every, others, about, belief, settings, as_json, see))
    elif batch is not None:
        if see:
            raise NbrError("--batch asks a model without pictures, and cannot be combined with --see")
        typer.echo(asked.many(model, question, about, batch, output, settings, as_json, jobs, guard))
    else:
        for part in asked.one(model, question, about, settings, verbose, plot, as_json, see):
            typer.echo(part)


@app.command()
def explain(
    model: Model,
    question: Annotated[str, typer.Argument(help="What to explain, such as 'grass=wet & ~rain'.", metavar="QUESTION")],
    given: Given = None,
    see: See = None,
    budget: Budget = 10.0,
    plot: Plot = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Explain an answer by the rules behind it.

    Shows the rules that carry the answer, the rules that conflict, a possible point for and one against,
    and what to observe next. The bare name of a choice has all its values, and what speaks for and against each.

    \b
    nbr explain garden.toml sprinkler --given "grass=dry, rain"
    nbr explain garden.toml grass --given rain
    """
    from nbr.app import drawn, explained, opening, slips

    reasoner = opening.opened(model, see)
    slips.noted(reasoner, model, question, condition(given))
    found, told = explained.explained(reasoner, question, condition(given), budget, seed)
    if plot is not None:
        drawn.intervals(found.bars(), found.title, plot)
    typer.echo(json.dumps(found.as_json()) if as_json else told)


app.command()(beginning.init)
app.command()(checking.best)
app.command()(checking.check)
app.command()(deciding.decide)
app.command()(distilling.distil)
app.command()(filling.predict)
app.command()(filling.impute)
app.command()(comparing.compare)
app.command()(collecting.collect)
app.command()(combining.combine)
app.command()(train.train)
app.command()(command.serve)
app.command()(picturing.classify)
app.command()(picturing.certify)
app.command()(picturing.attack)
app.command()(picturing.data)
app.command()(repeating.reproduce)
app.command()(schema.schema)
app.command()(agents.mcp)
app.command("import")(importing.imported)


@app.command()
def show(
    model: Model,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Show the variables, rules and beliefs of a model."""
    from nbr.app import drawn, screen
    from nbr.kinds import load

    found = load(model)
    if plot is not None:
        drawn.rules(found, plot)
    typer.echo(json.dumps(screen.model_json(found)) if as_json else screen.model(found, model.name))


@app.command()
def fit(
    table: Tables,
    output: NbrFile,
    force: Force = False,
    valid: Annotated[
        Path | None, typer.Option(help="A validation table. Default: a tenth of the rows.", metavar="TABLE")
    ] = None,
    rules: Annotated[
        str, typer.Option(help="Rules to learn for each set of columns: a number, auto, or clauses.", metavar="RULES")
    ] = "auto",
    rules_from: Annotated[
        Path | None, typer.Option(help="A model whose rules are kept; only their beliefs are learned.", metavar="MODEL")
    ] = None,
    prior: Annotated[
        str, typer.Option(help="The prior: auto, uniform, marginals, trees, or a .nbr file.", metavar="PRIOR")
    ] = "auto",
    column: Annotated[
        list[str] | None, typer.Option(help="The kind of a column, such as age=real:0:120.", metavar="NAME=KIND")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out.", metavar="NAME")] = None,
    na: Annotated[list[str] | None, typer.Option(help="A text that means 'not observed'.", metavar="TEXT")] = None,
    sep: Annotated[
        str | None, typer.Option(help="The character that separates the columns of a CSV file.", metavar="SIGN")
    ] = None,
    confidence: Annotated[
        str,
        typer.Option(
            help="The confidence level of beliefs, which are lower limits; none: the most likely beliefs.",
            metavar="LEVEL",
        ),
    ] = "0.95",
    target: Annotated[
        str | None, typer.Option(help="With --rules clauses: learn about this column first.", metavar="NAME")
    ] = None,
    budget: Annotated[
        str,
        typer.Option(help="Time to learn. auto: 60, for large tables 240. none: no limit.", metavar="SECONDS"),
    ] = "auto",
    weight: Annotated[
        str | None, typer.Option(help="A column of weights: how many rows each row stands for.", metavar="NAME")
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="An SQL query; the tables are then SQLite or DuckDB files.", metavar="SQL")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="The largest number of training steps.", metavar="N")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML report on what was learned.", metavar="FILE")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Learn a model from one or more tables.

    Tables may have different columns. An empty cell was not observed. A run that was stopped continues
    where it was.

    \b
    nbr fit survey.csv work.csv -o learned.nbr
    nbr fit survey.csv --rules clauses -o readable.nbr --report survey.html
    """
    from nbr.app import learn
    from nbr.training import here

    reading = learn.Reading(column or [], drop or [], na or [], sep, weight, query)
    learning = learn.Learning(rules, prior, steps, seed, confidence, target, budget)
    told = learn.fit(table, output, valid, learning, reading, rules_from, report, jobs)
    if here().first:
        typer.echo(json.dumps(told) if as_json else learn.shown(told))


@app.command()
def score(
    model: Model,
    table: Tables,
    rows: Annotated[
        int, typer.Option(help="Also show the N rows that fit worst, and their unusual cells.", metavar="N")
    ] = 0,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Score a table: the mean log-likelihood of its rows.

    In nats; empty cells are summed over.
    """
    from nbr.app import learn

    typer.echo(learn.score(model, table, rows, seed, as_json, jobs))


@app.command()
def sample(
    model: Model,
    count: Annotated[int, typer.Option("-n", "--count", help="The number of rows.", metavar="N")] = 10,
    given: Annotated[str | None, typer.Option(help="A condition that every row meets.", metavar="CONDITION")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", callback=fresh, help="A CSV or Parquet file. Default: the screen.", metavar="FILE"
        ),
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    guard: Guard = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Draw rows from a model, as CSV.

    \b
    nbr sample learned.nbr -n 1000 --given "age>=40" -o rows.csv
    """
    from nbr.app import sampling

    typer.echo(sampling.sample(model, count, given, output, seed, as_json, jobs, guard), nl=False)
