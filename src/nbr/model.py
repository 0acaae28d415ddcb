"""A model: a world, rules over it, a prior, and what was seen when it was learned; one value, passed whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from nbr import clock
from nbr.aims import Aims
from nbr.calculus import Presence, Selectors
from nbr.errors import NbrError
from nbr.language import Expression, Not, conjunction, conjuncts, split_condition
from nbr.priors import Prior, uniform
from nbr.remembered import Remembered
from nbr.rules import (
    Clause,
    Codec,
    Evidence,
    OneOf,
    Rule,
    Sensing,
    Source,
    checked_sources,
    definitions,
    evidence_clauses,
    sensor_for_each,
    spelled,
)
from nbr.tables import Together
from nbr.world import World

T = TypeVar("T")

KEPT = 256 << 20  # bytes of what follows from the rules, kept for later questions
MANY = 1024  # rules, after each of which grading looks at the clock


class _Mine:
    """Tells what one model has kept from what others have."""


@dataclass(frozen=True, eq=False)
class Model:
    """A world and K rules over it; with a codec, the rules speak of its latent world.

    Sensors turn pictures into rules about their variables, by `see`; the model that has seen them keeps their evidence.
    The prior says how common points are beside the rules, and may be a model itself, whose rules then count too; none
    given is a uniform one, and nothing is claimed of how often. A model is never changed: others are made from it, and
    those share its memory as `kept`, so that there is one limit for all.
    """

    world: World
    rules: tuple[Rule, ...] = ()
    codec: Codec | None = None
    prior: Prior | Model | None = None
    seen: Together | None = None
    sensors: Mapping[str, Sensing] = field(default_factory=dict)  # of variables, by their names or ranges of names
    sight: Sight | None = None
    aims: Aims = field(default_factory=Aims)
    closed: frozenset[str] = frozenset()  # bits that are 1 only where a rule that is there makes them so
    kept: Remembered[Hashable, Any] = field(default_factory=lambda: Remembered(KEPT), repr=False)
    _mine: _Mine = field(default_factory=_Mine, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.rules, Rule) or not isinstance(self.rules, Iterable):
            raise NbrError("rules must be a list")
        if self.prior is not None and self.prior.world != self.world:
            raise NbrError("the prior has other variables than the model")
        bound = tuple(_bound(position, rule, self.latent) for position, rule in enumerate(self.rules, 1))
        if any(rule.source is not None or rule.choice is not None for rule in bound):
            checked_sources(bound)
        object.__setattr__(self, "rules", bound)
        self._check_closed()
        if self.sensors and self.codec is not None:
            raise NbrError("sensors are for models without a decoder: what they see are observed variables")
        object.__setattr__(self, "sensors", sensor_for_each(self.world, self.sensors))

    def _check_closed(self) -> None:
        object.__setattr__(self, "closed", frozenset(self.closed))
        if self.closed and (self.codec is not None or self.below is not None):
            raise NbrError("closed variables are for models of their own, without a decoder or a learned prior")
        definitions.check(self.world, self.closed)
        for position, rule in enumerate(self.rules, 1):
            for name in sorted(rule.exceptions - self.closed):
                raise NbrError(
                    f"rule {position}: its exception {name!r} is not closed: nothing would count as not so; "
                    f'write closed = ["{name}"]'
                )
        if self.closed:
            _ = self.program  # says which variables depend on themselves through a negation

    @cached_property
    def program(self) -> definitions.Program:
        """What defines each closed variable."""
        return definitions.program(self.rules, self.closed)

    def alone(self, what: str) -> None:
        """Raise an error unless every rule is there for itself and no variable is closed; `what` needs that."""
        if self.closed or isinstance(self.presence, Selectors):
            why = "variables are closed" if self.closed else "rules share a source, or are possibilities"
            raise NbrError(f"{what} for rules that are there each for itself, over open variables; here {why}")

    def with_rules(self, rules: Iterable[Rule]) -> Model:
        """The same with other rules."""
        return replace(self, rules=tuple(rules))

    def without(self, positions: Collection[int]) -> Model:
        """The same with some rules, counted from 0, believed to degree 0: numbers stay, and they change nothing."""
        return self.with_rules(
            rule.with_belief(0.0) if position in positions else rule for position, rule in enumerate(self.rules)
        )

    def see(self, evidence: Mapping[str, Evidence]) -> Model:
        """The model with what sensors say of one input for each of some variables, as rules behind its own."""
        said = tuple(evidence_clauses(self.world, evidence))
        return replace(self, rules=(*self.rules, *said), sight=Sight(self, dict(evidence)))

    def observing(self, given: str | Expression | None) -> tuple[Model, Expression | None]:
        """The model for one condition, and what of that is certain: what has a degree becomes a rule of the model.

        >>> model, condition = Model(World.bits(2)).observing("x0, x1 @ 0.8")
        >>> model.rules, str(condition)
        ((Clause('x1', belief=0.8),), 'x0')
        """
        if given is None:
            return self, None
        certain, graded = split_condition(given, self.world)
        if graded and self.codec is not None:
            raise NbrError("condition: evidence with a degree needs a model whose rules speak of what is observed")
        rules = [Clause(self._observed(each.part), each.degree, str(each)) for each in graded]
        if certain is not None and self.world.words.keys() & certain.names():
            parts = list(conjuncts(certain))
            fuzzy = [part for part in parts if self.world.words.keys() & part.names()]
            rules += [Clause(part, 1.0) for part in fuzzy]
            certain = conjunction([part for part in parts if part not in fuzzy])
        return (self.with_rules((*self.rules, *rules)) if rules else self), certain

    def _observed(self, part: Expression) -> Expression:
        """What was observed, said so that it makes nothing so: a closed variable is not true because one looked."""
        return Not(Not(part)) if definitions.makes(part, self.closed) else part

    @property
    def latent(self) -> World:
        """The world that the rules speak of."""
        return self.world if self.codec is None else self.codec.latent

    @property
    def below(self) -> Model | None:
        """The model that this one stands on, as its prior."""
        return self.prior if isinstance(self.prior, Model) else None

    @property
    def bodies(self) -> tuple[Model, ...]:
        """The model itself and those that it stands on, as priors.

        Fuzzy rules of two bodies do not mix: the weight of a point is the prior's times P_keep of every body.
        """
        return (self,) if self.below is None else (self, *self.below.bodies)

    @property
    def base(self) -> Prior:
        """The prior below all rules; uniform if none is given."""
        lowest = self.bodies[-1].prior
        return lowest if isinstance(lowest, Prior) else uniform(self.world)

    @property
    def reads(self) -> frozenset[str]:
        """The variables that some rule reads, of any body; by way of an encoder, all."""
        if any(body.codec is not None for body in self.bodies):
            return frozenset(self.world.names)
        return frozenset(name for body in self.bodies for rule in body.rules for name in rule.inputs)

    @property
    def beliefs(self) -> Tensor:
        """The belief of each rule, shape (rules,)."""
        return _degrees([rule.belief for rule in self.rules])

    @cached_property
    def readers(self) -> dict[str, list[Rule]]:
        """The rules that read each variable, where some do."""
        found: dict[str, list[Rule]] = {}
        for rule in self.rules:
            for name in rule.inputs:
                found.setdefault(name, []).append(rule)
        return found

    @cached_property
    def shares(self) -> bool:
        """Whether rules may share a selector with others."""
        return any(rule.choice is not None or rule.source is not None for rule in self.rules)

    @property
    def presence(self) -> Presence:
        """How likely rules are to be there: their beliefs, where none of them shares a selector with another one."""
        return presence(self.rules, self.beliefs) if self.shares else self.beliefs

    @property
    def likeliest(self) -> Presence:
        """The same by which frequencies are counted: of learned rules not the lower limits."""
        return presence(self.rules, _degrees([rule.likeliest for rule in self.rules]))

    def grades(self, points: Tensor) -> Tensor:
        """R(z): the grade of each point in each rule, shape (points, rules)."""
        done: dict[object, Tensor] = {}
        columns = []
        for place, rule in enumerate(self.rules, 1):
            columns.append(rule.grades_beside(done, points))
            if place % MANY == 0:  # of so many even a few points take a while
                clock.check()
        return torch.stack(columns, dim=1) if columns else points.new_zeros(len(points), 0)

    def grades_of_observed(self, points: Tensor) -> Tensor:
        """The same for points of the observed world, by way of their codes."""
        return self.grades(points if self.codec is None else self.codec.encode(points))

    def observe(self, points: Tensor) -> Tensor:
        """F(z): what is observed at points of the latent world."""
        return points if self.codec is None else self.codec.decode(points)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once for a key. The key must name all that can change: beliefs, weights."""
        found: Any = self.kept.get((self._mine, key), self._mine)
        if found is self._mine:
            found = self.kept[self._mine, key] = make()
        known: T = found
        return known


def presence(rules: Sequence[Rule], beliefs: Tensor) -> Presence:
    """How likely rules of given beliefs, (rules,), are to be there together.

    Sources that are reliable and say distinct things leave each rule for itself.
    """
    if all(rule.choice is None and (rule.source is None or rule.source == Source(rule.source.name)) for rule in rules):
        return beliefs
    sources = {rule.source.name: rule.source for rule in rules if rule.source is not None}
    sources = {name: each for name, each in sources.items() if each.nested or each.reliability < 1}
    return selectors(rules, beliefs, sources, beliefs.new_tensor([each.reliability for each in sources.values()]))


def selectors(rules: Sequence[Rule], beliefs: Tensor, sources: Mapping[str, Source], reliability: Tensor) -> Selectors:
    """The selectors of rules of some sources, whose reliability, (sources,), is told apart; others are reliable."""
    number = {name: place for place, name in enumerate(sources)}
    choices: dict[OneOf | None, int] = {None: -1}
    return Selectors(
        beliefs,
        tuple(-1 if rule.source is None else number.get(rule.source.name, -1) for rule in rules),
        tuple(choices.setdefault(rule.choice, len(choices)) for rule in rules),
        reliability,
        tuple(each.nested for each in sources.values()),
    )


@dataclass(frozen=True, eq=False)
class Sight:
    """What a model has seen: the model as it was before, and the evidence of an input for each of some variables."""

    model: Model
    evidence: Mapping[str, Evidence]


def _degrees(beliefs: Iterable[float | Tensor]) -> Tensor:
    numbers = list(beliefs)
    if any(isinstance(belief, Tensor) for belief in numbers):
        degrees = torch.stack([torch.as_tensor(belief, dtype=torch.float64) for belief in numbers])
    else:
        degrees = torch.tensor(numbers, dtype=torch.float64)
    if not bool(((degrees >= 0) & (degrees <= 1)).all()):
        raise NbrError("a belief has left the range from 0 to 1")
    return degrees


def _bound(position: int, rule: Rule, world: World) -> Rule:
    clock.check()
    if not isinstance(rule, Rule):
        raise NbrError(f"rule {position} is {rule!r}; write Clause(text, belief) or another kind of rule")
    try:
        return (spelled(rule, world) if world.words else rule).bind(world)
    except NbrError as error:
        raise NbrError(f"rule {position}: {error}") from None
