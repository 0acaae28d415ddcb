"""What learning delivers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nbr.density import dispersion
from nbr.priors import Prior
from nbr.reasoner import Reasoner
from nbr.rules import Rule
from nbr.tables import Table


@dataclass(frozen=True)
class HeldOut:
    """How well rows that were not trained on are explained."""

    log_likelihood: float  # mean of a row, in nats
    error: float  # standard error of that mean
    rows: int
    words: str  # of which model, on which rows


@dataclass(frozen=True)
class Fitted:
    """A trained model and how it came about."""

    reasoner: Reasoner
    table: Table
    inputs: list[tuple[str, ...]]
    rules: int  # for each set of inputs; of clauses, all
    steps: int
    rows: int  # that the delivered model was trained on
    train: float  # mean log-likelihood of these rows
    held_out: HeldOut | None  # None where all rows were trained on, and too few to check that
    kept: str  # which model was delivered, and why
    prior: str  # which one was taken, and why
    won: str = ""  # what won over what, by paired differences on held-out rows


def learned(data: Table, rules: Iterable[Rule], prior: Prior | None) -> Reasoner:
    """The reasoner of rules and a prior that were learned from a table: with the rows behind it, and how far off it is.

    Args:
        data: the table, all of it, that says which columns were seen together in how many rows
        rules: over the world of the table
        prior: of the same world
    """
    found = Reasoner(data.world, rules, prior=prior, views=data.views(), view_rows=data.view_rows())
    assert found.model.seen is not None
    seen = replace(found.model.seen, dispersion=dispersion(found.model, data))
    return Reasoner.of(replace(found.model, seen=seen))
