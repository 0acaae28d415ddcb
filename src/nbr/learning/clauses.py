"""Short clauses with beliefs, learned from tables, and beliefs for clauses that someone wrote.

The model starts from a prior, by default every column as it is by itself (`rates`). In each round patterns of one to
four literals are sought that rows have less often than the model (`patterns`); the clauses that rule out the most
telling ones join it, if rows gain by them that did not say how far to believe them; the beliefs of all are learned
together (`loglinear`), and those are dropped that could as well be 0. All rows take part in all of that: which gain is
told by tenths of them in turn, unless there is a table to choose by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nbr.language import And, Expression, Implies, Not, Or
from nbr.learning.coarse import Broken, Coarse, Literal
from nbr.learning.confidence import limited
from nbr.learning.loglinear import MOST as MOST_WEIGHT
from nbr.learning.loglinear import Agreed, DrawSource, GibbsChains, Pool, share
from nbr.learning.patterns import Packed, Pattern, search
from nbr.learning.rates import Rates
from nbr.learning.splitting import Split
from nbr.priors import Independent, Prior
from nbr.progress import Progress, Watcher, silent
from nbr.rules import Clause, Support
from nbr.tables import Table

AT_ONCE = 8  # clauses that join in one round, no two on the same column
ROUNDS = 60
MOST = 200  # clauses
DRAWS = 1 << 16, 1 << 14  # at the most, and at the least; else four for each row
FAINT = 0.02  # a belief that is not worth a clause
FOLDS = 10
APART = 2.0  # standard errors between a weight and 0 at which a clause stays

Judge = Callable[[Broken, Pattern], bool]


@dataclass(frozen=True)
class Member:
    """A clause of the model: where it is broken, and whether someone wrote it, or of which literals it was made."""

    statement: Expression
    broken: Broken
    written: Clause | None = None
    literals: tuple[Literal, ...] = ()


@dataclass(frozen=True)
class Grown:
    """Clauses with beliefs, by what they add, how many rounds it took, and the prior with base rates in it."""

    rules: list[Clause]
    rounds: int
    prior: Prior


@dataclass(frozen=True)
class WantedClauses:
    """What is to be learned beside the beliefs of written clauses, and how."""

    learn: bool = True  # further clauses
    kept: tuple[str, ...] = ()  # columns that stay as often as the prior has them, whatever clauses say
    target: str | None = None  # a column that clauses are about first
    level: float | None = None  # of confidence in beliefs; None: the likeliest
    judged: bool = False  # whether there is a table to choose by; else tenths of all rows take turns


def grow(
    prior: Prior, rows: Split, written: Sequence[Clause], wanted: WantedClauses, seed: int, watch: Watcher = silent
) -> Grown:
    """Clauses beside written ones, and the beliefs of all of them."""
    table = rows.train if wanted.judged else rows.trainable
    coarse = Coarse.of(table, [clause.expression for clause in written], wanted.learn)
    members = [Member(clause.expression, coarse.broken(clause.expression), clause) for clause in written]
    source, masses = _source(coarse, prior, len(table), seed)
    rates, codes = Rates(coarse, source, masses or [], wanted.kept if masses else ()), coarse.find(table.codes)
    judge = _by(coarse.find(rows.valid.codes)) if wanted.judged else _in_turn(codes, seed)
    agreed = _agreed(members, codes, np.array([_weight(clause.degree) for clause in written]), rates)
    packed, rounds = Packed(coarse, codes), 0
    dropped: list[Broken] = []  # what went does not come again
    first = None if wanted.target is None else coarse.world.column(wanted.target)
    while wanted.learn and rounds < ROUNDS and len(members) < MOST:
        rounds += 1
        found = search(coarse, packed, Packed(coarse, agreed.draws), table.together, bool(rates.kept))
        new = _chosen(coarse, found, judge, [*(member.broken for member in members), *dropped], first)
        if not new and first is not None:
            first = None  # all that can be said about it is said: now about the others
            continue
        if not new:
            break
        weights = [*agreed.weights, *(_weight(pattern.belief) for pattern, _ in new)]
        members = [*members, *(member for _, member in new)]
        agreed = _agreed(members, codes, np.array(weights), rates)
        while not all(keep := _kept(members, agreed)):
            dropped += [member.broken for member, stays in zip(members, keep, strict=True) if not stays]
            members = [member for member, stays in zip(members, keep, strict=True) if stays]
            agreed = _agreed(members, codes, agreed.weights[keep], rates)
        watch(Progress("rounds of clauses", rounds, ROUNDS, {"clauses": float(len(members))}))
    watch(Progress("rounds of clauses", rounds, ROUNDS, {"clauses": float(len(members))}, ended=True))
    known = rates.prior(prior) if isinstance(prior, Independent) else prior
    return Grown(_clauses(members, agreed, coarse, table, wanted), rounds, known)


def _source(coarse: Coarse, prior: Prior, rows: int, seed: int) -> tuple[DrawSource, list[np.ndarray] | None]:
    most, least = DRAWS
    count = min(most, max(least, 4 * rows))
    masses = coarse.masses(prior) if isinstance(prior, Independent) else None
    if masses is not None:
        return GibbsChains(masses, count, seed), masses
    return Pool(coarse.find(prior.sample(most, torch.Generator().manual_seed(seed))), seed), None


def _agreed(members: Sequence[Member], codes: np.ndarray, start: np.ndarray, rates: Rates) -> Agreed:
    shares = [share(member.broken, codes) for member in members]
    seen, rows = np.array([each for each, _ in shares]), np.array([count for _, count in shares])
    return rates.agree([member.broken for member in members], seen, rows, start)


def _chosen(
    coarse: Coarse, found: Sequence[Pattern], judge: Judge, known: Sequence[Broken], first: int | None
) -> list[tuple[Pattern, Member]]:
    """The best patterns, no two on the same column but the one that is spoken of first, by whose clauses rows gain."""
    new: list[tuple[Pattern, Member]] = []
    taken: set[int] = set()
    for pattern in found:
        broken = coarse.pattern(pattern.literals)
        if len(new) == AT_ONCE:
            break
        if any(_same(broken, each) for each in known) or not (first is None or first in broken.columns):
            continue
        if taken & set(broken.columns):
            taken |= set(broken.columns)  # it has to wait: else parts of it would come before it
        elif judge(broken, pattern):
            taken |= set(broken.columns)
            literals = tuple(coarse.literals[each] for each in pattern.literals)
            new.append((pattern, Member(statement(literals, first), broken, literals=literals)))
    return new


def _kept(members: Sequence[Member], agreed: Agreed) -> list[bool]:
    """Which clauses stay: written ones, and those whose weight is well above 0; of the others the faintest goes."""
    far = agreed.weights / np.maximum(agreed.errors, 1e-9)
    learned = [at for at, member in enumerate(members) if member.written is None]
    low = [at for at in learned if far[at] < APART or agreed.weights[at] < _weight(FAINT)]
    worst = min(low, key=lambda at: far[at], default=-1)
    return [at != worst for at in range(len(members))]


def _by(valid: np.ndarray) -> Judge:
    """Whether rows to choose by gain by the clause of a pattern, believed as other rows have it."""
    return lambda broken, pattern: _gains(
        broken, _weight(pattern.belief), -np.log1p(-pattern.expected * pattern.belief), valid
    )


def _in_turn(codes: np.ndarray, seed: int) -> Judge:
    """Whether tenths of all rows gain, each by the belief that the other nine give the clause of a pattern."""
    fold = np.random.default_rng(seed).permutation(codes.shape[1]) % FOLDS

    def gains(broken: Broken, pattern: Pattern) -> bool:
        shown = (codes[list(broken.columns)] >= 0).all(axis=0)
        hit = broken.at(codes[:, shown])
        rows = np.bincount(fold[shown], minlength=FOLDS)
        lost = np.bincount(fold[shown], weights=hit, minlength=FOLDS)
        others = (lost.sum() - lost + 0.5) / (rows.sum() - rows + 1)
        seen = np.minimum(others, pattern.expected)  # where it is no rarer than expected its clause is not believed
        belief = 1 - seen * (1 - pattern.expected) / (pattern.expected * (1 - seen))
        weight = np.minimum(-np.log1p(-belief), MOST_WEIGHT)
        gained = float((-rows * np.log1p(-pattern.expected * belief) - weight * lost).sum())
        part = float(lost.sum() + 0.5) / float(rows.sum() + 1)
        return gained > float(weight.mean()) * float((part * (1 - part) * rows.sum()) ** 0.5)

    return gains


def _gains(broken: Broken, weight: float, normaliser: float, valid: np.ndarray) -> bool:
    """Whether held-out rows gain by a clause: what the normaliser gives all, against what those lose that break it."""
    lost, rows = share(broken, valid)
    return bool(normaliser - weight * lost > weight * (lost * (1 - lost) / max(rows, 1)) ** 0.5)


def _same(one: Broken, other: Broken) -> bool:
    return one.columns == other.columns and bool((one.table == other.table).all())


def _weight(belief: float) -> float:
    return float(min(MOST_WEIGHT, -np.log(max(1 - belief, 1e-300))))


def _clauses(
    members: Sequence[Member], agreed: Agreed, coarse: Coarse, table: Table, wanted: WantedClauses
) -> list[Clause]:
    """The clauses, by what they add to the mean log-likelihood of a row, as if it were taken out alone."""
    adds = np.log1p(agreed.broken * np.expm1(agreed.weights)) - agreed.weights * agreed.broken
    codes = coarse.find(table.codes)
    found = []
    for at in np.argsort(-adds, kind="stable").tolist():
        clause, likeliest = members[at].written, float(-np.expm1(-agreed.weights[at]))
        text, name = (str(members[at].statement), None) if clause is None else (clause.text, clause.name)
        support = _support(members[at].statement, table, codes >= 0, likeliest, wanted.level)
        made = Clause(text, likeliest, name, adds=float(adds[at]))
        if support.rows:  # else no row speaks of it, and it stays as it was written
            own = (support.held, support.rows)
            readings = [own] if clause is not None else _readings(members[at].literals, codes)
            least = min(limited(likeliest, held, rows, wanted.level) for held, rows in readings)
            made = made.with_belief(least, support)
        found.append(made)
    return found


def _readings(literals: Sequence[Literal], codes: np.ndarray) -> list[tuple[float, float]]:
    """In how many of its rows a learned clause holds, by each way to read it: `a -> b` is also `~b -> ~a`.

    Nobody wrote it with one of these in mind, and answers may rest on any.
    """
    seen = codes[:, (codes[[each.column for each in literals]] >= 0).all(axis=0)]
    holds = np.array([each.mask[seen[each.column]] for each in literals])
    found: list[tuple[float, float]] = []
    for at in range(len(literals)):
        met = np.delete(holds, at, axis=0).all(axis=0)
        found.append((int((met & ~holds[at]).sum()), int(met.sum())))
    return found


def _support(statement: Expression, table: Table, known: np.ndarray, likeliest: float, level: float | None) -> Support:
    """The rows that speak of a clause: they show all that it reads and, of an implication, meet its premise."""
    world = table.world

    def shown(part: Expression) -> torch.Tensor:
        return torch.from_numpy(known[[world.column(name) for name in part.names()]].all(axis=0))

    codes = table.codes[shown(statement)]
    if not isinstance(statement, Implies):
        return Support(len(codes), int(statement.holds(world, codes).sum()), likeliest, level)
    codes = codes[statement.premise.holds(world, codes)]
    alike = table.codes[shown(statement.conclusion)]
    usual = float(statement.conclusion.holds(world, alike).double().mean()) if len(alike) else None
    return Support(len(codes), int(statement.conclusion.holds(world, codes).sum()), likeliest, level, usual)


def statement(literals: Sequence[Literal], about: int | None = None) -> Expression:
    """The clause that rules a pattern out, as an implication where it can be read as one.

    It ends in what it says of the column that it is `about`, if it speaks of it.
    """
    negative = [each for each in literals if isinstance(each.statement, Not) or "!=" in str(each.statement)]
    ends = [each for each in literals if each.column == about] or negative or list(literals[-1:])
    premises = [each.statement for each in literals if each not in ends]
    conclusions = [each.denial for each in ends]
    conclusion = conclusions[0] if len(conclusions) == 1 else Or(tuple(conclusions))
    if not premises:
        return conclusion
    return Implies(premises[0] if len(premises) == 1 else And(tuple(premises)), conclusion)
