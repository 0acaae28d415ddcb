"""Which rules are there together, where not each is there for itself.

A selector is an independent finite variable, and a rule says at which of its values it is there. The rules of a source
share whether it is reliable (rho); nested ones also one degree u, and are there where u <= b_i; of the possibilities of
a choice at most one is there, each with its mass. By source, P(no rule of a set V is there) is

    distinct  1 - rho (1 - product over V of (1 - b_i)),  a choice in it counting as one factor 1 - sum over V of b_i
    nested    1 - rho max over V of b_i

and sources are independent of each other, so that the layer-cake formula of one point takes their product.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

CHUNK = 1 << 18  # grades at a time


@dataclass(frozen=True)
class Sharing:
    """The rules of a source, or of a choice without one; `choices` are those among them that exclude one another."""

    source: int | None
    members: tuple[int, ...]
    plain: tuple[int, ...]
    choices: tuple[tuple[int, ...], ...]
    nested: bool


@dataclass(frozen=True)
class Selectors:
    """Beliefs of rules, (rules,), and by number which source and which choice each has; -1 where it has none.

    >>> told = Selectors(torch.tensor([0.5, 0.4]), (0, 0), (-1, -1), torch.tensor([1.0]), (True,))
    >>> told.absent(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([0.5000, 0.5000])
    """

    beliefs: Tensor
    source: tuple[int, ...]
    choice: tuple[int, ...]
    reliability: Tensor  # (sources,)
    nested: tuple[bool, ...]  # (sources,)

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The rules that are there each for itself."""
        return tuple(rule for rule in range(len(self)) if self.source[rule] < 0 and self.choice[rule] < 0)

    @cached_property
    def groups(self) -> tuple[Sharing, ...]:
        """All others, by what they share."""
        members: dict[tuple[int, int], list[int]] = {}
        for rule, (source, choice) in enumerate(zip(self.source, self.choice, strict=True)):
            if source >= 0 or choice >= 0:
                members.setdefault((source, -1 if source >= 0 else choice), []).append(rule)
        found = []
        for (source, _), rules in members.items():
            choices: dict[int, list[int]] = {}
            for rule in rules:
                choices.setdefault(self.choice[rule], []).append(rule)
            plain = choices.pop(-1, [])
            nested = source >= 0 and self.nested[source]
            several = tuple(map(tuple, choices.values()))
            found.append(Sharing(None if source < 0 else source, tuple(rules), tuple(plain), several, nested))
        return tuple(found)

    def reliable(self, group: Sharing) -> Tensor:
        """How likely a group is to count at all."""
        return self.beliefs.new_ones(()) if group.source is None else self.reliability[group.source]

    @cached_property
    def marginals(self) -> Tensor:
        """How likely each rule is to be there: (rules,)."""
        known = self.reliability.tolist()
        doubt = [known[source] if source >= 0 else 1.0 for source in self.source]
        return self.beliefs.detach() * self.beliefs.new_tensor(doubt)

    def some(self, rules: Sequence[int]) -> Selectors:
        """Of some rules alone."""
        return Selectors(
            self.beliefs[list(rules)],
            tuple(self.source[rule] for rule in rules),
            tuple(self.choice[rule] for rule in rules),
            self.reliability,
            self.nested,
        )

    def certain(self) -> Selectors:
        """With one more rule, which is always there."""
        beliefs = torch.cat([self.beliefs, self.beliefs.new_ones(1)])
        return Selectors(beliefs, (*self.source, -1), (*self.choice, -1), self.reliability, self.nested)

    def absent(self, sets: Tensor) -> Tensor:
        """P(no rule of a set is there), for sets of rules as zeros and ones, (sets, rules): (sets,)."""
        found = (1 - self.beliefs[list(self.free)] * sets[:, list(self.free)]).prod(dim=1)
        for group in self.groups:
            chance = self.beliefs * sets
            if group.nested:
                none = 1 - chance[:, list(group.members)].amax(dim=1)
            else:
                none = (1 - chance[:, list(group.plain)]).prod(dim=1)
                for choice in group.choices:
                    none = none * (1 - chance[:, list(choice)].sum(dim=1)).clamp(min=0)
            found = found * (1 - self.reliable(group) * (1 - none))
        return found

    def keep(self, grades: Tensor) -> Tensor:
        """E[mu_Y(z)] of points with grades (..., rules), by the layer cake over these probabilities: (...)."""
        *batch, rules = grades.shape
        if not rules:
            return grades.new_ones(batch)
        rows = grades.reshape(-1, rules).split(max(1, CHUNK // rules))
        return torch.cat([self._keep(chunk) for chunk in rows]).reshape(batch)

    def _keep(self, grades: Tensor) -> Tensor:
        if not grades.requires_grad and bool(((grades == 0) | (grades == 1)).all()):
            return self.absent(1 - grades)
        order = grades.argsort(dim=1)
        ordered = grades.gather(1, order)
        steps = torch.diff(ordered, dim=1, append=torch.ones_like(ordered[:, :1]))
        return ordered[:, 0] + (steps * self.passed(order)).sum(dim=1)

    def passed(self, order: Tensor) -> Tensor:
        """P(none of the first j rules is there), j = 1 .. rules, for rules in some order, (points, rules): the same."""
        chance = self.beliefs[order]
        place = torch.empty_like(order).scatter(1, order, torch.arange(len(self)).expand_as(order))

        def there(rules: Sequence[int]) -> Tensor:
            """The beliefs of some rules at their places in the order, 0 at all others."""
            inside = torch.zeros_like(chance).scatter(1, place[:, list(rules)], 1.0)
            return inside * chance

        none = (1 - there(self.free)).cumprod(dim=1)
        for group in self.groups:
            if group.nested:
                own = 1 - there(group.members).cummax(dim=1).values
            else:
                own = (1 - there(group.plain)).cumprod(dim=1)
                for choice in group.choices:
                    own = own * (1 - there(choice).cumsum(dim=1)).clamp(min=0)
            none = none * (1 - self.reliable(group) * (1 - own))
        return none

    def together(self, rules: Collection[int]) -> float:
        """P(all rules of a set are there); 0 where they exclude one another."""
        wanted, beliefs = set(rules), self.beliefs.tolist()
        found: float = math.prod(beliefs[rule] for rule in self.free if rule in wanted)
        for group in self.groups:
            mine = [beliefs[rule] for rule in group.members if rule in wanted]
            if not mine:
                continue
            if any(sum(rule in wanted for rule in choice) > 1 for choice in group.choices):
                return 0.0
            found *= float(self.reliable(group)) * (min(mine) if group.nested else math.prod(mine))
        return found

    def draw(self, count: int, generator: torch.Generator, without: Tensor | None = None) -> Tensor:
        """Which rules are there in so many worlds, (count, rules); given that none of a set `without` is, in each."""
        beliefs = self.beliefs.detach()
        out = beliefs.new_zeros(count, len(self)) if without is None else without.to(beliefs.dtype)
        random = torch.rand(count, len(self), generator=generator, dtype=beliefs.dtype)
        present = (random < beliefs) & (out == 0)
        for group in self.groups:
            reliable, members = self.reliable(group).detach(), list(group.members)
            first, second = torch.rand(2, count, generator=generator, dtype=beliefs.dtype)
            if group.nested:
                least = (beliefs * out)[:, members].amax(dim=1)
                inner = 1 - least
                degree = least + (1 - least) * (1 - first)  # in (least, 1]
                present[:, members] = degree[:, None] <= beliefs[members]
            else:
                inner = (1 - (beliefs * out)[:, list(group.plain)]).prod(dim=1)
                for choice in group.choices:
                    mass = (beliefs * (1 - out))[:, list(choice)]
                    left = 1 - (beliefs * out)[:, list(choice)].sum(dim=1)
                    inner = inner * left.clamp(min=0)
                    level = torch.rand(count, 1, generator=generator, dtype=beliefs.dtype) * left[:, None]
                    end = mass.cumsum(dim=1)
                    present[:, list(choice)] = (level >= end - mass) & (level < end)
            alike = reliable * inner
            present[:, members] &= (second * (1 - reliable + alike) < alike)[:, None]
        return present

    def worlds(self) -> Tensor:
        """The probability of each of the 2^rules worlds; bit i of the index tells whether rule i is there."""
        beliefs, order = self.beliefs.detach(), list[int]()
        total = beliefs.new_ones(1)
        for group in self.groups:
            own = _nested(beliefs, group.members) if group.nested else _distinct(beliefs, group)
            own = self.reliable(group).detach() * own
            own[0] = own[0] + 1 - self.reliable(group).detach()
            order += (
                group.members if group.nested else (*group.plain, *(rule for each in group.choices for rule in each))
            )
            total = torch.outer(own, total).flatten()
        for rule in self.free:
            total = torch.cat([total * (1 - beliefs[rule]), total * beliefs[rule]])
            order.append(rule)
        rules = len(order)
        axes = [rules - 1 - order.index(rules - 1 - axis) for axis in range(rules)]
        return total.view([2] * rules).permute(axes).reshape(-1) if rules else total


Presence = Tensor | Selectors  # beliefs (rules,) of rules that are there each for itself, or how they are together


def probability_together(presence: Presence, rules: Collection[int]) -> float:
    """P(all rules of a set are there)."""
    if isinstance(presence, Selectors):
        return presence.together(rules)
    return float(math.prod(presence[list(rules)].tolist()))


def probability_absent(presence: Presence, rules: Iterable[int]) -> float:
    """P(no rule of a set is there)."""
    chosen = list(rules)
    if isinstance(presence, Selectors):
        inside = presence.beliefs.new_zeros(1, len(presence))
        inside[0, chosen] = 1
        return float(presence.absent(inside))
    return float(math.prod((1 - presence[chosen]).tolist()))


def presence_probabilities(presence: Presence) -> Tensor:
    """How likely each rule is to be there: (rules,)."""
    return presence.marginals if isinstance(presence, Selectors) else presence


def with_certain(presence: Presence) -> Presence:
    """With one more rule, which is always there."""
    if isinstance(presence, Selectors):
        return presence.certain()
    return torch.cat([presence, presence.new_ones(1)])


def all_selectors(presence: Presence) -> Selectors:
    """The same as selectors, also where each rule is there for itself."""
    if isinstance(presence, Selectors):
        return presence
    alone = (-1,) * len(presence)
    return Selectors(presence, alone, alone, presence[:0], ())


def detached(presence: Presence) -> Presence:
    """Apart from what made the beliefs."""
    return presence if isinstance(presence, Selectors) else presence.detach()


def world_probabilities(presence: Presence) -> Tensor:
    """The probability of each of the 2^rules worlds; bit i of the index tells whether rule i is there."""
    if isinstance(presence, Selectors):
        return presence.worlds()
    chance = presence.new_ones(1)
    for belief in presence:
        chance = torch.cat([chance * (1 - belief), chance * belief])
    return chance


def draw_worlds(presence: Presence, count: int, generator: torch.Generator) -> Tensor:
    """Which rules are there in worlds drawn at random: (count, rules)."""
    if isinstance(presence, Selectors):
        return presence.draw(count, generator)
    return torch.rand(count, len(presence), generator=generator, dtype=presence.dtype) < presence


def _nested(beliefs: Tensor, members: Sequence[int]) -> Tensor:
    """Worlds of rules of which each stands only beside all firmer ones; bit i is the i-th of them."""
    found = beliefs.new_zeros(1 << len(members))
    own = beliefs[list(members)].tolist()
    world, above = 0, 1.0
    for place in sorted(range(len(own)), key=lambda place: -own[place]):
        found[world] += above - own[place]
        world, above = world | 1 << place, own[place]
    found[world] += above
    return found


def _distinct(beliefs: Tensor, group: Sharing) -> Tensor:
    found = beliefs.new_ones(1)
    for rule in group.plain:
        found = torch.cat([found * (1 - beliefs[rule]), found * beliefs[rule]])
    for choice in group.choices:
        own = beliefs.new_zeros(1 << len(choice))
        own[0] = (1 - beliefs[list(choice)].sum()).clamp(min=0)
        for place, rule in enumerate(choice):
            own[1 << place] = beliefs[rule]
        found = torch.outer(own, found).flatten()
    return found
