"""From tables to a reasoner, with defaults that claim no more than the data show.

Likelihood does not settle everything: many models explain the same rows equally well and answer questions differently.
Three choices make up for it. A rule reads only columns that some rows show together, so that none claims a relation
that nobody saw. There are as few rules as explain the data: their number grows while rows that training has not seen
gain. And of equally likely models the least committed is sought: beliefs are pulled down, ever more gently.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nbr import tables
from nbr.errors import NbrError
from nbr.learning.bank import Bank
from nbr.learning.objectives import Objective, objective
from nbr.learning.prior_by_name import choose
from nbr.learning.training import Run, Settings, Watcher
from nbr.priors import Prior
from nbr.reasoner import Reasoner
from nbr.tables import Source, Table
from nbr.world import World

GROWTH = (1, 4, 16, 48)  # rules for each set of columns
HELD_OUT = 0.1
MOST_VIEWS = 24


@dataclass(frozen=True)
class Fitted:
    """A trained model and how it came about."""

    reasoner: Reasoner
    table: Table
    inputs: list[tuple[str, ...]]
    rules: int  # for each set of inputs
    steps: int
    train: float  # mean log-likelihood of a row
    valid: float | None


def fit(table: Source, rules: int | str = "auto", prior: object = "marginals", **settings: Any) -> Reasoner:
    """Learn rules from a table, or several, with holes: the model of `fit_report`, which has the settings."""
    return fit_report(table, rules, prior, **settings).reasoner


def fit_report(
    table: Source,
    rules: int | str = "auto",
    prior: object = "marginals",
    *,
    valid: Source | None = None,
    inputs: Sequence[Sequence[str]] | None = None,
    world: World | None = None,
    seed: int = 0,
    width: int = 96,
    steps: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    watch: Watcher | None = None,
) -> Fitted:
    """Learn rules, and tell the choices made on the way.

    `rules` is how many rules each set of columns gets, or "auto"; `inputs` the columns that each group of rules
    reads, by default the largest sets that rows show together. `valid` is a table to choose by; without one a tenth of
    the rows is held out, and the chosen model is trained again on all. `checkpoint` names a folder in which an
    interrupted run goes on.
    """
    data = tables.read(table, world)
    reads = _inputs(data, inputs)
    known = choose(prior, data)
    base = Settings() if steps is None else Settings(steps=_positive(steps))
    parts = _split(data, seed) if valid is None else {"train": data, "valid": tables.read(valid, data.world)}
    maker = _Maker(reads, known, width, seed, Path(checkpoint) if checkpoint else None, watch)
    sizes = GROWTH if rules == "auto" else (_positive(rules),)
    chosen, best = _grow(maker, parts, sizes, base)
    held: float | None = best.valid
    if valid is None:
        # The number of steps was chosen on held-out rows; now every row counts.
        final = replace(base, steps=max(best.steps, min(base.steps, 10 * base.every)))
        best = maker.train({"train": data}, chosen, final, f"{chosen} rules, all rows")
    reasoner = Reasoner(data.world, best.bank.export(), prior=known)
    if maker.folder is not None:
        shutil.rmtree(maker.folder, ignore_errors=True)
    return Fitted(reasoner, data, reads, chosen, best.steps, best.objective.mean(best.bank, "train"), held)


@dataclass(frozen=True)
class _Trained:
    bank: Bank
    objective: Objective
    steps: int
    valid: float


class _Maker:
    """Trains banks of different sizes on the same terms."""

    def __init__(
        self,
        inputs: list[tuple[str, ...]],
        prior: Prior,
        width: int,
        seed: int,
        folder: Path | None,
        watch: Watcher | None,
    ) -> None:
        self.inputs, self.prior, self.width, self.seed = inputs, prior, width, seed
        self.folder, self.watch = folder, watch
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def train(self, parts: dict[str, Table], rules: int, settings: Settings, stage: str) -> _Trained:
        bank = Bank(self.prior.world, self.inputs, rules, self.width, self.seed)
        goal = objective(bank, self.prior, parts, self.seed)
        path = None if self.folder is None else self.folder / f"{'-'.join(sorted(parts))}-{rules}.safetensors"
        run = Run(bank, goal, settings, path, self._label(parts, rules))
        outcome = run.go(stage, self.watch)
        return _Trained(bank, goal, outcome.step, outcome.valid)

    def _label(self, parts: dict[str, Table], rules: int) -> str:
        """A fingerprint of all that decides the weights, so that a checkpoint is not mistaken for another's."""
        told = [self.inputs, self.prior.world.spec, type(self.prior).__name__, self.width, self.seed, rules]
        digest = hashlib.sha256(json.dumps(told, default=str).encode())
        for name in sorted(parts):
            digest.update(parts[name].codes.numpy().tobytes())
        return digest.hexdigest()


def _grow(maker: _Maker, parts: dict[str, Table], sizes: Sequence[int], settings: Settings) -> tuple[int, _Trained]:
    """More rules only while held-out rows gain more than chance would give them: one standard error of the gain."""
    chosen, best = 0, None
    for size in sizes:
        stage = f"{size} rule{'s' if size > 1 else ''} for each set of columns"
        tried = maker.train(parts, size, settings, stage)
        if best is not None and not _gains(best, tried, parts["valid"]):
            break
        chosen, best = size, tried
    assert best is not None
    return chosen, best


def _gains(before: _Trained, after: _Trained, valid: Table) -> bool:
    with torch.no_grad():
        gain = after.objective.log_prob(after.bank, "valid") - before.objective.log_prob(before.bank, "valid")
    weights = after.objective.weights["valid"]
    mean = float(weights @ gain)
    error = float((weights @ (gain - mean) ** 2).sqrt()) / len(valid) ** 0.5
    return bool(mean > error)


def _inputs(data: Table, inputs: Sequence[Sequence[str]] | None) -> list[tuple[str, ...]]:
    if inputs is not None:
        for names in inputs:
            for name in names:
                data.world.column(name)
        return [tuple(names) for names in inputs]
    views = data.views()
    if len(views) > MOST_VIEWS:  # holes here and there: together the rows show everything
        return [data.world.names]
    return views


def _split(data: Table, seed: int) -> dict[str, Table]:
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    held = max(1, round(HELD_OUT * len(data)))
    if len(data) - held < 1:
        raise NbrError(f"{len(data)} rows are too few to hold some out; give valid= a table of its own")
    return {"train": data.part(_sorted(order[held:])), "valid": data.part(_sorted(order[:held]))}


def _sorted(rows: Tensor) -> Tensor:
    return rows.sort().values


def _positive(number: int | str) -> int:
    if isinstance(number, str) or number < 1:
        raise NbrError(f"expected a whole number above 0 or 'auto', not {number!r}")
    return int(number)
