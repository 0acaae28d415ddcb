"""Which rules an answer stands on: small sets that entail a statement, that deny it, and that cannot hold together."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import torch

from nbr import clock
from nbr.app.agents.shelf import Book
from nbr.asking import as_set, minimal_sets, under_condition
from nbr.calculus import detached, probability_together
from nbr.clock import OutOfTime
from nbr.language import Expression, Not
from nbr.ways import SHARES, Limits

SETS = 5  # of a kind
LISTED = 40  # rules cited in full


def behind(book: Book, statement: str | Expression, given: str | None, seconds: float) -> dict[str, Any]:
    """Sets of rule numbers for and against a statement, and in conflict under the condition, the most probable first.

    `rules` has every rule that is named, with its source, quote and date as the model has them.
    """
    model = book.reasoner.model
    model, condition = under_condition(model, given)
    proposition = as_set(statement, model.world, "question")
    told: dict[str, list[list[int]]] = {"for": [], "against": [], "conflicts": []}
    complete = False
    if isinstance(proposition, Expression):
        limits = Limits.within(seconds)
        with torch.no_grad(), suppress(OutOfTime), clock.until(limits.deadline):
            found = minimal_sets(model, proposition, condition, limits.share(SHARES["all reasons"]))
            told["for"], told["conflicts"] = (_ranked(book, sets) for sets in (found.supports, found.conflicts))
            other = found.against
            complete = found.supports_complete and found.conflicts_complete
            if found.families is None:
                denied = minimal_sets(model, Not(proposition), condition, limits)
                other, complete = denied.supports, complete and denied.supports_complete
            told["against"] = _ranked(book, other)
    return {**told, "complete": complete, "rules": named(book, told.values())}


def named(book: Book, sets: Iterable[list[list[int]]]) -> list[dict[str, object]]:
    """The rules of some sets, each once, in the order of the model."""
    numbers = sorted({rule for some in sets for each in some for rule in each})
    return book.cited([number for number in numbers if number <= len(book.entries)][:LISTED])


def readers(book: Book, names: Iterable[str]) -> list[dict[str, object]]:
    """The rules that read some variables."""
    wanted = set(names)
    found = [number for number, rule in enumerate(book.reasoner.rules, 1) if wanted & set(rule.inputs)]
    return book.cited(found[:LISTED])


def _ranked(book: Book, sets: Iterable[Iterable[int]]) -> list[list[int]]:
    """Numbers from 1; what a condition adds for one question is no rule of the model and is left out."""
    model = book.reasoner.model
    presence = detached(model.presence)
    kept = [sorted(rule for rule in each if rule < len(model.rules)) for each in sets]
    chance = sorted((-probability_together(presence, each), len(each), each) for each in kept)
    return [[rule + 1 for rule in each] for likely, _, each in chance[:SETS] if likely < 0 or not each]
