"""Real tables split in two that share columns and no rows: does what `open` says hold the truth, and how wide is it?

Half of the rows show one column beside the shared ones, half another. The truth is the frequency in all rows. Beside
`open`, widened by its sampling error, stands the range of a linear program on the two tables as they are.

    python benchmarks/two_tables_open.py [--trees] nltcs=DATA/nltcs plants=DATA/plants breast_cancer digits fair mnist

Tables are folders, or by name those of scikit-learn and, where it is installed, of statsmodels; mnist and fashion_mnist
are tables of pixels. Writes docs/results/two-tables-open.json.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from sklearn import datasets

import nbr
from nbr import priors, tables

SHARED, PAIRS, SPLITS = 4, 4, 2  # columns in both tables; pairs of columns apart; splits of the rows for each
LEAST = 30  # rows that meet a condition


def table(name: str) -> pd.DataFrame:
    """Columns of bits: as they are, or cut at the median."""
    key, _, folder = name.partition("=")
    if folder:
        parts = [np.loadtxt(Path(folder) / f"{part}.csv", delimiter=",", dtype=int) for part in ("train", "valid")]
        values = np.concatenate(parts)
    elif key in ("mnist", "fashion_mnist"):
        values = (getattr(nbr.datasets, key)(part="train")[0].reshape(-1, 784) > 0.5).astype(int)
    else:
        if hasattr(datasets, f"load_{key}"):
            loaded = getattr(datasets, f"load_{key}")()
            values = np.column_stack([loaded.data, loaded.target])
        else:  # of statsmodels
            values = importlib.import_module(f"statsmodels.datasets.{key}").load_pandas().data.dropna().to_numpy()
        values = (values > np.median(values, axis=0)).astype(int)
    values = values[:, (values.mean(axis=0) > 0.1) & (values.mean(axis=0) < 0.9)]
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(values.shape[1])])


def learned(parts: list[pd.DataFrame], seed: int, trees: bool) -> nbr.Reasoner:
    """What `fit` makes of both, or trees alone, which take a second."""
    if not trees:
        return nbr.fit(parts, seed=seed)
    data = tables.read(parts)
    prior = priors.trees(data, seed=seed)
    return nbr.Reasoner(data.world, prior=prior, views=data.views(), view_rows=data.view_rows())


def run(name: str, trees: bool, seed: int = 0) -> dict[str, float]:
    full, random = table(name), np.random.default_rng(seed)
    held, widths, program, off, asked, seconds = 0, [], [], [], 0, 0.0
    for _ in range(PAIRS):
        names = [f"c{at}" for at in random.choice(full.shape[1], SHARED + 2, replace=False)]
        x, y, *shared = names
        for _ in range(SPLITS):
            order = random.permutation(len(full))
            one, other = full.iloc[order[::2]][[x, *shared]], full.iloc[order[1::2]][[y, *shared]]
            start = time.perf_counter()
            model = learned([one, other], seed, trees)
            seconds += time.perf_counter() - start
            for given in (f"{x}=1", f"{x}=0", f"{x}=1, {shared[0]}=1", f"{x}=0, {shared[0]}=0"):
                rows = full[np.all([full[key] == int(value) for key, value in _parts(given)], axis=0)]
                if len(rows) < LEAST:
                    continue
                truth, found = rows[y].mean(), model.probability(f"{y}=1", given)
                assert found.widened is not None
                low, high = found.widened
                asked, held = asked + 1, held + (low - 1e-9 <= truth <= high + 1e-9)
                widths.append(high - low)
                ends = _program(one, other, x, y, shared, given)
                program.append(ends[1] - ends[0])
                off.append(abs(found.value - truth))
    return {
        "rows": len(full),
        "questions": asked,
        "open_holds": held / asked,
        "open_width": float(np.mean(widths)),
        "program_width": float(np.mean(program)),
        "ratio": float(np.mean(widths) / np.mean(program)),
        "probability_off_by": float(np.mean(off)),
        "fit_seconds": seconds / PAIRS / SPLITS,
    }


def _parts(given: str) -> list[tuple[str, str]]:
    return [(key, value) for key, value in (part.strip().split("=") for part in given.split(","))]


def _program(
    one: pd.DataFrame, other: pd.DataFrame, x: str, y: str, shared: list[str], given: str
) -> tuple[float, float]:
    """The range of P(y=1 | given) over all joint tables with both parts; P(given) is told by the first table.

    What both show is counted in both, what goes with it in each; a shared value that a table does not show has the rate
    of the whole column there.
    """
    weight = pd.concat([one, other]).groupby(shared).size()
    weight = weight / weight.sum()
    rates = []
    for part, column in ((one, x), (other, y)):
        rates.append(part.groupby(shared)[column].mean().reindex(weight.index).fillna(part[column].mean()))
    cells = [(z, a, b) for z in range(len(weight)) for a, b in product((0, 1), repeat=2)]
    wanted = dict(_parts(given))
    index = [dict(zip(shared, np.atleast_1d(key), strict=True)) for key in weight.index]
    held = [all((a if key == x else index[z][key]) == int(value) for key, value in wanted.items()) for z, a, _ in cells]
    rows, sums = [], []
    for z, p in enumerate(weight):
        for side, rate in zip((1, 2), rates, strict=True):
            for value in (0, 1):
                rows.append([float(cell[0] == z and cell[side] == value) for cell in cells])
                sums.append(p * (rate.iloc[z] if value else 1 - rate.iloc[z]))
    yes = np.array([float(h and cell[2]) for h, cell in zip(held, cells, strict=True)])
    base = sum(p * r for p, r, h in zip(np.repeat(weight, 4), _each(rates[0], cells), held, strict=True) if h) / 2
    ends = [linprog(sign * yes, A_eq=rows, b_eq=sums, method="highs").fun * sign / base for sign in (1, -1)]
    return ends[0], ends[1]


def _each(rate: pd.Series, cells: list[tuple[int, int, int]]) -> list[float]:
    return [rate.iloc[z] if a else 1 - rate.iloc[z] for z, a, _ in cells]


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--trees"]
    found = {}
    for name in names or ["breast_cancer", "digits"]:
        told = found[name.partition("=")[0]] = run(name, "--trees" in sys.argv)
        print(f"{name.partition('=')[0]}: " + ", ".join(f"{k} {value:.3g}" for k, value in told.items()), flush=True)
    results = Path(__file__).parents[1] / "docs" / "results" / "two-tables-open.json"
    results.write_text(json.dumps({"trees alone": "--trees" in sys.argv, "tables": found}, indent=1) + "\n")
