"""Observations added one at a time: what is known of earlier ones is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbr.asking import everything
from nbr.asking.answer import Answer
from nbr.asking.asked import Memo
from nbr.asking.best import Best, best
from nbr.asking.explaining import explained
from nbr.asking.explanation import Explanation
from nbr.asking.possible import Possibilities, possibilities
from nbr.asking.question import AskSettings, Proposition, ask
from nbr.asking.ranking import Ranking, rank
from nbr.density import Probability, probability
from nbr.errors import NbrError
from nbr.language import Expression, conjunction, parse
from nbr.model import Model

if TYPE_CHECKING:
    import pandas as pd


class Session:
    """A model with observations.

    >>> import nbr
    >>> r = nbr.Reasoner(nbr.World.bits(3), [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x1 -> x2", 0.8)])
    >>> seen = r.given("x0")
    >>> round(seen.ask("x2").belief, 2), round(seen.given("x1").ask("x2").belief, 2)
    (0.72, 0.8)
    """

    def __init__(self, model: Model, observed: tuple[Expression, ...] = (), memo: Memo | None = None) -> None:
        self.model, self.observed = model, observed
        self._memo: Memo = {} if memo is None else memo

    @property
    def condition(self) -> Expression | None:
        """All observations as one condition."""
        return conjunction(self.observed)

    def given(self, observation: str | Expression) -> Session:
        """Add an observation.

        Args:
            observation: A statement in the query language.
        """
        statement = parse(observation, self.model.world) if isinstance(observation, str) else observation
        if not isinstance(statement, Expression):
            raise NbrError(f"observation: it is a statement in the query language, not a {type(observation).__name__}")
        self.model.observing(statement)
        return Session(self.model, (*self.observed, statement), self._memo)

    def ask(self, question: Proposition, **settings: object) -> Answer:
        """The answer given all observations.

        Args:
            question: As in `Reasoner.ask`.
            **settings: The settings of `Reasoner.ask`.
        """
        return ask(self.model, question, self.condition, AskSettings(**settings), self._memo)  # type: ignore[arg-type]

    def explain(self, question: Proposition, **settings: object) -> Explanation:
        """The explanation given all observations.

        Args:
            question: As in `Reasoner.explain`.
            **settings: The settings of `Reasoner.explain`.
        """
        return explained(self.model, question, self.condition, AskSettings(**settings))  # type: ignore[arg-type]

    def explain_values(self, variable: str, *, budget: float = 10.0, seed: int = 0) -> Possibilities:
        """What speaks for each value of a variable and what against it, given all observations."""
        return possibilities(self.model, variable, self.condition, AskSettings(budget=budget, seed=seed))

    def probability(self, question: str | Expression, *, budget: float = 10.0, seed: int = 0) -> Probability:
        """The probability given all observations; see `Reasoner.probability`."""
        return probability(self.model, question, self.condition, budget=budget, seed=seed)

    def marginals(self, *, belief: bool = False, budget: float = 10.0) -> pd.DataFrame:
        """The probability of every value of every variable given all observations; see `Reasoner.marginals`."""
        return everything.table(self.model, self.condition, belief, AskSettings(budget=budget))

    def best(self, count: int = 1, *, budget: float = 10.0, seed: int = 0) -> Best:
        """The most plausible point or points that agree with all observations."""
        return best(self.model, self.condition, count, AskSettings(budget=budget, seed=seed))

    def rank(self, variable: str, *, budget: float = 10.0, seed: int = 0) -> Ranking:
        """Belief and plausibility of every value of a variable, given all observations."""
        return rank(self.model, variable, self.condition, AskSettings(budget=budget, seed=seed))

    def __repr__(self) -> str:
        return f"Session({'nothing observed' if self.condition is None else self.condition})"
