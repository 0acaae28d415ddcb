"""What training lowers: the negative log-likelihood of rows with holes, equations (11) to (13)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor

from nbr.density.likelihood import log_sum
from nbr.errors import NbrError
from nbr.inference.point import keep
from nbr.learning.bank import Bank
from nbr.points.numbered import Listing, listing
from nbr.priors import Prior
from nbr.tables import Table

LISTED = 1 << 17  # points of a world whose normaliser is computed in full at every step
BATCH = 1024
FILLS = 8  # completions drawn for a row with holes
REFRESH = 50  # steps between estimates of alpha
ALPHA_DRAWS = 1 << 15


class Objective(ABC):
    """A loss for a bank of rules, and how well it does on rows that training does not see."""

    alpha: Tensor = torch.tensor(1.0)  # what the normaliser was estimated to be, where it is sampled

    @abstractmethod
    def loss(self, bank: Bank, step: int) -> Tensor: ...

    @abstractmethod
    def log_prob(self, bank: Bank, part: str) -> Tensor:
        """The log-likelihood of each distinct row of the part "train" or "valid", repeated rows once."""

    weights: dict[str, Tensor]

    def mean(self, bank: Bank, part: str) -> float:
        with torch.no_grad():
            return float(self.weights[part] @ self.log_prob(bank, part))


class Listed(Objective):
    """Equation (11) itself: all points of a finite world at every step, nothing sampled."""

    def __init__(self, bank: Bank, listed: Listing, prior: Tensor, parts: dict[str, Table]) -> None:
        points = listed.points
        self.encoded, self.prior = bank.encode(points), prior.to(bank.first.dtype)
        self.weights, self.rows = {}, {}
        for name, table in parts.items():
            distinct, counts = torch.unique(table.codes.nan_to_num(nan=-1.0), dim=0, return_counts=True)
            row, point = listed.completions(torch.where(distinct < 0, math.nan, distinct))
            self.weights[name] = (counts / counts.sum()).to(bank.first.dtype)
            self.rows[name] = (row, point, len(distinct))

    def log_prob(self, bank: Bank, part: str) -> Tensor:
        joint = self.prior + keep(bank(self.encoded), bank.beliefs).clamp(min=1e-30).log()
        row, point, count = self.rows[part]
        return log_sum(joint.index_select(0, point), row, count) - joint.logsumexp(0)

    def loss(self, bank: Bank, step: int) -> Tensor:
        return -(self.weights["train"] @ self.log_prob(bank, "train"))


class Sampled(Objective):
    """Equation (13): the normaliser E[P_keep] / alpha from points of the prior, alpha renewed from time to time.

    Every step draws from its own seed, so that a resumed run sees what an unbroken one would.
    """

    def __init__(self, bank: Bank, prior: Prior, parts: dict[str, Table], seed: int) -> None:
        self.sampler, self.seed = prior, seed
        self.codes = {name: table.codes for name, table in parts.items()}
        self.weights = {name: torch.full((len(table),), 1 / len(table)) for name, table in parts.items()}
        generator = torch.Generator().manual_seed(seed)
        self.reference = bank.encode(prior.sample(ALPHA_DRAWS, generator))
        self.filled = {
            name: bank.encode(_fill(prior, codes, generator).flatten(0, 1)) for name, codes in self.codes.items()
        }

    def log_prob(self, bank: Bank, part: str) -> Tensor:
        normaliser = keep(bank(self.reference), bank.beliefs).mean().log()
        kept = keep(bank(self.filled[part]), bank.beliefs).view(len(self.codes[part]), -1).mean(dim=1)
        prior = self.sampler.log_prob(self.codes[part])
        base = 0.0 if prior is None else prior.to(kept.dtype)
        return base + kept.clamp(min=1e-30).log() - normaliser

    def loss(self, bank: Bank, step: int) -> Tensor:
        generator = torch.Generator().manual_seed((self.seed << 32) + step)
        if step % REFRESH == 0:
            with torch.no_grad():
                self.alpha = keep(bank(self.reference), bank.beliefs).mean()
        codes = self.codes["train"]
        some = torch.randint(len(codes), (min(BATCH, len(codes)),), generator=generator)
        filled = _fill(self.sampler, codes[some], generator)
        rows = bank.encode(torch.cat([filled.flatten(0, 1), self.sampler.sample(BATCH, generator)]))
        kept = keep(bank(rows), bank.beliefs)
        seen = kept[: filled.shape[0] * filled.shape[1]].view(len(some), -1).mean(dim=1)
        return -seen.clamp(min=1e-30).log().mean() + kept[-BATCH:].mean() / self.alpha


def _fill(prior: Prior, codes: Tensor, generator: torch.Generator) -> Tensor:
    return prior.complete(codes, FILLS if bool(codes.isnan().any()) else 1, generator)


def objective(bank: Bank, prior: Prior, parts: dict[str, Table], seed: int) -> Objective:
    """The exact one where the world can be listed and the prior scored."""
    listed = listing(bank.world, LISTED)
    scores = None if listed is None else prior.log_prob(listed.points)
    if listed is not None and scores is not None:
        try:
            return Listed(bank, listed, scores, parts)
        except NbrError:  # too many completions to list
            return Sampled(bank, prior, parts, seed)
    return Sampled(bank, prior, parts, seed)
