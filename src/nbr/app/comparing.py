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
class GroupDifference:
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

    reasoner = load_reasoner(model)
    found, rows = differences(reasoner, one, other, seed), (behind(reasoner, one), behind(reasoner, other))
    chance = error(*rows)
    if as_json:
        columns = [vars(each) for each in found]
        typer.echo(json.dumps({"one": one, "other": other, "rows": rows, "by_chance": chance, "columns": columns}))
        return
    width = max((len(each.column) for each in found), default=0)
    told = [f"{group:,.0f}" for group in rows if group is not None]
    known = f" in groups of {' and '.join(told)} rows" if len(told) == len(rows) else ""
    lines = [f"{one}   against   {other}", "", f"  how far apart, from 0 to 1 (±{chance:.3f} by chance{known})"]
    for each in found[:SHOWN]:
        lines.append(f"  {each.column:<{width}}  {each.distance:.3f}  {each.one}   against   {each.other}")
    typer.echo("\n".join(lines))


def behind(reasoner: "Reasoner", condition: str) -> float | None:
    """How many rows rest under a condition, if the model knows of rows."""
    return reasoner.probability("true", condition).rows


def error(*rows: float | None) -> float:
    """What two groups that are alike differ by, at 95%: Smirnov's bound, of draws and of the rows behind them.

    >>> round(error(None, None), 3), round(error(200, 100), 3)
    (0.027, 0.169)
    """
    groups = [DRAWS if each is None else 1 / (1 / DRAWS + 1 / each) if each > 0 else 0.0 for each in rows]
    return min(1.0, 1.358 * math.sqrt(sum(1 / each for each in groups))) if all(groups) else 1.0


def differences(reasoner: "Reasoner", one: str, other: str, seed: int) -> list[GroupDifference]:
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
            found.append(GroupDifference(name, float(np.abs(below[0] - below[1]).max()), told[0], told[1]))
            continue
        labels = [variable.show(code) for code in range(len(variable.labels))]
        shares = [np.array([(side.astype(str) == label).mean() for label in labels]) for side in sides]
        widest = int(np.abs(shares[0] - shares[1]).argmax()) if len(variable.labels) > 2 else len(variable.labels) - 1
        told = [f"{labels[widest]}: {share[widest]:.0%}" for share in shares]
        found.append(GroupDifference(name, float(np.abs(shares[0] - shares[1]).sum() / 2), told[0], told[1]))
    return sorted(found, key=lambda each: -each.distance)
