"""The command that says what to do, and its screen."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Budget, Given, Json, Model, condition

if TYPE_CHECKING:
    from nbr.asking import Appraisal

Criterion = Annotated[str, typer.Option(help="The criterion: maximin, maximax, hurwicz or pignistic.", metavar="NAME")]
Optimism = Annotated[float, typer.Option(help="How much the best case counts in hurwicz, 0 to 1.", metavar="SHARE")]
BAR = 24


def decide(
    model: Model,
    given: Given = None,
    criterion: Criterion = "maximin",
    optimism: Optimism = 0.5,
    budget: Budget = 10.0,
    as_json: Json = False,
) -> None:
    """Say what to do: the expected utility of each action of a model, and the choice.

    Of each action the lower and the upper expected utility, between which lies what the model does not know.
    An action is dominated if the worst case of another is better than its best.

    \b
    nbr decide examples/car.toml --given "~starts, crank=slow"
    nbr decide examples/car.toml --criterion hurwicz --optimism 0.3
    """
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
