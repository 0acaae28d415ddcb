"""A page on what was learned: held-out likelihood beside simple baselines, calibration, sample beside data, plots."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import torch

from nbr import priors, tables
from nbr.density import predicted_column
from nbr.learning import Fitted, Split, split
from nbr.paper import pages
from nbr.plots import COLOURS, drawing, svg
from nbr.tables import Table, decode
from nbr.world import World

SHOWN = 12  # columns, or rows, on the page
JUDGED = 400  # held-out rows that probabilities are judged by
DRAWN = 2000
BINS = 10
NAMED = "Observed frequency against predicted probability"
DEPENDENCE = (
    "How much one column says of another: their mutual information, as a share of the smaller of their entropies. "
    "0: nothing, 1: everything."
)


def write(fitted: Fitted, valid: Table | None, seed: int) -> str:
    """The whole page."""
    fitted = replace(fitted, table=fitted.table.one_by_one(seed))
    valid = None if valid is None else valid.one_by_one(seed)
    rows = split(fitted.table, seed) if valid is None else Split(fitted.table, valid, None)
    held = rows.valid if rows.test is None else rows.test
    sample = fitted.reasoner.sample(DRAWN, seed=seed)
    drawn = tables.read(sample, fitted.table.world).codes
    parts = [
        f"<h1>What was learned</h1><p>{_described(fitted)}</p>",
        f"<h2>Likelihood of held-out rows</h2>{_likelihood(fitted, rows, held, seed)}",
        f"<h2>Calibration of predicted probabilities</h2>{_calibration(fitted, held, seed)}",
        f"<h2>Columns</h2>{pages.picture('How often values are', _marginals(fitted.table, drawn))}",
        f"<h2>Dependence between columns</h2><p>{DEPENDENCE}</p>",
        pages.picture("Dependence between columns", _dependence(fitted.table, drawn)),
        f"<h2>A sample beside the data</h2>{_beside(fitted, sample)}",
    ]
    return pages.page("What was learned", "\n".join(parts))


def _described(fitted: Fitted) -> str:
    rules = len(fitted.reasoner.rules)
    size = f"{len(fitted.table):,} rows of {len(fitted.table.world)} columns"
    return escape(f"{size}; {rules} rules; {fitted.prior}; {fitted.kept}.") + "".join(
        f'<br><span class="note">{escape(n)}</span>' for n in fitted.table.notes
    )


def _likelihood(fitted: Fitted, rows: Split, held: Table, seed: int) -> str:
    """The model's own figure, as `fit` measured it, and baselines learned from all other rows."""
    others = rows.train if rows.test is None else rows.trainable
    lines = []
    if fitted.held_out is not None:
        lines.append(("this model", fitted.held_out.log_likelihood, fitted.held_out.error))
    simple = {"independent columns": priors.marginals(others), "one tree": priors.trees(others, 1, seed=seed)}
    for name, prior in simple.items():
        scores = prior.log_prob(held.codes)
        assert scores is not None  # both can be scored
        lines.append((name, float(scores.mean()), float(scores.std()) / len(scores) ** 0.5))
    measured = "" if fitted.held_out is None else f"On {escape(fitted.held_out.words)}."
    shown = pages.table(
        "Likelihood", ["model", "nats a row"], [[n, f"{mean:.4f} ± {off:.4f}"] for n, mean, off in lines]
    )
    return f"<p>{measured} Mean log-likelihood of a row, in nats, and its standard error.</p>{shown}"


def _calibration(fitted: Fitted, held: Table, seed: int) -> str:
    """Labels given the rest of their rows: how often, of those given about so much, it was that label."""
    world, codes = fitted.table.world, held.codes[:JUDGED]
    said, came = [], []
    for name in [name for name, variable in world.variables.items() if not variable.numeric][:SHOWN]:
        seen = codes[~codes[:, world.column(name)].isnan() & (codes[:, world.column(name)] >= 0)]
        if not len(seen):
            continue
        chances = predicted_column(fitted.reasoner.model, seen, name, seed).chances
        assert chances is not None
        truth = seen[:, world.column(name)].long()
        said.append(chances.flatten())
        came.append(torch.nn.functional.one_hot(truth, chances.shape[1]).double().flatten())
    if not said:
        return "<p>No held-out row has a label that could be predicted, so calibration cannot be measured.</p>"
    chance, happened = torch.cat(said).numpy(), torch.cat(came).numpy()
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    used = np.unique(place)
    points = [(chance[place == at].mean(), happened[place == at].mean(), int((place == at).sum())) for at in used]
    off = sum(abs(one - other) * count for one, other, count in points) / len(chance)
    with drawing(4.4, 4.0) as figure:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        axes.plot([p[0] for p in points], [p[1] for p in points], color=COLOURS[0], marker="o")
        axes.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(0, 1), ylim=(0, 1))
        drawn = svg(figure)
    too = "" if fitted.rows < len(fitted.table) else " The saved model was trained on these rows, too."
    return f"<p>On {len(codes)} held-out rows; off by {off:.3f} on average.{too}</p>{pages.picture(NAMED, drawn)}"


def _marginals(table: Table, drawn: torch.Tensor) -> str:
    """How often values are, in the data and in a sample."""
    names = table.world.names[:SHOWN]
    with drawing(9.6, 2.2 * -(-len(names) // 4)) as figure:
        grid = figure.subplots(-(-len(names) // 4), 4, squeeze=False)
        for axes in grid.flat[len(names) :]:
            axes.set_visible(False)
        for at, (name, axes) in enumerate(zip(names, grid.flat, strict=False)):
            edges, labels = _bins(table.world, name, table.codes[:, at])
            for number, (of, codes) in enumerate((("data", table.codes[:, at]), ("sample", drawn[:, at]))):
                seen = codes[~codes.isnan()].numpy()
                shares = np.histogram(seen, edges)[0] / max(len(seen), 1)
                axes.bar(np.arange(len(shares)) + 0.4 * number, shares, 0.4, color=COLOURS[number], label=of)
            axes.set_title(name[:24])
            turned = 45 if max(map(len, labels)) > 3 else 0
            axes.set_xticks(np.arange(len(labels)) + 0.2, labels, rotation=turned, fontsize=8)
        named = {"data": "data", "sample": "a sample of the model"}
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, [named[label] for label in labels], loc="outside upper left", ncols=2)
        return svg(figure)


def _bins(world: World, name: str, codes: torch.Tensor) -> tuple[np.ndarray, list[str]]:
    """Edges of bars, and what stands below them."""
    variable = world.variables[name]
    if not variable.numeric:
        count = min(len(variable.labels), 10)
        return np.arange(count + 1) - 0.5, [variable.show(label)[:10] for label in range(count)]
    seen = codes[~codes.isnan()].numpy()
    edges = np.unique(np.quantile(seen, np.linspace(0, 1, 9))) if len(seen) else np.array([variable.low, variable.high])
    edges = edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1])
    return edges, [variable.show(edge) for edge in edges[:-1]]


def _dependence(table: Table, drawn: torch.Tensor) -> str:
    """Mutual information of every two columns, over the smaller of their entropies, in the data and in a sample."""
    names = table.world.names[: 3 * SHOWN]
    with drawing(9.6, 4.6) as figure:
        for number, (title, codes) in enumerate((("data", table.codes), ("a sample of the model", drawn))):
            axes = figure.add_subplot(1, 2, number + 1)
            shares = dependence(table.world, table.codes, codes, len(names))
            picture = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
            axes.set_title(title)
            axes.grid(False)
            size = 9 if len(names) <= SHOWN else 6
            axes.set_xticks(range(len(names)), [name[:14] for name in names], rotation=90, fontsize=size)
            axes.set_yticks(range(len(names)), [name[:14] for name in names], fontsize=size)
        figure.colorbar(picture, ax=figure.axes, shrink=0.7, label="share of the entropy")
        return svg(figure)


def dependence(world: World, seen: torch.Tensor, codes: torch.Tensor, most: int | None = None) -> np.ndarray:
    """Mutual information of every two columns over the smaller of their entropies; numbers in eight quantiles."""
    classes = []
    for at, name in enumerate(world.names[:most]):
        edges, _ = _bins(world, name, seen[:, at])
        values = codes[:, at].numpy()
        place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        classes.append(np.where(np.isnan(values), -1, place))
    found = np.eye(len(classes))
    for one in range(len(classes)):
        for other in range(one):
            found[one, other] = found[other, one] = _shared(classes[one], classes[other])
    return found


def _shared(one: np.ndarray, other: np.ndarray) -> float:
    both = (one >= 0) & (other >= 0)
    if not both.any():
        return float("nan")
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one[both], other[both]), 1.0)
    joint = table / table.sum()
    entropies = [_entropy(joint.sum(axis=1)), _entropy(joint.sum(axis=0))]
    gained = sum(entropies) - _entropy(joint.ravel())
    return max(0.0, gained / min(entropies)) if min(entropies) > 1e-9 else 0.0


def _entropy(shares: np.ndarray) -> float:
    kept = shares[shares > 0]
    return float(-(kept * np.log(kept)).sum())


def _beside(fitted: Fitted, sample: pd.DataFrame) -> str:
    data = decode(fitted.table.world, fitted.table.codes[:SHOWN])
    names = fitted.table.world.names[:SHOWN]
    head = [escape(name) for name in names]
    rows = [[column[at] for column in data.columns[:SHOWN]] for at in range(min(SHOWN, len(fitted.table)))]
    drawn = sample.iloc[:SHOWN, :SHOWN].astype(str).to_numpy().tolist()
    parts = (("Data", rows), ("Sample of the model", drawn))
    tables_ = [
        f"<div><h3>{title}</h3>{pages.table(title, head, [[escape(str(each)) for each in row] for row in part])}</div>"
        for title, part in parts
    ]
    return f'<div class="side">{"".join(tables_)}</div>'
