"""Branch and bound over boxes of points: what the rules of each world can reach together, from below and from above.

A box bounds the grades of all its points. For each world, and for the points for and against a question, boxes that
could still gain are halved, those that could gain most first; points found on the way bound from below, for all worlds
at once. More rules reach no more, so that what is proved of some rules holds for all worlds that have them.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from nbr.calculus import detached, with_certain, world_average, world_probabilities
from nbr.encodings.boxes import Pieces
from nbr.encodings.listing import narrowed
from nbr.encodings.outlook import Outlook, direction
from nbr.encodings.rows import Rows
from nbr.encodings.search import BestTried, BoxSearch
from nbr.encodings.source import Decision, Encoding, Set
from nbr.encodings.subcubes import Subcubes
from nbr.errors import NbrError
from nbr.language import Expression, compares_numbers
from nbr.model import Model
from nbr.rules import Rule
from nbr.ways import SHARES, Limits

RULES = 10  # worlds are bounded one by one
SCATTERED = 1024  # points tried before any box
HELD = 1 << 26  # numbers kept in memory
CLOSEST = 1e-12  # what counts as reached
CLOSE = 0.1  # of the tolerance: a world that is known so well is left alone


class Branching(Encoding):
    """A question about points whose rules can bound themselves within boxes."""

    def __init__(self, model: Model, proposition: Expression, condition: Set | None) -> None:
        self.model, self.world, self.proposition = model, model.world, proposition
        self.condition = condition if isinstance(condition, Expression) else None
        self.rules = [*model.rules, *([condition] if isinstance(condition, Rule) else [])]
        presence = detached(model.presence)
        self.presence = with_certain(presence) if isinstance(condition, Rule) else presence
        self.chance = world_probabilities(self.presence)
        self.tables = [Subcubes(rule) if Subcubes.fits(rule) else None for rule in self.rules]
        self.cuts: dict[str, set[float]] = {}
        parts: list[Set] = [*self.rules, proposition, *([] if self.condition is None else [self.condition])]
        for part in parts:
            for name, numbers in (part.cuts() if isinstance(part, Rule) else part.cuts(self.world)).items():
                self.cuts.setdefault(name, set()).update(numbers)

    @classmethod
    def of(cls, model: Model, proposition: Set, condition: Set | None) -> Self:
        reason = cls.unfit(model, proposition, condition)
        if reason is not None:
            raise NbrError(f"boxes do not fit: {reason}")
        model, proposition, condition = narrowed(model, proposition, condition)
        assert isinstance(proposition, Expression)
        return cls(model, proposition, condition)

    @staticmethod
    def unfit(model: Model, proposition: Set, condition: Set | None) -> str | None:
        """Why a question cannot be answered this way, in words for a user."""
        rules = [*model.rules, *([condition] if isinstance(condition, Rule) else [])]
        if model.codec is not None:
            return "the decoder has no bounds within a box"
        if not isinstance(proposition, Expression):
            return "the question is fuzzy"
        if len(rules) > RULES:
            return f"they take up to {RULES} rules, not {len(rules)}"
        asked = [part for part in (proposition, condition) if not isinstance(part, Rule)]
        if compares_numbers([*(rule.at_least(1.0) for rule in rules), *asked]):
            return "comparisons between numbers cannot be decided by boxes"
        for rule in rules:
            if not rule.bounded and not Subcubes.fits(rule):
                return f"the rule {rule} gives no bounds within them"
        return None

    def rows(self, limits: Limits) -> Rows:
        """The best point for each world and side, and covers that say what each can reach at most."""
        with torch.no_grad():
            tried, high = self._reach(limits)
            found = torch.unique(tried.best[tried.low > 0], dim=0)
            grades = tried.grades(found)
        worlds, rules = high.shape[1], len(self.rules)
        present = (torch.arange(worlds)[:, None] >> torch.arange(rules)) % 2 == 1
        covers = torch.where(present, high[:, :, None], 0.0)
        told = high > tried.low
        sides = torch.tensor([1.0, 0.0], dtype=torch.float64)[:, None].expand(-1, worlds)[told]
        return Rows(
            witnesses=grades,
            points=found,
            member=self.proposition.holds(self.world, found).to(grades.dtype),
            covers=covers[told],
            cover_least=sides,
            cover_most=sides,
            seen=tried.count,
        )

    def decide(self, rules: Collection[int], level: float, union: str, limits: Limits) -> Decision:
        """By boxes that could reach the level, halved until a point does or none can."""
        sides = {"yes": (0,), "no": (1,), "all": (0, 1)}[union]
        with torch.no_grad():
            generator = torch.Generator().manual_seed(limits.seed)
            tried = self._tried(generator, limits)

            def refuted(some: list[int]) -> bool:
                world = sum(1 << rule for rule in some)
                searches = [BoxSearch(self._outlook(side, world), tried, side, world, generator) for side in sides]
                for search in searches:
                    while search.low < level <= search.high and limits.left > 0:
                        search.step(level - search.low - CLOSEST, limits.deadline)
                return all(search.high < level for search in searches)

            chosen = sorted(rules)
            if refuted(chosen):
                for rule in list(chosen):
                    others = [each for each in chosen if each != rule]
                    chosen = others if refuted(others) else chosen
                return Decision(core=frozenset(chosen))
            world = sum(1 << rule for rule in chosen)
            for side in sides:
                if float(tried.low[side, world]) >= level:
                    point = tried.best[side, world].tolist()
                    return Decision(point=dict(zip(self.world.names, point, strict=True)))
        return Decision()

    def _reach(self, limits: Limits) -> tuple[BestTried, Tensor]:
        """Halve boxes, now for one world and now for another, until the bounds are narrow or time is up."""
        generator = torch.Generator().manual_seed(limits.seed)
        tried = self._tried(generator, limits)
        high = torch.ones_like(tried.low)
        searches: dict[tuple[int, int], BoxSearch] = {}
        while True:
            high = high.maximum(tried.low)
            held = sum(each.held for each in searches.values())
            if limits.left <= 0 or held > HELD or self._width(tried.low, high) <= limits.tolerance:
                return tried, high
            whole = float(world_average(tried.low.amax(dim=0), self.presence))
            enough = CLOSE * limits.tolerance * max(whole, 1e-6)
            worth = self._worth(high - tried.low, enough, searches)
            if float(worth.max()) == 0:
                return tried, high
            key = side, world = divmod(int(worth.argmax()), len(self.chance))
            if key not in searches:
                searches[key] = BoxSearch(self._outlook(side, world), tried, side, world, generator)
            searches[key].step(enough, limits.deadline)
            high[key] = min(float(high[key]), searches[key].high)
            high = _smallest_subset(high)

    def _tried(self, generator: torch.Generator, limits: Limits) -> BestTried:
        """Points at random, of every share of high values, to begin with."""
        pieces = Pieces(self.world, {}, set(self.world.names), torch.zeros(0, len(self.world), dtype=torch.float64))
        region = pieces.region(pieces.whole())
        share, noise = (
            torch.rand(SCATTERED, columns, generator=generator, dtype=torch.float64) for columns in (1, len(self.world))
        )
        tried = BestTried(self.world, self.rules, self.proposition, self.condition)
        tried.take(region.low + (share + noise - 0.5).clamp(0, 1) * (region.high - region.low))
        tried.climb(generator, limits.share(SHARES["climbing"]).deadline)
        return tried

    @cached_property
    def _directions(self) -> list[Tensor | None]:
        return [
            direction(rule, self.world) if table is None else None
            for rule, table in zip(self.rules, self.tables, strict=True)
        ]

    def _outlook(self, side: int, world: int) -> Outlook:
        chosen = [position for position in range(len(self.rules)) if world >> position & 1]
        statements = [(self.proposition, side == 0), *([] if self.condition is None else [(self.condition, True)])]
        rules, tables = [self.rules[position] for position in chosen], [self.tables[position] for position in chosen]
        sums = [found for position in chosen if (found := self._directions[position]) is not None]
        return Outlook(self.world, rules, tables, statements, self.cuts, sums)

    def _worth(self, gap: Tensor, enough: float, searches: dict[tuple[int, int], BoxSearch]) -> Tensor:
        """How much of the expectations hangs on what is not yet known of each world, less where much was tried."""
        worlds = torch.arange(len(self.chance))
        found = torch.zeros_like(gap)
        for world in range(len(self.chance)):
            around = (worlds & world) == world
            found[:, world] = (self.chance * gap.minimum(gap[:, world, None]))[:, around].sum(dim=1)
        found = torch.where(gap > enough, found, 0.0)
        for key, search in searches.items():
            found[key] /= (1 + search.rounds) ** 0.5
        return found

    def _width(self, low: Tensor, high: Tensor) -> float:
        """How far apart the bounds of an answer are; E f_Q / E f_C falls where points against it reach more."""
        ends = []
        for side in range(2):
            for mine, others in ((high[side], low[1 - side]), (low[side], high[1 - side])):
                whole = float(world_average(torch.maximum(mine, others), self.presence))
                ends.append(float(world_average(mine, self.presence)) / whole if whole > 0 else float("nan"))
        whole_low, whole_high = (float(world_average(each.amax(dim=0), self.presence)) for each in (low, high))
        widths = (ends[0] - ends[1], ends[2] - ends[3], whole_high - whole_low)
        return max(widths) if widths[0] == widths[0] and widths[1] == widths[1] else 1.0


def _smallest_subset(high: Tensor) -> Tensor:
    """The smallest bound of any part of the rules of each world."""
    for bit in range(high.shape[1].bit_length() - 1):
        halves = high.view(2, -1, 2, 1 << bit)
        halves[:, :, 1] = torch.minimum(halves[:, :, 0], halves[:, :, 1])
    return high
