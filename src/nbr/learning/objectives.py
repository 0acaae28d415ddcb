"""What training lowers: the negative log-likelihood of rows with holes, equations (11) to (13)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nbr.calculus import keep_probability
from nbr.density import log_sum_by_row
from nbr.errors import NbrError
from nbr.learning.bank import Bank
from nbr.points import NumberedPoints, numbered_points
from nbr.priors import Prior
from nbr.tables import Table
from nbr.training import ALONE, Process, generator

LISTED = 1 << 17  # points of a world that are all listed
FEW = 1 << 12  # of them that no row can be and a step looks at
WEIGHED = 25  # steps after which these are weighed anew
BATCH = 512  # rows of a step
POINTS = 1024  # of the prior in a step
BLOCK = 32  # steps whose points and completions are drawn at once, which is far cheaper than a few at a time
FILLS = 8  # completions drawn for a row with holes
SMALLEST = 1e-30  # of P_keep, before its logarithm
CELLS = 1 << 26  # of completed rows of a table, encoded
RENEWED = 0.1  # of alpha, with every step
REFERENCE = 1 << 15  # points of the prior by which held-out rows are judged


@dataclass(frozen=True)
class Spread:
    """How the likelihood of rows is made of points: shares that add up to 1 for each row, and for the normaliser."""

    encoded: Tensor  # (points, columns)
    normaliser: Tensor  # (points,)
    row: Tensor  # which row, and
    point: Tensor  # which of its completions, have
    weight: Tensor  # which share
    shown: Tensor  # (rows, variables): whether a cell was observed


class Objective(ABC):
    """A loss for a bank of rules, and how well it does on rows that training does not see."""

    process: Process  # whose share of the points goes through the bank here
    weights: dict[str, Tensor]  # by part ("train", "valid", "test"): the share of each distinct row
    codes: dict[str, Tensor]  # the rows themselves, in the order of `log_prob`; NaN is a hole

    @abstractmethod
    def loss(self, bank: Bank, step: int) -> Tensor: ...

    @abstractmethod
    def log_likelihood(self, loss: float) -> float:
        """The mean log-likelihood of a row that a loss stands for, in nats."""

    @abstractmethod
    def log_prob(self, bank: Bank, part: str) -> Tensor:
        """The log-likelihood of each distinct row of a part, repeated rows once."""

    @abstractmethod
    def kept(self, bank: Bank) -> float:
        """The mean of P_keep over the prior."""

    @abstractmethod
    def spread(self, bank: Bank, part: str) -> Spread:
        """The points that rows and the normaliser are sums over, in the order of `log_prob`."""

    def mean(self, bank: Bank, part: str) -> float:
        with torch.no_grad():
            return float(self.weights[part] @ self.log_prob(bank, part))

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """What changes in the course of a run."""

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class ListedObjective(Objective):
    """Equation (11) itself, over all points of a finite world.

    In every step the normaliser has all points that rows can be, and of the others some thousand, drawn by how much
    they weighed a few steps ago and counted accordingly, or all if they are few. Figures have all points.
    """

    def __init__(
        self,
        bank: Bank,
        listed: NumberedPoints,
        prior: Tensor,
        parts: dict[str, Table],
        seed: int = 0,
        process: Process = ALONE,
    ) -> None:
        points, self.process = listed.points, process
        self.encoded, self.prior, self.seed = bank.encode(points), prior.to(bank.first.dtype), seed
        self.weights, self.rows, self.shown, self.codes = {}, {}, {}, {}
        for name, table in parts.items():
            distinct, counts = distinct_rows(table)
            row, point = listed.completions(torch.where(distinct < 0, math.nan, distinct))
            self.weights[name] = (counts / counts.sum()).to(bank.first.dtype)
            self.rows[name] = (row, point, len(distinct))
            self.shown[name] = distinct >= 0
            self.codes[name] = torch.where(distinct < 0, math.nan, distinct)
        needed = torch.zeros(listed.count, dtype=torch.bool)
        needed[self.rows["train"][1]] = True
        if int((~needed).sum()) <= FEW:
            needed[:] = True
        self.needed, self.others = needed.nonzero()[:, 0], (~needed).nonzero()[:, 0]
        self.place = (needed.cumsum(0) - 1)[self.rows["train"][1]]  # of the points of rows, among those needed
        self.chance = torch.full((len(self.others),), 1 / max(1, len(self.others)))

    def log_prob(self, bank: Bank, part: str) -> Tensor:
        joint = self._joint(bank)
        row, point, count = self.rows[part]
        return log_sum_by_row(joint.index_select(0, point), row, count) - joint.logsumexp(0)

    def kept(self, bank: Bank) -> float:
        return float((self._joint(bank).logsumexp(0) - self.prior.logsumexp(0)).exp())

    def spread(self, bank: Bank, part: str) -> Spread:
        joint = self._joint(bank)
        row, point, count = self.rows[part]
        mine = joint.index_select(0, point)
        weight = (mine - log_sum_by_row(mine, row, count)[row]).exp()
        return Spread(self.encoded, joint.softmax(0), row, point, weight, self.shown[part])

    def _joint(self, bank: Bank, at: Tensor | None = None) -> Tensor:
        if at is None:
            own = slice(self.process.rank, None, self.process.size)
            return self._of_all(bank, self.encoded[own], self.prior[own], len(self.prior))
        mine = self.process.share(at)
        return self._of_all(bank, self.encoded[mine], self.prior[mine], len(at))

    def _of_all(self, bank: Bank, encoded: Tensor, prior: Tensor, count: int) -> Tensor:
        return self.process.together(
            prior + keep_probability(bank(encoded), bank.beliefs).clamp(min=SMALLEST).log(), count
        )

    def loss(self, bank: Bank, step: int) -> Tensor:
        at, stands = self._points(bank, step)
        joint = self._joint(bank, at)
        row, _, count = self.rows["train"]
        seen = log_sum_by_row(joint.index_select(0, self.place), row, count)
        return (joint + stands).logsumexp(0) - self.weights["train"] @ seen

    def _points(self, bank: Bank, step: int) -> tuple[Tensor, Tensor]:
        """Numbers of points, those that rows can be first, and the log of how many each stands for."""
        if not len(self.others):
            return self.needed, self.prior.new_zeros(len(self.needed))
        if step % WEIGHED == 0:
            with torch.no_grad():
                self.chance = torch.softmax(self._joint(bank, self.others), 0) / 2 + 1 / (2 * len(self.others))
        picks = torch.multinomial(self.chance, FEW, replacement=True, generator=generator(self.seed, step))
        stands = torch.cat([self.prior.new_zeros(len(self.needed)), -(FEW * self.chance[picks]).log()])
        return torch.cat([self.needed, self.others[picks]]), stands

    def log_likelihood(self, loss: float) -> float:
        return -loss

    def state_dict(self) -> dict[str, Any]:
        return {"chance": self.chance}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.chance = state["chance"]


class SampledObjective(Objective):
    """Equation (13): the normaliser E[P_keep] / alpha from fresh points of the prior, alpha their moving average.

    A sample takes 1 / E[P_keep] points of the prior. Where that share has fallen to `least`, a smaller one counts for
    no more: the loss has max(log E[P_keep], log least).

    Points and completions are drawn for some steps at a time, from a seed of their own, so that a resumed run sees what
    an unbroken one would.
    """

    def __init__(
        self,
        bank: Bank,
        prior: Prior,
        parts: dict[str, Table],
        seed: int,
        process: Process = ALONE,
        least: float = 0.0,
    ) -> None:
        self.prior, self.seed, self.process, self.least = prior, seed, process, least
        self.alpha = torch.tensor(0.0)  # what the normaliser was in the last steps; 0 before the first
        self.codes = {name: table.codes for name, table in parts.items()}
        self.weights = {name: torch.full((len(table),), 1 / len(table)) for name, table in parts.items()}
        source = torch.Generator().manual_seed(seed)
        self.reference = bank.encode(prior.sample(REFERENCE, source))
        self.filled = {
            name: bank.encode(_fill(prior, codes, source).flatten(0, 1)) for name, codes in self.codes.items()
        }
        self.base = {name: _scores(prior, codes, bank.first.dtype) for name, codes in self.codes.items()}
        self._drawn: tuple[int, Tensor, Tensor] | None = None  # block, completed rows and points of the prior

    def log_prob(self, bank: Bank, part: str) -> Tensor:
        normaliser = self._kept(bank, self.reference).mean().log()
        kept = self._kept(bank, self.filled[part]).view(len(self.codes[part]), -1).mean(dim=1)
        return self.base[part] + kept.clamp(min=SMALLEST).log() - normaliser

    def kept(self, bank: Bank) -> float:
        return float(self._kept(bank, self.reference).mean())

    def spread(self, bank: Bank, part: str) -> Spread:
        drawn, filled = (self._kept(bank, each) for each in (self.reference, self.filled[part]))
        rows = len(self.codes[part])
        mine = filled.view(rows, -1).clamp(min=SMALLEST)
        return Spread(
            torch.cat([self.reference, self.filled[part]]),
            torch.cat([drawn / drawn.sum(), torch.zeros_like(filled)]),
            torch.arange(rows).repeat_interleave(mine.shape[1]),
            len(drawn) + torch.arange(len(filled)),
            (mine / mine.sum(dim=1, keepdim=True)).flatten(),
            ~self.codes[part].isnan(),
        )

    def loss(self, bank: Bank, step: int) -> Tensor:
        filled, points = self._draws(step)
        drawn = torch.cat([filled.flatten(0, 1), points])
        own = keep_probability(bank(bank.encode(self.process.share(drawn))), bank.beliefs)
        kept = self.process.together(own, len(drawn))
        seen = kept[: -len(points)].view(len(filled), -1).mean(dim=1)
        normaliser = kept[-len(points) :].mean()
        now = normaliser.detach().clamp(min=SMALLEST)
        self.alpha = now if self.alpha == 0 else torch.lerp(self.alpha, now, RENEWED)
        if self.alpha < self.least:
            normaliser = now
        return -seen.clamp(min=SMALLEST).log().mean() + normaliser / self.alpha

    def _kept(self, bank: Bank, encoded: Tensor) -> Tensor:
        return self.process.together(keep_probability(bank(self.process.share(encoded)), bank.beliefs), len(encoded))

    def _draws(self, step: int) -> tuple[Tensor, Tensor]:
        """Rows of the table, completed, (rows, fills, columns), and points of the prior, (points, columns)."""
        block, at = divmod(step, BLOCK)
        if self._drawn is None or self._drawn[0] != block:
            source, codes = generator(self.seed, block), self.codes["train"]
            some = torch.randint(len(codes), (BLOCK * min(BATCH, len(codes)),), generator=source)
            self._drawn = block, _fill(self.prior, codes[some], source), self.prior.sample(BLOCK * POINTS, source)
        _, filled, points = self._drawn
        return filled.chunk(BLOCK)[at], points.chunk(BLOCK)[at]

    def log_likelihood(self, loss: float) -> float:
        """By log Z <= Z / alpha + log alpha - 1, which is nearly equal as alpha is nearly Z."""
        return 1 - loss - float(self.alpha.log()) + float(self.base["train"].mean())

    def state_dict(self) -> dict[str, Any]:
        return {"alpha": self.alpha}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.alpha = state["alpha"]


def distinct_rows(table: Table) -> tuple[Tensor, Tensor]:
    """Each row once, with -1 for a hole, and how often it was seen."""
    found, member = torch.unique(table.codes.nan_to_num(nan=-1.0), dim=0, return_inverse=True)
    seen = torch.ones(len(table), dtype=torch.long) if table.counts is None else table.counts
    return found, torch.zeros(len(found), dtype=torch.long).index_add(0, member, seen)


def _scores(prior: Prior, codes: Tensor, dtype: torch.dtype) -> Tensor:
    """What the prior says of rows, 0 where it cannot be scored: figures then lack a constant."""
    scores = prior.log_prob(codes)
    return torch.zeros(len(codes), dtype=dtype) if scores is None else scores.to(dtype)


def _fill(prior: Prior, codes: Tensor, generator: torch.Generator) -> Tensor:
    return prior.complete(codes, FILLS, generator) if bool(codes.isnan().any()) else codes[:, None]


def objective(
    bank: Bank, prior: Prior, parts: dict[str, Table], seed: int, process: Process = ALONE, least: float = 0.0
) -> Objective:
    """The exact one where the world can be listed and the prior scored; the other keeps a share of the prior."""
    listed = numbered_points(bank.world, LISTED)
    scores = None if listed is None else prior.log_prob(listed.points)
    if listed is not None and scores is not None:
        try:
            return ListedObjective(bank, listed, scores, parts, seed, process)
        except NbrError:  # too many completions to list
            pass
    kept = {name: _room(table.one_by_one(seed), bank, seed) for name, table in parts.items()}
    return SampledObjective(bank, prior, kept, seed, process, least)


def _room(table: Table, bank: Bank, seed: int) -> Table:
    """As many rows as memory has room for once they are completed and encoded, drawn at random."""
    most = max(1, CELLS // (bank.first.shape[1] * (1 if table.complete else FILLS)))
    if len(table) <= most:
        return table
    chosen = torch.randperm(len(table), generator=torch.Generator().manual_seed(seed))[:most]
    return table.part(chosen.sort().values)
