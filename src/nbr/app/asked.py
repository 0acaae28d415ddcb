"""The command that asks: one question, or a file of them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from nbr.app import drawn, often, screen, slips
from nbr.app.guarding import guarded
from nbr.app.opening import opened
from nbr.asking import ANSWER_COLUMNS, PROBABILITY_COLUMNS, AskSettings, Question, ask_many, bare_name
from nbr.density import Probability, probabilities
from nbr.errors import NbrError
from nbr.kinds import load_reasoner
from nbr.language import as_statement
from nbr.parallel import mapped, pieces
from nbr.reasoner import Reasoner
from nbr.storage import write

CHUNK = 500  # questions answered at a time
SECONDS = 2.0  # between looks at the disk


def one(
    model: Path,
    question: str | None,
    given: str | None,
    settings: dict[str, Any],
    verbose: bool,
    plot: Path | None,
    as_json: bool,
    see: list[str] | None = None,
) -> Iterator[str]:
    """The answer to one question in parts, each as soon as it is there: first how often, then what the rules say."""
    start = time.monotonic()
    if question is None:
        raise NbrError("a question is missing: nbr ask MODEL QUESTION, or --batch FILE")
    reasoner, budget = opened(model, see), settings["budget"]
    slips.noted(reasoner, model, question, given)
    if (variable := bare_name(reasoner.world, question)) is not None:
        yield from _values(reasoner, variable, given, settings, plot, as_json)
        return
    found = often.quick(reasoner, question, given, budget, settings["seed"])
    if found is not None and not as_json:
        yield often.first(question, given, found)
        names = sorted(as_statement(question, reasoner.world, "question").names())
        if (told := often.silent(reasoner, names, given)) is not None and plot is None:
            yield told
            return
    answer = reasoner.ask(question, given, **{**settings, "budget": often.left(start, budget)})
    for note in answer.notes:
        print(note, file=sys.stderr)
    if verbose:
        for line in answer.how:
            print(line, file=sys.stderr)
    if plot is not None:
        value = found.value if isinstance(found, Probability) else None
        drawn.intervals([answer.bar(often=value)], answer.title, plot)
    if as_json:
        yield json.dumps(often.as_json(answer, found))
    else:
        yield screen.answer(answer) if found is None else screen.beside(answer)


def _values(
    reasoner: Reasoner, variable: str, given: str | None, settings: dict[str, Any], plot: Path | None, as_json: bool
) -> Iterator[str]:
    """All values of a variable: how often each is, or the quantiles of a number, then belief and plausibility."""
    start = time.monotonic()
    found = often.ranked(reasoner, variable, given, settings["budget"], settings["seed"])
    if found is not None and not as_json:
        yield often.shown(variable, given, found)
        if (told := often.silent(reasoner, [variable], given)) is not None and plot is None:
            yield told
            return
    left = often.left(start, settings["budget"])
    ranked = reasoner.rank(variable, given, budget=left, seed=settings["seed"])
    if plot is not None:
        drawn.intervals(ranked.bars(), ranked.title, plot)
    if as_json:
        yield json.dumps(often.ranked_json(ranked, found))
    else:
        yield screen.ranking(ranked) if found is None else f"\n{screen.RULES}\n\n{screen.ranked(ranked)}"


def many(
    model: Path,
    question: str | None,
    given: str | None,
    batch: Path,
    output: Path | None,
    settings: dict[str, Any],
    as_json: bool,
    jobs: int | None = None,
    guard: bool = False,
) -> str:
    """Answer a file of questions; a run that was stopped goes on from the file OUTPUT.part."""
    if question is not None or given is not None:
        raise NbrError("with --batch, questions and conditions are in the file")
    reasoner, questions = load_reasoner(model), _questions(batch)
    part = None if output is None else output.with_name(output.name + ".part")
    label = _label(model, questions, settings)
    rows = _restored(part, label)
    if rows:
        print(f"continuing after {len(rows):,} of {len(questions):,} questions ({part})", file=sys.stderr)
    known, saved = len(rows), time.monotonic()
    chunks = [slice(known + each.start, known + each.stop) for each in pieces(len(questions) - known, CHUNK)]
    work = partial(_rows_of, reasoner, questions, AskSettings(**settings))
    try:
        for some in mapped(work, chunks, jobs):
            rows += some
            if part is not None and time.monotonic() - saved > SECONDS and len(rows) < len(questions):
                _keep(part, label, rows)
                saved = time.monotonic()
                print(f"{len(rows):,} of {len(questions):,} questions", file=sys.stderr)
    except BaseException:  # Ctrl-C too
        if part is not None and len(rows) > known:
            _keep(part, label, rows)
        raise
    columns = ANSWER_COLUMNS if reasoner.model.prior is None else (*ANSWER_COLUMNS, *PROBABILITY_COLUMNS)
    answers = [dict(zip(columns, row, strict=True)) for row in rows]
    table = _csv(
        columns, [[guarded(each) if isinstance(each, str) else each for each in row] for row in rows] if guard else rows
    )
    said = json.dumps({"answers": answers}) if as_json else table
    if output is None:
        return said.rstrip("\n")
    write(output, table.encode())
    if part is not None:
        part.unlink(missing_ok=True)
    return said if as_json else f"{output}: {len(rows):,} answers"


def _questions(path: Path) -> list[Question]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if "question" not in (reader.fieldnames or ()):
                raise NbrError(
                    f"{path}: there is no column 'question'; the first line names the columns question, given"
                )
            return [
                ((row["question"] or "").strip(), (row.get("given") or "").strip() or None)
                for row in _rows(reader, path)
            ]
    except OSError as error:
        raise NbrError(f"cannot read {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise NbrError(f"{path}: not a CSV file: {error}") from None


def _rows(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    for row in reader:
        if not (row["question"] or "").strip():
            raise NbrError(f"{path}: row {reader.line_num} has no question")
        yield row


def _rows_of(reasoner: Reasoner, questions: list[Question], settings: AskSettings, some: slice) -> list[list[object]]:
    asked = questions[some]
    answers = ask_many(reasoner.model, asked, settings, first=some.start + 1)
    rows: list[list[object]] = [[getattr(answer, name) for name in ANSWER_COLUMNS] for answer in answers]
    if reasoner.model.prior is None:
        return rows
    known = probabilities(reasoner.model, asked, settings.budget, settings.seed)
    return [[*row, *(each or (None, None))] for row, each in zip(rows, known, strict=True)]


def _csv(columns: tuple[str, ...], rows: list[list[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _label(model: Path, questions: list[Question], settings: dict[str, Any]) -> str:
    """A fingerprint of all that decides the answers."""
    digest = hashlib.sha256(model.read_bytes() if model.exists() else str(model).encode())
    digest.update(json.dumps([questions, settings]).encode())
    return digest.hexdigest()


def _keep(part: Path, label: str, rows: list[list[object]]) -> None:
    write(part, json.dumps({"run": label, "rows": rows}).encode())


def _restored(part: Path | None, label: str) -> list[list[object]]:
    if part is None or not part.exists():
        return []
    try:
        kept = json.loads(part.read_bytes())
        return list(kept["rows"]) if kept["run"] == label else []
    except (ValueError, KeyError, TypeError):
        return []
