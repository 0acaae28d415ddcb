"""What is known of rows of pictures, as a likelihood of what a sensor says: equations (11) and (12) of the paper.

The pictures of a row weigh the values of its variables, a statement says which points are possible, and the rules of
the model count beside both. The statement's probability is the weight of the points where it holds, over that of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from nbr.errors import NbrError
from nbr.factors import Network
from nbr.language import Expression, Linear, parse
from nbr.language import expressions as ex
from nbr.model import Model
from nbr.priors import HIDDEN
from nbr.rules import Rule, sensor_values
from nbr.teaching.columns import DigitColumn, spelled
from nbr.ways import Unfit
from nbr.world import World

LEAST = -300.0  # of log pl: from about -745 on it would be 0, and nothing could be learned from it
TOTAL = f"{HIDDEN}total"  # the column of the numbers that sums of alike statements are
EXACT = 2**53  # up to which floats have all whole numbers

Beliefs = Mapping[Rule, Tensor]


@dataclass(frozen=True, eq=False)
class Statement:
    """One text that holds of every row; columns of whole numbers may stand in it."""

    model: Model
    said: Expression
    columns: tuple[DigitColumn, ...]
    sensed: tuple[str, ...]  # variables that have a picture in each row
    alone: bool  # whether pictures alone weigh points, so that the weight of all is known
    wider: World

    @classmethod
    def of(
        cls, model: Model, said: str | Expression, columns: Mapping[str, Sequence[object]], sensed: Sequence[str]
    ) -> Statement:
        """Columns that it does not name are left out."""
        read = parse(said, model.world) if isinstance(said, str) else said
        named = read.names() | {value for atom in read.atoms() for value in atom.values}
        clash = next((name for name in columns if name in model.world.variables), None)
        if clash is not None:
            raise NbrError(f"{clash!r} is a variable of the model and a column of numbers: give one another name")
        used = {name: DigitColumn.of(name, numbers) for name, numbers in columns.items() if name in named}
        for name in sorted(read.names() - set(used)):
            model.world.column(name)  # an error where there is none
        plain = spelled(read, used)
        digits = {name: variable for column in used.values() for name, variable in column.variables.items()}
        wider = World({**model.world.variables, **digits})
        plain.check(wider)
        if model.codec is not None:
            raise NbrError("rules on codes do not take pictures")
        alone = model.prior is None and all(rule.degree == 0 for rule in model.rules)
        return cls(model, plain, tuple(used.values()), tuple(sensed), alone, wider)

    def log_likelihood(self, logs: Mapping[str, Tensor], rows: Tensor, beliefs: Beliefs | None = None) -> Tensor:
        """log P(statement | pictures) of rows: (rows,), differentiable.

        `logs` has for each sensed variable the log plausibility of its values, (rows, values) in the order of the
        variable, whose scale does not matter. `rows` are numbers of rows of the columns; beliefs may be learned.
        """
        weights: dict[str, Tensor] = {}
        for alike in self._sizes:  # at once, since hundreds of small steps take longer than what they compute
            log = torch.stack([logs[name] for name in alike]).double()
            whole = log.logsumexp(dim=2, keepdim=True) if self.alone else log.detach().amax(dim=2, keepdim=True)
            weights |= dict(zip(alike, (log - whole).clamp(min=LEAST).exp(), strict=True))
        network = self.network if beliefs is None else self.network.believing(beliefs)
        every = self._every if self.alone else network.weighed(weights | self.known(rows), [None] * len(rows))
        return network.weighed(weights | self.known(rows), [self.said] * len(rows)) - every

    def hold(self, logs: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """Whether it can hold where every variable has its most plausible value: (rows,)."""
        weights = {name: one_hot(logs[name].argmax(dim=1), logs[name].shape[1]).double() for name in self.sensed}
        return self.network.weighed(weights | self.known(rows), [self.said] * len(rows)) > -torch.inf

    def known(self, rows: Tensor) -> dict[str, Tensor]:
        """The numbers in the columns of some rows, as weights of their digits."""
        return {name: weight for column in self.columns for name, weight in column.known(rows).items()}

    @cached_property
    def _sizes(self) -> list[list[str]]:
        """The sensed variables, those with as many values together."""
        found: dict[int, list[str]] = {}
        for name in self.sensed:
            found.setdefault(len(sensor_values(name, self.model.world.variables[name])), []).append(name)
        return list(found.values())

    @cached_property
    def _every(self) -> Tensor:
        """The weight of all points, where what is seen adds up to 1: that of variables without a picture."""
        weights = self.known(torch.zeros(1, dtype=torch.long))
        for name in self.sensed:
            size = len(sensor_values(name, self.model.world.variables[name]))
            weights[name] = torch.full((1, size), 1 / size, dtype=torch.float64)
        return self.network.weighed(weights, [None])

    @cached_property
    def network(self) -> Network:
        """Rules and statement as small tables."""
        variables = self.model.world.variables
        each = [ex.Atom(name, "in", sensor_values(name, variables[name])) for name in self.sensed]
        try:
            bodies = [body.rules for body in self.model.bodies]
            return Network.of(self.wider, None if self.alone else self.model.base, bodies, [self.said, *each])
        except Unfit as error:
            raise NbrError(f"{self.said}: cannot be summed over exactly: {error}") from None


@dataclass(frozen=True, eq=False)
class Statements:
    """What is said of each row: alike statements are one, and differ by a column of numbers."""

    each: tuple[Statement, ...]
    group: Tensor  # which of them each row has: (rows,)
    place: Tensor  # and which of its rows that is

    @classmethod
    def of(
        cls,
        model: Model,
        texts: Sequence[str],
        columns: Mapping[str, Sequence[object]],
        sensed: Sequence[str],
        count: int,
    ) -> Statements:
        """One text for all of so many rows, or one for each; sums that differ in the total alone are taken together."""
        if len(texts) == 1:
            one = Statement.of(model, texts[0], columns, sensed)
            return cls((one,), torch.zeros(count, dtype=torch.long), torch.arange(count))
        read = {text: _told(text, model.world, row) for row, text in _first(texts)}
        groups: dict[Expression, list[int]] = {}
        totals: dict[Expression, list[int]] = {}
        for row, text in enumerate(texts):
            kind, total = _apart(read[text])
            groups.setdefault(kind, []).append(row)
            totals.setdefault(kind, []).append(total)
        found, group, place = [], torch.zeros(count, dtype=torch.long), torch.zeros(count, dtype=torch.long)
        for number, (kind, rows) in enumerate(groups.items()):
            mine = {name: [column[row] for row in rows] for name, column in columns.items()}
            found.append(Statement.of(model, kind, {**mine, TOTAL: totals[kind]}, sensed))
            group[rows], place[rows] = number, torch.arange(len(rows))
        return cls(tuple(found), group, place)

    def log_likelihood(self, logs: Mapping[str, Tensor], rows: Tensor, beliefs: Beliefs | None = None) -> Tensor:
        """log P(statement | pictures) of rows: (rows,); `logs` as a statement takes them."""
        return self._of_each(logs, rows, lambda each, mine, place: each.log_likelihood(mine, place, beliefs))

    def hold(self, logs: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """Which statements can hold where every variable has its most plausible value: (rows,)."""
        return self._of_each(logs, rows, lambda each, mine, place: each.hold(mine, place).double()) > 0

    def _of_each(
        self,
        logs: Mapping[str, Tensor],
        rows: Tensor,
        told: Callable[[Statement, Mapping[str, Tensor], Tensor], Tensor],
    ) -> Tensor:
        group, place = self.group[rows], self.place[rows]
        if len(self.each) == 1:
            return told(self.each[0], logs, place)
        found = torch.zeros(len(rows), dtype=torch.float64)
        for number in group.unique().tolist():
            some = (group == number).nonzero()[:, 0]
            mine = {name: log[some] for name, log in logs.items()}
            found = found.index_put((some,), told(self.each[number], mine, place[some]))
        return found


def _first(texts: Sequence[str]) -> list[tuple[int, str]]:
    """Every different text, and the first row that has it, from 1."""
    seen: dict[str, int] = {}
    for row, text in enumerate(texts, 1):
        seen.setdefault(text, row)
    return [(row, text) for text, row in seen.items()]


def _told(text: str, world: World, row: int) -> Expression:
    try:
        return parse(text, world)
    except NbrError as error:
        raise NbrError(f"row {row}, {text!r}: {error}") from None


def _apart(said: Expression) -> tuple[Expression, int]:
    """A sum of whole numbers without its total, and that; of another statement nothing is taken."""
    if isinstance(said, Linear) and float(said.number).is_integer() and abs(said.number) < EXACT:
        return replace(said, weights=(*said.weights, (-1.0, TOTAL)), number=0.0, at=0), int(said.number)
    return said, 0
