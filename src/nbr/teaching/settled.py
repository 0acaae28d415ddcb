"""What examples leave open: the labels that each group of similar pictures may have without breaking a statement.

A map gives every group a label. How well one explains the statements is a likelihood: each group has a distribution
over labels, since groups are not pure, and expectation maximisation finds the best ones. It ends in one of many equal
solutions, so it is started again with one group fixed to one label, for every group and label: what is fixed spreads
along the statements. Groups that always get the same label are one kind. A kind may have a label if some map that
gives it makes fewer than a quarter of the kind's own statements fail, beside those that fail by the best map, and not
most of what is said of single pictures of the kind, however few they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from nbr.language import conjuncts
from nbr.teaching.statements import Statement, Statements

ROUNDS = 30  # of expectation and maximisation
DOUBT = 0.02  # of a group's distribution over labels that is spread over all of them
TOGETHER = 60_000  # rows of starts and statements that are computed at once
GOOD = 0.1  # of all statements: what a map may explain less than the best one and still tell which groups go together
ALIKE = 0.8  # of good maps, in which two groups have the same label, from which on they are one kind
NONE = 1e-9  # of a label that a map does not give: small, so that sums stay numbers
HOLDS = -5.0  # the log of what holds by the labels given alone
OWN = 0.25  # of a kind's statements that may fail where it has a label which is still possible


@dataclass(frozen=True)
class Settled:
    """Kinds of pictures and what each may stand for."""

    kind: Tensor  # of each group
    possible: Tensor  # (kinds, labels)
    failing: Tensor  # (kinds, labels): statements that fail beside those of the best map, where a kind has a label
    maps: Tensor  # (maps, kinds): the labels of kinds by maps that explain as much, each once
    explained: float  # share of statements that the best map explains

    def telling(self) -> int | None:
        """The kind of which to know the label would leave the fewest maps; None if that settles nothing."""
        left = [sum(int(n) ** 2 for n in column.unique(return_counts=True)[1]) for column in self.maps.T]
        best = min(range(len(left)), key=left.__getitem__, default=None)
        return None if best is None or left[best] == len(self.maps) ** 2 else best

    @property
    def open(self) -> list[list[int]]:
        """Sets of labels that what is one kind of picture may stand for, where there are several."""
        rows = {tuple(row.nonzero()[:, 0].tolist()) for row in self.possible}
        return sorted(list(row) for row in rows if len(row) > 1)


@dataclass(frozen=True)
class _Facts:
    """Each different row once: the statement, the groups of its pictures, and how often there is such a row."""

    statement: Statement
    places: Tensor
    groups: Tensor  # (facts, variables)
    often: Tensor


def settled(said: Statements, groups: Mapping[str, Tensor], labels: int, sure: Tensor) -> Settled:
    """Which labels groups of pictures may stand for; `groups` has that of each row's picture, for each variable.

    Only statements that are certain count.
    """
    facts = _facts(said, groups, sure)
    count = 1 + max(int(each.max()) for each in groups.values())
    rows = float(sum(each.often.sum() for each in facts))
    seen = torch.zeros(count)
    for fact in facts:
        for column in fact.groups.T:
            seen.index_add_(0, column, fact.often.float())
    fixed = [(torch.tensor([group]), label) for group in range(count) if seen[group] for label in range(labels)]
    maps, holding = _maps(facts, fixed, count, labels)
    good = holding >= holding.max() - GOOD * rows
    kind = _kinds(maps[good], [group for (group, _), fits in zip(fixed, good.tolist(), strict=True) if fits])
    kinds = int(kind.max()) + 1
    members = [(kind == number).nonzero()[:, 0] for number in range(kinds)]
    fixed = [(each, label) for each in members for label in range(labels)]
    more, again = _maps(facts, fixed, count, labels)
    own = torch.stack([_own(facts, each) for each in members])
    found, held = torch.cat([maps, more]), torch.cat([holding, again])
    failing = held.max() - held
    given = torch.stack([found[:, each].mode(dim=1).values for each in members], dim=1)  # (maps, kinds)
    against = _against([fact for fact in facts if _direct(fact.statement)], found, members, labels)
    fits = (failing[:, None] <= OWN * own) & ~against
    least = torch.full((kinds, labels), rows, dtype=torch.float64)
    for number in range(kinds):
        mine = torch.where(against[:, number], rows, failing)
        least[number].scatter_reduce_(0, given[:, number], mine, "amin")
    maps = given[fits.all(dim=1)].unique(dim=0)
    return Settled(kind, least <= OWN * own[:, None], least, maps, float(held.max()) / rows)


def _direct(statement: Statement) -> bool:
    """Whether it says what single pictures show."""
    return all(len(part.names()) == 1 for part in conjuncts(statement.said))


def _against(facts: Sequence[_Facts], maps: Tensor, members: Sequence[Tensor], labels: int) -> Tensor:
    """Where most of what is said of single pictures of a kind fails by a map: (maps, kinds)."""
    found = torch.zeros(len(maps), len(members), dtype=torch.bool)
    if not facts:
        return found
    crisp = one_hot(maps, labels).double() + NONE
    fails = torch.cat([(_log(fact, crisp) <= HOLDS) * fact.often for fact in facts], dim=1)  # (maps, facts)
    for number, each in enumerate(members):
        mine = torch.cat([torch.isin(fact.groups, each).any(dim=1) for fact in facts])
        often = torch.cat([fact.often for fact in facts])[mine].sum()
        found[:, number] = fails[:, mine].sum(dim=1) > often / 2
    return found


def _own(facts: Sequence[_Facts], members: Tensor) -> Tensor:
    """How many rows have a picture of some groups."""
    return torch.stack([(each.often * torch.isin(each.groups, members).any(dim=1)).sum() for each in facts]).sum()


def _facts(said: Statements, groups: Mapping[str, Tensor], sure: Tensor) -> list[_Facts]:
    found = []
    every = torch.stack(list(groups.values()), dim=1)
    for number, statement in enumerate(said.each):
        rows = ((said.group == number) & sure).nonzero()[:, 0]
        if not len(rows):
            continue
        codes = torch.cat([every[rows], *(column.codes[said.place[rows]] for column in statement.columns)], dim=1)
        _, which, often = codes.unique(dim=0, return_inverse=True, return_counts=True)
        first = torch.full((len(often),), len(rows)).scatter_reduce(0, which, torch.arange(len(rows)), "amin")
        found.append(_Facts(statement, said.place[rows[first]], every[rows[first]], often.double()))
    return found


def _maps(
    facts: Sequence[_Facts], fixed: Sequence[tuple[Tensor, int]], count: int, labels: int
) -> tuple[Tensor, Tensor]:
    """From each start the best map, (starts, groups), and how many rows hold by it: (starts,)."""
    size = max(1, TOGETHER // max(1, sum(len(each.places) for each in facts)))
    found, holding = [], []
    for at in range(0, len(fixed), size):
        some = fixed[at : at + size]
        held = torch.zeros(len(some), count, dtype=torch.bool)
        wanted = torch.zeros(len(some), count, dtype=torch.long)
        for row, (groups, label) in enumerate(some):
            held[row, groups], wanted[row, groups] = True, label
        crisp = one_hot(wanted, labels).double()
        each = torch.full((len(some), count, labels), 1 / labels, dtype=torch.float64)
        each = torch.where(held[:, :, None], crisp, each)
        for _ in range(ROUNDS):
            each = torch.where(held[:, :, None], crisp, _improved(facts, each))
        map_ = each.argmax(dim=2)
        found.append(map_)
        holding.append(_holding(facts, map_, labels))
    return torch.cat(found), torch.cat(holding)


def _improved(facts: Sequence[_Facts], each: Tensor) -> Tensor:
    """A step of expectation maximisation: the gradient of the log-likelihood times what it is taken at."""
    labels = each.shape[2]
    smooth = ((1 - DOUBT) * each + DOUBT / labels).requires_grad_()
    with torch.enable_grad():
        total = torch.stack([(_log(fact, smooth) @ fact.often).sum() for fact in facts]).sum()
        (slope,) = torch.autograd.grad(total, smooth)
    weight = smooth.detach() * slope
    whole = weight.sum(dim=2, keepdim=True)
    return torch.where(whole > 0, weight / whole.clamp(min=1e-300), each)


def _log(fact: _Facts, each: Tensor) -> Tensor:
    """The log-likelihood of each fact from each start: (starts, facts)."""
    starts, rows = len(each), len(fact.places)
    weights = {
        name: each[:, fact.groups[:, place]].reshape(starts * rows, -1)
        for place, name in enumerate(fact.statement.sensed)
    }
    known = {name: weight.repeat(starts, 1) for name, weight in fact.statement.known(fact.places).items()}
    found = fact.statement.network.weighed(weights | known, [fact.statement.said] * (starts * rows))
    return found.view(starts, rows)


def _holding(facts: Sequence[_Facts], maps: Tensor, labels: int) -> Tensor:
    crisp = one_hot(maps, labels).double() + NONE
    return torch.stack([(_log(fact, crisp) > HOLDS).double() @ fact.often for fact in facts]).sum(dim=0)


def _kinds(maps: Tensor, fixed: Sequence[Tensor]) -> Tensor:
    """Groups that have the same label in most maps, but for those where one of them was fixed."""
    count = maps.shape[1]
    same = (maps[:, :, None] == maps[:, None, :]).double()
    told = torch.ones(len(maps), count, dtype=torch.float64)
    for row, groups in enumerate(fixed):
        told[row, groups] = 0.0
    free = told[:, :, None] * told[:, None, :]
    share = (same * free).sum(dim=0) / free.sum(dim=0).clamp(min=1)
    kind = torch.arange(count)
    for one, other in (share >= ALIKE).nonzero().tolist():
        kind[kind == kind[other]] = int(kind[one])
    renumbered: Tensor = kind.unique(return_inverse=True)[1]
    return renumbered
