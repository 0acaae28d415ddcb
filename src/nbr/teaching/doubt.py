"""Sensors that say what their examples left open: they see kinds of pictures, and what each kind may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.model import Model
from nbr.rules import sensor_values
from nbr.teaching.examples import Examples
from nbr.teaching.groups import groups
from nbr.teaching.settled import Settled, settled
from nbr.teaching.statements import Statements

MOST = 12_000  # pictures that are compared with each other
SURE = 0.95  # to what degree a picture is believed to be of its group's kind
FEWEST = 2  # groups


@dataclass(frozen=True)
class Left:
    """What examples leave open: the kind of each picture that was grouped, and the labels that each kind may have."""

    pictures: Tensor  # numbers in the pool: (n,)
    kind: Tensor  # (n,)
    possible: Tensor  # (kinds, labels), no two rows alike
    words: tuple[str, ...]  # none if every kind has one label


def left_open(model: Model, examples: Examples, count: int, seed: int) -> Left:
    """What the examples do not settle."""
    if isinstance(count, bool) or not isinstance(count, int) or count < FEWEST:
        raise NbrError(f"groups must be a number of groups of similar pictures, at least {FEWEST}, not {count!r:.60}")
    told = {sensor_values(name, model.world.variables[name]) for name in examples.where}
    if len(told) > 1:
        raise NbrError("groups of similar pictures are formed where all pictures show values of the same kind")
    labels = next(iter(told))
    rows = _rows(examples, seed)
    some = examples.only(rows)
    pictures = torch.cat(list(some.where.values())).unique()
    place = torch.full((len(examples.pool),), -1)
    place[pictures] = torch.from_numpy(groups(examples.pool[pictures], count, seed)).long()
    said = Statements.of(model, some.texts, some.columns, list(some.where), len(some))
    found = settled(said, {name: place[each] for name, each in some.where.items()}, len(labels), some.beliefs == 1)
    if not found.open:
        named = found.possible.double().argmax(dim=1)[found.kind][place[pictures]]
        return Left(pictures, named, torch.eye(len(labels), dtype=torch.bool), ())
    distinct, number = found.possible.unique(dim=0, return_inverse=True)
    kind = number[found.kind][place[pictures]]
    return Left(pictures, kind, distinct, _words(found, labels, some, found.kind[place]))


def _rows(examples: Examples, seed: int) -> Tensor:
    """As many rows, drawn at random, as have not too many pictures."""
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(seed))
    return order[: max(1, MOST // len(examples.where))].sort().values


def _words(found: Settled, labels: Sequence[str], examples: Examples, kind: Tensor) -> tuple[str, ...]:
    """Labels that cannot be told apart, and what would tell them."""
    said = [f"pictures of one group may be {_listed([labels[at] for at in each], 'or')}" for each in found.open]
    said = [f"the examples leave open: {'; '.join(said)}"]
    which = found.telling()
    if which is not None:
        name, where = next((n, w) for n, w in examples.where.items() if bool((kind[w] == which).any()))
        row = int((kind[where] == which).nonzero()[0, 0])
        left = found.maps[:, which].unique(return_counts=True)[1]
        maps = (
            f"of {len(found.maps)} ways to label the groups that explain as much, "
            f"{int(left.max())} at most would be left"
        )
        said.append(
            f"to say what the picture of {name!r} in row {int(examples.number[row])} shows would tell most: {maps}"
        )
    return tuple(said)


def _listed(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
