"""`nbr reproduce`: train, compare with the paper, and write a report."""

from __future__ import annotations

import json
import platform
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path

import typer

from nbr import clock, plots
from nbr.errors import DISTRIBUTION, NbrError
from nbr.paper import REPRODUCED, STEPS, TABLE_1, TrainedModel, table1_report
from nbr.parallel import mapped
from nbr.progress import Watcher, reporter, silent
from nbr.storage import write

SEED, EPSILON = 0, 2.0  # of tables 2 and 3


def table1(seeds: int, output: Path, as_json: bool, jobs: int | None = None) -> None:
    """Table 1, learned and printed; an answer that is off, after all that training: exit code 1."""
    if seeds < 1:
        raise NbrError(f"the number of seeds must be at least 1, not {seeds}")
    plots.ready()
    runs = []
    watch = reporter(True) if jobs in (None, 1) else silent  # bars of several processes would overwrite each other
    for run in mapped(partial(_trained, watch), [(model, seed) for model in STEPS for seed in range(seeds)], jobs):
        runs.append(run)
        print(f"{run.model}, seed {run.seed}: {run.seconds:.0f} s", file=sys.stderr, flush=True)
    write(output, table1_report.page(runs).encode())
    typer.echo(json.dumps(_plain(runs, output)) if as_json else _shown(runs, output))
    if any(run.error > REPRODUCED for run in runs):
        typer.echo(f"not reproduced: an answer is more than {REPRODUCED} from the exact optimum", err=True)
        raise typer.Exit(1)


def _trained(watch: Watcher, which: tuple[str, int]) -> TrainedModel:
    return TABLE_1.train(*which, watch)


def attacked(
    table: str,
    budget: str,
    images: int,
    only: list[str],
    folder: Path,
    output: Path,
    as_json: bool,
    jobs: int | None = None,
    longer: float | None = None,
) -> str:
    """Tables 2 and 3: classifiers under attack, and for so many minutes what they leave open."""
    from nbr.paper import attack_report, gallery, open_images, table2, table3
    from nbr.robustness import oracle_radii, rivals, steps_of

    plots.ready()
    until = clock.now() + 60 * (longer or 0)
    steps = steps_of(budget, None)
    given = table2.data(images, SEED)
    known = table2.classifiers(given, folder, only, _said) if table == "table2" else table3.classifiers(given, only)
    subjects = {name: table2.subject(given, rival) for name, rival in known.items()}
    place = folder / f"{len(given.test)}-images"
    found = table2.run(subjects, steps, EPSILON, place, reporter(True), jobs)
    opened = [] if longer is None else open_images.attacked(subjects, found, place, reporter(True), until)
    rows = gallery.chosen(given.test_labels)
    near = {name: gallery.nearest(each, rows, EPSILON) for name, each in subjects.items()}
    told = attack_report.rows(found, table2.PAPER if table == "table2" else table3.PAPER)
    checked = attack_report.checks(found)
    pictures = [attack_report.curves(found), gallery.picture(given.test[rows], near)]
    words = attack_report.oracle(oracle_radii(given.train, given.train_labels))
    plain = {
        "command": f"nbr reproduce {table} --budget {budget} --images {images}",
        "budget": budget,
        "steps": steps,
        "seed": SEED,
        "epsilon": EPSILON,
        "versions": _versions(),
        "rivals": {name: asdict(setting) for name, setting in rivals.SETTINGS.items() if name in found},
        "rows": told,
        "checks": dict(checked),
        "oracle": words,
        "report": output.name,
    }
    if opened:
        plain["open"] = open_images.plain(opened)
    further = open_images.section(opened) if opened else ""
    how = f"{words} {plain['command']}; steps: {_counted(steps)}; seed {SEED}; {plain['versions']}"
    write(output, attack_report.page(table.replace("table", "Table "), told, checked, pictures, how, further).encode())
    write(output.with_suffix(".csv"), attack_report.table(told).encode())
    write(output.with_suffix(".json"), (json.dumps(plain, indent=1) + "\n").encode())
    further_on = [textwrap.fill(each, 80) for each in (words, *map(open_images.words, opened))]
    lines = [attack_report.text(told, checked), *further_on, f"report: {output}"]
    return json.dumps(plain) if as_json else "\n\n".join(lines)


def _counted(steps: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {' then '.join(map(str, stages))}" for name, stages in steps.items())


def _versions() -> str:
    """What the figures were made with."""
    known = {name: version(name) for name in (DISTRIBUTION, "torch", "foolbox", "numpy", "scikit-learn")}
    return ", ".join(f"{name} {told}" for name, told in {"Python": platform.python_version(), **known}.items())


def _said(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _plain(runs: list[TrainedModel], output: Path) -> dict[str, object]:
    models = [
        {
            "model": run.model,
            "seed": run.seed,
            "answers": run.answers,
            "error": run.error,
            "excess": run.excess,
            "beliefs": run.reasoner.beliefs.tolist(),
            "seconds": run.seconds,
        }
        for run in runs
    ]
    exact = [{"given": q.given, "asked": q.asked, "paper": q.paper, "exact": q.exact} for q in TABLE_1.questions]
    return {"questions": exact, "runs": models, "report": str(output)}


def _shown(runs: list[TrainedModel], output: Path) -> str:
    models = list(dict.fromkeys(run.model for run in runs))
    lines = ["  " + "".join(f"{name:<18}" for name in ("paper", "exact", *models)).rstrip()]
    for number, question in enumerate(TABLE_1.questions):
        ours = [next(run for run in runs if run.model == model).answers[number] for model in models]
        paper = f"[{question.paper[0]}, {question.paper[1]}]"
        intervals = [f"[{low:.4f}, {high:.4f}]" for low, high in (question.exact, *ours)]
        told = "".join(f"{each:<18}" for each in (paper, *intervals)).rstrip()
        lines += [f"{question.asked} given {question.given}", f"  {told}"]
    lines += ["", f"{'model':<14}{'seed':<6}{'largest error':<16}{'below best likelihood':<24}seconds"]
    for run in runs:
        lines.append(f"{run.model:<14}{run.seed:<6}{run.error:<16.5f}{run.excess:<24.1e}{run.seconds:.0f}")
    return "\n".join([*lines, "", f"report: {output}"])
