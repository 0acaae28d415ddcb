"""What is known of rows of pictures, as a likelihood of what a sensor says: equations (11) and (12) of the paper.

The pictures of a row weigh the values of its variables, a statement says which points are possible, and the rules of
the model count beside both. The statement's probability is the weight of the points where it holds, over that of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.factors import Network, Unfit
from nbr.language import Expression, parse
from nbr.language import expressions as ex
from nbr.learning.columns import Column, spelled
from nbr.model import Model
from nbr.world import World

LEAST = -300.0  # of log pl: from about -745 on it would be 0, and nothing could be learned from it


@dataclass(frozen=True)
class Statement:
    """One text that holds of every row; columns of whole numbers may stand in it."""

    model: Model
    said: Expression
    columns: tuple[Column, ...]
    sensed: tuple[str, ...]  # variables that have a picture in each row
    whole: bool  # whether pictures alone weigh points, so that all of them together are known
    wider: World

    @classmethod
    def of(cls, model: Model, text: str, columns: Mapping[str, Sequence[object]], sensed: Sequence[str]) -> Statement:
        """Columns that the text does not name are left out."""
        read = parse(text, model.world)
        named = read.names() | {value for atom in read.atoms() for value in atom.values}
        clash = next((name for name in columns if name in model.world.variables), None)
        if clash is not None:
            raise NbrError(f"{clash!r} is a variable of the model and a column of numbers: give one another name")
        used = {name: Column.of(name, numbers) for name, numbers in columns.items() if name in named}
        said = spelled(read, used)
        digits = {name: variable for column in used.values() for name, variable in column.variables.items()}
        wider = World({**model.world.variables, **digits})
        said.check(wider)
        if model.codec is not None:
            raise NbrError("rules on codes do not take pictures")
        bare = all(rule.degree == 0 for body in model.bodies for rule in body.rules)
        return cls(model, said, tuple(used.values()), tuple(sensed), bare and model.prior is None, wider)

    def log_likelihood(self, logs: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """log P(statement | pictures) of rows: (rows,), differentiable.

        `logs` has for each sensed variable the log plausibility of its values, (rows, values) in the order of the
        variable, whose scale does not matter.
        """
        weights = {}
        for name in self.sensed:
            log = logs[name].double()
            alone = log.logsumexp(dim=1, keepdim=True) if self.whole else log.detach().amax(dim=1, keepdim=True)
            weights[name] = (log - alone).clamp(min=LEAST).exp()
        for column in self.columns:
            weights |= column.known(rows)
        agree = self._network.weighed(weights, [self.said] * len(rows))
        return agree - (self._every if self.whole else self._network.weighed(weights, [None] * len(rows)))

    @cached_property
    def _every(self) -> Tensor:
        """The weight of all points, where what is seen adds up to 1: that of variables without a picture."""
        weights = {}
        for name in self.sensed:
            size = len(self._values(name))
            weights[name] = torch.full((1, size), 1 / size, dtype=torch.float64)
        for column in self.columns:
            weights |= column.known(torch.zeros(1, dtype=torch.long))
        return self._network.weighed(weights, [None])

    @cached_property
    def _network(self) -> Network:
        each = [ex.Atom(name, "in", tuple(self._values(name))) for name in self.sensed]
        try:
            bodies = [body.rules for body in self.model.bodies]
            return Network.of(self.wider, None if self.whole else self.model.base, bodies, [self.said, *each])
        except Unfit as error:
            raise NbrError(f"{self.said}: cannot be summed over exactly: {error}") from None

    def _values(self, name: str) -> list[str]:
        variable = self.model.world.variables[name]
        if variable.size is None:
            raise NbrError(f"{name!r} has a picture, and is a number without steps: its values are the sensor's labels")
        low, step = getattr(variable, "low", 0.0), getattr(variable, "step", 1.0)
        return [variable.show(low + step * place) for place in range(variable.size)]
