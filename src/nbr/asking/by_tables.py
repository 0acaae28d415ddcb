"""Answering by elimination: where rules are fuzzy and thinly knit, variables are eliminated in drawn worlds."""

from __future__ import annotations

from dataclasses import replace

from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome, of_formula
from nbr.encodings import Elimination
from nbr.ways import Cost, Limits, Way


class DrawnTables(Way[AskedPart, Outcome]):
    """Worlds drawn at random, in each of which the best grade is found by eliminating variables."""

    name = "elimination"
    proves = False

    def unfit(self, asked: AskedPart) -> str | None:
        if asked.grid is not None:
            return "a grid was requested"
        if asked.crisp:  # before an order is looked for
            return "every rule is a statement, which needs no tables"
        part = asked.folded
        return asked.untold or Elimination.unfit(part.model, part.proposition, part.condition)

    def cost(self, asked: AskedPart) -> Cost:
        return Cost(0.5)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome:
        found = Elimination(asked.folded.model, *asked.stated).solve(limits)
        why = "rules are fuzzy and share few variables, so variables are eliminated in worlds drawn at random"
        return of_formula(replace(found, engine=self.name), why=why)
