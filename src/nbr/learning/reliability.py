"""How reliable sources are, from rows of what they say: the truth need not be known for any of them.

The likelihood of a row sums P_0 P_keep over whatever it leaves open, and P_keep is a closed form of the reliabilities,
so that their likeliest values are found by following its slope. Where other reliabilities would explain the rows as
well, its curvature vanishes, and that is told instead of a number that means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nbr import tables
from nbr.density import log_marginal
from nbr.errors import NbrError
from nbr.model import Model, selectors
from nbr.points import NumberedPoints, numbered_points
from nbr.reasoner import Reasoner
from nbr.rules import Source

STEPS = 200
POINTS = 1 << 16
FLAT = 1e-6  # curvature, of the mean log-likelihood of a row, below which a reliability is not told by the rows
Z95 = 1.959963984540054


@dataclass(frozen=True)
class Reliabilities:
    """The model with what was found, how reliable each source is, and half of its 95% interval.

    None where the rows do not tell it: others would explain them as well.
    """

    model: Reasoner
    reliability: Mapping[str, float]
    error: Mapping[str, float | None]

    def __str__(self) -> str:
        found = []
        for name, value in self.reliability.items():
            error = self.error[name]
            found.append(
                f"{name}: {value:.3f}" + (" (not determined by the rows)" if error is None else f" ± {error:.3f}")
            )
        return "\n".join(found)


def reliabilities(reasoner: Reasoner, table: tables.TableLike) -> Reliabilities:
    """Find how reliable the sources of a model are, by maximum likelihood of rows with holes.

    Args:
        reasoner: a model whose rules name sources; its beliefs and prior stay as they are.
        table: rows of what was observed, as `fit` takes them; an empty cell is summed over.
    """
    model = reasoner.model
    sources = {rule.source.name: rule.source for rule in model.rules if rule.source is not None}
    if not sources:
        raise NbrError("no rule names a source, so there is no reliability to learn")
    if model.closed or model.below is not None or model.codec is not None:
        raise NbrError("reliabilities are learned of rules over what is observed, without closed variables")
    listed = numbered_points(model.world, POINTS)
    if listed is None:
        raise NbrError(f"reliabilities are learned in worlds of up to {POINTS:,} points")
    likelihood = _Likelihood(model, sources, listed, tables.read(table, model.world).codes)
    logits = torch.zeros(len(sources), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=STEPS, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = -likelihood(logits.sigmoid())
        value.backward()
        return value

    optimizer.step(loss)
    found = logits.detach().sigmoid()
    told = {
        name: replace(source, reliability=float(each))
        for (name, source), each in zip(sources.items(), found, strict=True)
    }
    rules = [rule if rule.source is None else rule.from_source(told[rule.source.name]) for rule in model.rules]
    return Reliabilities(
        Reasoner.of(model.with_rules(rules)),
        {name: each.reliability for name, each in told.items()},
        dict(zip(sources, likelihood.errors(found), strict=True)),
    )


class _Likelihood:
    """The mean log-likelihood of rows, by the reliabilities."""

    def __init__(self, model: Model, sources: Mapping[str, Source], listed: NumberedPoints, codes: Tensor) -> None:
        base = model.base.log_prob(listed.points)
        if base is None:
            raise NbrError("rows cannot be scored: this prior can only be sampled")
        if not len(codes):
            raise NbrError("there are no rows to learn from")
        self.model, self.sources, self.listed, self.base = model, sources, listed, base
        self.grades, self.beliefs = model.grades(listed.points).detach(), model.beliefs.detach()
        distinct, counts = torch.unique(codes.nan_to_num(nan=-1.0), dim=0, return_counts=True)
        self.rows = torch.where(distinct < 0, math.nan, distinct)
        self.share, self.count = counts.double() / len(codes), len(codes)

    def __call__(self, reliability: Tensor) -> Tensor:
        kept = selectors(self.model.rules, self.beliefs, self.sources, reliability).keep(self.grades)
        weights = self.base + kept.clamp(min=1e-300).log()
        mean: Tensor = self.share @ log_marginal(weights, self.listed, self.rows) - weights.logsumexp(0)
        return mean

    def errors(self, found: Tensor) -> list[float | None]:
        """Half of the 95% interval of each, from the curvature; None where a direction of it is flat."""
        hessian = -torch.autograd.functional.hessian(self.__call__, found)
        values, vectors = torch.linalg.eigh((hessian + hessian.T) / 2)
        flat = values < FLAT
        blurred = (vectors[:, flat].abs() > 1e-3).any(dim=1)
        spread = (vectors[:, ~flat] ** 2 / values[~flat]).sum(dim=1)
        half = (Z95 * (spread / self.count).sqrt()).tolist()
        return [None if lost else each for each, lost in zip(half, blurred.tolist(), strict=True)]
