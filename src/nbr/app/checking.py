"""Commands for those who write rules: the most plausible point, and a check of a rule base."""

from __future__ import annotations

import json

import typer

from nbr.app.options import Budget, Given, Json, Model, condition


def best(model: Model, given: Given = None, budget: Budget = 10.0, as_json: Json = False) -> None:
    """The most plausible point: a value for every variable, breaking as little of what is believed as possible."""
    from nbr.app import screen
    from nbr.kinds import load_reasoner

    reasoner = load_reasoner(model)
    found = reasoner.most_plausible(condition(given), budget=budget)
    typer.echo(json.dumps(found.as_json()) if as_json else screen.best(found, reasoner))
