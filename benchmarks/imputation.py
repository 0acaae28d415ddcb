"""Cells erased at random and filled again: by `nbr impute`, by scikit-learn's IterativeImputer, by the column alone.

Numbers: mean distance from what was erased, over the column's standard deviation. Labels: the share filled wrongly.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
import torch
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nbr import Reasoner, priors, tables
from nbr.world import Real

ERASED = 0.2


def frames() -> dict[str, pd.DataFrame]:
    """scikit-learn's small tables, each with what it is usually predicted from them for."""
    found = {}
    for name in ("iris", "wine", "breast_cancer", "diabetes"):
        loaded = getattr(datasets, f"load_{name}")(as_frame=True)
        target = loaded.target
        if hasattr(loaded, "target_names"):
            target = pd.Series(np.asarray(loaded.target_names)[target], name="target")
        found[name] = loaded.data.assign(target=target)
    return found


def run(name: str, frame: pd.DataFrame, seed: int) -> dict[str, object]:
    world = tables.read(frame).world
    codes = tables.read(frame, world).codes.numpy()
    hidden = np.random.default_rng(seed).random(codes.shape) < ERASED
    holed = np.where(hidden, np.nan, codes)
    start = time.perf_counter()
    data = tables.Table(world, torch.tensor(holed))
    model = Reasoner(world, prior=priors.trees(data, seed=seed), views=data.views())
    ours = tables.read(model.impute(data, seed=seed), world).codes.numpy()
    seconds = time.perf_counter() - start
    filled = {"nbr": ours, "iterative": _iterative(world, holed, seed), "column": _column(world, holed)}
    real = np.array([isinstance(variable, Real) for variable in world.variables.values()])
    row: dict[str, object] = {"table": name, "rows": len(codes), "columns": codes.shape[1], "nbr_seconds": seconds}
    spread = codes.std(axis=0)
    for way, values in filled.items():
        off = np.abs(values - codes) / spread
        row[f"{way}_numbers"] = float(off[:, real][hidden[:, real]].mean())
        wrong = (values != codes)[:, ~real][hidden[:, ~real]]
        row[f"{way}_labels"] = float(wrong.mean()) if len(wrong) else None
    return row


def _iterative(world, holed: np.ndarray, seed: int) -> np.ndarray:
    """Numbers as it fills them, labels as their numbers beside them; then a logistic regression for labels.

    Columns of 0 and 1 for labels would not do: each is one minus the others, and so stays at its mean.
    """
    full = IterativeImputer(random_state=seed, max_iter=20).fit_transform(holed)
    for at, variable in enumerate(world.variables.values()):
        hole = np.isnan(holed[:, at])
        if not isinstance(variable, Real) and hole.any():
            rest = np.delete(full, at, axis=1)
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            full[hole, at] = model.fit(rest[~hole], holed[~hole, at]).predict(rest[hole])
    return full


def _column(world, holed: np.ndarray) -> np.ndarray:
    """The median of numbers, the most frequent label."""
    found = holed.copy()
    for at, variable in enumerate(world.variables.values()):
        seen = holed[:, at][~np.isnan(holed[:, at])]
        found[np.isnan(holed[:, at]), at] = (
            np.median(seen) if isinstance(variable, Real) else np.bincount(seen.astype(int)).argmax()
        )
    return found


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # IterativeImputer says that it has not converged
    wanted = sys.argv[1:]
    for name, frame in frames().items():
        if not wanted or name in wanted:
            told = run(name, frame, 0).items()
            shown = [f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in told]
            print(", ".join(shown), flush=True)
