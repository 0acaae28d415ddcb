"""Mixtures of trees of columns: exact likelihood of rows with holes, exact completion, exact draws under conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors.base import HIDDEN, Factor, Prior
from nbr.priors.columns import Allowed, Column, distributed, pad, pick
from nbr.priors.forest import Forest
from nbr.priors.tree import Tree
from nbr.world import World

CHUNK = 1 << 22  # numbers of evidence held at a time


@registry.kind("prior", "trees")
class Trees(Prior):
    """P(x) = sum over components k of w_k P_k(x), each a tree of columns (Meila and Jordan 2000).

    A number beyond the range that was seen has the small mass of `numbers`; a label that the world does not have is
    scored as 1 in 1,000, and as a hole by all other columns. Draws are always points of the world. The mixture may be
    the average of several, learned from as many `starts`: their trees follow each other, as many of each.
    """

    def __init__(
        self, world: World, columns: Sequence[Column], weights: Tensor, trees: Sequence[Tree], starts: int = 1
    ) -> None:
        super().__init__(world)
        self.columns, self.weights, self.trees, self.starts = tuple(columns), weights, tuple(trees), starts
        if not len(world) == len(self.columns) or not len(weights) == len(self.trees) > 0:
            raise NbrError("a mixture of trees needs a column for each variable and a weight for each tree")
        if starts < 1 or len(self.trees) % starts:
            raise NbrError(f"{len(self.trees)} trees cannot be those of {starts} mixtures")
        self._valid = torch.from_numpy(pad(self.columns)).double()
        if self.weights.shape != (len(self.trees),) or not distributed(self.weights):
            raise NbrError("the weights of a mixture of trees are shares that sum to 1")
        for tree in self.trees:
            tree.check(self._valid.bool())

    @classmethod
    def average(cls, mixtures: Sequence[Trees]) -> Trees:
        """The mean of mixtures with the same columns and as many trees: a mixture of all of them."""
        first, weights = mixtures[0], torch.cat([each.weights for each in mixtures]) / len(mixtures)
        trees = [tree for each in mixtures for tree in each.trees]
        return cls(first.world, first.columns, weights, trees, sum(each.starts for each in mixtures))

    def parts(self) -> list[Trees]:
        """The mixtures that this one is the average of."""
        size = len(self.trees) // self.starts
        return [
            Trees(self.world, self.columns, weights / weights.sum(), self.trees[at * size : (at + 1) * size])
            for at, weights in enumerate(self.weights.split(size))
        ]

    def __str__(self) -> str:
        each = len(self.trees) // self.starts
        one = "every column by itself" if self.alone else "a tree of columns"
        trees = one if each == 1 else f"a mixture of {each} trees of columns"
        return trees if self.starts == 1 else f"the average of {self.starts} mixtures of {each} trees of columns"

    @property
    def alone(self) -> bool:
        """Whether no column depends on another, but for which tree a row is of."""
        own = torch.arange(len(self.columns))
        return all(torch.equal(tree.parent, own) for tree in self.trees)

    def log_prob(self, points: Tensor) -> Tensor:
        states, score = locate(self.columns, points)
        return score + self.weigh(states).logsumexp(dim=1)

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        alike = self._valid.expand(len(self.trees), -1, -1)  # nothing is known: from below comes 1 everywhere
        return self._draw_alike(self.weights, alike, count, {}, generator)

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        states, _ = locate(self.columns, codes)
        found = []
        for part in self.split(states, count):
            rows = torch.arange(len(part)).repeat_interleave(count)
            found.append(self.draw_given(self.evidence(part), rows, generator))
        drawn = torch.cat(found).view(len(codes), count, len(self.world))
        return torch.where(codes[:, None].isnan(), drawn, codes[:, None])

    def redraw(self, points: Tensor, columns: Tensor, generator: torch.Generator) -> Tensor:
        """By a tree that each point may well be of, drawn first: all trees at once would cost as many times as much."""
        states, _ = locate(self.columns, points)
        component = pick(_chance(self.weigh(states)), generator)
        for number, tree in enumerate(self.trees):
            mine = (component == number).nonzero()[:, 0]
            if len(mine):
                states[mine] = tree.redraw(states[mine], columns, generator)
        moved = points.clone()
        for at in columns.tolist():
            moved[:, at] = self.columns[at].draw(states[:, at], generator)
        return moved

    def pieces(self, at: int, values: Tensor) -> Tensor:
        return self.columns[at].locate(values)[0]

    def log_alike(self, points: Tensor) -> Tensor:
        return self.weigh(locate(self.columns, points)[0]).logsumexp(dim=1)

    def log_mass(self, allowed: Mapping[str, Allowed]) -> float:
        return float((self._gathered(allowed)[1] + self.weights.log()).logsumexp(dim=0))

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        weights, total = self._gathered(allowed)
        chance = _chance((total + self.weights.log())[None])[0]
        return self._draw_alike(chance, weights, count, allowed, generator)

    def factors(self, values: Mapping[str, Sequence[Allowed]]) -> list[Factor]:
        """Which tree it is, a hidden variable where there are several; a state of each column, hidden unless it is
        one value; and a table for each pair of columns that some tree joins.
        """
        names, tree = self.world.names, (f"{HIDDEN}tree",) if len(self.trees) > 1 else ()
        found: list[Factor] = [(tree, self.weights)] if tree else []
        states, shares = list(names), [self._shares(name, values[name]) for name in names]
        for at, share in enumerate(shares):
            if not _one_each(share):
                states[at] = f"{HIDDEN}state of {names[at]}"
                found.append(((names[at], states[at]), share))
        pairs = {(int(up), at) for each in self.trees for at, up in enumerate(each.parent.tolist())}
        for up, at in sorted(pairs):
            height, width = self.columns[up].size, self.columns[at].size
            tables = torch.ones(len(self.trees), height, width, dtype=torch.float64)
            for number, each in enumerate(self.trees):
                if int(each.parent[at]) == up:
                    tables[number] = each.table[at, :height, :width]
            tables = tables[:, 0] if up == at else tables  # a root has one row
            axes = (at,) if up == at else (up, at)
            for axis, column in enumerate(axes, 1):
                if states[column] == names[column]:
                    tables = tables.index_select(axis, shares[column].argmax(dim=1))
            found.append(((*tree, *(states[column] for column in axes)), tables if tree else tables[0]))
        return found

    def _shares(self, name: str, values: Sequence[Allowed]) -> Tensor:
        """How likely each value of a variable is within each state: (values, states)."""
        column = self.columns[self.world.column(name)]
        found = torch.zeros(len(values), column.size, dtype=torch.float64)
        for row, each in zip(found, values, strict=True):
            row.index_add_(0, column.state, column.share * column.admits(each))
        return found

    def _gathered(self, allowed: Mapping[str, Allowed]) -> tuple[Tensor, Tensor]:
        """What a condition makes of every tree: the weights that come up from below, and the log total of each."""
        evidence = self._within(allowed)
        if self._forest is not None:
            return self._forest.gather(evidence[0])
        found = [tree.gather(evidence) for tree in self.trees]
        return torch.cat([weights for weights, _ in found]), torch.cat([total for _, total in found])

    @cached_property
    def _forest(self) -> Forest | None:
        return Forest.of(self.trees)

    def _within(self, allowed: Mapping[str, Allowed]) -> Tensor:
        """The evidence of a condition: the share of each state that it allows."""
        evidence = self._valid[None].clone()
        for name, values in allowed.items():
            at = self.world.column(name)
            column = self.columns[at]
            shares = torch.zeros(column.size, dtype=torch.float64)
            evidence[0, at, : column.size] = shares.index_add(0, column.state, column.share * column.admits(values))
        return evidence

    def evidence(self, states: Tensor) -> Tensor:
        """What rows of states are as evidence: one state where it is known, all where it is not."""
        known = states[:, :, None] == torch.arange(self._valid.shape[1])
        return (known | ((states < 0)[:, :, None] & self._valid.bool())).double()

    def weigh(self, states: Tensor) -> Tensor:
        """log of w_k P_k for each row of states: (rows, components)."""
        holes = (states < 0).any(dim=1)
        found = torch.zeros(len(states), len(self.trees), dtype=torch.float64)
        whole = states[~holes]
        scores = None if self._forest is None else self._forest.log_complete(whole)
        if scores is None:
            scores = torch.stack([tree.log_complete(whole) for tree in self.trees], dim=1)
        found[~holes] = scores + self.weights.log()
        if bool(holes.any()):
            found[holes] = torch.cat([self.weigh_evidence(self.evidence(part)) for part in self.split(states[holes])])
        return found

    def weigh_evidence(self, evidence: Tensor) -> Tensor:
        """The same for rows of evidence, (rows, columns, states)."""
        return torch.stack([tree.gather(evidence)[1] for tree in self.trees], dim=1) + self.weights.log()

    def draw_given(self, evidence: Tensor, rows: Tensor, generator: torch.Generator) -> Tensor:
        """A point for each entry of `rows`, which says whose evidence it has to meet."""
        component = pick(_chance(self.weigh_evidence(evidence))[rows], generator)
        states = torch.zeros(len(rows), len(self.world), dtype=torch.long)
        for number, tree in enumerate(self.trees):
            mine = (component == number).nonzero()[:, 0]
            if len(mine):
                whose, back = torch.unique(rows[mine], return_inverse=True)
                weights, _ = tree.gather(evidence[whose])
                drawn = [tree.draw(weights[some], generator) for some in self.split(back)]
                states[mine] = torch.cat(drawn)
        return self._codes(states, {}, generator)

    def _draw_alike(
        self,
        chance: Tensor,
        weights: Tensor,
        count: int,
        allowed: Mapping[str, Allowed],
        generator: torch.Generator,
    ) -> Tensor:
        """So many points that meet the same evidence: the chance of each tree, and what `gather` found in it."""
        component = torch.multinomial(chance, count, replacement=True, generator=generator)
        if self._forest is not None:
            return self._codes(self._forest.draw(component, weights, generator), allowed, generator)
        states = torch.zeros(count, len(self.world), dtype=torch.long)
        for number, tree in enumerate(self.trees):
            mine = (component == number).nonzero()[:, 0]
            if len(mine):
                states[mine] = tree.draw_alike(weights[number], len(mine), generator)
        return self._codes(states, allowed, generator)

    def _codes(self, states: Tensor, allowed: Mapping[str, Allowed], generator: torch.Generator) -> Tensor:
        codes = [
            column.draw(states[:, at], generator, allowed.get(name))
            for at, (name, column) in enumerate(zip(self.world.names, self.columns, strict=True))
        ]
        return torch.stack(codes, dim=1)

    def split(self, states: Tensor, copies: int = 1) -> tuple[Tensor, ...]:
        """Rows some at a time, so that what messages need, and a tree for each copy of a row, fits into memory."""
        needed = max(self._valid.numel(), (len(self.trees) + len(self.columns)) * copies)
        parts: tuple[Tensor, ...] = states.split(max(1, CHUNK // needed))
        return parts

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        tensors = {"weights": self.weights}
        for at, column in enumerate(self.columns):
            tensors |= registry.joined(column.spec(), f"column.{at}")
        for name in ("order", "parent", "table"):
            tensors[name] = torch.stack([getattr(tree, name) for tree in self.trees])
        return {"prior": "trees", "starts": self.starts}, tensors

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Trees:
        world, found = parts.context["world"], parts.tensors
        columns = [
            Column.from_spec(variable, parts.below(f"column.{at}"))
            for at, variable in enumerate(world.variables.values())
        ]
        orders, parents, entries = found["order"].long(), found["parent"].long(), found["table"].double()
        trees = [Tree(*each) for each in zip(orders, parents, entries, strict=True)]
        starts = spec.get("starts", 1)
        if type(starts) is not int:
            raise NbrError(f"the starts of a mixture of trees are a whole number, not {starts!r:.60}")
        return cls(world, columns, found["weights"].double(), trees, starts)


def _one_each(shares: Tensor) -> bool:
    """Whether each value is one state, and the other way round."""
    return shares.shape[0] == shares.shape[1] and bool(((shares == 1).sum(dim=0) == 1).all())


def _chance(scores: Tensor) -> Tensor:
    """How likely each tree is, from the logs of what it gives to the evidence: (rows, trees)."""
    chance = torch.softmax(scores, dim=1)
    if not bool(chance.isfinite().all()):
        raise NbrError("nothing can be drawn: no point of the prior meets the condition")
    return chance


def locate(columns: Sequence[Column], codes: Tensor) -> tuple[Tensor, Tensor]:
    """The states of rows, -1 where not known: (rows, columns); and the log of what is left within them: (rows,)."""
    located = [column.locate(codes[:, at]) for at, column in enumerate(columns)]
    states, scores = zip(*located, strict=True)
    return torch.stack(states, dim=1), torch.stack(scores, dim=1).sum(dim=1)
