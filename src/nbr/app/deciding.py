"""The command that says what to do, and its screen."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Budget, Given, Json, Model, condition

if TYPE_CHECKING:
    from nbr.asking.deciding import Appraisal

BAR = 24


def decide(
    model: Model,
    given: Given = None,
    criterion: Annotated[str, typer.Option(help="maximin, maximax, hurwicz or pignistic.")] = "maximin",
    optimism: Annotated[float, typer.Option(help="Of hurwicz: how much the best case counts, 0 to 1.")] = 0.5,
    budget: Budget = 10.0,
    as_json: Json = False,
) -> None:
    """What to do: the lower and upper expected utility of each of the model's actions, and the choice."""
    from nbr.kinds import load_reasoner

    found = load_reasoner(model).decide(condition(given), criterion, optimism=optimism, budget=budget)
    typer.echo(json.dumps(found.as_json()) if as_json else shown(found))


def shown(found: "Appraisal") -> str:
    """A line for each action, from its worst case to its best on one scale, and the choice."""
    low = min(each.lower for each in found.actions)
    high = max(each.upper for each in found.actions)
    width = max(len("action"), *(len(each.name) for each in found.actions))
    head = f"given   {found.given}" if found.given else "nothing given"
    lines = [head, "", f"    {'action':<{width}}  {'lower':>9}  {'upper':>9}  {found.criterion:>9}"]
    for each in found.actions:
        mark = "->" if each.name == found.choice else "  "
        numbers = f"{each.lower:9.3f}  {each.upper:9.3f}  {sum(each.value) / 2:9.3f}"
        tail = "  dominated" if each.dominated else ""
        lines.append(f" {mark} {each.name:<{width}}  {numbers}  {_bar(each.lower, each.upper, low, high)}{tail}")
    how = "exact" if found.exact else f"not exact, {found.kind} bounds"
    lines += ["", f"  choice: {found.choice}   ({found.criterion}; {how})"]
    return "\n".join([*lines, *(f"  ({note})" for note in found.notes)])


def _bar(lower: float, upper: float, low: float, high: float) -> str:
    """Where an action lies between the worst and the best that any can bring."""
    scale = (BAR - 1) / (high - low) if high > low else 0.0
    first, last = round((lower - low) * scale), round((upper - low) * scale)
    return "".join("█" if first <= place <= last else "·" for place in range(BAR))
