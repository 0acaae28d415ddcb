"""From tables to rules that people can read, and to beliefs for rules that they wrote."""

from __future__ import annotations

import torch

from nbr.density.likelihood import score
from nbr.errors import NbrError
from nbr.learning.clauses import grow
from nbr.learning.fitted import Fitted, HeldOut
from nbr.learning.prior_by_name import PriorLike, choose
from nbr.learning.splitting import Split
from nbr.priors import Independent, Prior, marginals, uniform
from nbr.reasoner import Reasoner
from nbr.rules import Clause
from nbr.tables import Table
from nbr.training import Watcher
from nbr.world import Real

FEW = 12  # labels up to which clauses have to say how often each is
PLAIN = "prior: uniform, so that clauses say it all; numbers and long lists of labels as often as they are seen"
KEPT = "beliefs learned from all rows but those to measure by"


def fit_clauses(
    data: Table,
    rows: Split,
    prior: PriorLike,
    written: Reasoner | None,
    learn: bool,
    seed: int,
    watch: Watcher,
) -> Fitted:
    """Clauses and beliefs by `nbr.learning.clauses`, measured on rows that nothing was learned from."""
    known, why = _prior(data, rows, prior, written, seed, watch)
    found = grow(known, rows, _clauses(written), learn, seed, watch)
    reasoner = Reasoner(data.world, found.rules, prior=known, views=data.views(), view_rows=data.view_rows())
    part, learned = (rows.valid, rows.train) if rows.test is None else (rows.test, rows.trainable)
    scored = score(reasoner.knowledge, known, part, seed)
    error = (float(scored.log_prob.std(correction=0)) ** 2 / max(len(part) - 1, 1) + scored.error**2) ** 0.5
    which = "choices were" if rows.test is None else "no choice was"
    words = f"{len(part):,} row{'' if len(part) == 1 else 's'} that {which} made by"
    held = HeldOut(scored.mean, error, len(part), words)
    train = score(reasoner.knowledge, known, learned, seed).mean
    return Fitted(reasoner, data, data.views(), len(found.rules), found.rounds, len(learned), train, held, KEPT, why)


def _prior(
    data: Table, rows: Split, prior: PriorLike, written: Reasoner | None, seed: int, watch: Watcher
) -> tuple[Prior, str]:
    if prior != "auto":
        return choose(prior, data, rows, seed, watch)
    if written is not None and written.known_prior is not None:
        return written.known_prior, "prior: that of the rules that were written"
    seen, even = marginals(data).columns, uniform(data.world).columns
    columns: list[torch.Tensor] = []
    for often, alike, variable in zip(seen, even, data.world.variables.values(), strict=True):
        columns.append(often if isinstance(variable, Real) or variable.size > FEW else alike)
    return Independent(data.world, columns), PLAIN


def _clauses(written: Reasoner | None) -> list[Clause]:
    found = []
    for position, rule in enumerate(() if written is None else written.rules, 1):
        if not isinstance(rule, Clause):
            raise NbrError(f"rule {position}, {rule}, is no clause: only clauses can be given a belief by rows")
        found.append(rule)
    return found
