"""Shared selectors as hidden variables: numbers for formulas, tables for products."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from nbr.calculus.selectors import Selectors

Factor = tuple[tuple[str, ...], Tensor]  # names of hidden variables, and a number for each combination of their values


def selector_mixture(selectors: Selectors, prefix: str) -> tuple[list[Factor], dict[int, Factor]]:
    """Hidden variables, as tables of how likely their values are, and for each rule that hangs on one how likely it
    is to be there at each of its values; given all of these, rules are independent.
    """
    tables: list[Factor] = []
    found: dict[int, Factor] = {}
    beliefs, one = selectors.beliefs.detach(), selectors.beliefs.new_ones(())
    for number, group in enumerate(selectors.groups):
        whole, source = selectors.reliable(group).detach(), f"{prefix} {number}"
        told = torch.stack([1 - whole, whole])
        if group.nested:
            degrees = beliefs[list(group.members)].unique().flip(0)  # a value for each step between two of them
            ends = torch.cat([one[None], degrees, 0 * one[None]])
            table = whole * (ends[:-1] - ends[1:])
            table[0] += 1 - whole
            tables.append(((source,), table))
            for rule in group.members:
                at = int((degrees == beliefs[rule]).nonzero())
                found[rule] = (source,), (torch.arange(len(table)) > at).to(beliefs.dtype)
            continue
        if group.source is not None:
            tables.append(((source,), told))
        for rule in group.plain:
            found[rule] = (source,), torch.stack([0 * one, beliefs[rule]])
        for place, choice in enumerate(group.choices):
            own, masses = f"{source} {place}", beliefs[list(choice)]
            share = torch.cat([(1 - masses.sum()).clamp(min=0)[None], masses])
            none = torch.zeros_like(share).index_fill(0, torch.tensor([0]), 1.0)
            tables.append(((own,), share) if group.source is None else ((source, own), torch.stack([none, share])))
            for at, rule in enumerate(choice, 1):
                found[rule] = (own,), torch.zeros_like(share).index_fill(0, torch.tensor([at]), 1.0)
    return tables, found


def selector_guards(selectors: Selectors, fresh: Callable[[], int]) -> tuple[dict[int, float], list[list[int] | None]]:
    """Independent numbers with their probabilities, and the literals that are all true where a rule is there.

    None where it never is. `fresh` gives numbers of variables that are not used yet.
    """
    weights: dict[int, float] = {}
    found: list[list[int] | None] = [None] * len(selectors)
    beliefs = selectors.beliefs.tolist()

    def bit(chance: float) -> list[int]:
        if chance >= 1:
            return []
        number = fresh()
        weights[number] = chance
        return [number]

    for rule in selectors.free:
        found[rule] = bit(beliefs[rule]) if beliefs[rule] > 0 else None
    for group in selectors.groups:
        whole = float(selectors.reliable(group))
        if whole == 0:
            continue
        told = bit(whole)
        for rule in group.plain if not group.nested else ():
            found[rule] = [*told, *bit(beliefs[rule])] if beliefs[rule] > 0 else None
        for choice in group.choices:
            left, passed = 1.0, list[int]()
            for rule in choice:
                if beliefs[rule] > 0 and left > 0:
                    here = bit(beliefs[rule] / left)
                    found[rule] = [*told, *passed, *here]
                    passed += [-number for number in here]
                    left = left - beliefs[rule] if here else 0.0
        if group.nested:
            above, chain = 1.0, told
            for rule in sorted(group.members, key=lambda rule: -beliefs[rule]):
                if 0 < beliefs[rule] < above:
                    chain = [*chain, *bit(beliefs[rule] / above)]
                    above = beliefs[rule]
                found[rule] = chain if beliefs[rule] > 0 else None
    return weights, found
