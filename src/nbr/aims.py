"""What a model is for: what can be observed at what cost, and what can be done, with what it is worth.

[observable]
resting = 1                                # a voltmeter is at hand
compression = 20                           # an hour of work

[actions]
replace = [{ when = "bad[battery]", value = 10 }, { value = -3 }]    # the first entry that holds counts
wait = 0                                   # worth the same whatever holds
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbr.errors import NbrError, suggest
from nbr.language import And, Constant, Expression, Not, Or, parse
from nbr.world import World

MOST = 64  # utilities of one action


@dataclass(frozen=True)
class Payoff:
    """What an action is worth where a statement holds; without one, wherever no earlier one holds."""

    value: float
    when: str | None = None


@dataclass(frozen=True)
class Action:
    """Something that can be done; the first of its payoffs whose statement holds counts, and the last has none."""

    name: str
    payoffs: tuple[Payoff, ...]

    def __post_init__(self) -> None:
        if not self.payoffs or any(each.when is None for each in self.payoffs[:-1]):
            raise NbrError("only the last utility of an action can be without 'when', and there must be one")
        if self.payoffs[-1].when is not None:
            raise NbrError("its utility is not given where none of these holds; end the list with { value = .. }")
        if len(self.utilities) > MOST:
            raise NbrError(f"an action has up to {MOST} utilities, not {len(self.utilities)}")

    @property
    def utilities(self) -> list[float]:
        """What it may be worth, ascending."""
        return sorted({each.value for each in self.payoffs})

    def worth(self, values: Collection[float]) -> Expression:
        """Where it is worth one of some values, as a statement.

        >>> replace = Action("replace", (Payoff(10, "bad"), Payoff(0, "cold"), Payoff(-3)))
        >>> print(replace.worth({10, -3}))
        bad | ~cold
        """
        found: Expression = Constant(self.payoffs[-1].value in values)
        for payoff in reversed(self.payoffs[:-1]):
            assert payoff.when is not None
            found = _either(parse(payoff.when), found) if payoff.value in values else _neither(payoff.when, found)
        return found

    def plain(self) -> list[dict[str, object]]:
        """The list of its payoffs, as a file has it."""
        return [({} if each.when is None else {"when": each.when}) | {"value": each.value} for each in self.payoffs]


def _either(one: Expression, other: Expression) -> Expression:
    if isinstance(other, Constant):
        return other if other.value else one
    return Or((one, other))


def _neither(when: str, other: Expression) -> Expression:
    if isinstance(other, Constant) and not other.value:
        return other
    denied = Not(parse(when))
    return denied if isinstance(other, Constant) else And((denied, other))


@dataclass(frozen=True)
class Aims:
    """What can be observed at what cost, where that is said, and what can be done."""

    observable: Mapping[str, float] | None = None
    actions: tuple[Action, ...] = field(default_factory=tuple)

    def __and__(self, other: Aims) -> Aims:
        """Those of both; the same thing told differently is refused."""
        observable = {**(self.observable or {}), **(other.observable or {})}
        for name, cost in (self.observable or {}).items():
            if observable[name] != cost:
                raise NbrError(f"to observe {name!r} costs {cost:g} in one model and {observable[name]:g} in the other")
        known = {action.name: action for action in self.actions}
        for action in other.actions:
            if known.setdefault(action.name, action) != action:
                raise NbrError(f"the action {action.name!r} has different utilities in the two models")
        told = self.observable is not None or other.observable is not None
        return Aims(observable if told else None, tuple(known.values()))

    def plain(self) -> dict[str, Any]:
        """The entries of a file; pairs, since their order is told."""
        found: dict[str, Any] = {}
        if self.observable is not None:
            found["observable"] = [[name, cost] for name, cost in self.observable.items()]
        if self.actions:
            found["actions"] = [[action.name, action.plain()] for action in self.actions]
        return found

    def by_hand(self) -> dict[str, Any]:
        """The same as tables, as a .toml has them."""
        return {name: dict(pairs) for name, pairs in self.plain().items()}


def read(world: World, model: Mapping[str, Any]) -> Aims:
    """The [observable] and [actions] of a model, each a table or a list of pairs."""
    observable = None
    if "observable" in model:
        observable = {}
        for name, cost in _pairs(model["observable"], "observable", "resting = 1"):
            try:
                world.column(name)
                observable[name] = _number(cost, "its cost")
                if not observable[name] > 0:
                    raise NbrError(f"its cost must be above 0, not {observable[name]:g}")
            except NbrError as error:
                raise NbrError(f"[observable] {name!r}: {error}") from None
    actions = []
    for name, said in _pairs(model.get("actions", {}), "actions", "wait = 0"):
        try:
            actions.append(Action(name, _payoffs(world, said)))
        except NbrError as error:
            raise NbrError(f"[actions] {name!r}: {error}", error.at) from None
    return Aims(observable, tuple(actions))


def _pairs(given: object, what: str, example: str) -> list[tuple[str, Any]]:
    if isinstance(given, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in given):
        given = dict(given)
    if not isinstance(given, Mapping):
        raise NbrError(f"[{what}] must be a table of names, as in {example}")
    return list(given.items())


def _payoffs(world: World, said: object) -> tuple[Payoff, ...]:
    if not isinstance(said, list):
        return (Payoff(_number(said, "what it is worth")),)
    found = []
    for number, each in enumerate(said, 1):
        try:
            found.append(_payoff(world, each))
        except NbrError as error:
            raise NbrError(f"entry {number}: {error}", error.at) from None
    return tuple(found)


def _payoff(world: World, said: object) -> Payoff:
    if not isinstance(said, Mapping):
        raise NbrError('it must be { when = "..", value = .. }')
    for key in said:
        if key not in ("when", "value"):
            raise NbrError(f"unknown entry {key!r}" + suggest(key, ("when", "value")))
    if "value" not in said:
        raise NbrError("has no value")
    when = said.get("when")
    if when is not None:
        if not isinstance(when, str):
            raise NbrError(f"'when' must be text, not {when!r}")
        parse(when, world).check(world)
    return Payoff(_number(said["value"], "its value"), when)


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise NbrError(f"{what} must be a number, not {value!r}")
    return float(value)
