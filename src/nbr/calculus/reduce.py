"""Smaller problems with the same answer: fewer rules, fewer points."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from nbr import clock
from nbr.calculus.problem import Problem
from nbr.calculus.selectors import Selectors

BLOCK = 256
MANY = 20_000
MERGED = 1e-4  # rules become one only while 1 - b keeps its digits


def fewer_rules(problem: Problem) -> Problem:
    """Rules that are never present or never below 1 go; those with the same grades at every point become one.

    A rule with grade 0 everywhere leaves nothing possible where it is present: it multiplies all expectations by
    1 - b. Two rules with the same grades are absent together with probability (1 - b)(1 - b'). Rules that are
    always present act through their smallest grade.
    """
    if isinstance(problem.beliefs, Selectors):
        return _shared(problem, problem.beliefs)
    grades, beliefs = torch.cat(problem.groups), problem.beliefs
    always = beliefs == 1
    if int(always.sum()) > 1:
        smallest = grades[:, always].amin(dim=1, keepdim=True)
        grades = torch.cat([grades[:, ~always], smallest], dim=1)
        beliefs = torch.cat([beliefs[~always], beliefs.new_ones(1)])
    broken = (grades == 0).all(dim=0) & (beliefs < 1) & bool(len(grades))
    scale = problem.scale * math.prod((1 - beliefs[broken]).tolist())
    matters = (beliefs > 0) & (grades < 1).any(dim=0) & ~broken
    grades, beliefs = grades[:, matters], beliefs[matters]
    if len(beliefs) > 1 and len(grades):
        grades, beliefs = _merged(grades, beliefs)
    sizes = [len(group) for group in problem.groups]
    return Problem(tuple(grades.split(sizes)), problem.unions, beliefs, scale)


def _shared(problem: Problem, selectors: Selectors) -> Problem:
    """Rules that share selectors go only where they can never matter."""
    grades = torch.cat(problem.groups)
    kept = ((selectors.marginals > 0) & (grades < 1).any(dim=0)).nonzero().flatten().tolist()
    groups = tuple(group[:, kept] for group in problem.groups)
    return Problem(groups, problem.unions, selectors.some(kept), problem.scale)


def _merged(grades: Tensor, beliefs: Tensor) -> tuple[Tensor, Tensor]:
    columns, member = torch.unique(grades, dim=1, return_inverse=True)
    absent = beliefs.new_ones(columns.shape[1]).scatter_reduce(0, member, 1 - beliefs, "prod")
    safe = (absent >= MERGED) | (torch.bincount(member, minlength=len(absent)) == 1)
    alone = ~safe[member]
    single = safe & (torch.bincount(member, minlength=len(absent)) == 1)
    kept = beliefs.new_zeros(len(absent)).scatter(0, member, beliefs)
    joint = torch.where(single, kept, 1 - absent)
    return torch.cat([columns[:, safe], grades[:, alone]], dim=1), torch.cat([joint[safe], beliefs[alone]])


def fewer_points(problem: Problem, deadline: float) -> Problem:
    """Drop points that others of their group dominate, as far as time allows."""
    groups = tuple(pareto_front(group, deadline) for group in problem.groups)
    return Problem(groups, problem.unions, problem.beliefs, problem.scale)


def distinct_rows(rows: Tensor) -> Tensor:
    """The rows without repetition, where that is quick to find."""
    if rows.shape[1] == 0:
        return rows[:1]
    if is_crisp(rows):
        return distinct_crisp(rows)
    return torch.unique(rows, dim=0) if len(rows) <= MANY else rows  # sorting long lists of rows takes seconds


def is_crisp(rows: Tensor) -> bool:
    """Whether every entry is 0 or 1."""
    return bool(((rows == 0) | (rows == 1)).all())


def distinct_crisp(rows: Tensor) -> Tensor:
    """The same for zeros and ones, many times as fast: a row becomes a few bytes."""
    return rows[first_of_each(rows)]


def first_of_each(rows: Tensor) -> Tensor:
    """Where each distinct row of zeros and ones stands first."""
    packed = np.ascontiguousarray(np.packbits(rows.numpy().astype(bool), axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first = np.unique(keys, return_index=True)
    return torch.from_numpy(first)


def pareto_front(rows: Tensor, deadline: float) -> Tensor:
    """The Pareto-maximal rows: a point with no grade above another's never gives the maximum alone.

    At the deadline the rows not looked at yet stay in: more than needed, and still right.
    """
    rows = distinct_rows(rows)
    rows = rows[rows.sum(dim=1).argsort(descending=True)]
    kept = rows[:0]
    for start in range(0, len(rows), BLOCK):
        if clock.now() > deadline:
            return torch.cat([kept, rows[start:]])
        block = rows[start : start + BLOCK]
        # Sorted by sum, a row can be dominated only by one before it.
        block = block[~_dominated(block, kept)]
        earlier = torch.ones(len(block), len(block), dtype=torch.bool).tril(-1)
        inside = (block[None] >= block[:, None]).all(dim=2) & earlier  # also drops what is said twice
        kept = torch.cat([kept, block[~inside.any(dim=1)]])
    return kept


def _dominated(rows: Tensor, by: Tensor) -> Tensor:
    found = torch.zeros(len(rows), dtype=torch.bool)
    for block in by.split(4 * BLOCK):
        found |= (block[None] >= rows[:, None]).all(dim=2).any(dim=1)
    return found
