"""Rules together: what they say of points, as matrices, and how they are written to a file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor

from nbr import clock, registry
from nbr.errors import NbrError, suggest
from nbr.remembered import Remembered
from nbr.rules import written
from nbr.rules.base import Rule, number, text
from nbr.rules.codec import Codec
from nbr.rules.support import Support
from nbr.world import World

T = TypeVar("T")


class _Mine:
    """Tells what one model has kept from what others have."""


COMMON = ("belief", "name", "support")
KEPT = 256 << 20  # bytes of what follows from the rules, kept for later questions


class Knowledge:
    """A world and K rules over it; with a codec, the rules speak of its latent world.

    What is made from a model, such as a part of it, gets the model's own memory as `kept`: there is one limit for all.
    """

    def __init__(
        self,
        world: World,
        rules: Iterable[Rule] = (),
        codec: Codec | None = None,
        kept: Remembered[Hashable, Any] | None = None,
    ) -> None:
        if isinstance(rules, Rule) or not isinstance(rules, Iterable):
            raise NbrError("rules come as a list")
        self.world, self.codec = world, codec
        self.latent = world if codec is None else codec.latent
        self.rules = tuple(_bound(position, rule, self.latent) for position, rule in enumerate(rules, 1))
        self.kept: Remembered[Hashable, Any] = Remembered(KEPT) if kept is None else kept
        self._mine = _Mine()

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once for a key. The key must name all that can change: beliefs, weights."""
        found: Any = self.kept.get((self._mine, key), self._mine)
        if found is self._mine:
            found = self.kept[self._mine, key] = make()
        known: T = found
        return known

    @property
    def beliefs(self) -> Tensor:
        """The belief of each rule, shape (rules,)."""
        return _degrees([rule.belief for rule in self.rules])

    @property
    def likeliest(self) -> Tensor:
        """The beliefs by which frequencies are counted, shape (rules,); of learned rules not the lower limits."""
        return _degrees([rule.likeliest for rule in self.rules])

    def grades(self, points: Tensor) -> Tensor:
        """R(z): the grade of each point in each rule, shape (points, rules)."""
        done: dict[object, Tensor] = {}
        columns = [rule.grades_beside(done, points) for rule in self.rules]
        return torch.stack(columns, dim=1) if columns else points.new_zeros(len(points), 0)

    def grades_of_observed(self, points: Tensor) -> Tensor:
        """The same for points of the observed world, by way of their codes."""
        return self.grades(points if self.codec is None else self.codec.encode(points))

    def observe(self, points: Tensor) -> Tensor:
        """F(z): what is observed at points of the latent world."""
        return points if self.codec is None else self.codec.decode(points)

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """World, rules and codec as plain data and tensors."""
        model: registry.Spec = {"variables": _ordered(self.world), "rules": []}
        tensors: registry.Tensors = {}
        written: dict[int, int] = {}
        for position, rule in enumerate(self.rules):
            spec, parts = rule.spec()
            if rule.weights is not None and written.setdefault(id(rule.weights), position) != position:
                spec["weights"], parts = written[id(rule.weights)] + 1, {}
            model["rules"].append(spec)
            tensors |= registry.joined(parts, f"rules.{position}")
        if self.codec is not None:
            spec, parts = self.codec.spec()
            model |= {"latent": _ordered(self.latent), **spec}
            tensors |= parts
        return model, tensors

    @classmethod
    def from_spec(cls, model: Mapping[str, Any], parts: registry.Parts) -> Knowledge:
        if not isinstance(model.get("variables"), list):  # written by hand
            model = written.plain(model)
        world = _world(model["variables"])
        codec = None
        if "decoder" in model:
            codec = Codec.from_spec(world, _world(model["latent"]), model, parts)
        rules: list[Rule] = []
        for position, spec in enumerate(model.get("rules", []), 1):
            try:
                rules.append(_rule(spec, parts.below(f"rules.{position - 1}", earlier=rules, codec=codec)))
            except NbrError as error:
                raise NbrError(f"rule {position}: {error}") from None
        return cls(world, rules, codec)


def _world(pairs: object) -> World:
    """The inverse of `_ordered`."""
    whole = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    if not isinstance(pairs, list) or not whole or not all(isinstance(name, str) for name, _ in pairs):
        raise NbrError("the variables of a model are pairs of a name and a kind")
    if len({name for name, _ in pairs}) < len(pairs):
        raise NbrError("a variable stands twice")
    return World.from_spec(dict(pairs))


def _rule(spec: object, parts: registry.Parts) -> Rule:
    if not isinstance(spec, dict):
        raise NbrError("must be a table: write [[rules]] above it")
    name = next((name for name in ("veiled", *registry.names("rule")) if name in spec), None)
    if name is None:
        raise NbrError('has no rule = "..." and no memory = {...}')
    found = registry.find("rule", name)
    registry.check_keys(spec, found, COMMON)
    if "belief" not in spec:
        raise NbrError("has no belief")
    checked = {**spec, "belief": number(spec, "belief"), "name": text(spec, "name") if "name" in spec else None}
    rule: Rule = found.from_spec(checked, parts)
    if "support" in spec:
        rule.support = Support.read(spec["support"])
    return rule


def _degrees(beliefs: Iterable[float | Tensor]) -> Tensor:
    numbers = [torch.as_tensor(belief, dtype=torch.float64) for belief in beliefs]
    degrees = torch.stack(numbers) if numbers else torch.zeros(0, dtype=torch.float64)
    if not bool(((degrees >= 0) & (degrees <= 1)).all()):
        raise NbrError("a belief has left the range from 0 to 1")
    return degrees


def _ordered(world: World) -> list[list[object]]:
    """Variables as pairs: their order is part of the model, and JSON objects do not promise one."""
    return [[name, spec] for name, spec in world.spec.items()]


def _bound(position: int, rule: Rule, world: World) -> Rule:
    clock.check()
    if not isinstance(rule, Rule):
        raise NbrError(f"rule {position} is {rule!r}; write Clause(text, belief) or another kind of rule")
    try:
        return rule.bind(world)
    except NbrError as error:
        raise NbrError(f"rule {position}: {error}") from None


def check_entries(model: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise an error that names an entry of a hand-written model which nobody reads."""
    for key in model:
        if key not in known:
            raise NbrError(f"unknown entry {key!r}" + suggest(key, known))
