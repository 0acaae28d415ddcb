"""Rules about one column: what the others tell of it, learned by how likely they make its labels.

A model of a whole table spends most of what it learns on columns that nobody asks about. Given the rest of a row, a
label has a probability in proportion to P_0 P_keep of the row with the label put in: no normaliser over points is
needed, so that networks that read all columns are trained in seconds. One network for each fold of the rows is trained
without it, side by side, and judged by it; a rule has the mean of their logits. The prior below is a mixture of trees,
or every column by itself, so that rules carry all that is known of the label: whichever held-out rows like better.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from nbr.learning.bank import Bank
from nbr.learning.training import WARM, FitSettings
from nbr.priors import Mixture, Prior, marginals, relearned, trees
from nbr.reasoner import Reasoner
from nbr.rules import Neural
from nbr.tables import Table
from nbr.training import EarlyStopping, Loop, averaged, generator

FOLDS = 5
FEWEST = 50  # rows of which some say what networks are worth
MOST = 20_000  # rows that are learned from
LABELS = 64  # of a column, at the most
WIDTH = 64  # of each network
BATCH = 256
FILLS = 4  # completions of a row with holes
SURE = 3.0  # the logit that the belief of a rule starts from
SETTINGS = FitSettings(decay=1.0, every=20, patience=8)


@dataclass(frozen=True)
class LabelledRows:
    """Rows with every label in turn, and what a prior says of each label."""

    encoded: Tensor  # (rows, fills, columns): holes filled
    place: slice  # the columns of the label among them
    labels: Tensor  # (labels, columns of the label)
    base: Tensor  # (rows, labels): log P_0 of the row with the label, up to what all labels have in common
    right: Tensor  # (rows,)

    def scores(self, bank: Bank, rows: Tensor) -> Tensor:
        """log P(label | rest) of some rows by the prior and each network: (folds, rows, labels)."""
        some = self.encoded[rows]
        put = some[:, :, None].repeat(1, 1, len(self.labels), 1)
        put[..., self.place] = self.labels
        grades = torch.sigmoid(bank.logits(put.flatten(0, 2)))[..., 0].view(-1, *put.shape[:3])
        believed = bank.beliefs[:, None, None, None]
        kept = (1 - believed + believed * grades).mean(dim=2)
        return torch.log_softmax(self.base[rows] + kept.log(), dim=-1)

    def right_scores(self, bank: Bank, rows: Tensor) -> Tensor:
        """The same of the labels that rows have: (folds, rows)."""
        scores = self.scores(bank, rows)
        found: Tensor = scores.gather(2, self.right[rows].expand(len(scores), -1)[:, :, None])[..., 0]
        return found


def about(model: Reasoner, table: Table, column: str, seed: int = 0) -> Reasoner | None:
    """A model that is better at one column of labels, or None where held-out rows do not gain by rules of its own.

    Args:
        model: learned from the table
        table: its rows
        column: what is to be told from the others; its labels
        seed: where randomness comes from
    """
    at, variable = table.world.column(column), table.world.variables[column]
    rows = _some(table, at, seed)
    if variable.numeric or not 1 < (variable.size or 0) <= LABELS or len(rows) < FEWEST or len(table.world) < 2:
        return None
    fold = torch.randperm(len(rows), generator=generator(seed, 0)) % FOLDS
    known = model.model.base
    joint = known if isinstance(known, Mixture) else trees(rows, seed=seed)
    best, found = _held_out(joint, rows, fold, at), None
    alone = best[torch.arange(len(rows)), rows.codes[:, at].long()]
    for prior, base in ((joint, best), (marginals(rows), _held_out(marginals(rows), rows, fold, at))):
        bank = _bank(rows, at, seed)
        examples = _examples(bank, prior, rows, at, base, seed)
        scores = _train(bank, examples, fold, seed)
        if float(scores.mean()) > float(alone.mean()):
            found, alone = Reasoner(table.world, [_rule(bank, column)], prior=prior), scores
    return found


def _some(table: Table, at: int, seed: int) -> Table:
    """Rows that show the column, as many as are learned from, without values that the world does not have."""
    rows = table.one_by_one(seed)
    rows = rows.part((rows.codes[:, at] >= 0).nonzero()[:, 0])
    if len(rows) > MOST:
        rows = rows.part(torch.randperm(len(rows), generator=generator(seed, 0))[:MOST].sort().values)
    return Table(rows.world, rows.codes.masked_fill(rows.world.outside(rows.codes), torch.nan))


def _held_out(prior: Prior, rows: Table, fold: Tensor, at: int) -> Tensor:
    """log P_0(label | rest) of each row, by a prior learned from the other folds: (rows, labels)."""
    size = list(rows.world.variables.values())[at].size or 0
    found = torch.zeros(len(rows), size, dtype=torch.float64)
    for number in range(FOLDS):
        others = rows.part((fold != number).nonzero()[:, 0])
        other = relearned(prior, others) if isinstance(prior, Mixture) else marginals(others)
        mine = rows.codes[fold == number]
        for label in range(size):
            mine[:, at] = label
            scores = other.log_prob(mine)
            assert scores is not None
            found[fold == number, label] = scores
    return torch.log_softmax(found, dim=1)


def _bank(rows: Table, at: int, seed: int) -> Bank:
    """A network for each fold; half of its first units bend one column each, where some row is."""
    bank = Bank(rows.world, [rows.world.names] * FOLDS, 1, WIDTH, seed)
    filled = torch.where(rows.codes.isnan(), rows.codes.nanmedian(dim=0).values.nan_to_num(), rows.codes)
    raw = rows.world.encode(filled, rows.world.names)
    spread = raw.std(dim=0)
    bank.shift, bank.scale = raw.mean(dim=0), 1 / torch.where(spread > 0, spread, 1.0)
    encoded, draws, half = bank.encode(filled), generator(seed, 1), WIDTH // 2
    with torch.no_grad():
        for group in range(FOLDS):
            unit, column = torch.arange(half), torch.randint(encoded.shape[1], (half,), generator=draws)
            sign = torch.randint(2, (half,), generator=draws).to(encoded.dtype) * 2 - 1
            where = encoded[torch.randint(len(encoded), (half,), generator=draws), column]
            bank.first[group, :, :half] = 0
            bank.first[group, column, unit] = sign
            bank.first_bias[group, 0, :half] = -sign * where
        bank.last.zero_()  # so that the prior is what learning starts from
        bank.doubt.fill_(SURE)
    return bank


def _examples(bank: Bank, prior: Prior, rows: Table, at: int, base: Tensor, seed: int) -> LabelledRows:
    world, rest = rows.world, rows.codes.clone()
    rest[:, at] = torch.nan
    holes = bool(rest[:, [place for place in range(len(world)) if place != at]].isnan().any())
    filled = prior.complete(rest, FILLS if holes else 1, generator(seed, 2))
    encoded = bank.encode(filled.flatten(0, 1)).view(*filled.shape[:2], -1)
    widths = [variable.width for variable in world.variables.values()]
    place = slice(sum(widths[:at]), sum(widths[: at + 1]))
    labels = filled[:1, 0].repeat(base.shape[1], 1)
    labels[:, at] = torch.arange(len(labels), dtype=labels.dtype)
    shown = bank.encode(labels)[:, place]
    return LabelledRows(encoded, place, shown, base.to(encoded.dtype), rows.codes[:, at].long())


def _train(bank: Bank, examples: LabelledRows, fold: Tensor, seed: int) -> Tensor:
    """Each network learns from the rows of other folds, until rows gain no more by the one that has not seen them.

    Returns the log probability of the right label of each row by that one.
    """
    networks = [value for name, value in bank.named_parameters() if name != "doubt"]
    optimiser = torch.optim.AdamW(
        [
            {"params": networks, "weight_decay": SETTINGS.decay, "lr": SETTINGS.rate},
            {"params": [bank.doubt], "weight_decay": 0.0, "lr": SETTINGS.rate * SETTINGS.pace},
        ],
        betas=(0.9, 0.98),
    )
    average, every = averaged(bank, SETTINGS.average), torch.arange(len(fold))
    steady = average.module
    assert isinstance(steady, Bank)

    def held_out() -> Tensor:
        with torch.no_grad():
            found = [examples.right_scores(steady, part) for part in every.split(4 * BATCH)]
        return torch.cat(found, dim=1)[fold, every]

    def loss(step: int) -> Tensor:
        some = torch.randint(len(fold), (min(BATCH, len(fold)),), generator=generator(seed, step + 3))
        seen = fold[some] != torch.arange(FOLDS)[:, None]
        lost = -(examples.right_scores(bank, some) * seen).sum() / seen.sum()
        return lost + SETTINGS.pull * bank.beliefs.mean()

    early = EarlyStopping(
        steady,
        lambda: float(held_out().mean()),
        every=SETTINGS.every,
        patience=SETTINGS.patience,
        last_step=SETTINGS.steps,
    )

    def after(step: int, lost: float) -> bool:
        average.update_parameters(bank)
        return early(step)

    schedule = LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / WARM))
    Loop(optimiser, loss, SETTINGS.steps, schedule=schedule, after=after).run()
    early.restore()
    bank.load_state_dict(steady.state_dict())
    return held_out().double()


def _rule(bank: Bank, column: str) -> Neural:
    """The mean of all networks as one: their layers side by side."""
    first, second, last = zip(*(_linear(bank.network(group)) for group in range(FOLDS)), strict=True)
    wide = nn.Linear(first[0].in_features, FOLDS * WIDTH)
    inner, mean = nn.Linear(FOLDS * WIDTH, FOLDS * WIDTH), nn.Linear(FOLDS * WIDTH, 1)
    with torch.no_grad():
        wide.weight.copy_(torch.cat([layer.weight for layer in first]))
        wide.bias.copy_(torch.cat([layer.bias for layer in first]))
        inner.weight.copy_(torch.block_diag(*(layer.weight for layer in second)))
        inner.bias.copy_(torch.cat([layer.bias for layer in second]))
        mean.weight.copy_(torch.cat([layer.weight for layer in last], dim=1) / FOLDS)
        mean.bias.copy_(torch.stack([layer.bias for layer in last]).mean(dim=0))
    network = nn.Sequential(wide, nn.ReLU(), inner, nn.ReLU(), mean)
    belief = float(torch.sigmoid(bank.doubt.detach().double().mean()))
    return Neural(bank.inputs[0], network, belief, name=f"what tells {column}")


def _linear(network: nn.Sequential) -> tuple[nn.Linear, ...]:
    return tuple(layer for layer in network if isinstance(layer, nn.Linear))
