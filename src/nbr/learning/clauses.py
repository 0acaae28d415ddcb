"""Short clauses with beliefs, learned from tables, and beliefs for clauses that someone wrote.

The model starts from a prior. In each round patterns of one to four literals are sought that rows have less often than
the model (`patterns`); the clauses that rule out the most telling ones, if held-out rows gain by them too, join it; the
beliefs of all are learned together (`loglinear`); and those by which held-out rows no longer gain are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nbr.language import Expression
from nbr.language.expressions import And, Implies, Not, Or
from nbr.learning.coarse import Broken, Coarse, Literal
from nbr.learning.loglinear import MOST as MOST_WEIGHT
from nbr.learning.loglinear import Agreed, Chains, Pool, Source, agree, share
from nbr.learning.patterns import Packed, Pattern, search
from nbr.learning.splitting import Split
from nbr.priors import Independent, Prior
from nbr.rules import Clause
from nbr.training import Progress, Watcher, silent

AT_ONCE = 8  # clauses that join in one round, no two on the same column
ROUNDS = 60
MOST = 200  # clauses
DRAWS = 1 << 16, 1 << 14  # at the most, and at the least; else four for each row
FAINT = 0.02  # a belief that is not worth a clause


@dataclass(frozen=True)
class Member:
    """A clause of the model: where it is broken, and whether someone wrote it."""

    statement: Expression
    broken: Broken
    written: Clause | None = None


@dataclass(frozen=True)
class Grown:
    """Clauses with beliefs, by what they add, and how many rounds it took."""

    rules: list[Clause]
    rounds: int


def grow(
    prior: Prior, rows: Split, written: Sequence[Clause], learn: bool, seed: int, watch: Watcher = silent
) -> Grown:
    """Clauses beside written ones, if `learn`, and the beliefs of all of them."""
    coarse = Coarse.of(rows.train, [clause.expression for clause in written], learn)
    members = [Member(clause.expression, coarse.broken(clause.expression), clause) for clause in written]
    source = _source(coarse, prior, len(rows.train), seed)
    train, valid = coarse.find(rows.train.codes), coarse.find(rows.valid.codes)
    agreed = _agreed(members, train, np.array([_weight(clause.degree) for clause in written]), source)
    packed, rounds = Packed(coarse, train), 0
    while learn and rounds < ROUNDS and len(members) < MOST:
        rounds += 1
        found = search(coarse, packed, Packed(coarse, agreed.draws), rows.train.together)
        new = _chosen(coarse, found, valid, members)
        if not new:
            break
        weights = [*agreed.weights, *(_weight(pattern.belief) for pattern, _ in new)]
        members = [*members, *(member for _, member in new)]
        agreed = _agreed(members, train, np.array(weights), source)
        keep = _kept(members, agreed, valid)
        if not all(keep):
            members = [member for member, stays in zip(members, keep, strict=True) if stays]
            agreed = _agreed(members, train, agreed.weights[keep], source)
        watch(Progress("rounds of clauses", rounds, ROUNDS, {"clauses": float(len(members))}))
    watch(Progress("rounds of clauses", rounds, ROUNDS, {"clauses": float(len(members))}, ended=True))
    if rows.test is not None:  # else held-out rows are all that is left to measure by
        agreed = _agreed(members, coarse.find(rows.trainable.codes), agreed.weights, source)
    return Grown(_clauses(members, agreed), rounds)


def _source(coarse: Coarse, prior: Prior, rows: int, seed: int) -> Source:
    most, least = DRAWS
    count = min(most, max(least, 4 * rows))
    masses = coarse.masses(prior) if isinstance(prior, Independent) else None
    if masses is not None:
        return Chains(masses, count, seed)
    return Pool(coarse.find(prior.sample(most, torch.Generator().manual_seed(seed))), seed)


def _agreed(members: Sequence[Member], codes: np.ndarray, start: np.ndarray, source: Source) -> Agreed:
    shares = [share(member.broken, codes) for member in members]
    seen, rows = np.array([each for each, _ in shares]), np.array([count for _, count in shares])
    return agree([member.broken for member in members], seen, rows, start, source)


def _chosen(
    coarse: Coarse, found: Sequence[Pattern], valid: np.ndarray, members: Sequence[Member]
) -> list[tuple[Pattern, Member]]:
    """The best patterns, no two on the same column, by whose clauses held-out rows gain more than chance gives them."""
    new: list[tuple[Pattern, Member]] = []
    taken: set[int] = set()
    known = [member.broken for member in members]
    for pattern in found:
        broken = coarse.pattern(pattern.literals)
        if len(new) == AT_ONCE or len(members) + len(new) == MOST:
            break
        if any(_same(broken, each) for each in known):
            continue
        alone = not taken & set(broken.columns)
        taken |= set(broken.columns)  # also where it has to wait: else parts of it would come before it
        if alone and _gains(broken, _weight(pattern.belief), -np.log1p(-pattern.expected * pattern.belief), valid):
            new.append((pattern, Member(statement([coarse.literals[each] for each in pattern.literals]), broken)))
    return new


def _kept(members: Sequence[Member], agreed: Agreed, valid: np.ndarray) -> list[bool]:
    """Which clauses stay: written ones, and those that held-out rows would miss."""
    rest = np.log1p(
        agreed.broken * np.expm1(agreed.weights)
    )  # log of the normaliser without the clause, over that with
    return [
        member.written is not None or (weight > _weight(FAINT) and _gains(member.broken, weight, gained, valid))
        for member, weight, gained in zip(members, agreed.weights, rest, strict=True)
    ]


def _gains(broken: Broken, weight: float, normaliser: float, valid: np.ndarray) -> bool:
    """Whether held-out rows gain by a clause: what the normaliser gives all, against what those lose that break it."""
    lost, rows = share(broken, valid)
    return bool(normaliser - weight * lost > weight * (lost * (1 - lost) / max(rows, 1)) ** 0.5)


def _same(one: Broken, other: Broken) -> bool:
    return one.columns == other.columns and bool((one.table == other.table).all())


def _weight(belief: float) -> float:
    return float(min(MOST_WEIGHT, -np.log(max(1 - belief, 1e-300))))


def _clauses(members: Sequence[Member], agreed: Agreed) -> list[Clause]:
    """The clauses, by what they add to the mean log-likelihood of a row, as if it were taken out alone."""
    adds = np.log1p(agreed.broken * np.expm1(agreed.weights)) - agreed.weights * agreed.broken
    found = []
    for at in np.argsort(-adds, kind="stable").tolist():
        clause, belief = members[at].written, float(-np.expm1(-agreed.weights[at]))
        text, name = (str(members[at].statement), None) if clause is None else (clause.text, clause.name)
        found.append(Clause(text, belief, name, adds=float(adds[at])))
    return found


def statement(literals: Sequence[Literal]) -> Expression:
    """The clause that rules a pattern out, as an implication where it can be read as one."""
    negative = [each for each in literals if isinstance(each.statement, Not) or "!=" in str(each.statement)]
    premises = [each.statement for each in literals if each not in negative]
    conclusions = [each.denial for each in negative]
    if not conclusions:
        premises, conclusions = premises[:-1], [literals[-1].denial]
    conclusion = conclusions[0] if len(conclusions) == 1 else Or(tuple(conclusions))
    if not premises:
        return conclusion
    return Implies(premises[0] if len(premises) == 1 else And(tuple(premises)), conclusion)
