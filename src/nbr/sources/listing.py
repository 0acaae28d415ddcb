"""The grades of every cell in which a condition can hold: what a question is answered from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.inference import Limits
from nbr.inference.reduce import crisp, distinct_crisp
from nbr.language import Expression
from nbr.language.expressions import And
from nbr.points.cells import Cells, cells
from nbr.rules import Rule
from nbr.rules.knowledge import Knowledge
from nbr.world import World

LISTED = 1 << 26  # cells; a larger world is probed at random
HELD = 1 << 27  # grades kept in memory

Set = Expression | Rule


@dataclass(frozen=True)
class Rows:
    """Each row is a cell that meets the condition; cells alike in all columns share one."""

    grades: Tensor  # (rows, rules): at a point of the cell
    most: Tensor  # the same, the most it can be within the cell
    member: Tensor  # (rows,): how far the point is in the proposition
    member_least: Tensor
    member_most: Tensor
    points: int  # how many cells they stand for
    boxes: bool  # whether a finer grid would tell more
    complete: bool  # whether these are all that meet the condition

    @property
    def tight(self) -> bool:
        return (
            self.complete and torch.equal(self.grades, self.most) and torch.equal(self.member_least, self.member_most)
        )


def collect(
    knowledge: Knowledge, proposition: Set, condition: Set | None, *, grid: int, seed: int, limits: Limits
) -> Rows:
    """List the cells of the world, or, when there are too many for the time, some of them at random."""
    knowledge, proposition, condition = _narrowed(knowledge, proposition, condition)
    listing = _cells(knowledge, proposition, condition, grid)
    fits = listing.count <= LISTED
    width = 2 * (len(knowledge.rules) + len(knowledge.latent))
    boxes = listing.boxes and knowledge.codec is None  # what a decoder does within a box is not known
    search = limits.share(0.5 if fits else 0.3)
    generator = torch.Generator().manual_seed(seed)
    none = torch.zeros(0, len(listing.centres), dtype=torch.float64)
    tables = [_table(knowledge, proposition, condition, none, none if boxes else None)]
    seen = points = held = 0
    for chunk, radius in listing.mixed(width) if fits else listing.scattered(width, generator):
        table = _table(knowledge, proposition, condition, chunk, radius if boxes else None)
        seen, points = seen + len(chunk), points + len(table)
        # Where all rules are crisp, few different rows are left of millions of points.
        tables.append(distinct_crisp(table) if crisp(table) else table)
        held += tables[-1].numel()
        if search.left <= 0 or held > HELD:
            break
    complete = fits and seen == listing.count and boxes == listing.boxes
    rules = len(knowledge.rules) + isinstance(condition, Rule)
    return _rows(torch.cat(tables), rules, points, boxes, complete)


def _narrowed(knowledge: Knowledge, proposition: Set, condition: Set | None) -> tuple[Knowledge, Set, Set | None]:
    """The same question in a world of only the variables that somebody reads."""
    if knowledge.codec is not None:
        return knowledge, proposition, condition
    read: set[str] = set()
    for part in (*knowledge.rules, proposition, condition):
        if part is not None:
            read.update(part.inputs if isinstance(part, Rule) else part.names())
    world = knowledge.world
    names = [name for name in world.names if name in read] or [world.names[0]]
    if len(names) == len(world):
        return knowledge, proposition, condition
    small = World({name: world.variables[name] for name in names})
    moved = [part.bind(small) if isinstance(part, Rule) else part for part in (proposition, condition)]
    return Knowledge(small, knowledge.rules), moved[0] or proposition, moved[1]


def _rows(table: Tensor, rules: int, points: int, boxes: bool, complete: bool) -> Rows:
    grades, member = table[:, :rules], table[:, rules]
    if table.shape[1] == rules + 1:
        return Rows(grades, grades, member, member, member, points, boxes, complete)
    least, most = table[:, rules + 1], table[:, rules + 2]
    return Rows(grades, table[:, rules + 3 :], member, least, most, points, boxes, complete)


def _table(
    knowledge: Knowledge, proposition: Set, condition: Set | None, points: Tensor, radius: Tensor | None
) -> Tensor:
    """A row for each point that meets the condition: grades and membership, and, within boxes, their bounds."""
    if knowledge.codec is not None and knowledge.codec.encoder is not None:
        points = knowledge.codec.encode(points)
    observed = knowledge.observe(points)
    if isinstance(condition, Expression):
        inside = condition.holds(knowledge.world, observed)
        points, observed = points[inside], observed[inside]
        radius = None if radius is None else radius[inside]
    rules = [(rule, points) for rule in knowledge.rules]
    if isinstance(condition, Rule):
        rules.append((condition, observed))
    columns = [*knowledge.grades(points).unbind(dim=1)]
    if isinstance(condition, Rule):
        columns.append(condition.grades(observed))
    if isinstance(proposition, Rule):
        columns.append(proposition.grades(observed))
    else:
        columns.append(proposition.holds(knowledge.world, observed).to(points.dtype))
    if radius is not None:
        member = columns[-1]
        low, high = proposition.bounds(observed, radius) if isinstance(proposition, Rule) else (member, member)
        columns += [low.minimum(member), high.maximum(member)]
        most = [rule.bounds(at, radius)[1] for rule, at in rules]
        columns += [high.maximum(column) for high, column in zip(most, columns[: len(rules)], strict=True)]
    return torch.stack(columns, dim=1)


def _cells(knowledge: Knowledge, proposition: Set, condition: Set | None, grid: int) -> Cells:
    if knowledge.codec is not None:
        listed = knowledge.latent if knowledge.codec.encoder is None else knowledge.world
        return cells(listed, {}, listed.names, grid)
    world = knowledge.world
    asked = [part for part in (proposition, condition) if part is not None]
    smooth: set[str] = set()
    cuts: dict[str, set[float]] = {}
    for part in (*knowledge.rules, *asked):
        smooth.update(part.smooth if isinstance(part, Rule) else ())
        found = part.cuts() if isinstance(part, Rule) else part.cuts(world)
        for name, numbers in found.items():
            cuts.setdefault(name, set()).update(numbers)
    whole = cells(world, cuts, smooth, grid)
    return _restricted(whole, world, condition) if isinstance(condition, Expression) else whole


def excluded(knowledge: Knowledge, condition: Set | None) -> list[int]:
    """The rules that, each for itself, have grade 0 wherever the condition can hold; for worlds too large to list."""
    if knowledge.codec is not None or not isinstance(condition, Expression):
        return []
    found = []
    for position, rule in enumerate(knowledge.rules):
        if rule.degree == 1 and not rule.smooth:
            small = World({name: knowledge.world.variables[name] for name in rule.inputs} or knowledge.world.variables)
            parts = [part for part in _conjuncts(condition) if part.names() and part.names() <= set(small.names)]
            cuts = {**rule.cuts()}
            for part in parts:
                for name, numbers in part.cuts(small).items():
                    cuts[name] = cuts.get(name, set()) | numbers
            listing = cells(small, cuts, (), 1)
            if listing.count <= 1 << 16:
                points = torch.cat([chunk for chunk, _ in listing.chunks()])
                for part in parts:
                    points = points[part.holds(small, points)]
                if len(points) and not bool(rule.bind(small).grades(points).any()):
                    found.append(position)
    return found


def _restricted(whole: Cells, world: World, condition: Expression) -> Cells:
    """Only the values that each part of the condition about a single variable allows."""
    centres, radii = list(whole.centres), list(whole.radii)
    for part in _conjuncts(condition):
        names = part.names()
        if len(names) != 1:
            continue
        column = world.column(next(iter(names)))
        probe = torch.zeros(len(centres[column]), len(world), dtype=torch.float64)
        probe[:, column] = centres[column]
        allowed = part.holds(world, probe)
        centres[column], radii[column] = centres[column][allowed], radii[column][allowed]
    return Cells(tuple(centres), tuple(radii))


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition
