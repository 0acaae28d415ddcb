"""Rules on the codes of an autoencoder: the second model of section 3 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.learning.bank import Bank
from nbr.points import numbered_points
from nbr.rules import Codec, CodeNetwork, Rule


class CodeBank(Bank):
    """A network on codes for each set of observed columns; it takes the smallest logit over what it should not see."""

    def __init__(self, codec: Codec, seen: Sequence[tuple[str, ...]], width: int, seed: int) -> None:
        super().__init__(codec.latent, [codec.latent.names] * len(seen), 1, width, seed)
        self.codec, self.seen = codec, [tuple(names) for names in seen]
        self.companions = [_companions(codec, names) for names in self.seen]

    def encode(self, points: Tensor) -> Tensor:
        """The scaled codes of observed points, which must be all points in order."""
        with torch.no_grad():
            return super().encode(self.codec.encode(points))

    def forward(self, encoded: Tensor) -> Tensor:
        logits = self.logits(encoded)[:, :, 0]
        columns = []
        for group, companions in enumerate(self.companions):
            others = [logits[group].index_select(0, companion) for companion in companions.unbind(dim=1)]
            columns.append(torch.stack(others).amin(dim=0))
        return torch.sigmoid(torch.stack(columns, dim=1))

    def export(self) -> list[Rule]:
        beliefs = self.beliefs.detach().double().tolist()
        return [
            CodeNetwork(names, self.network(group), beliefs[group], self.codec) for group, names in enumerate(self.seen)
        ]


def _companions(codec: Codec, seen: tuple[str, ...]) -> Tensor:
    """For each point the numbers of all points that agree with it on what is seen: (points, ways)."""
    listed = numbered_points(codec.world)
    if listed is None:
        raise NbrError("rules on codes are trained where the points of the world can be listed")
    hidden = [column for column, name in enumerate(codec.world.names) if name not in seen]
    codes = listed.points.clone()
    codes[:, hidden] = float("nan")
    _, number = listed.completions(codes)
    return number.view(listed.count, -1)
