"""What rules answer: belief, plausibility, and the reasons for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from nbr.asking import (
    Answer,
    Explanation,
    Possibilities,
    Proposition,
    Ranking,
    Session,
    answer_table,
    best,
    checking,
    deciding,
    distilling,
    explaining,
    many,
    possibilities,
    ranking,
)
from nbr.asking import question as asking
from nbr.density import probabilities, tuning
from nbr.language import Expression
from nbr.reasoner.weighing import Weighing
from nbr.restating import Restated
from nbr.ways import Limits

if TYPE_CHECKING:
    import pandas as pd


class Answering(Weighing):
    """The questions that rules answer. The prior plays no part in belief and plausibility."""

    def ask(
        self,
        question: Proposition,
        given: Proposition | None = None,
        *,
        engine: str = "auto",
        budget: float = 10.0,
        tolerance: float = 1e-3,
        grid: int | None = None,
        seed: int = 0,
    ) -> Answer:
        """Conditional belief and plausibility of a question, equations (6) to (8) of the paper.

        Where an exact answer is not found within the budget, the answer has bounds, as narrow as `tolerance` if the
        time allows.

        Args:
            question: A statement in the query language, or a fuzzy set: a rule with belief 1, or a function from
                points, shape (points, variables), to grades, shape (points,).
            given: The condition, written in the same way; None for no condition.
            engine: The engine to use, or "auto" for the cheapest one that is exact.
            budget: The time limit, in seconds.
            tolerance: The width of the bounds at which to stop.
            grid: The number of pieces of each real that a network or a function reads. None refines the grid until
                the bounds are narrow.
            seed: The seed for engines that sample.

        Returns:
            Belief, plausibility and conflict with their bounds.
        """
        return asking.ask(self.model, question, given, asking.AskSettings(engine, budget, tolerance, grid, seed))

    def ask_many(self, questions: Iterable[tuple[str, str | None] | str], **settings: Any) -> pd.DataFrame:
        """Answer many questions; those with the same condition share the work.

        Args:
            questions: Statements, or pairs of a statement and a condition.
            **settings: The settings of `ask`; the budget is for each question.

        Returns:
            A DataFrame with one row for each question, in order. A model with a prior adds the columns `probability`
            and `probability_error`.
        """
        pairs, each = many.pairs(questions), asking.AskSettings(**settings)
        found = many.ask_many(self.model, pairs, each)  # it says what is wrong with a question
        known = None if self.model.prior is None else probabilities(self.model, pairs, each.budget, each.seed)
        return answer_table(found, known)

    def given(self, observation: str | Expression) -> Session:
        """Add an observation, and later more: `r.given("a").given("b").ask("c")`.

        Args:
            observation: A statement in the query language.

        Returns:
            A session, which asks the model given all its observations.
        """
        return Session(self.model).given(observation)

    def explain(
        self,
        question: Proposition,
        given: Proposition | None = None,
        *,
        budget: float = 10.0,
        tolerance: float = 1e-3,
        seed: int = 0,
    ) -> Explanation:
        """Explain an answer: the effect of each rule, minimal sets of rules, examples, and what to observe next.

        Args:
            question: As in `ask`.
            given: As in `ask`.
            budget: The time limit for the whole explanation, in seconds.
            tolerance: The width of the bounds at which to stop.
            seed: The seed for engines that sample.

        Returns:
            The explanation; `words()` gives it as sentences. For a model with a prior it includes the probability.
        """
        settings = asking.AskSettings(budget=budget, tolerance=tolerance, seed=seed)
        return explaining.explained(self.model, question, given, settings)

    def explain_values(
        self, variable: str, given: Proposition | None = None, *, budget: float = 10.0, seed: int = 0
    ) -> Possibilities:
        """Explain a ranking: for every value of a variable what speaks for it and what against it.

        Args:
            variable: The name of a variable with labels.
            given: As in `ask`.
            budget: The time limit for all values together, in seconds.
            seed: The seed for engines that sample.

        Returns:
            The values, the most plausible first, each with its explanation; `words()` gives it as sentences.
        """
        return possibilities(self.model, variable, given, asking.AskSettings(budget=budget, seed=seed))

    def rank(self, variable: str, given: Proposition | None = None, *, budget: float = 10.0, seed: int = 0) -> Ranking:
        """Belief and plausibility of every value of a variable, the most plausible value first.

        Args:
            variable: The name of a variable. A real is divided into the pieces that rules and condition distinguish.
            given: As in `ask`.
            budget: The time limit for all values together, in seconds.
            seed: The seed for engines that sample.
        """
        return ranking.rank(self.model, variable, given, asking.AskSettings(budget=budget, seed=seed))

    def best(
        self, given: Proposition | None = None, count: int = 1, *, budget: float = 10.0, seed: int = 0
    ) -> best.Best:
        """The most plausible point: the largest E[mu_Y(z)], equation (10), times the prior if there is one.

        Args:
            given: A condition that the point must meet, as in `ask`.
            count: The number of points; the next best ones are in `others`.
            budget: The time limit, in seconds.
            seed: The seed for engines that sample.
        """
        return best.best(self.model, given, count, asking.AskSettings(budget=budget, seed=seed))

    most_plausible = best

    def decide(
        self,
        given: Proposition | None = None,
        criterion: str = "maximin",
        *,
        optimism: float = 0.5,
        budget: float = 10.0,
        seed: int = 0,
    ) -> deciding.Appraisal:
        """The lower and upper expected utility of each action of the model, and the choice.

        Args:
            given: A condition, as in `ask`.
            criterion: "maximin", "maximax", "hurwicz" or "pignistic".
            optimism: The weight of the upper expected utility in "hurwicz", from 0 to 1.
            budget: The time limit for all actions together, in seconds.
            seed: The seed for engines that sample.
        """
        return deciding.decide(self.model, given, criterion, optimism, asking.AskSettings(budget=budget, seed=seed))

    def check(self, *, budget: float = 10.0) -> checking.Check:
        """Look for rules that never matter, repeat other rules, or contradict each other.

        Args:
            budget: The time limit, in seconds.
        """
        return checking.check(self.model, Limits.within(asking.AskSettings(budget=budget).budget))

    def tuned(
        self, wanted: Sequence[tuning.Wanted], rules: Collection[int] | None = None, *, budget: float = 10.0
    ) -> tuple[Self, tuning.Tuning]:
        """Fit beliefs so that the probabilities of the model come as near as possible to expected ones.

        Args:
            wanted: Triples of a question, a condition or None, and a probability.
            rules: The numbers, from 1, of the rules whose beliefs may change; None for all.
            budget: The time limit, in seconds.

        Returns:
            The model with the fitted beliefs, and what changed.
        """
        free = None if rules is None else {number - 1 for number in rules}
        model, told = tuning.tuned(self.model, wanted, free, asking.AskSettings(budget=budget).budget)
        return self.of(model), told

    def restated(self, *, budget: float = 10.0, seed: int = 0) -> list[Restated | str]:
        """Restate each rule as a short statement that agrees with it.

        Args:
            budget: The time limit, in seconds.
            seed: The seed for points that are drawn where they cannot be listed.

        Returns:
            For each rule the statement with its agreement, or the reason why there is none; the reason is empty for a
            rule that is already a statement.
        """
        limits = Limits.within(asking.AskSettings(budget=budget).budget)
        return list(distilling.restated(self.model, self.prior, limits.deadline, seed))

    def distil(
        self, agreement: float = 0.99, *, keep: bool = True, budget: float = 10.0, seed: int = 0
    ) -> distilling.Distilled[Self]:
        """Replace networks by statements that agree with them.

        Args:
            agreement: The share of points on which a statement must agree with its network.
            keep: Whether to keep networks for which no statement was found; they are dropped otherwise.
            budget: The time limit, in seconds, for measuring how far answers change.
            seed: The seed for points and questions.

        Returns:
            The new model, what happened to each rule, and how far the answers of both models differ.
        """
        model, fates, lost = distilling.distil(self.model, self.prior, agreement, keep, budget, seed)
        return distilling.Distilled(self.of(model), fates, lost)
