"""Trees in which columns that are one variable are one node: dummies of a choice, copies, thresholds of one number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors.base import Factor, Prior
from nbr.priors.columns import BEYOND, Allowed
from nbr.priors.dependent import told
from nbr.priors.groups import ColumnGroup, grouped_world
from nbr.priors.mixture import Trees, locate
from nbr.world import World


@registry.kind("prior", "grouped")
class Grouped(Prior):
    """P(x) = sum over labels l of P(l) times, for each group, P(its columns | its label), with trees over the labels.

    The world keeps the columns: questions name them as before, and what is observed of a group is evidence for its
    label. A label is a combination of values that rows show; one more leaves all columns to themselves.
    """

    def __init__(self, world: World, groups: Sequence[ColumnGroup], trees: Trees) -> None:
        super().__init__(world)
        self.groups, self.trees = tuple(groups), trees
        inside = [at for group in groups for at in group.columns]
        if len(set(inside)) < len(inside) or trees.world != grouped_world(world, groups):
            raise NbrError("columns that are one variable do not fit the trees above them")
        labels = trees.columns[len(trees.columns) - len(self.groups) :]
        if any(column.size != group.size for column, group in zip(labels, groups, strict=True)):
            raise NbrError("every label of columns that are one variable is a state of its own")
        self.rest = [at for at in range(len(world)) if at not in inside]

    def __str__(self) -> str:
        inside = sum(len(group.columns) for group in self.groups)
        count = len(self.groups)
        return f"{self.trees}, where {inside} columns are {count} variable{'' if count == 1 else 's'}"

    @property
    def alone(self) -> bool:
        """Whether no group or column depends on another."""
        return self.trees.alone

    def told(self) -> list[str]:
        """A sentence on each group of columns that are one variable."""
        return [told(group, self.world.names) for group in self.groups]

    def log_prob(self, points: Tensor) -> Tensor:
        found = [points.new_zeros(0)]
        for part in self.trees.split(points):
            evidence, score = self._evidence(part)
            found.append(score + self.trees.weigh_evidence(evidence).logsumexp(dim=1))
        return torch.cat(found)

    def pieces(self, at: int, values: Tensor) -> Tensor:
        return self.trees.pieces(self.rest.index(at), values) if at in self.rest else super().pieces(at, values)

    def log_alike(self, points: Tensor) -> Tensor:
        return torch.cat(
            [self.trees.weigh_evidence(self._evidence(part)[0]).logsumexp(dim=1) for part in self.trees.split(points)]
        )

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return self._points(self.trees.sample(count, generator), {}, generator)

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        found = [codes.new_zeros(0, len(self.world))]
        for part in self.trees.split(codes, count):
            rows = torch.arange(len(part)).repeat_interleave(count)
            drawn = self.trees.draw_given(self._evidence(part)[0], rows, generator)
            found.append(self._points(drawn, {}, generator))
        drawn = torch.cat(found).view(len(codes), count, len(self.world))
        return torch.where(codes[:, None].isnan(), drawn, codes[:, None])

    def log_mass(self, allowed: Mapping[str, Allowed]) -> float:
        return self.trees.log_mass(self._above(allowed))

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        drawn = self.trees.sample_within(self._above(allowed), count, generator)
        return self._points(drawn, self._masks(allowed), generator)

    def factors(self, values: Mapping[str, Sequence[Allowed]]) -> list[Factor]:
        """Those of the trees, where a group's label is hidden, and a table of each column of a group with its label."""
        names = self.trees.world.names
        labels = names[len(self.rest) :]
        above: dict[str, Sequence[Allowed]] = {name: values[name] for name in names[: len(self.rest)]}
        for name, group in zip(labels, self.groups, strict=True):
            above[name] = list(torch.eye(group.size, dtype=torch.bool))
        found = self.trees.factors(above)  # names of labels begin as hidden ones do
        for name, group in zip(labels, self.groups, strict=True):
            for at, chance in zip(group.columns, group.given, strict=True):
                column = self.world.names[at]
                masks = torch.stack([torch.as_tensor(each).double() for each in values[column]])
                found.append(((name, column), chance @ masks.T))
        return found

    def _evidence(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """What rows tell of the states of the trees' columns, and the log of what is left within these."""
        first = len(self.rest)
        states = torch.full((len(codes), len(self.trees.columns)), -1)
        score = codes.new_zeros(len(codes))
        if first:
            states[:, :first], score = locate(self.trees.columns[:first], codes[:, self.rest])
        evidence = self.trees.evidence(states)
        for at, group in enumerate(self.groups, first):
            seen, strange = group.weigh(codes)
            evidence[:, at, : group.size] = seen
            score = score + strange * math.log(BEYOND)
        return evidence, score

    def _points(self, above: Tensor, masks: Mapping[int, Tensor], generator: torch.Generator) -> Tensor:
        """The columns of the world, given those of the trees."""
        first = len(self.rest)
        found = above.new_zeros(len(above), len(self.world))
        found[:, self.rest] = above[:, :first]
        for at, group in enumerate(self.groups, first):
            found[:, group.columns] = group.draw(above[:, at].long(), masks, generator)
        return found

    def _masks(self, allowed: Mapping[str, Allowed]) -> dict[int, Tensor]:
        """What is allowed of columns by their places, as far as groups have them."""
        placed = {self.world.column(name): values for name, values in allowed.items()}
        inside = {at for group in self.groups for at in group.columns}
        return {at: torch.as_tensor(values) for at, values in placed.items() if at in inside}

    def _above(self, allowed: Mapping[str, Allowed]) -> dict[str, Allowed]:
        """The same of the columns of the trees."""
        masks = self._masks(allowed)
        found = {name: values for name, values in allowed.items() if self.world.column(name) not in masks}
        for name, group in zip(self.trees.world.names[len(self.rest) :], self.groups, strict=True):
            if any(at in masks for at in group.columns):
                found[name] = group.admits(masks)
        return found

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        spec, tensors = self.trees.spec()
        tensors = registry.joined(tensors, "trees")
        groups = []
        for number, group in enumerate(self.groups):
            said, parts = group.spec(self.world)
            groups.append(said)
            tensors |= registry.joined(parts, f"group.{number}")
        return {"prior": "grouped", "trees": spec, "groups": groups}, tensors

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Grouped:
        world: World = parts.context["world"]
        groups = [
            ColumnGroup.from_spec(world, said, parts.below(f"group.{at}")) for at, said in enumerate(spec["groups"])
        ]
        trees = Trees.from_spec(spec["trees"], parts.below("trees", world=grouped_world(world, groups)))
        return cls(world, groups, trees)
