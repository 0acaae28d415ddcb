"""Smaller problems with the same answer: fewer rules, fewer points."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from nbr.inference.problem import Problem

BLOCK = 256


def reduce(problem: Problem) -> Problem:
    """Drop what cannot matter to any union of the problem."""
    smaller = _fewer_rules(problem)
    groups = tuple(front(group) for group in smaller.groups)
    return Problem(groups, problem.unions, smaller.beliefs)


def _fewer_rules(problem: Problem) -> Problem:
    """Rules that are never present or never below 1 go; those with the same grades at every point become one.

    Two rules with the same grades are absent together with probability (1 - b)(1 - b'). Rules that
    are always present act through their smallest grade.
    """
    grades, beliefs = torch.cat(problem.groups), problem.beliefs
    always = beliefs == 1
    if int(always.sum()) > 1:
        smallest = grades[:, always].amin(dim=1, keepdim=True)
        grades = torch.cat([grades[:, ~always], smallest], dim=1)
        beliefs = torch.cat([beliefs[~always], beliefs.new_ones(1)])
    matters = (beliefs > 0) & (grades < 1).any(dim=0)
    grades, beliefs = grades[:, matters], beliefs[matters]
    if len(beliefs) > 1 and len(grades):
        columns, member = torch.unique(grades, dim=1, return_inverse=True)
        absent = beliefs.new_ones(columns.shape[1]).scatter_reduce(0, member, 1 - beliefs, "prod")
        grades, beliefs = columns, 1 - absent
    sizes = [len(group) for group in problem.groups]
    return Problem(tuple(grades.split(sizes)), problem.unions, beliefs)


def distinct(rows: Tensor) -> Tensor:
    """The rows without repetition."""
    if rows.shape[1] == 0:
        return rows[:1]
    return distinct_crisp(rows) if crisp(rows) else torch.unique(rows, dim=0)


def crisp(rows: Tensor) -> bool:
    """Whether every entry is 0 or 1."""
    return bool(((rows == 0) | (rows == 1)).all())


def distinct_crisp(rows: Tensor) -> Tensor:
    """The same for zeros and ones, many times as fast: a row becomes a few bytes."""
    packed = np.ascontiguousarray(np.packbits(rows.numpy().astype(bool), axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first = np.unique(keys, return_index=True)
    return rows[torch.from_numpy(first)]


def front(rows: Tensor) -> Tensor:
    """The Pareto-maximal rows: a point with no grade above another's never gives the maximum alone."""
    rows = distinct(rows)
    rows = rows[rows.sum(dim=1).argsort(descending=True)]
    kept = rows[:0]
    for block in rows.split(BLOCK):
        # Sorted by sum, a row can be dominated only by one before it.
        block = block[~_dominated(block, kept)]
        earlier = torch.ones(len(block), len(block), dtype=torch.bool).tril(-1)
        inside = (block[None] >= block[:, None]).all(dim=2) & earlier
        kept = torch.cat([kept, block[~inside.any(dim=1)]])
    return kept


def _dominated(rows: Tensor, by: Tensor) -> Tensor:
    found = torch.zeros(len(rows), dtype=torch.bool)
    for block in by.split(4 * BLOCK):
        found |= (block[None] >= rows[:, None]).all(dim=2).any(dim=1)
    return found
