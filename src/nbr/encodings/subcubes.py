"""The exact range of a rule that reads few bits, for every way to leave some of them open."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.points import world_cells
from nbr.rules import Rule
from nbr.world import World

READ = 11  # bits up to which all 3^k ranges are held


class Subcubes:
    """The smallest and the largest grade where each bit that a rule reads is 0, is 1, or may be both."""

    def __init__(self, rule: Rule) -> None:
        self.columns = [rule.world.column(name) for name in rule.inputs]
        small = World({name: rule.world.variables[name] for name in rule.inputs})
        points = torch.cat([chunk for chunk, _ in world_cells(small, {}, (), 1).chunks()])
        least = most = rule.bind(small).grades(points).reshape([2] * len(self.columns))
        for axis in range(len(self.columns)):
            least = torch.cat([least, least.amin(dim=axis, keepdim=True)], dim=axis)
            most = torch.cat([most, most.amax(dim=axis, keepdim=True)], dim=axis)
        self.least, self.most = least.flatten(), most.flatten()
        self.digit = 3 ** torch.arange(len(self.columns) - 1, -1, -1)

    @staticmethod
    def fits(rule: Rule) -> bool:
        bits = all(rule.world.variables[name].boolean for name in rule.inputs)
        return bits and 0 < len(rule.inputs) <= READ

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        low, high = low[:, self.columns], high[:, self.columns]
        index = (torch.where(low < high, 2, low.long()) * self.digit).sum(dim=1)
        return self.least[index], self.most[index]
