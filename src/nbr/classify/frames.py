"""Frames of discernment: the groups of labels that a rule tells apart. It makes no judgement about labels outside."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from nbr.errors import NbrError

Frame = Sequence[Collection[Hashable]]


def pairs(labels: Sequence[Any]) -> list[list[set[Any]]]:
    """Every label against every other.

    >>> pairs("abc")
    [[{'a'}, {'b'}], [{'a'}, {'c'}], [{'b'}, {'c'}]]
    """
    return [[{first}, {second}] for first, second in combinations(labels, 2)]


def rest(labels: Sequence[Any]) -> list[list[set[Any]]]:
    """Each label against all others together."""
    return [[{label}, {other for other in labels if other != label}] for label in labels]


def hierarchy(labels: Sequence[Any]) -> list[list[set[Any]]]:
    """A tree: the first half of the labels against the second, and so on within each half. One rule fewer than labels.

    >>> hierarchy([0, 1, 2])
    [[{0}, {1, 2}], [{1}, {2}]]
    """
    if len(labels) < 2:
        return []
    half = len(labels) // 2
    first, second = labels[:half], labels[half:]
    return [[set(first), set(second)], *hierarchy(first), *hierarchy(second)]


def against_rest(labels: Tensor, count: int) -> Tensor:
    """Groups of rules that speak for one label each, group 1, against all others, group 0: (rules, labels).

    >>> against_rest(torch.tensor([2, 0]), 3).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """
    return torch.nn.functional.one_hot(labels, count)


def groups(frame: Frame, classes: Sequence[Any]) -> Tensor:
    """The number of the group that each label is in, -1 if it is outside the frame."""
    known = {label: position for position, label in enumerate(classes)}
    found = torch.full((len(known),), -1)
    if len(frame) < 2:
        raise NbrError(f"a frame has at least two groups of labels, not {len(frame)}")
    for number, group in enumerate(frame):
        if isinstance(group, str) or not len(group):
            raise NbrError(f"a group of a frame is a set of labels, not {group!r}")
        for label in group:
            if label not in known:
                raise NbrError(f"a frame names the label {label!r}, which the data do not have")
            if int(found[known[label]]) >= 0:
                raise NbrError(f"a frame names the label {label!r} twice")
            found[known[label]] = number
    return found


def named(group: Tensor, classes: Sequence[Any]) -> list[set[Any]]:
    """The inverse of `groups`: a frame by the names of its labels."""
    numbers = group.tolist()
    return [
        {label for label, mine in zip(classes, numbers, strict=True) if mine == number}
        for number in range(max(numbers) + 1)
    ]
