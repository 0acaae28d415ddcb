"""Two groups compared: which columns differ most, and how."""

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Json, Model, Seed

if TYPE_CHECKING:
    from nbr.reasoner import Reasoner

DRAWS = 5000  # of each group
SHOWN = 15


@dataclass(frozen=True)
class Difference:
    """How far a column differs between two groups: the largest difference in the probability of any set of its values.

    For numbers, of any set of values below some number.
    """

    column: str
    distance: float
    one: str  # the column in the first group
    other: str


def compare(
    model: Model,
    one: Annotated[str, typer.Argument(help="A condition, such as 'sex=f'.", metavar="ONE")],
    other: Annotated[str, typer.Argument(help="Another condition, such as 'sex=m'.", metavar="OTHER")],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare two groups of rows: the columns that differ most.

    \b
    nbr compare learned.nbr 'sex=f' 'sex=m'
    """
    from nbr.kinds import load_reasoner

    found = differences(load_reasoner(model), one, other, seed)
    if as_json:
        typer.echo(json.dumps({"one": one, "other": other, "columns": [vars(each) for each in found]}))
        return
    width = max((len(each.column) for each in found), default=0)
    lines = [f"{one}   against   {other}", "", f"  how far apart, from 0 to 1 (±{error():.3f} by chance)"]
    for each in found[:SHOWN]:
        lines.append(f"  {each.column:<{width}}  {each.distance:.3f}  {each.one}   against   {each.other}")
    typer.echo("\n".join(lines))


def error() -> float:
    """What two groups of draws that are alike differ by, at 95%: Smirnov's bound."""
    return 1.358 * math.sqrt(2 / DRAWS)


def differences(reasoner: "Reasoner", one: str, other: str, seed: int) -> list[Difference]:
    """Each column that the conditions do not name, those that differ most first; by draws of either group."""
    import numpy as np

    from nbr.language import parse

    named = parse(one, reasoner.world).names() | parse(other, reasoner.world).names()
    groups = [reasoner.sample(DRAWS, condition, seed=seed) for condition in (one, other)]
    found = []
    for name, variable in reasoner.world.variables.items():
        if name in named:
            continue
        sides = [group[name].to_numpy() for group in groups]
        if variable.numeric:
            if variable.unit:
                sides = [np.array([variable.code(cell) for cell in side]) for side in sides]
            values = np.unique(np.concatenate(sides))
            below = [np.searchsorted(np.sort(side), values, side="right") / len(side) for side in sides]
            quarters = [np.quantile(side, [0.25, 0.75]).tolist() for side in sides]
            told = [f"half from {variable.show(low)} to {variable.show(high)}" for low, high in quarters]
            found.append(Difference(name, float(np.abs(below[0] - below[1]).max()), told[0], told[1]))
            continue
        labels = [variable.show(code) for code in range(len(variable.labels))]
        shares = [np.array([(side.astype(str) == label).mean() for label in labels]) for side in sides]
        widest = int(np.abs(shares[0] - shares[1]).argmax()) if len(variable.labels) > 2 else len(variable.labels) - 1
        told = [f"{labels[widest]} {share[widest]:.2f}" for share in shares]
        found.append(Difference(name, float(np.abs(shares[0] - shares[1]).sum() / 2), told[0], told[1]))
    return sorted(found, key=lambda each: -each.distance)
