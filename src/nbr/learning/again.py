"""The last training, on all rows, and how it is kept from doing harm.

The number of rules and of steps was chosen on rows that training did not see; then every row should count. Whether
that does harm cannot be seen on rows that were trained on, so a twin goes first: the same training without a tenth of
the rows that were not used to choose. It has to explain them about as well as the chosen model does, and the model of
all rows has to explain them, which it has seen, no worse than its twin. A prior of trees is learned anew with each. The
figure reported is then the twin's: what the same training does on rows that it has not seen. If anything is lost, the
chosen model or the twin is delivered.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from nbr.learning.budget import Budget
from nbr.learning.maker import Maker, TrainedBank, gain, gains
from nbr.learning.splitting import ENOUGH, Split
from nbr.priors import Independent, Mixture, marginals
from nbr.tables import Table

ALONE = "the prior alone: on held-out rows, rules added no more than chance would"
ALONE_OF_ALL = f"{ALONE}; learned from all rows, which are too few to hold some out"
RATES = "base rates alone: rules added no more than chance would"
HURRIED = "chosen by held-out rows; no time was left to train on all rows"
SLOWER = 1.3  # than the training before, at the most: there are more rows
LOOKS = 10  # the last training goes on for at least so many looks at held-out rows: beliefs have to settle
GIVEN_UP = 0.25  # of what rules gain over the prior; more than this, and more than chance, is harm


@dataclass(frozen=True)
class End:
    """The model to deliver, the one that was measured, on which part (None if on nothing), and why it was this one."""

    delivered: TrainedBank
    measured: TrainedBank
    part: str | None
    words: str


def train_again(maker: Maker, rows: Split, count: int, chosen: TrainedBank, limit: Budget) -> End:
    """The chosen number of rules, trained on every row, if there is time and that does no harm."""
    if limit.left < (1 if rows.test is None else 2) * SLOWER * chosen.seconds:
        return End(chosen, chosen, "valid" if rows.test is None else "test", HURRIED)
    steps = max(chosen.steps, min(chosen.settings.steps, LOOKS * chosen.settings.every))
    if rows.test is None:
        both = {"train": rows.every, "test": rows.train}  # to compare with the chosen one on what both were trained on
        final = maker.relearned(rows.every).train("all rows", both, count, steps)
        if gains(final, chosen, "train", called="test"):
            return End(chosen, chosen, "valid", "chosen by held-out rows; training on all rows failed")
        return End(final, final, None, "trained again on all rows, which are too few to hold some out")
    trained = _trained(maker, rows, rows.test, count, steps)
    twin = next(trained)
    if _harmed(chosen, twin):
        return End(
            chosen,
            chosen,
            "test",
            "chosen by held-out rows; training on more rows gave a lower likelihood of the others",
        )
    final = next(trained)
    if gains(final, twin, "test"):
        return End(twin, twin, "test", "trained again on most rows; training on all of them failed")
    return End(final, twin, "test", "trained again on all rows")


def _trained(maker: Maker, rows: Split, test: Table, count: int, steps: int) -> Iterator[TrainedBank]:
    """On all rows but those to measure by, then on all; a prior of trees is learned anew from as many."""
    later = [("more rows", rows.trainable), ("all rows", rows.every)]
    stages = [(name, {"train": part, "test": test}, count, steps) for name, part in later]
    if not isinstance(maker.prior, Mixture):
        yield from maker.train_each(stages)
        return
    for stage, (_, part) in zip(stages, later, strict=True):
        yield maker.relearned(part).train(*stage)


def leave_alone(maker: Maker, rows: Split, chosen: TrainedBank, limit: Budget) -> End:
    """The prior without rules; trees are learned from every row, if there is time and a twin shows no harm."""
    alone = prior_alone(chosen)
    if rows.test is None and rows.trainable.rows < ENOUGH and isinstance(maker.prior, Mixture):
        final = maker.relearned(rows.every).alone({"train": rows.every}, chosen.settings)
        return End(final, final, None, ALONE_OF_ALL)
    if rows.test is None or limit.left < 0 or not isinstance(maker.prior, Mixture):
        return End(alone, alone, "valid" if rows.test is None else "test", ALONE)
    twin, final = (
        maker.relearned(part).alone({"train": part, "test": rows.test}, chosen.settings)
        for part in (rows.trainable, rows.every)
    )
    lost, error = gain(twin, alone, "test")
    return End(alone, alone, "test", ALONE) if lost > error else End(final, twin, "test", ALONE)


def base_rates(maker: Maker, rows: Split, chosen: TrainedBank) -> TrainedBank | None:
    """What every column says by itself, learned from as many rows; None where the prior says at least that already.

    Rules on top of a uniform prior have to say how often a column is so as well: they should not say less than that.
    """
    if not isinstance(maker.prior, Independent):  # chosen by itself, such a prior is uniform
        return None
    parts = {"train": rows.train, "valid": rows.valid} | ({} if rows.test is None else {"test": rows.test})
    return _rated(maker, rows.train).alone(parts, chosen.settings)


def leave_rates(maker: Maker, rows: Split, rated: TrainedBank) -> End:
    """Base rates without rules, of all rows; measured by those of fewer."""
    if rows.test is None:
        final = _rated(maker, rows.every).alone({"train": rows.every}, rated.settings)
        return End(final, final, None, RATES)
    twin, final = (
        _rated(maker, part).alone({"train": part, "test": rows.test}, rated.settings)
        for part in (rows.trainable, rows.every)
    )
    return End(final, twin, "test", RATES)


def _rated(maker: Maker, table: Table) -> Maker:
    return replace(maker, prior=marginals(table.one_by_one(maker.seed)))


def _harmed(chosen: TrainedBank, twin: TrainedBank) -> bool:
    """Whether a twin gives up more than chance, and more than a share of what was learned, on untouched rows."""
    lost, error = gain(twin, chosen, "test")
    learned, _ = gain(prior_alone(chosen), chosen, "test")
    return lost > max(error, GIVEN_UP * learned)


def prior_alone(trained: TrainedBank) -> TrainedBank:
    """The same model with nothing believed."""
    bank = copy.deepcopy(trained.bank)
    torch.nn.init.constant_(bank.doubt, -torch.inf)
    return replace(trained, bank=bank)
