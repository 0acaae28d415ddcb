"""The belief function: a world, rules over it, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nbr import asking, masses
from nbr.answer import Answer
from nbr.codec import Codec, Map
from nbr.errors import NbrError
from nbr.inference.point import keep
from nbr.language import Expression, parse
from nbr.learning import likelihood, priors, sampling, tables
from nbr.learning.priors import Prior
from nbr.rules import Rule
from nbr.world import World

if TYPE_CHECKING:
    import pandas as pd

Proposition = str | Expression | Rule | Callable[[Tensor], Tensor]


class Reasoner:
    """K rules over a world; together they specify a Dempster-Shafer belief function.

    With a decoder F the rules speak of the points of a `latent` world, and F gives the point of the
    world that is observed; questions are about what is observed. Without one they are the same. An `encoder` turns
    back: with it, the latent points are the codes of the observable ones, and points can be weighed and sampled.

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
    ) -> None:
        if not isinstance(world, World):
            raise NbrError(f"a reasoner needs a World first, not {type(world).__name__}")
        if (latent is None) != (decoder is None):
            raise NbrError("a decoder needs the latent world it reads from: give latent= and decoder= together")
        if latent is not None and not isinstance(latent, World):
            raise NbrError(f"latent= is a World, not {type(latent).__name__}")
        if isinstance(rules, Rule) or not isinstance(rules, Iterable):
            raise NbrError("rules come as a list")
        self.world = world
        self.latent = world if latent is None else latent
        self.codec = None if latent is None or decoder is None else Codec(world, latent, decoder, encoder)
        self.known_prior = prior
        self.rules = tuple(_bound(position, rule, self.latent) for position, rule in enumerate(rules, 1))

    @property
    def beliefs(self) -> Tensor:
        """The belief of each rule, shape (rules,)."""
        numbers = [torch.as_tensor(rule.belief, dtype=torch.float64) for rule in self.rules]
        beliefs = torch.stack(numbers) if numbers else torch.zeros(0, dtype=torch.float64)
        if not bool(((beliefs >= 0) & (beliefs <= 1)).all()):
            raise NbrError("a belief has left the range from 0 to 1")
        return beliefs

    def grades(self, points: Tensor) -> Tensor:
        """R(z): the grade of each point in each rule, shape (points, rules)."""
        done: dict[object, Tensor] = {}
        columns = [rule.grades_beside(done, points) for rule in self.rules]
        return torch.stack(columns, dim=1) if columns else points.new_zeros(len(points), 0)

    def observe(self, points: Tensor) -> Tensor:
        """F(z): what is observed at points of the latent world."""
        return points if self.codec is None else self.codec.decode(points)

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

        Question and condition are text in the query language, or fuzzy sets: a rule whose belief is
        ignored, or a function from points to grades. `budget` is in seconds. Where an exact answer is not to be
        had in that time, the answer has bounds, as narrow as `tolerance` if the time allows. Along reals that
        networks or functions read, a grid is laid: of `grid` pieces, or ever finer until the bounds are narrow.
        """
        ways = asking.Ways(engine, budget, tolerance, grid, seed)
        return asking.ask(self, question, given, ways)

    @property
    def prior(self) -> Prior:
        """The prior-knowledge distribution for samples and likelihoods; uniform unless given. Asking ignores it."""
        return self.known_prior or priors.uniform(self.world)

    def keep(self, points: Tensor) -> Tensor:
        """P_keep, equation (10): how plausible each observed point is, up to a common factor."""
        return keep(self.grades(points if self.codec is None else self.codec.encode(points)), self.beliefs)

    def log_prob(self, table: tables.Source, seed: int = 0) -> Tensor:
        """The log-likelihood of each row of a table; empty cells are summed over."""
        return likelihood.score(self, tables.read(table, self.world), seed).log_prob

    def sample(self, count: int, given: str | Expression | None = None, *, seed: int = 0) -> pd.DataFrame:
        """Rows drawn from the model combined with its prior, as a DataFrame; `attrs` tells how they came about."""
        condition = parse(given) if isinstance(given, str) else given
        if condition is not None:
            condition.check(self.world)
        drawn = sampling.draw(self, count, condition, torch.Generator().manual_seed(seed))
        return tables.frame(self.world, drawn.points, method=drawn.method, acceptance=drawn.acceptance)

    def world_masses(self) -> Tensor:
        """The mass of each of the 2^K worlds, equation (5); bit i of the index tells whether rule i is present."""
        return masses.of_worlds(self)

    def focal_sets(self) -> list[masses.FocalSet]:
        """The fuzzy sets with a mass, equations (1) and (4): worlds with the same intersection add up."""
        return masses.of_sets(self)

    def __and__(self, other: Reasoner) -> Reasoner:
        """Two independent bodies of knowledge as one, over the union of their worlds."""
        if not isinstance(other, Reasoner):
            return NotImplemented
        if self.codec is not None or other.codec is not None:
            raise NbrError("models with a decoder cannot be combined: their latent worlds differ")
        world = self.world | other.world
        prior = self.known_prior if world == self.world else None
        return Reasoner(world, (*self.rules, *other.rules), prior=prior)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a .nbr file; a rule that is an arbitrary function cannot be saved, and the error says which."""
        from nbr import files

        files.save(self, path)

    def __repr__(self) -> str:
        return f"Reasoner({len(self.world)} variables, {len(self.rules)} rules)"


def _bound(position: int, rule: Rule, world: World) -> Rule:
    if not isinstance(rule, Rule):
        raise NbrError(f"rule {position} is {rule!r}; write Clause(text, belief) or another kind of rule")
    try:
        return rule.bind(world)
    except NbrError as error:
        raise NbrError(f"rule {position}: {error}") from None
