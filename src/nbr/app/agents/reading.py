"""Tools that ask models: every answer comes with the rules behind it, and who says them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nbr.app import schema
from nbr.app.agents import citing, writing
from nbr.app.agents.shelf import Book, Shelf
from nbr.asking import AskSettings, bare_name, every_value
from nbr.errors import NbrError
from nbr.ways import SHARES

SHOWN = 200_000  # characters of a model
VARIABLES = 60  # of which all values are told at once
LANGUAGE = (
    "Statements: x5, ~x5, grass=wet, grass in {wet, soaked}, age>=40, 18<=t<30, a & b (or a, b), a | b, a -> b, "
    "a <-> b, brackets, x1..x4=0, count(x1..x9)>=5, majority(..), any(..), all(..), one(..), at_most_one(..), "
    "income >= 3*rent. "
    "A condition may hold a part that is itself only believed: 'a, c @ 0.8'."
)
MEANING = (
    "belief: evidence for; plausibility: 1 minus evidence against; the gap is not known; conflict: how far the "
    "evidence contradicts itself."
)


def list_models(shelf: Shelf, seconds: float) -> dict[str, Any]:
    return {"models": shelf.names()}


def describe(shelf: Shelf, seconds: float) -> dict[str, Any]:
    return {"schema": schema.model(), "statements": LANGUAGE, "answers": MEANING}


def show_model(shelf: Shelf, seconds: float, model: str) -> dict[str, Any]:
    book = shelf.book(model)
    cut = len(book.text) > SHOWN
    return {"model": book.name, "toml": book.text[:SHOWN], "cut": cut, "rules": len(book.reasoner.rules)}


def check(shelf: Shelf, seconds: float, model: str) -> dict[str, Any]:
    book = shelf.book(model)
    return {"model": book.name, **writing.checked(book, seconds)}


def ask(shelf: Shelf, seconds: float, model: str, question: str, given: str | None = None) -> dict[str, Any]:
    book = shelf.book(model)
    found = book.reasoner.ask(question, given, budget=SHARES["agent's answer"] * seconds)
    return {
        "answer": found.as_json(),
        "because": citing.behind(book, question, given, SHARES["agent's reasons"] * seconds),
    }


def explain(shelf: Shelf, seconds: float, model: str, question: str, given: str | None = None) -> dict[str, Any]:
    book = shelf.book(model)
    variable = bare_name(book.reasoner.world, question)
    if variable is not None and not book.reasoner.world.variables[variable].numeric:
        return _values(book, variable, given, seconds)
    found = book.reasoner.explain(question, given, budget=SHARES["agent's answer"] * seconds)
    told = found.as_json()
    moved = {each.rule: each for each in found.effects}
    told["rules"] = [
        {**cited, "without": told["rules"][number - 1]["without"]}  # type: ignore[index]
        for number, cited in zip(moved, book.cited(list(moved)), strict=True)
        if number <= len(book.entries)
    ][: citing.LISTED]
    for kind in ("supports", "conflicts"):
        told[kind] = told[kind][: citing.SETS]  # type: ignore[index]
    return {
        "words": found.words(),
        **told,
        "because": citing.behind(book, question, given, SHARES["agent's reasons"] * seconds),
    }


def _values(book: Book, variable: str, given: str | None, seconds: float) -> dict[str, Any]:
    """A choice that is named and nothing else: what speaks for each value and what against it."""
    found = book.reasoner.explain_values(variable, given, budget=seconds)
    told = found.as_json()
    sets = []
    for value in told["values"]:  # type: ignore[attr-defined]
        del value["rules"]
        for kind in ("supports", "against"):
            value[kind] = value[kind][: citing.SETS]
            sets.append(value[kind])
    told["conflicts"] = told["conflicts"][: citing.SETS]  # type: ignore[index]
    return {**told, "rules": citing.named(book, [*sets, told["conflicts"]])}  # type: ignore[list-item]


def marginals(
    shelf: Shelf, seconds: float, model: str, variables: Sequence[str] = (), given: str | None = None
) -> dict[str, Any]:
    book = shelf.book(model)
    names = list(variables) or list(book.reasoner.world.names)
    for name in names:
        book.reasoner.world.column(name)
    (found,) = every_value(book.reasoner.model, [given], True, AskSettings(budget=seconds), names[:VARIABLES])
    told = {name: [each.as_json() for each in found.variables[name]] for name in names[:VARIABLES]}
    left = max(0, len(names) - VARIABLES)
    return {
        "given": given,
        "variables": told,
        "left_out": left,
        "notes": list(found.notes),
        "rules": citing.readers(book, told),
    }


def decide(
    shelf: Shelf,
    seconds: float,
    model: str,
    given: str | None = None,
    criterion: str = "maximin",
    optimism: float = 0.5,
) -> dict[str, Any]:
    book = shelf.book(model)
    found = book.reasoner.decide(given, criterion, optimism=optimism, budget=SHARES["agent's answer"] * seconds)
    because = {}
    doable = [action for action in book.reasoner.model.aims.actions if len(action.utilities) > 1]
    for action in doable:
        best = action.worth([action.utilities[-1]])
        share = SHARES["agent's reasons"] * seconds / len(doable)
        because[action.name] = {"best_if": str(best), **citing.behind(book, best, given, share)}
    return {**found.as_json(), "because": because}


def look_next(shelf: Shelf, seconds: float, model: str, question: str, given: str | None = None) -> dict[str, Any]:
    """What to observe, by how far it narrows the answer, for its cost where the model has one."""
    book = shelf.book(model)
    found = book.reasoner.explain(question, given, budget=seconds)
    gap = found.answer.ignorance
    useful = [each for each in found.next if each.gap < gap - 1e-9]
    return {
        "gap": gap,
        "next": [{**each.as_json(), "rules": citing.readers(book, [each.variable])} for each in useful[: citing.SETS]],
        "because": citing.behind(book, question, given, SHARES["agent's reasons"] * seconds),
    }


def best(shelf: Shelf, seconds: float, model: str, given: str | None = None) -> dict[str, Any]:
    """The most plausible point, and which rules it breaks."""
    book = shelf.book(model)
    found = book.reasoner.best(given, budget=seconds)
    broken = [number for number in found.broken if number <= len(book.entries)]
    if len(found.point) > SHOWN:
        raise NbrError("the world is too large to list")
    return {"point": found.point, "degree": found.degree, "exact": found.exact, "breaks": book.cited(broken)}
