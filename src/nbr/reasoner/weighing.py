"""What rules and prior answer together: probabilities, likelihoods, samples and filled holes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from nbr import tables
from nbr.asking import everything
from nbr.asking import question as asking
from nbr.calculus import keep_probability
from nbr.density import Learned, Probability, closed, collecting, filling, likelihood, probability, sampling
from nbr.language import Expression
from nbr.model import Model
from nbr.priors import Prior

if TYPE_CHECKING:
    import pandas as pd


class Weighing:
    """The questions about frequencies, which the rules answer together with the prior."""

    model: Model

    @classmethod
    def of(cls, model: Model) -> Self:
        """A reasoner for a model.

        Args:
            model: The world, the rules, and what else belongs to them.
        """
        found = cls.__new__(cls)
        found.model = model
        return found

    @property
    def prior(self) -> Prior:
        """The distribution of points that the rules modify, uniform unless given. `ask` ignores it."""
        return self.model.base if self.model.below is None else Learned(self.model.below)

    def probability(
        self, question: str | Expression, given: str | Expression | None = None, *, budget: float = 10.0, seed: int = 0
    ) -> Probability:
        """P(question | given) in the distribution of prior and rules, P_0 P_keep, and what the data leave open of it.

        It is exact where points can be listed, summed or counted. Otherwise points are drawn, and the value has an
        error that holds.

        Args:
            question: A statement in the query language.
            given: The condition; None for no condition.
            budget: The time limit, in seconds.
            seed: The seed for points that are drawn.
        """
        return probability(self.model, question, given, budget=budget, seed=seed)

    def collect(
        self,
        question: str | Expression,
        given: str | Expression | None = None,
        *,
        among: Collection[str] | None = None,
        budget: float = 10.0,
        seed: int = 0,
    ) -> collecting.Collecting:
        """Rank what to collect next: the columns that, recorded in more rows, would narrow `probability` most.

        A column of one table could be recorded in the rows of another, too. What `range` and `open` would then be is
        worked out from the model, as if the new cells bore it out.

        Args:
            question: A statement in the query language.
            given: The condition; None for no condition.
            among: The columns that can be recorded; None for all.
            budget: The time limit, in seconds.
            seed: The seed for points that are drawn.

        Returns:
            What is known now, and the `candidates` that would narrow it, the narrowest first.
        """
        return collecting.collecting(self.model, question, given, among, budget=budget, seed=seed)

    def marginals(
        self, given: everything.Given | Sequence[everything.Given] = None, *, belief: bool = False, budget: float = 10.0
    ) -> pd.DataFrame:
        """The probability of every value of every variable.

        Args:
            given: A condition or None, or a list of these.
            belief: Whether to add the columns `belief` and `plausibility`.
            budget: The time limit, in seconds.

        Returns:
            A DataFrame with the columns `given`, `variable`, `value`, `probability`, and `low` and `high`, the 95%
            range of a learned model. A cell is NaN where nothing was computed.
        """
        return everything.table(self.model, given, belief, asking.AskSettings(budget=budget))

    def keep(self, points: Tensor) -> Tensor:
        """P_keep, equation (10): the plausibility of observed points, up to a common factor.

        Args:
            points: Points, shape (points, variables).

        Returns:
            The values, shape (points,).
        """
        if self.model.closed:
            return closed.kept(self.model, points, self.model.presence)
        return keep_probability(self.model.grades_of_observed(points), self.model.presence)

    def log_prob(self, table: tables.TableLike, seed: int = 0) -> Tensor:
        """The log-likelihood of each row of a table; empty cells are summed over.

        Args:
            table: A path, a DataFrame, or an array of shape (rows, variables), with NaN for empty cells.
            seed: The seed for a normaliser that is sampled.

        Returns:
            Log-likelihoods in nats, shape (rows,).
        """
        return likelihood.score(self.model, tables.read(table, self.model.world), seed).log_prob

    def sample(self, count: int, given: str | Expression | None = None, *, seed: int = 0) -> pd.DataFrame:
        """Draw rows from the distribution of prior and rules.

        Args:
            count: The number of rows.
            given: A condition that every row meets.
            seed: The seed; the same seed gives the same rows.

        Returns:
            A DataFrame with a column for each variable. Its `attrs` name the method and the share of the prior's
            points that was kept.
        """
        model, condition = self.model.observing(given)
        drawn = sampling.draw(model, count, condition, torch.Generator().manual_seed(seed))
        return tables.frame(self.model.world, drawn.points, method=drawn.method, acceptance=drawn.acceptance)

    def predict(self, table: tables.TableLike, column: str, *, seed: int = 0) -> pd.DataFrame:
        """Predict a column of each row from its other columns.

        Args:
            table: A path or a DataFrame; holes are summed over.
            column: The column to predict. Its values in the table are ignored.
            seed: The seed for numbers that are drawn.

        Returns:
            A DataFrame with the value of each row and the probability of every label, or the range of a number.
        """
        return filling.predicted(self.model, table, column, seed)

    def impute(self, table: tables.TableLike, *, seed: int = 0) -> pd.DataFrame:
        """Fill the empty cells of a table, and leave everything else as it is.

        Args:
            table: A path or a DataFrame.
            seed: The seed for numbers that are drawn.

        Returns:
            The filled table; `attrs["cells"]` has a row for each filled cell, with how sure it is.
        """
        return filling.impute(self.model, table, seed).frame()
