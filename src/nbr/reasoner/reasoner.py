"""The belief function: a world, rules over it, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from torch import Tensor

from nbr import registry
from nbr.asking import masses
from nbr.asking import question as asking
from nbr.density import joint, saved, standing_on
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.plots import html
from nbr.priors import Prior
from nbr.reasoner.answering import Answering
from nbr.rules import Codec, Map, Rule, Sensing
from nbr.seeing import corner, evidence_of, readings
from nbr.storage import container
from nbr.tables import Counts, Together, Views
from nbr.world import World


@registry.kind("model", "reasoner")
class Reasoner(Answering):
    """K rules over a world; together they specify a Dempster-Shafer belief function.

    With a decoder F the rules describe the points of a `latent` world, and F maps these to the observed world, which
    questions are about. Without one the two worlds are the same.

    Args:
        world: The observed variables.
        rules: The rules, each with its belief.
        latent: With a decoder, the variables that the rules read.
        decoder: A map from latent points, shape (points, latent width), to observed ones, shape (points, width).
        encoder: The inverse map. With it, observed points can be weighed and sampled by their codes.
        prior: The base rates of points, uniform unless given. They count for `probability`, samples and likelihoods,
            never for `ask`.
        views: The sets of columns that were observed together when the model was learned.
        view_rows: The number of rows that showed each of these sets; None or 0 where it is not known.
        dispersion: How far the model is off its rows, 1 or more; ranges count that many times fewer rows.
        sensors: For names of variables, one or several as in "d1..d5", the sensor that reads their pictures in `see`.
        closed: Bits that are 1 only where a rule that is present makes them so.

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

    @property
    def world(self) -> World:
        """The observed variables."""
        return self.model.world

    @property
    def views(self) -> Views | None:
        """The sets of columns that were observed together, where that is known."""
        return None if self.model.seen is None else self.model.seen.views

    @property
    def view_rows(self) -> Counts | None:
        """The number of rows that showed each of `views`, where that is known."""
        return None if self.model.seen is None else self.model.seen.rows

    @property
    def latent(self) -> World:
        """The variables that the rules read."""
        return self.model.latent

    @property
    def codec(self) -> Codec | None:
        """The decoder and the encoder, for a model that has them."""
        return self.model.codec

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order in which they were given."""
        return self.model.rules

    @property
    def beliefs(self) -> Tensor:
        """The belief of each rule, shape (rules,)."""
        return self.model.beliefs

    def grades(self, points: Tensor) -> Tensor:
        """R(z): the grade of each point in each rule.

        Args:
            points: Points of the latent world, shape (points, variables).

        Returns:
            Grades from 0 to 1, shape (points, rules).
        """
        return self.model.grades(points)

    def observe(self, points: Tensor) -> Tensor:
        """F(z): the observed points that the decoder gives for latent ones.

        Args:
            points: Points of the latent world, shape (points, latent variables).

        Returns:
            Points of the observed world, shape (points, variables).
        """
        return self.model.observe(points)

    def see(self, pictures: Mapping[str, Any] | None = None, /, **named: Any) -> Reasoner | readings.Readings[Reasoner]:
        """Turn pictures into rules about their variables, by the sensors of the model.

        Args:
            pictures: A picture for each name: an array of shape (height, width) or (height, width, channels), or the
                name of a file; arrays with a batch in front and lists of files give many readings at once.
            **named: The same as keyword arguments.

        Returns:
            The model with these rules; for batches `Readings`, one model for each row.
        """
        found = evidence_of(self.model, {**(pictures or {}), **named})
        if found.many:
            return readings.Readings(self.model, found.evidence, found.count, Reasoner.of)
        return Reasoner.of(self.model.see(found.evidence))

    def certified_radius(self, each: bool = False, given: str | Expression | None = None) -> float:
        """The L2 length of changes of the pictures that provably cannot change the reading.

        The reading is the best point's values of the variables that were seen.

        Args:
            each: Whether to bound the change of every picture instead of that of all of them together.
            given: A condition, in the query language.
        """
        return float(readings.one(self.model).given(given).certified_radius(each)[0])

    def belief_within(self, length: float, *, budget: float = 10.0, seed: int = 0) -> corner.Within:
        """Belief and plausibility of the reading, for every change of each picture up to an L2 length.

        Args:
            length: The L2 length of the change of each picture.
            budget: The time limit, in seconds.
            seed: The seed for engines that sample.
        """
        return corner.within(self.model, length, asking.AskSettings(budget=budget, seed=seed))

    def world_masses(self) -> Tensor:
        """The mass of each of the 2^K worlds, equation (5), for models with few rules.

        Returns:
            Masses, shape (2^K,); bit i of the index says whether rule i is present.
        """
        return masses.of_worlds(self.model)

    def focal_sets(self) -> list[masses.FocalSet]:
        """The fuzzy sets that carry mass, equations (1) and (4); worlds with the same intersection add up."""
        return masses.of_sets(self.model)

    def __and__(self, other: Reasoner) -> Reasoner:
        """Combine two models that rest on independent evidence, over the union of their variables."""
        if not isinstance(other, Reasoner):
            return NotImplemented
        return Reasoner.of(joint.combined(self.model, other.model))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file.

        Args:
            path: A file that ends in .nbr, or in .toml for a model without networks. The error names a rule that
                cannot be saved.
        """
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
