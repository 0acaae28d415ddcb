"""Commands for those who write rules: the most plausible point, and a check of a rule base."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Budget, Force, Given, Json, Model, See, SeeTable, condition, fresh

if TYPE_CHECKING:
    from nbr.asking import Check, ExpectationResult
    from nbr.reasoner import Reasoner

MOST = 10  # findings of a kind on the screen


def best(
    model: Model,
    given: Given = None,
    see: See = None,
    see_table: SeeTable = None,
    count: Annotated[int, typer.Option(help="The number of points, the best first.", metavar="N")] = 1,
    budget: Budget = 10.0,
    as_json: Json = False,
) -> None:
    """Find the most plausible point: a value for every variable.

    By the rules, times the base rates if the model has them.
    """
    from nbr.app import opening, screen
    from nbr.errors import NbrError

    if see_table is not None:
        if see or count != 1:
            raise NbrError("--see-table gives one reading for each line, and cannot be combined with --see or --count")
        from nbr.app import seeing

        typer.echo(seeing.best(model, see_table, condition(given), as_json))
        return
    reasoner = opening.opened(model, see)
    found = reasoner.best(condition(given), count, budget=budget)
    typer.echo(json.dumps(found.as_json()) if as_json else screen.best(found, reasoner))


TUNE = Annotated[bool, typer.Option("--tune", help="Fit beliefs to the probabilities that are expected.")]
OUTPUT = Annotated[
    Path | None,
    typer.Option("-o", "--output", callback=fresh, help="With --tune, the model with these beliefs.", metavar="FILE"),
]


def check(
    model: Model,
    tune: TUNE = False,
    output: OUTPUT = None,
    force: Force = False,
    budget: Budget = 10.0,
    as_json: Json = False,
) -> None:
    """Check the rules of a model, and the answers it should give.

    Finds rules that never matter, follow from others or contradict each other. The exit code is 1 if an
    expected answer fails. The budget is for looking at the rules; each expected answer has as much again.
    """
    from nbr.app import slips
    from nbr.asking import AskSettings, expecting
    from nbr.errors import NbrError
    from nbr.kinds import load_reasoner
    from nbr.storage import container

    reasoner = load_reasoner(model)
    written = container.from_toml(container.read(model)) if model.suffix.lower() == ".toml" else {}
    try:
        expected = expecting.read(written)
        if tune or output is not None:
            said = _tuned(reasoner, expecting.often(expected), output, budget, as_json)
            if output is not None and output.suffix.lower() == ".toml":  # what is expected stays with the rules
                saved = container.from_toml(container.read(output))
                container.save_toml({**saved, "expect": written["expect"]}, output)
            typer.echo(said)
            return
        verdicts = list(expecting.judged(reasoner.model, expected, AskSettings(budget=budget)))
    except NbrError as error:
        raise NbrError(f"{model}: {error}") from None
    slips.noted(reasoner, model)
    found = reasoner.check(budget=budget)
    head = f"{model.name}: {_count(len(reasoner.world), 'variable')}, {_count(len(reasoner.rules), 'rule')}"
    told = {**found.as_json(), "expected": [each.as_json() for each in verdicts]}
    typer.echo(json.dumps(told) if as_json else _shown(head, found, verdicts))
    if not all(each.passed for each in verdicts):
        raise typer.Exit(1)


def _tuned(
    reasoner: "Reasoner", wanted: list[tuple[str, str | None, float]], output: Path | None, budget: float, as_json: bool
) -> str:
    """Fit beliefs and save the model; what to say of it."""
    from nbr.errors import NbrError

    if not wanted:
        raise NbrError("--tune fits beliefs to expected probabilities: write probability = .. in an [[expect]]")
    found, told = reasoner.tuned(wanted, budget=budget)
    if output is not None:
        found.save(output)
    if as_json:
        return json.dumps({"output": None if output is None else str(output), **told.as_json()})
    names = {str(number): str(rule) for number, rule in enumerate(reasoner.rules, 1)}
    head, *lines = str(told).splitlines()
    shown = [f"{line}  {names[line.split()[1]]}" for line in lines]
    left = [] if output is not None else ["", "-o FILE saves the model with these beliefs"]
    return "\n".join([head, *shown, *left])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _shown(head: str, found: "Check", verdicts: list["ExpectationResult"]) -> str:
    lines = [head, ""]
    shown: Counter[str] = Counter()
    for finding in found.findings:
        shown[finding.kind] += 1
        if shown[finding.kind] <= MOST:
            lines.append(f"  {finding.text}")
    if not found.findings:
        lines.append("  no problems were found in the rules")
    if left := sum(max(0, count - MOST) for count in shown.values()):
        lines.append(f"  and {left} more like these; --json lists all of them")
    if not found.complete:
        lines.append("  (not everything was checked in time: give a larger --budget)")
    lines += [f"  ({note})" for note in found.notes]
    if verdicts:
        passed = sum(each.passed for each in verdicts)
        lines += ["", f"expected answers: {passed} of {len(verdicts)} as expected"]
        for number, each in enumerate(verdicts, 1):
            lines += [f"  expect {number} FAILED: {each.expectation.asked}: {said}" for said in each.says]
    return "\n".join(lines)
