"""Rules that share selectors, as tables that hang on hidden variables: given these, rules are independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus import Factor, Selectors, selector_mixture
from nbr.factors.structures import Structure
from nbr.model import presence
from nbr.rules import Rule


@dataclass(frozen=True)
class Hanging:
    """Hidden variables of rules that share selectors, and how likely each such rule is to be there at their values."""

    tables: list[Factor]
    rules: dict[Rule, Factor]


def hanging(bodies: Sequence[Sequence[Rule]]) -> Hanging:
    tables: list[Factor] = []
    rules: dict[Rule, Factor] = {}
    for number, body in enumerate(bodies):
        likeliest = [torch.as_tensor(rule.likeliest, dtype=torch.float64).detach() for rule in body]
        together = presence(body, torch.stack(likeliest)) if body else None
        if isinstance(together, Selectors):
            some, found = selector_mixture(together, f"source {number}")
            tables += some
            rules |= {body[position]: each for position, each in found.items()}
    return Hanging(tables, rules)


def shared(
    hung: Hanging, crisp: Sequence[Rule], fuzzy: Sequence[Rule], made: Structure, grades: Sequence[Tensor]
) -> list[Factor]:
    """What hidden variables are, and what P_keep takes of each rule at their values."""
    if not hung.rules:
        return []
    broken = [*zip(crisp, made.broken, strict=True)]
    lost = [(rule, names, truth.double()) for rule, (names, truth) in broken]
    lost += [(rule, rule.inputs, 1 - table) for rule, table in zip(fuzzy, grades, strict=True)]
    found = [*hung.tables]
    for rule, names, share in lost:
        if rule in hung.rules:
            (hidden,), there = hung.rules[rule]
            found.append(((*names, hidden), 1 - share[..., None] * there))
    return found
