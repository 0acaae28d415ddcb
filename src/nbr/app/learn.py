"""The commands that learn, score and sample: files in, a small report out."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from nbr import plots, tables
from nbr.app import filling
from nbr.app.counting import chunks_of
from nbr.density import misfits, score_large
from nbr.density import score as score_table
from nbr.errors import NbrError
from nbr.kinds import load_reasoner
from nbr.learning import budget, fit_report
from nbr.reasoner import Reasoner
from nbr.storage import hold, write
from nbr.training import here
from nbr.world import World

Report = dict[str, object]
TOLD = 8  # groups of columns that are one variable, and columns that a rule reads


@dataclass(frozen=True)
class Reading:
    """What a user says of tables: kinds of columns as name=kind, columns to leave out, texts for holes, a separator.

    `weight` is the column that says for how many others a row stands; `query` asks databases for their rows.
    """

    columns: list[str]
    drop: list[str]
    na: list[str]
    sep: str | None
    weight: str | None = None
    query: str | None = None

    def read(self, paths: list[Path], world: World | None, seed: int, jobs: int | None) -> tables.Table:
        kinds = {}
        for words in self.columns:
            name, sign, kind = words.rpartition("=")
            if not (name and sign and kind):
                raise NbrError(f"--column {words!r} is not of the form name=kind, such as age=real:0:120")
            kinds[name] = kind
        if self.weight is not None:
            kinds[self.weight] = "real"
        sources = list(paths) if self.query is None else [tables.queried(path, self.query, seed) for path in paths]
        found = tables.learnable(
            sources, world, columns=kinds, drop=self.drop, na=self.na, sep=self.sep, seed=seed, jobs=jobs
        )
        return found if self.weight is None else tables.weighed(found, self.weight, seed)

    def again(self, path: Path, like: tables.Table, seed: int) -> tables.Table:
        """Another table of the same columns."""
        return tables.learnable(path, like.world, na=self.na, sep=self.sep, seed=seed)


@dataclass(frozen=True)
class Learning:
    """How a user wants to learn: settings of `nbr.fit` as words."""

    rules: str
    prior: str
    steps: int | None
    seed: int
    confidence: str
    target: str | None = None
    budget: str = "auto"

    @property
    def seconds(self) -> float | str | None:
        """What `nbr.fit` takes for a budget."""
        if self.budget.lower() in ("auto", "none"):
            return "auto" if self.budget.lower() == "auto" else None
        try:
            return float(self.budget)
        except ValueError:
            raise NbrError(f"--budget must be a number of seconds, auto, or none, not {self.budget!r}") from None

    @property
    def level(self) -> float | None:
        if self.confidence.lower() == "none":
            return None
        try:
            return float(self.confidence)
        except ValueError:
            raise NbrError(f"--confidence must be a number such as 0.95, or none, not {self.confidence!r}") from None


def fit(
    paths: list[Path],
    output: Path,
    valid: Path | None,
    learning: Learning,
    reading: Reading,
    rules_from: Path | None = None,
    page: Path | None = None,
    jobs: int | None = None,
) -> Report:
    """Learn, save and tell; of several processes that torchrun started, the first saves."""
    if output.suffix.lower() != ".nbr":
        raise NbrError(f"the name of a model file must end in .nbr, not {output.name!r}")
    written = None if rules_from is None else load_reasoner(rules_from)
    with hold(output) if here().first else nullcontext():
        level = learning.level
        data = reading.read(paths, None if written is None else written.world, learning.seed, jobs)
        chosen_by = None if valid is None else reading.again(valid, data, learning.seed)
        return _fit(data, output, chosen_by, learning, level, written, page, jobs)


def _fit(
    data: tables.Table,
    output: Path,
    valid: tables.Table | None,
    learning: Learning,
    level: float | None,
    written: Reasoner | None,
    page: Path | None,
    jobs: int | None,
) -> Report:
    if page is not None:
        plots.ready()
    variables = {name: variable.spec for name, variable in data.world.variables.items()}
    _say(f"{data.rows:,} rows, {len(variables)} column{'' if len(variables) == 1 else 's'}: {_kinds(variables)}")
    for note in data.notes:
        _say(note)
    known = load_reasoner(learning.prior) if learning.prior.endswith(".nbr") else learning.prior
    amount = int(learning.rules) if learning.rules.isdigit() else learning.rules
    if learning.rules != "clauses" and written is None:
        _say(budget.told(budget.seconds(learning.seconds, data)))
    began, folder = time.monotonic(), output.with_name(output.name + ".part")
    if folder.exists():
        _say(f"continuing the run that was stopped ({folder})")
    try:
        fitted = fit_report(
            data,
            amount,
            known,
            valid=valid,
            rules_from=written,
            confidence=level,
            target=learning.target,
            seed=learning.seed,
            steps=learning.steps,
            checkpoint=folder,
            progress=here().first,
            n_jobs=jobs,
            budget=learning.seconds,
        )
    except KeyboardInterrupt:
        if folder.exists():  # else it was stopped before anything was worth keeping
            _say(f"stopped; the same command continues from {folder}")
        raise
    if here().first:
        fitted.reasoner.save(output)
    if page is not None and here().first:
        from nbr.app import fit_page

        write(page, fit_page.write(fitted, valid, learning.seed).encode())
    held = fitted.held_out
    return {
        "output": str(output),
        "rows": data.rows,
        "variables": variables,
        "inputs": [list(names) for names in fitted.inputs],
        "rules": len(fitted.reasoner.rules),
        "steps": fitted.steps,
        "prior": fitted.prior,
        "one_variable": fitted.reasoner.model.base.told(),
        "kept": fitted.kept,
        "gains": fitted.won,
        "train_rows": fitted.rows,
        "train_log_likelihood": fitted.train,
        "valid_log_likelihood": None if held is None else held.log_likelihood,
        "valid_standard_error": None if held is None else held.error,
        "valid_measured_on": "nothing: all rows were trained on" if held is None else held.words,
        "seconds": round(time.monotonic() - began, 1),
    }


def score(model: Path, paths: list[Path], rows: int, seed: int, as_json: bool, jobs: int | None = None) -> str:
    reasoner = load_reasoner(model)
    if tables.is_large(list(paths), csv=rows <= 0):  # the rows that fit worst are found among all
        return _score_large(reasoner, paths, rows, seed, as_json, jobs)
    table = tables.read(list(paths), reasoner.world)
    for note in table.notes:
        _say(note)
    scored = score_table(reasoner.model, table, seed, jobs)
    error = {} if scored.exact else {"standard_error": scored.error}
    report: Report = {"mean_log_likelihood": scored.mean, "rows": len(scored.log_prob), "exact": scored.exact, **error}
    if rows <= 0:
        return json.dumps(report) if as_json else shown(report)
    found = misfits(reasoner.model, table, scored.log_prob, rows, seed)
    if as_json:
        return json.dumps(report | {"misfits": [each.as_json() for each in found]})
    return shown(report) + "\n" + filling.misfits(found)


def _score_large(reasoner: Reasoner, paths: list[Path], rows: int, seed: int, as_json: bool, jobs: int | None) -> str:
    if rows > 0:
        raise NbrError("--rows needs a table that fits in memory: leave it out, or score a part of the table")
    found = tables.open_large(list(paths), reasoner.world)
    for note in found.notes:
        _say(note)
    scored = score_large(reasoner.model, found, seed, jobs, chunks_of("parts of the table"))
    error = {} if scored.exact else {"standard_error": scored.error}
    report: Report = {"mean_log_likelihood": scored.mean, "rows": scored.rows, "exact": scored.exact, **error}
    return json.dumps(report) if as_json else shown(report)


LABELS = {
    "inputs": "columns of rules",
    "steps": "training steps",
    "kept": "final training",
    "gains": "gain",
    "train_rows": "rows trained on",
    "train_log_likelihood": "log-likelihood, train",
    "valid_log_likelihood": "log-likelihood, unseen",
    "valid_standard_error": "  standard error",
    "valid_measured_on": "  measured on",
}
WIDE = 24  # of the labels, at least two spaces included


def shown(report: Report) -> str:
    """A report as lines for reading."""
    lines = []
    for name, value in report.items():
        if name == "variables" or (name == "gains" and not value) or (name == "valid_standard_error" and value is None):
            continue
        if name == "valid_log_likelihood" and value is None:
            value = "not measured"
        if name == "prior" and isinstance(value, str):
            value = value.removeprefix("prior: ")
        if isinstance(value, float):
            unit = " nats a row" if name.endswith("log_likelihood") else ""
            value = f"{value:g}" if name == "seconds" else f"{value:.4f}{unit}"
        if isinstance(value, bool):
            value = "yes" if value else "no"
        if name == "inputs" and isinstance(value, list):
            value = "; ".join(_few(names) for names in value)
        if name == "one_variable" and isinstance(value, list):
            lines += [f"{'joint columns':<{WIDE}}{line}" for line in value[:TOLD]]
            lines += [f"{'':<{WIDE}}and {len(value) - TOLD} more such groups of columns"] if len(value) > TOLD else []
            continue
        lines.append(f"{LABELS.get(name, name.replace('_', ' ')):<{WIDE}}{value}")
    return "\n".join(lines)


def _few(names: list[str]) -> str:
    """Names of columns, the first few where there are many.

    >>> _few(["a", "b"]), _few([f"x{at}" for at in range(126)])
    ('a, b', 'x0, x1, x2, x3, x4, x5, x6, x7, .. (126 columns)')
    """
    return ", ".join(names[:TOLD]) + (f", .. ({len(names)} columns)" if len(names) > TOLD else "")


def _kinds(spec: dict[str, object]) -> str:
    shown = [
        f"{name} {'choice' if isinstance(kind, list) else 'number' if isinstance(kind, dict) else kind}"
        for name, kind in spec.items()
    ]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")


def _say(line: str) -> None:
    if here().first:
        print(line, file=sys.stderr, flush=True)
