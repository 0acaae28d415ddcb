"""From tables to rules that people can read, and to beliefs for rules that they wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nbr.density import score
from nbr.errors import NbrError
from nbr.learning.clauses import WantedClauses, grow
from nbr.learning.fitted import Fitted, HeldOut, learned
from nbr.learning.prior_by_name import PriorLike, choose
from nbr.learning.rates import WORDS
from nbr.learning.splitting import Split
from nbr.priors import Independent, Prior, marginals, uniform
from nbr.progress import Watcher
from nbr.reasoner import Reasoner
from nbr.rules import Clause
from nbr.tables import Table

NOTHING = 0.005  # nats a row that all clauses together add to base rates: next to nothing
PLAIN = f"{WORDS}; clauses describe what goes together"
KEPT = "without the rows held out for measuring"
ALL = "learned from all rows, which are too few to measure on others"


def fit_clauses(
    data: Table,
    rows: Split,
    prior: PriorLike,
    written: Reasoner | None,
    wanted: WantedClauses,
    seed: int,
    watch: Watcher,
) -> Fitted:
    """Clauses and beliefs by `nbr.learning.clauses`, measured on rows that nothing was learned from."""
    clauses = _clauses(written)
    known, kept, why = _prior(data, rows, prior, written, clauses, seed, watch)
    found = grow(known, rows, clauses, replace(wanted, kept=kept), seed, watch)
    reasoner = learned(data, found.rules, found.prior)
    rows_used, part = (rows.train, rows.valid) if wanted.judged else (rows.trainable, rows.test)
    held = None if part is None else _measured(reasoner, part, wanted.judged, seed)
    train = score(reasoner.model, rows_used, seed).mean
    words = KEPT if wanted.judged or part is not None else ALL
    if wanted.learn:
        words += _little(found.rules, len(rows_used))
    return Fitted(reasoner, data, data.views(), len(found.rules), found.rounds, len(rows_used), train, held, words, why)


def _little(rules: Sequence[Clause], rows: int) -> str:
    """A word of warning where next to nothing was learned."""
    adds = sum(rule.adds or 0.0 for rule in rules)
    if adds >= NOTHING:
        return ""
    if not rules:
        return f"; no clause: nothing goes together beyond chance in {rows:,} rows, and answers are base rates"
    return f"; little beyond base rates: all clauses together add {adds:.4f} nats a row"


def _measured(reasoner: Reasoner, part: Table, judged: bool, seed: int) -> HeldOut:
    scored = score(reasoner.model, part, seed)
    error = (float(scored.log_prob.std(correction=0)) ** 2 / max(len(part) - 1, 1) + scored.error**2) ** 0.5
    count = "1 row that was" if len(part) == 1 else f"{len(part):,} rows that were"
    return HeldOut(scored.mean, error, len(part), f"{count} {'' if judged else 'not '}used to choose")


def _prior(
    data: Table,
    rows: Split,
    prior: PriorLike,
    written: Reasoner | None,
    clauses: Sequence[Clause],
    seed: int,
    watch: Watcher,
) -> tuple[Prior, tuple[str, ...], str]:
    """The prior, the columns that stay as often as it has them, and words for it."""
    if prior != "auto":
        known, why = choose(prior, data, rows, seed, watch)
        return known, (), why
    if written is not None and written.model.prior is not None:
        return written.prior, (), "prior: that of the given rules"
    alone = {name for clause in clauses for name in clause.inputs if len(clause.inputs) == 1}
    often, even = marginals(rows.trainable).columns, uniform(data.world).columns
    columns, kept = [], []
    for seen, alike, (name, variable) in zip(often, even, data.world.variables.items(), strict=True):
        labelled = not variable.numeric
        columns.append(alike if labelled and name in alone else seen)  # a rule that someone wrote says how often
        kept += [name] if labelled and name not in alone else []
    return Independent(data.world, columns), tuple(kept), PLAIN


def _clauses(written: Reasoner | None) -> list[Clause]:
    found = []
    for position, rule in enumerate(() if written is None else written.rules, 1):
        if not isinstance(rule, Clause):
            raise NbrError(
                f"rule {position}, {rule}, is not a clause: only beliefs of clauses can be learned from rows"
            )
        found.append(rule)
    return found
