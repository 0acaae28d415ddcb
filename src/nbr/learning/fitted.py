"""What learning delivers."""

from __future__ import annotations

from dataclasses import dataclass

from nbr.reasoner import Reasoner
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
