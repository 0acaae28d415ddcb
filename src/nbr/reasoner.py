"""The belief function: a world, rules over it, and what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from nbr import registry, tables
from nbr.asking import best, checking, deciding, distilling, every, explaining, many, masses, ranking
from nbr.asking import question as asking
from nbr.asking.answer import Answer
from nbr.asking.answer_table import answer_table
from nbr.asking.explanation import Explanation
from nbr.asking.question import Proposition
from nbr.asking.ranking import Ranking
from nbr.asking.session import Session
from nbr.density import filling, joint, likelihood, sampling, saved, tuning
from nbr.density.learned import Learned, standing_on
from nbr.density.many import probabilities
from nbr.density.probability import Probability, probability
from nbr.errors import NbrError
from nbr.inference import Limits
from nbr.inference.point import keep
from nbr.language import Expression
from nbr.model import Model
from nbr.plots import html
from nbr.priors import Prior
from nbr.restating.restated import Restated
from nbr.rules import Rule
from nbr.rules.codec import Codec, Map
from nbr.rules.sensor import Sensing
from nbr.seeing import corner, readings
from nbr.seeing.looking import looked
from nbr.storage import container
from nbr.tables.seen_together import Counts, Together, Views
from nbr.world import World

if TYPE_CHECKING:
    import pandas as pd


@registry.kind("model", "reasoner")
class Reasoner:
    """K rules over a world; together they specify a Dempster-Shafer belief function.

    A `prior` says how common points are beside the rules, and `views` which sets of columns rows showed together when
    all that was learned, how many rows, and how far the model is off them: `probability` counts on all that, `ask` on
    none of it.

    With a decoder F the rules speak of the points of a `latent` world, and F gives the point of the
    world that is observed; questions are about what is observed. Without one they are the same. An `encoder` turns
    back: with it, the latent points are the codes of the observable ones, and points can be weighed and sampled.

    `sensors` turn pictures of variables, named one by one or as in "d1..d5", into rules about them, by `see`.

    `closed` names bits that are 1 only where a rule that is there makes them so.

    >>> from nbr import Clause
    >>> r = Reasoner(World.bits(2), [Clause("x0 -> x1", belief=0.9)])
    >>> print(r.ask("x1", given="x0"))
    x1 | x0: [0.9000, 1.0000], conflict 0.0000 (exact)
    """

    def __init__(
        self,
        world: World,
        rules: Iterable[Rule] = (),
        *,
        latent: World | None = None,
        decoder: Map | None = None,
        encoder: Map | None = None,
        prior: Prior | None = None,
        views: Together | Iterable[Iterable[str]] | None = None,
        view_rows: Iterable[int | None] | None = None,
        dispersion: float = 1.0,
        sensors: Mapping[str, Sensing] | None = None,
        closed: Iterable[str] = (),
    ) -> None:
        if not isinstance(world, World):
            raise NbrError(f"a reasoner needs a World first, not {type(world).__name__}")
        if (latent is None) != (decoder is None):
            raise NbrError("a decoder needs the latent world it reads from: give latent= and decoder= together")
        codec = None if latent is None or decoder is None else Codec(world, latent, decoder, encoder)
        seen = Together.of(world, views, view_rows, dispersion)
        self.model = Model(
            world,
            rules,  # type: ignore[arg-type]
            codec,
            standing_on(prior),
            seen,
            sensors or {},
            closed=frozenset(closed),
        )

    @classmethod
    def of(cls, model: Model) -> Self:
        """The verbs of a model."""
        found = cls.__new__(cls)
        found.model = model
        return found

    @property
    def world(self) -> World:
        return self.model.world

    @property
    def views(self) -> Views | None:
        return None if self.model.seen is None else self.model.seen.views

    @property
    def view_rows(self) -> Counts | None:
        return None if self.model.seen is None else self.model.seen.rows

    @property
    def latent(self) -> World:
        """The world that the rules speak of."""
        return self.model.latent

    @property
    def codec(self) -> Codec | None:
        return self.model.codec

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.model.rules

    @property
    def beliefs(self) -> Tensor:
        """The belief of each rule, shape (rules,)."""
        return self.model.beliefs

    def grades(self, points: Tensor) -> Tensor:
        """R(z): the grade of each point in each rule, shape (points, rules)."""
        return self.model.grades(points)

    def observe(self, points: Tensor) -> Tensor:
        """F(z): what is observed at points of the latent world."""
        return self.model.observe(points)

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

        Question and condition are text in the query language, or fuzzy sets: a rule that is believed to 1, or a
        function from points to grades. `budget` is in seconds. Where an exact answer is not to be had in that time,
        the answer has bounds, as narrow as `tolerance` if the time allows. Along reals that networks or functions
        read, a grid is laid: of `grid` pieces, or ever finer until the bounds are narrow.
        """
        return asking.ask(self.model, question, given, asking.Settings(engine, budget, tolerance, grid, seed))

    def ask_many(self, questions: Iterable[tuple[str, str | None] | str], **settings: Any) -> pd.DataFrame:
        """Many questions, each alone or with a condition; those with the same condition share the work.

        A DataFrame with one row for each, in order; settings are those of `ask`. Of a model with a prior it also has
        how often, without what stays open.
        """
        pairs, each = many.pairs(questions), asking.Settings(**settings)
        found = many.ask_many(self.model, pairs, each)  # it says what is wrong with a question
        known = None if self.model.prior is None else probabilities(self.model, pairs, each.budget, each.seed)
        return answer_table(found, known)

    def see(self, pictures: Mapping[str, Any] | None = None, /, **named: Any) -> Reasoner | readings.Readings[Reasoner]:
        """The model with what its sensors say of pictures, arrays or names of files, as rules; of batches, readings."""
        found = looked(self.model, {**(pictures or {}), **named})
        if found.many:
            return readings.Readings(self.model, found.evidence, found.count, Reasoner.of)
        return Reasoner.of(self.model.see(found.evidence))

    def certified_radius(self, each: bool = False, given: str | Expression | None = None) -> float:
        """The L2 length of changes of all pictures seen together, or with `each` of every one, that cannot change what
        is read: the values of their variables at the best point. Proved, rules of any belief included.
        """
        return float(readings.one(self.model).given(given).certified_radius(each)[0])

    def belief_within(self, length: float, *, budget: float = 10.0, seed: int = 0) -> corner.Within:
        """Belief and plausibility of what is read, for every change of each picture by at most this L2 length."""
        return corner.within(self.model, length, asking.Settings(budget=budget, seed=seed))

    def given(self, observation: str | Expression) -> Session:
        """The model with an observation, to which more can be added: `r.given("a").given("b").ask("c")`."""
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
        """Why the answer is what it is: effects of rules, minimal sets of them, points, and what to observe next.

        Of a model with a prior also how often, which the rules and the prior decide together.
        """
        settings = asking.Settings(budget=budget, tolerance=tolerance, seed=seed)
        return explaining.explained(self.model, question, given, settings)

    def rank(self, variable: str, given: Proposition | None = None, *, budget: float = 10.0, seed: int = 0) -> Ranking:
        """Belief and plausibility of every value of a variable, the most plausible first; pieces of a number."""
        return ranking.rank(self.model, variable, given, asking.Settings(budget=budget, seed=seed))

    def best(
        self, given: Proposition | None = None, count: int = 1, *, budget: float = 10.0, seed: int = 0
    ) -> best.Best:
        """The point at which E[mu_Y(z)], equation (10), is largest, times the prior if there is one; or the k best."""
        return best.best(self.model, given, count, asking.Settings(budget=budget, seed=seed))

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
        """The lower and upper expected utility of each action of the model, which are dominated, and the choice.

        The criterion is maximin, maximax, hurwicz (with its `optimism`) or pignistic. Exact where questions are.
        """
        return deciding.decide(self.model, given, criterion, optimism, asking.Settings(budget=budget, seed=seed))

    def check(self, *, budget: float = 10.0) -> checking.Check:
        """What the author should know: rules that never matter, say what others say, or contradict each other."""
        return checking.check(self.model, Limits.within(asking.Settings(budget=budget).budget))

    def tuned(
        self, wanted: Sequence[tuning.Wanted], rules: Collection[int] | None = None, *, budget: float = 10.0
    ) -> tuple[Reasoner, tuning.Tuning]:
        """The same with beliefs by which its probabilities come as near to wanted ones as they can, and what changed.

        `wanted` is a list of (question, condition or None, probability); `rules` numbers those that may change, from 1.
        """
        free = None if rules is None else {number - 1 for number in rules}
        model, told = tuning.tuned(self.model, wanted, free, asking.Settings(budget=budget).budget)
        return Reasoner.of(model), told

    def restated(self, *, budget: float = 10.0, seed: int = 0) -> list[Restated | str]:
        """Each rule as short statements that agree with it, or why it is not restated: empty if it is a statement."""
        limits = Limits.within(asking.Settings(budget=budget).budget)
        return list(distilling.restated(self.model, self.prior, limits.deadline, seed))

    def distil(
        self, agreement: float = 0.99, *, keep: bool = True, budget: float = 10.0, seed: int = 0
    ) -> distilling.Distilled[Reasoner]:
        """The model with statements in the place of networks, where they agree on that share of points.

        Other networks stay as they are, or are dropped if `keep` is False. `budget` seconds go into measuring what was
        lost: how far the answers of both models are apart.
        """
        model, fates, lost = distilling.distil(self.model, self.prior, agreement, keep, budget, seed)
        return distilling.Distilled(Reasoner.of(model), fates, lost)

    def probability(
        self, question: str | Expression, given: str | Expression | None = None, *, budget: float = 10.0, seed: int = 0
    ) -> Probability:
        """How often the question holds where the condition does, P(Q | C) under P_0 P_keep, and what stays open.

        Exact where points can be listed, summed or counted; else drawn for `budget` seconds, with an error that holds.
        """
        return probability(self.model, question, given, budget=budget, seed=seed)

    def marginals(
        self, given: every.Given | Sequence[every.Given] = None, *, belief: bool = False, budget: float = 10.0
    ) -> pd.DataFrame:
        """How often every value of every variable is, under a condition or each of a list; beliefs if asked for."""
        return every.table(self.model, given, belief, asking.Settings(budget=budget))

    @property
    def prior(self) -> Prior:
        """The prior-knowledge distribution for samples and likelihoods; uniform unless given. Asking ignores it."""
        return Learned(self.model.prior) if isinstance(self.model.prior, Model) else self.model.base

    def keep(self, points: Tensor) -> Tensor:
        """P_keep, equation (10): how plausible each observed point is, up to a common factor."""
        return keep(self.model.grades_of_observed(points), self.model.presence)

    def log_prob(self, table: tables.TableLike, seed: int = 0) -> Tensor:
        """The log-likelihood of each row of a table; empty cells are summed over."""
        return likelihood.score(self.model, tables.read(table, self.world), seed).log_prob

    def sample(self, count: int, given: str | Expression | None = None, *, seed: int = 0) -> pd.DataFrame:
        """Rows drawn from the model combined with its prior, as a DataFrame; `attrs` tells how they came about."""
        model, condition = self.model.observing(given)
        drawn = sampling.draw(model, count, condition, torch.Generator().manual_seed(seed))
        return tables.frame(self.world, drawn.points, method=drawn.method, acceptance=drawn.acceptance)

    def predict(self, table: tables.TableLike, column: str, *, seed: int = 0) -> pd.DataFrame:
        """A column of each row from the others: its value with a probability or a range; see `nbr.density.filling`."""
        return filling.predicted(self.model, table, column, seed)

    def impute(self, table: tables.TableLike, *, seed: int = 0) -> pd.DataFrame:
        """The table with its holes filled and all else as it was; `attrs["cells"]` has a line for each filled cell."""
        return filling.impute(self.model, table, seed).frame()

    def world_masses(self) -> Tensor:
        """The mass of each of the 2^K worlds, equation (5); bit i of the index tells whether rule i is present."""
        return masses.of_worlds(self.model)

    def focal_sets(self) -> list[masses.FocalSet]:
        """The fuzzy sets with a mass, equations (1) and (4): worlds with the same intersection add up."""
        return masses.of_sets(self.model)

    def __and__(self, other: Reasoner) -> Reasoner:
        """Two independent bodies of knowledge as one, over the union of their worlds; their priors too."""
        if not isinstance(other, Reasoner):
            return NotImplemented
        return Reasoner.of(joint.combined(self.model, other.model))

    def save(self, path: str | PathLike[str]) -> None:
        """Write a .nbr file, or a .toml, which has no networks; what cannot be saved is named by the error."""
        if Path(path).suffix.lower() == ".toml":
            container.save_toml(saved.by_hand(self.model), path)
        else:
            container.save(self, path)

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The model as plain data and tensors, for a file."""
        return saved.write(self.model)

    @classmethod
    def from_spec(cls, model: Mapping[str, Any], parts: registry.Parts) -> Reasoner:
        """The inverse of `spec`; the words of a .toml are the same."""
        return cls.of(saved.read(model, parts))

    def __repr__(self) -> str:
        return f"Reasoner({len(self.world)} variables, {len(self.rules)} rules)"

    def _repr_html_(self) -> str:
        return html.listed(repr(self), [(rule.name or rule.describe(), rule.degree) for rule in self.rules])
