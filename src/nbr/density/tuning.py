"""Beliefs fitted to wanted answers: which degrees make a model say, of some questions, how often they hold.

Log P(C) under prior and rules is differentiable by every belief, by contraction, so the degrees are found by a
quasi-Newton method over their log odds. What the answers do not determine stays near where it was.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr import clock
from nbr.density.contracted import Asked, network
from nbr.errors import NbrError
from nbr.factors import Network, taken_apart
from nbr.language import And, Expression, as_statement
from nbr.model import Model
from nbr.rules import Rule
from nbr.ways import SHARES, Unfit

Wanted = tuple[str, str | None, float]  # a question, its condition, and how often it should hold

STAY = 1e-10  # the weight of staying near, beside a mean over the answers
LEAST = 1e-4  # how near to 0 or 1 a belief may come
STEPS = 300


@dataclass(frozen=True)
class Tuning:
    """The beliefs and the probabilities before and after tuning."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    wanted: tuple[float, ...]
    answers_before: tuple[float, ...]
    answers_after: tuple[float, ...]

    @property
    def changed(self) -> dict[int, tuple[float, float]]:
        """For each rule whose belief changed, by its number from 1, the belief before and after."""
        pairs = enumerate(zip(self.before, self.after, strict=True), 1)
        return {number: pair for number, pair in pairs if abs(pair[0] - pair[1]) > 5e-5}

    @property
    def off(self) -> tuple[float, float]:
        """The mean distance of the probabilities from the expected ones, before and after."""
        before, after = (
            sum(abs(one - other) for one, other in zip(answers, self.wanted, strict=True)) / len(self.wanted)
            for answers in (self.answers_before, self.answers_after)
        )
        return before, after

    def as_json(self) -> dict[str, object]:
        changed = [{"rule": number, "before": one, "after": two} for number, (one, two) in self.changed.items()]
        return {
            "rules": changed,
            "wanted": list(self.wanted),
            "before": list(self.answers_before),
            "after": list(self.answers_after),
            "off": list(self.off),
        }

    def __str__(self) -> str:
        before, after = self.off
        head = f"{len(self.wanted)} expected probabilities: off by {before:.4f} on average before, by {after:.4f} after"
        changed = self.changed.items()
        return "\n".join([head, *(f"  rule {number:>3}  {one:.4f} -> {two:.4f}" for number, (one, two) in changed)])


def tuned(model: Model, wanted: Sequence[Wanted], rules: Collection[int] | None, budget: float) -> tuple[Model, Tuning]:
    """The model with beliefs by which its probabilities come as near to what is wanted as they can.

    Args:
        wanted: questions, their conditions, and how often each should hold.
        rules: which rules may change, counted from 0; all but those believed to 0 or 1 if not given.
        budget: seconds.
    """
    deadline = clock.now() + budget
    asked, targets = _read(model, wanted)
    free = [at for at, rule in enumerate(model.rules) if 0 < rule.degree < 1 and (rules is None or at in rules)]
    if not free:
        raise NbrError("there is no belief to tune: beliefs of 0 and 1 are kept")
    batches = _batches(model, asked, budget)
    start = torch.tensor([float(model.rules[at].likeliest) for at in free], dtype=torch.float64).clamp(LEAST, 1 - LEAST)
    odds = torch.logit(start).requires_grad_()
    best, before = _fitted(model, free, batches, targets, odds, deadline)
    beliefs = torch.sigmoid(best).tolist()
    degrees = dict(zip(free, beliefs, strict=True))
    changed = model.with_rules(rule.with_belief(degrees.get(at, rule.degree)) for at, rule in enumerate(model.rules))
    with torch.no_grad():
        after = _answers(model, free, batches, best, len(asked))
    old, new = (tuple(rule.degree for rule in each.rules) for each in (model, changed))
    return changed, Tuning(old, new, tuple(targets.tolist()), tuple(before.tolist()), tuple(after.tolist()))


def _read(model: Model, wanted: Sequence[Wanted]) -> tuple[list[Asked], Tensor]:
    asked, targets = list[Asked](), list[float]()
    for number, each in enumerate(wanted, 1):
        if not isinstance(each, list | tuple) or len(each) != 3:
            raise NbrError(f"answer {number}: write a question, a condition or None, and a probability")
        question, given, value = each
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise NbrError(f"answer {number}: a probability must be a number from 0 to 1, not {value!r:.60}")
        try:
            condition = None if given is None else as_statement(given, model.world, "condition")
            asked.append((as_statement(question, model.world, "question"), condition))
        except NbrError as error:
            raise NbrError(f"answer {number}: {error}") from None
        targets.append(float(value))
    if not asked:
        raise NbrError("there is no expected answer to fit beliefs to")
    return asked, torch.tensor(targets, dtype=torch.float64)


Batch = tuple[Network, list[int], list[Asked]]


def _batches(model: Model, asked: Sequence[Asked], budget: float) -> list[Batch]:
    """Questions that read the same several variables at once, with the tables of each batch."""
    groups: dict[object, list[int]] = {}
    for place, (question, condition) in enumerate(asked):
        said = [question] if condition is None else [question, condition]
        groups.setdefault(taken_apart(model.world, said)[0], []).append(place)
    found = []
    for places in groups.values():
        some = [asked[place] for place in places]
        said = [each for pair in some for each in pair if each is not None]
        try:
            tables = network(model, said, SHARES["orders to tune"] * budget / len(groups))
        except Unfit as error:
            raise NbrError(f"beliefs are fitted by contraction, and it does not fit: {error}") from None
        possible = (tables.log_sums(_both(some)) > -torch.inf).tolist()
        within = (tables.log_sums([condition for _, condition in some]) > -torch.inf).tolist()
        if not all(within):
            place = places[within.index(False)]
            raise NbrError(f"answer {place + 1}: its condition has probability 0 under the prior and the rules")
        kept = [at for at, holds in enumerate(possible) if holds]  # the others are 0 whatever beliefs are
        found.append((tables, [places[at] for at in kept], [some[at] for at in kept]))
    return found


def _both(asked: Sequence[Asked]) -> list[Expression]:
    return [question if condition is None else And((condition, question)) for question, condition in asked]


def _answers(model: Model, free: Sequence[int], batches: Sequence[Batch], odds: Tensor, count: int) -> Tensor:
    """P(Q | C) of each of `count` questions, (count,), by the log odds of the beliefs that may change."""
    beliefs: dict[Rule, Tensor] = {model.rules[at]: torch.sigmoid(odds[place]) for place, at in enumerate(free)}
    found = odds.new_zeros(count)
    for tables, places, asked in batches:
        changed = tables.believing(beliefs)
        logs = changed.log_sums([*_both(asked), *(condition for _, condition in asked)])
        shares = (logs[: len(asked)] - logs[len(asked) :]).exp()
        found = found.index_add(0, torch.tensor(places, dtype=torch.long), shares)
    return found


def _fitted(
    model: Model, free: Sequence[int], batches: Sequence[Batch], targets: Tensor, odds: Tensor, deadline: float
) -> tuple[Tensor, Tensor]:
    """The best log odds that were found in time, and the answers at the start."""
    start = odds.detach().clone()
    with torch.no_grad():
        before = _answers(model, free, batches, start, len(targets))
    settings = {"tolerance_grad": 1e-12, "tolerance_change": 1e-15, "line_search_fn": "strong_wolfe"}
    optimiser = torch.optim.LBFGS([odds], max_iter=20, history_size=20, **settings)  # type: ignore[arg-type]
    best, lowest = start, torch.inf

    def loss() -> Tensor:
        nonlocal best, lowest
        optimiser.zero_grad()
        answers = _answers(model, free, batches, odds, len(targets))
        total = torch.nn.functional.mse_loss(answers, targets) + STAY * (odds - start).square().mean()
        total.backward()
        if total.item() < lowest:
            best, lowest = odds.detach().clone(), total.item()
        return total

    for _ in range(STEPS // 20):
        last = lowest
        optimiser.step(loss)
        if clock.now() > deadline or last - lowest < 1e-15:
            break
    return best.clamp(*torch.logit(torch.tensor([LEAST, 1 - LEAST])).tolist()), before
