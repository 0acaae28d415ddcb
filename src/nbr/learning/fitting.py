"""From tables to a reasoner, with defaults that claim no more than the data show.

Likelihood does not settle everything: many models explain the same rows equally well and answer questions differently.
Three choices make up for it. A rule reads only columns that some rows show together, so that none claims a relation
that nobody saw. There are as few rules as explain the data: their number grows while rows that training has not seen
gain. And of equally likely models the least committed is sought: beliefs are pulled down, ever more gently. What is
then believed is the least that rows do not reject: see `nbr.learning.confidence`.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path

from nbr import tables
from nbr.errors import NbrError, named_settings
from nbr.learning.again import (
    ALONE,
    ALONE_OF_ALL,
    RATES,
    End,
    base_rates,
    leave_alone,
    leave_rates,
    prior_alone,
    train_again,
)
from nbr.learning.budget import Budget, begun
from nbr.learning.clauses import WantedClauses
from nbr.learning.confidence import checked, supported
from nbr.learning.fitted import Fitted, HeldOut, learned
from nbr.learning.maker import Maker, TrainedBank, gains
from nbr.learning.prior_by_name import PriorLike, choose
from nbr.learning.rates import WORDS
from nbr.learning.readable import fit_clauses
from nbr.learning.splitting import Split, split
from nbr.learning.training import DRAWN
from nbr.learning.worth import KEPT, ONE_TREE, Worth, affordable, simplest
from nbr.priors import Independent, Mixture
from nbr.progress import Watcher, reporter
from nbr.reasoner import Reasoner
from nbr.storage import hold
from nbr.tables import Table, TableLike
from nbr.training import here
from nbr.world import World

GROWTH = (1, 4, 16, 48)  # rules for each set of columns
SIMPLER = "one tree: more trees and rules, as far as the time went, told less of rows held out"
BELOW = 2.0  # standard errors by which rules on a uniform prior may fall short of trees: they say what is not known
PRIOR = 0.45  # of the time, for trees
GROWING = 0.4  # of what is left, for the number of rules, where all rows are to be trained on after that
CHOSEN = "chosen by the validation table"


@named_settings
def fit(
    table: TableLike,
    rules: int | str = "auto",
    prior: PriorLike = "auto",
    *,
    valid: TableLike | None = None,
    inputs: Sequence[Sequence[str]] | None = None,
    world: World | None = None,
    rules_from: Reasoner | None = None,
    confidence: float | None = 0.95,
    target: str | None = None,
    weight: str | None = None,
    seed: int = 0,
    width: int = 96,
    steps: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Watcher | None = None,
    n_jobs: int | None = None,
    budget: float | str | None = "auto",
) -> Reasoner:
    """Learn rules from one or several tables with holes.

    Args:
        table: A path, a DataFrame, an array of shape (rows, columns), or a list of these. An empty cell was not
            observed.
        rules: The number of rules for each set of columns; "auto" for as few as held-out rows call for; "clauses" for
            short statements with beliefs instead of networks.
        prior: The base rates: "auto" (uniform where every point of the world can be listed, else trees of columns),
            "uniform", "marginals", "trees", a reasoner, a torch distribution, or a `Prior`.
        valid: A validation table, instead of a tenth of the rows.
        inputs: The columns that each group of rules reads; by default the largest sets that rows show together.
        world: The variables, instead of inferring them from the columns.
        rules_from: A reasoner whose clauses are kept; only their beliefs are learned. With rules="clauses" further
            clauses are learned, too.
        confidence: The confidence level of beliefs, which are lower limits: the lowest that the rows do not reject.
            None takes the most likely beliefs. Probabilities, samples and likelihoods always use the most likely ones.
        target: With rules="clauses", the column that rules are learned about first.
        weight: A column of weights, as in a survey; it is not a variable of the model.
        seed: The seed of all randomness.
        width: The number of hidden units of the networks.
        steps: The largest number of training steps.
        checkpoint: A folder for checkpoints; a run that was stopped continues from it.
        progress: True shows progress on stderr; None does so in notebooks only; a function is called with the progress.
        n_jobs: The number of processes; the model does not depend on it.
        budget: The time limit for learning, in seconds; "auto" is 60 for tables of up to 10,000 rows and 50 columns
            and 240 for others; None is no limit. Learning clauses ignores it.

    Returns:
        The learned model. `nbr.learning.fitting.fit_report` also returns how it was chosen.
    """
    return fit_report(
        table,
        rules,
        prior,
        valid=valid,
        inputs=inputs,
        world=world,
        rules_from=rules_from,
        confidence=confidence,
        target=target,
        weight=weight,
        seed=seed,
        width=width,
        steps=steps,
        checkpoint=checkpoint,
        progress=progress,
        n_jobs=n_jobs,
        budget=budget,
    ).reasoner


@named_settings
def fit_report(
    table: TableLike,
    rules: int | str = "auto",
    prior: PriorLike = "auto",
    *,
    valid: TableLike | None = None,
    inputs: Sequence[Sequence[str]] | None = None,
    world: World | None = None,
    rules_from: Reasoner | None = None,
    confidence: float | None = 0.95,
    target: str | None = None,
    weight: str | None = None,
    seed: int = 0,
    width: int = 96,
    steps: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Watcher | None = None,
    n_jobs: int | None = None,
    budget: float | str | None = "auto",
) -> Fitted:
    """Learn rules as `fit` does, and tell the choices made on the way and what was measured on which rows.

    Without a validation table, the chosen model is trained again on all rows, if rows that were not used to choose
    show that this does no harm: see `nbr.learning.again`.
    """
    level = checked(confidence)
    jobs = n_jobs if here().size == 1 else None  # processes that train together have each its core already
    columns = {} if weight is None else {weight: "real"}
    told = world if rules_from is None else rules_from.world
    data = tables.learnable(table, told, columns=columns, seed=seed, jobs=jobs)
    data = data if weight is None else tables.weighed(data, weight, seed)
    if target is not None:
        data.world.column(target)
        if rules != "clauses":
            raise NbrError("a target needs rules='clauses'; networks treat all columns equally")
    if rules == "clauses" or rules_from is not None:
        if rules not in ("auto", "clauses"):
            raise NbrError(
                "beside rules_from, rules are 'clauses' or none; for networks on top, give the result as prior"
            )
        data = data.one_by_one(seed)
        wanted = WantedClauses(rules == "clauses", target=target, level=level, judged=valid is not None)
        return fit_clauses(data, _split(data, valid, seed), prior, rules_from, wanted, seed, reporter(progress))
    most = None if steps is None else _positive(steps)
    sizes = GROWTH if rules == "auto" else (_positive(rules),)
    folder = None if checkpoint is None else Path(checkpoint)
    mine = folder if here().first else None  # of several processes the first looks after it
    rows = _split(data, valid, seed)
    reads = _inputs(data, inputs)
    with nullcontext() if mine is None else hold(mine):
        if mine is not None:
            mine.mkdir(parents=True, exist_ok=True)
        watch = reporter(progress)
        limit = begun(budget if here().size == 1 else None, data)  # processes that train together stop together
        known, why = choose(prior, data, rows, seed, watch, folder, limit.part(PRIOR).deadline)
        least = KEPT if isinstance(known, Mixture) and prior in ("auto", "trees") else 0.0
        maker = Maker(reads, known, _positive(width), seed, folder, watch, most, jobs, least=least)
        if rules == "auto" and valid is None and rows.test is None and isinstance(known, Mixture):
            count, chosen = 0, maker.alone(_parts(rows), DRAWN)  # so few rows cannot tell what networks are worth
        else:
            count, chosen = _grow(maker, rows, sizes, limit.part(GROWING if valid is None else 1.0))
        if prior == rules == "auto" and isinstance(known, Independent):
            found, words = choose("trees", data, rows, seed, watch, folder, limit.part(PRIOR).deadline)
            trees = replace(maker, prior=found).alone(_parts(rows), chosen.settings)
            if isinstance(found, Mixture) and not found.alone and gains(chosen, trees, "valid", times=BELOW):
                maker, chosen, why = replace(maker, prior=found), trees, words
        simple = simplest(rows, seed)
        if prior == rules == "auto" and isinstance(maker.prior, Mixture):  # that time cut short
            one = replace(maker, prior=simple[ONE_TREE])
            tree = one.alone(_parts(rows), chosen.settings)
            if gains(chosen, tree, "valid", times=BELOW):
                maker, chosen, why = one, tree, SIMPLER
        rated = base_rates(maker, rows, chosen) if prior == "auto" else None
        worth = Worth.of(rows, chosen, prior_alone(chosen) if rated is None else rated, simple)
        if not worth.rules:
            end = leave_alone(maker, rows, chosen, limit) if rated is None else leave_rates(maker, rows, rated)
        elif valid is not None:
            end = End(chosen, chosen, "valid", CHOSEN)
        else:
            end = train_again(maker, rows, count, chosen, limit)
        if mine is not None:
            shutil.rmtree(mine, ignore_errors=True)
    best = end.delivered
    without = end.words in (ALONE, ALONE_OF_ALL, RATES)
    rules_kept = [] if without else supported(best.bank, best.objective, best.rows, level)
    reasoner = learned(data, rules_kept, best.prior)
    train = best.objective.mean(best.bank, "train")
    why = WORDS if end.words == RATES else why
    kept = worth.why_not if without and worth.why_not is not None else end.words
    held_out = _measured(end)
    return Fitted(reasoner, data, maker.inputs, count, best.steps, best.rows, train, held_out, kept, why, worth.words)


def _split(data: Table, valid: TableLike | None, seed: int) -> Split:
    return split(data, seed) if valid is None else Split(data, tables.learnable(valid, data.world, seed=seed), None)


def _parts(rows: Split) -> dict[str, Table]:
    return {"train": rows.train, "valid": rows.valid} | ({} if rows.test is None else {"test": rows.test})


def _grow(maker: Maker, rows: Split, sizes: Sequence[int], limit: Budget) -> tuple[int, TrainedBank]:
    """More rules only while held-out rows gain more than chance would give them: one standard error of the gain.

    No more are tried after as many as samples can afford, nor when it is late.
    """
    maker = replace(maker, deadline=limit.deadline)
    trained = maker.train_each([("choice", _parts(rows), size, None) for size in sizes])
    best, count = next(trained), sizes[0]
    for size in sizes[1:]:
        if limit.left < best.seconds / 2:
            break
        tried = next(trained)
        if not gains(best, tried, "valid") or not affordable(tried):
            break
        count, best = size, tried
    return count, best


def _measured(end: End) -> HeldOut | None:
    if end.part is None:
        return None
    mean, error, rows = end.measured.score(end.part)
    were = "was" if rows == 1 else "were"
    which = f"that {were} used to choose" if end.part == "valid" else f"that {were} not used to choose"
    twin = "" if end.measured is end.delivered else ", by the same training without them"
    return HeldOut(mean, error, rows, f"{rows:,} row{'' if rows == 1 else 's'} {which}{twin}")


def _inputs(data: Table, inputs: Sequence[Sequence[str]] | None) -> list[tuple[str, ...]]:
    if inputs is not None:
        for names in inputs:
            for name in names:
                data.world.column(name)
        return [tuple(names) for names in inputs]
    seen = dict(zip(data.world.names, (~data.codes.isnan()).any(dim=0).tolist(), strict=True))
    views = [view for view in data.views() if any(seen[name] for name in view)]  # no rule on what no row shows
    if not views:
        raise NbrError("every cell of the table is empty: there is nothing to learn from")
    return views


def _positive(number: int | str) -> int:
    if isinstance(number, str) or number < 1:
        raise NbrError(f"expected a whole number above 0, 'auto' or 'clauses', not {number!r}")
    return int(number)
