"""What to collect next: which column, in which rows, would narrow a probability most."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Budget, Given, Json, Model, Seed, condition

if TYPE_CHECKING:
    from nbr.density import Collectable, Collecting

SHOWN = 10
NAMED = 3  # columns of the rows that a candidate is recorded in


def collect(
    model: Model,
    question: Annotated[str, typer.Argument(help="What to ask, such as 'absent & ~smokes'.", metavar="QUESTION")],
    given: Given = None,
    among: Annotated[
        list[str] | None, typer.Option(help="Only this column; as often as needed. Default: all.", metavar="NAME")
    ] = None,
    budget: Budget = 10.0,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Rank what to collect next for a question.

    A column that some tables have could be recorded in the rows of another, too. Shows which of these would
    narrow the range of a probability most, if the new cells bear the model out.

    \b
    nbr collect learned.nbr absent --given "smokes, age=old"
    nbr collect learned.nbr absent --given smokes --among cough --among age
    """
    from nbr.kinds import load_reasoner

    found = load_reasoner(model).collect(question, condition(given), among=among, budget=budget, seed=seed)
    typer.echo(json.dumps(found.as_json()) if as_json else text(found))


def text(found: "Collecting") -> str:
    """What is known now, and a line for each candidate."""
    from nbr.app import often

    now = found.now
    lines = [often.first(now.question, now.given, now)]
    if not found.candidates:
        why = "no column, recorded in more rows, would narrow it"
        lines += ["", f"  {why}: more rows of the same columns would" if now.range else f"  {why}"]
    else:
        rows = [_cells(each) for each in found.candidates[:SHOWN]]
        head = ("record", "in the rows with", "rows", "range then", "open then")
        widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
        lines += ["", "  what would narrow it, the most first, if new cells bear the model out"]
        lines += [
            "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [head, *rows]
        ]
    if (more := len(found.candidates) - SHOWN) > 0:
        lines.append(f"    and {more} more")
    if found.left:
        lines.append(f"  {found.left:,} more not examined in time: give a larger --budget, or --among")
    return "\n".join(lines)


def _cells(each: "Collectable") -> tuple[str, ...]:
    beside = ", ".join(each.beside[:NAMED]) + (", .." if len(each.beside) > NAMED else "")
    settled = each.open is not None and each.open[1] - each.open[0] < 1e-9
    left = "nothing" if settled else _ends(each.open)
    return each.column, beside, "?" if each.rows is None else f"{each.rows:,}", _ends(each.range), left


def _ends(found: tuple[float, float] | None) -> str:
    return "not known" if found is None else f"{found[0]:.4f} to {found[1]:.4f}"
