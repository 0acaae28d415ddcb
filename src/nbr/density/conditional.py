"""P(number | rest of a row) on a grid: a row has the same answer whatever rows stand beside it, and nothing is drawn.

By Bayes, the share of a cell of the grid is that of the number alone times P_0 P_keep(rest | number). The prior tells
numbers apart only where it has pieces of them, so that it is asked once for each of its pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.keeping import log_keep
from nbr.model import Model

GRID = 512  # cells, as many as the number alone is in equally often
DRAWN = 1 << 16  # points by which these are found
AT_ONCE = 1 << 16  # rows at each piece


@dataclass(frozen=True)
class ColumnGrid:
    """Numbers that stand for cells of a column."""

    at: int  # the column
    values: Tensor  # (cells,), ascending
    masses: Tensor  # (cells,): log of how often the number alone is in each, up to a constant
    density: Tensor  # (pieces,): log of how likely the number alone is, at the cell that stands for a piece
    pieces: Tensor  # (cells,): which the prior does not tell apart, numbered from 0
    one: Tensor  # (pieces,): a cell that stands for each

    @classmethod
    def of(cls, model: Model, at: int) -> ColumnGrid | None:
        """None where the prior has no score."""
        variable = list(model.world.variables.values())[at]
        few = variable.size is not None and variable.size <= GRID
        if few and variable.size is not None:
            values = variable.low + variable.step * torch.arange(variable.size, dtype=torch.float64)
        else:
            drawn = model.base.sample(DRAWN, torch.Generator().manual_seed(0))[:, at].sort().values
            values = drawn[(len(drawn) * (torch.arange(GRID) + 0.5) / GRID).long()]
        alone = torch.full((len(values), len(model.world)), torch.nan, dtype=torch.float64)
        alone[:, at] = values
        scores = model.base.log_prob(alone)
        if scores is None:
            return None
        _, pieces = model.base.pieces(at, values).unique(return_inverse=True)
        last = torch.zeros(int(pieces.max()) + 1, dtype=torch.long).scatter_(0, pieces, torch.arange(len(values)))
        return cls(at, values, scores if few else torch.zeros_like(scores), scores[last], pieces, last)

    def weights(self, model: Model, rows: Tensor) -> Tensor:
        """The share of each cell given the rest of each row, (rows, cells); rules read no hole of the rest."""
        found, ruled = [], model.world.names[self.at] in model.reads
        for part in rows.split(max(1, AT_ONCE // (len(self.values) if ruled else len(self.one)))):
            count, some = len(part), self.values[self.one]
            beside = part.repeat_interleave(len(some), dim=0)
            beside[:, self.at] = some.repeat(count)
            scores = model.base.log_prob(beside)
            assert scores is not None
            logs = (scores.view(count, -1) - self.density)[:, self.pieces] + self.masses
            if ruled:
                points = part.nan_to_num().repeat_interleave(len(self.values), dim=0)
                points[:, self.at] = self.values.repeat(count)
                logs = logs + log_keep(model, points).view(count, -1)
            found.append(torch.softmax(logs, dim=1))
        return torch.cat(found)
