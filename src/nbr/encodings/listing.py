"""Going through the points of a world, or, where a variable is real, through cells that cover it.

A world that is small enough is listed. Along reals that a smooth rule reads a grid is laid: the middle of a cell is a
witness, and bounds on the grades within it are a cover. A world too large for the time is probed at random, and what
was not seen is covered by the most that each rule can give anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr import clock
from nbr.calculus import detached, first_of_each, is_crisp, keep_probability
from nbr.encodings.regions import Regions, tied
from nbr.encodings.rows import Rows
from nbr.encodings.source import Encoding, Set
from nbr.language import Expression, conjuncts
from nbr.model import Model
from nbr.points import Cells, world_cells
from nbr.rules import Rule
from nbr.ways import SHARES, Limits
from nbr.world import World

LISTED = 1 << 26  # cells; a larger world is probed at random
COARSE_PIECES = 32  # pieces of a grid, to begin with
HELD = 1 << 26  # numbers kept in memory
AFTER = 4e-7  # seconds that engines take, at the least, for each number kept ...
PASSES = 12  # ... or as long as so many passes
FEW = 1 << 16  # values of the variables of one rule up to which the most it can give is looked up


@dataclass(frozen=True)
class Listing(Encoding):
    """The points that a question is about; making one counts them without building any."""

    model: Model
    proposition: Set
    condition: Set | None
    grid: Cells
    tied: tuple[Regions, ...] = ()

    @classmethod
    def of(
        cls,
        model: Model,
        proposition: Set,
        condition: Set | None,
        grid: int = COARSE_PIECES,
        seconds: float | None = None,
    ) -> Listing:
        """`seconds` are for regions that comparisons between numbers make, where they are not known yet."""
        model, proposition, condition = narrowed(model, proposition, condition)
        tied = tied_variables(model, proposition, condition, seconds)
        return cls(model, proposition, condition, _cells(model, proposition, condition, grid, tied), tied)

    @property
    def count(self) -> int:
        return self.grid.count

    @property
    def width(self) -> int:
        """Numbers kept for each point."""
        return 2 * (len(self.model.rules) + len(self.model.latent) + 2)

    @property
    def seconds(self) -> float:
        """Roughly how long listing all takes."""
        return 2e-8 * min(self.count, 1 << 60) * self.width

    def rows(self, limits: Limits) -> Rows:
        """All cells if there is time, else some of them, in an order that visits every region early."""
        fits = self.count <= LISTED
        boxes = self.grid.boxes and self.model.codec is None  # the decoder has no bounds within a box
        search = limits.share(SHARES["all points" if fits else "some points"])
        generator = torch.Generator().manual_seed(limits.seed)
        parts: list[tuple[Tensor, Tensor, Tensor]] = []
        seen = points = held = 0
        pace = AFTER
        for chunk, radius in self.grid.mixed(self.width) if fits else self.grid.scattered(self.width, generator):
            part = self._part(chunk, radius if boxes else None)
            seen, points = seen + len(chunk), points + len(part[0])
            parts.append(part)
            held += sum(table.numel() for table in part)
            if search.left <= 0 or held > HELD or pace * held > limits.left:
                break
            if len(parts) == 1 and seen < self.count:
                pace = max(AFTER, PASSES * self._seconds_each(part[0]))
        if not parts:  # no point at all
            none = torch.zeros(0, len(self.grid.centres), dtype=torch.float64)
            parts = [self._part(none, none if boxes else None)]
        complete = fits and seen == self.count and boxes == self.grid.boxes and self._tied_completely
        tables, places, covers = (torch.cat(part) for part in zip(*parts, strict=True))
        if not complete:
            covers = torch.cat([covers, self._unseen()])
        rules = self.rules
        return Rows(
            witnesses=tables[:, :rules],
            points=places,
            member=tables[:, rules],
            covers=covers[:, :rules],
            cover_least=covers[:, rules],
            cover_most=covers[:, rules + 1],
            seen=points,
            finer=boxes,
        )

    def _seconds_each(self, table: Tensor) -> float:
        """What an engine takes for one number of a table, on this machine at this time: that of a pass that sorts."""
        began = clock.now()
        keep_probability(table[:, : len(self.model.rules)], detached(self.model.presence))
        return (clock.now() - began) / max(1, table.numel())

    @property
    def _tied_completely(self) -> bool:
        """Whether the regions that comparisons make are all there is to tell apart of the variables that they tie."""
        parts = (*self.model.rules, self.proposition, self.condition)
        smooth = {name for part in parts if isinstance(part, Rule) for name in part.smooth}
        return all(group.complete and not smooth.intersection(group.world.names) for group in self.tied)

    @property
    def rules(self) -> int:
        """How many rules a row has grades for; a fuzzy condition is one more."""
        return len(self.model.rules) + isinstance(self.condition, Rule)

    def _part(self, points: Tensor, radius: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Of the points that meet the condition: grades and membership, the points, and covers of their boxes."""
        model, proposition, condition = self.model, self.proposition, self.condition
        if model.codec is not None and model.codec.encoder is not None:
            points = model.codec.encode(points)
        observed = model.observe(points)
        if isinstance(condition, Expression):
            inside = condition.holds(model.world, observed)
            points, observed = points[inside], observed[inside]
            radius = None if radius is None else radius[inside]
        columns = [*model.grades(points).unbind(dim=1)]
        if isinstance(condition, Rule):
            columns.append(condition.grades(observed))
        if isinstance(proposition, Rule):
            columns.append(proposition.grades(observed))
        else:
            columns.append(proposition.holds(model.world, observed).to(points.dtype))
        table = torch.stack(columns, dim=1)
        covers = table.new_zeros(0, table.shape[1] + 1)
        if radius is not None:
            covers = self._covers(table, points, observed, radius)
        # Where all rules are crisp, few different rows are left of millions of points.
        if len(table) and is_crisp(table):
            first = first_of_each(table)
            return table[first], observed[first], covers
        return table, observed, covers

    def _covers(self, table: Tensor, points: Tensor, observed: Tensor, radius: Tensor) -> Tensor:
        """The most that grades can be within boxes, and the least and the most of the membership."""
        boxed = (radius > 0).any(dim=1)
        table, points, observed, radius = table[boxed], points[boxed], observed[boxed], radius[boxed]
        rules: list[tuple[Rule, Tensor]] = [(rule, points) for rule in self.model.rules]
        if isinstance(self.condition, Rule):
            rules.append((self.condition, observed))
        # Between cuts, statements do not change: only what is read smoothly does.
        most = [
            rule.bounds(at - radius, at + radius)[1].maximum(table[:, column]) if rule.smooth else table[:, column]
            for column, (rule, at) in enumerate(rules)
        ]
        member = table[:, -1]
        low, high = member, member
        if isinstance(self.proposition, Rule) and self.proposition.smooth:
            low, high = self.proposition.bounds(observed - radius, observed + radius)
        covers = torch.stack([*most, low.minimum(member), high.maximum(member)], dim=1)
        told = (covers[:, :-2] > table[:, :-1]).any(dim=1) | (covers[:, -2] < covers[:, -1])
        return covers[told]  # what is no more than its witness needs no cover

    def _unseen(self) -> Tensor:
        """One cover for every point that was not gone through."""
        most = [self._anywhere(rule) for rule in self.model.rules] + [1.0] * isinstance(self.condition, Rule)
        return torch.tensor([[*most, 0.0, 1.0]], dtype=torch.float64)

    def _anywhere(self, rule: Rule) -> float:
        """The most that a rule can give where the condition holds, looking at its own variables alone."""
        if self.model.codec is not None or rule.smooth or not rule.inputs:
            return 1.0
        if any(set(rule.inputs) & set(group.world.names) for group in self.tied):
            return 1.0
        world = self.model.world
        small = World({name: world.variables[name] for name in rule.inputs})
        parts = [
            part
            for part in (conjuncts(self.condition) if isinstance(self.condition, Expression) else ())
            if part.names() and part.names() <= set(small.names)
        ]
        cuts = {name: set(numbers) for name, numbers in rule.cuts().items()}
        for part in parts:
            for name, numbers in part.cuts(small).items():
                cuts.setdefault(name, set()).update(numbers)
        listed = world_cells(small, cuts, (), 1)
        if listed.count > FEW:
            return 1.0
        points = torch.cat([chunk for chunk, _ in listed.chunks()])
        for part in parts:
            points = points[part.holds(small, points)]
        return float(rule.bind(small).grades(points).max()) if len(points) else 1.0


def narrowed(model: Model, proposition: Set, condition: Set | None) -> tuple[Model, Set, Set | None]:
    """The same question in a world of only the variables that somebody reads."""
    if model.codec is not None:
        return model, proposition, condition
    read: set[str] = set()
    for part in (*model.rules, proposition, condition):
        if part is not None:
            read.update(part.inputs if isinstance(part, Rule) else part.names())
    world = model.world
    names = [name for name in world.names if name in read] or [world.names[0]]
    if len(names) == len(world):
        return model, proposition, condition
    small = World({name: world.variables[name] for name in names})
    moved = [part.bind(small) if isinstance(part, Rule) else part for part in (proposition, condition)]
    return Model(small, model.rules), moved[0] or proposition, moved[1]


def tied_variables(
    model: Model, proposition: Set, condition: Set | None, seconds: float | None = None
) -> tuple[Regions, ...]:
    """The variables that comparisons between numbers tie together, with their regions."""
    if model.codec is not None:
        return ()
    parts = (*model.rules, proposition, condition)
    said = [part.at_least(1.0) if isinstance(part, Rule) else part for part in parts if part is not None]
    graded = {name for part in parts if isinstance(part, Rule) and part.expression is None for name in part.inputs}
    return tuple(tied(model.world, [statement for statement in said if statement is not None], graded, seconds))


def _cells(model: Model, proposition: Set, condition: Set | None, grid: int, groups: Sequence[Regions]) -> Cells:
    if model.codec is not None:
        listed = model.latent if model.codec.encoder is None else model.world
        return world_cells(listed, {}, listed.names, grid)
    world = model.world
    asked = [part for part in (proposition, condition) if part is not None]
    smooth: set[str] = set()
    cuts: dict[str, set[float]] = {}
    for part in (*model.rules, *asked):
        smooth.update(part.smooth if isinstance(part, Rule) else ())
        found = part.cuts() if isinstance(part, Rule) else part.cuts(world)
        for name, numbers in found.items():
            cuts.setdefault(name, set()).update(numbers)
    whole = world_cells(world, cuts, smooth, grid)
    for group in groups:
        whole = whole.with_tied(tuple(world.column(name) for name in group.world.names), group.points)
    return _restricted(whole, world, condition) if isinstance(condition, Expression) else whole


def _restricted(whole: Cells, world: World, condition: Expression) -> Cells:
    """Only the values that each part of the condition about a single variable allows."""
    centres, radii = list(whole.centres), list(whole.radii)
    together = {column for columns, _ in whole.tied for column in columns}
    for part in conjuncts(condition):
        names = part.names()
        if len(names) != 1 or world.column(next(iter(names))) in together:
            continue
        column = world.column(next(iter(names)))
        probe = torch.zeros(len(centres[column]), len(world), dtype=torch.float64)
        probe[:, column] = centres[column]
        allowed = part.holds(world, probe)
        centres[column], radii[column] = centres[column][allowed], radii[column][allowed]
    return Cells(tuple(centres), tuple(radii), whole.tied)
