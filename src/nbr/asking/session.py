"""Observations added one at a time: what is known of earlier ones is used again."""

from __future__ import annotations

from nbr.asking.answer import Answer
from nbr.asking.explaining import explain
from nbr.asking.explanation import Explanation
from nbr.asking.question import Proposition, Settings, as_set, ask
from nbr.asking.ways import Memo
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.language.expressions import conjunction
from nbr.rules.knowledge import Knowledge


class Session:
    """A model and what was observed so far.

    >>> import nbr
    >>> r = nbr.Reasoner(nbr.World.bits(3), [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x1 -> x2", 0.8)])
    >>> seen = r.given("x0")
    >>> round(seen.ask("x2").belief, 2), round(seen.given("x1").ask("x2").belief, 2)
    (0.72, 0.8)
    """

    def __init__(self, knowledge: Knowledge, observed: tuple[Expression, ...] = (), memo: Memo | None = None) -> None:
        self.knowledge, self.observed = knowledge, observed
        self._memo: Memo = {} if memo is None else memo

    @property
    def condition(self) -> Expression | None:
        """All that was observed."""
        return conjunction(self.observed)

    def given(self, observation: str | Expression) -> Session:
        """The same with one more observation."""
        statement = as_set(observation, self.knowledge.world, "observation")
        if not isinstance(statement, Expression):
            raise NbrError("an observation is a statement in the query language")
        return Session(self.knowledge, (*self.observed, statement), self._memo)

    def ask(self, question: Proposition, **settings: object) -> Answer:
        """The answer given all observations; settings as for `Reasoner.ask`."""
        return ask(self.knowledge, question, self.condition, Settings(**settings), self._memo)  # type: ignore[arg-type]

    def explain(self, question: Proposition, **settings: object) -> Explanation:
        """Why, given all observations."""
        return explain(self.knowledge, question, self.condition, Settings(**settings))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"Session({'nothing observed' if self.condition is None else self.condition})"
