"""Real tables of mixed columns, with no flag: does `fit` take them, in what time, and how likely are held-out rows?

Every model scores the probability of the recorded cell: its value plus or minus half the smallest step of its column.
Beside `fit` stand independent columns, a Gaussian mixture (labels independent of it; 1 to 8 normal curves by BIC) and
one Chow-Liu tree; `fit` is below the best of them where its rows are by more than two standard errors of their paired
differences. Tables are those of scikit-learn, and of statsmodels, palmerpenguins, ISLP, lifelines and causaldata where
these are installed. Writes docs/results/mixed-tables.json; with --processor budgets look at the time of the processor,
for a machine that has other work.

--predict instead has each table's usual target predicted from its other columns (a number: whether it is above its
median of the training rows), by `nbr.Predictor` and by logistic regression, a random forest and gradient boosting of
scikit-learn, all with default settings but for as many iterations as logistic regression needs. The peers get the same
rows: numbers scaled, holes filled with the mean, labels one-hot, where a hole is a label of its own.

    python benchmarks/mixed_tables.py [--samples | --predict] [--processor] [--seeds 3] [NAME ...]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.stats import multivariate_normal
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import nbr
from nbr import clock, priors, tables
from nbr.tables import Table
from nbr.world import Real

STATSMODELS = ("fair", "anes96", "modechoice", "spector", "star98", "randhie", "heart", "longley")
PACKED = {  # files that packages ship: credit, wages, medicine, a survey
    "Credit": ("ISLP", "data/Credit.csv"),
    "Wage": ("ISLP", "data/Wage.csv"),
    "gbsg2": ("lifelines", "datasets/gbsg2.csv"),
    "Cai_2015": ("causaldata", "social_insure/Cai_2015.csv"),
}
RESULTS = Path(__file__).parents[1] / "docs" / "results"
MOST_ROWS = 5000
TARGETS = {  # what is predicted, and columns that say the same in other words
    "iris": ("target", ()),
    "wine": ("target", ()),
    "breast_cancer": ("target", ()),
    "diabetes": ("target", ()),
    "Credit": ("Balance", ("ID",)),
    "Wage": ("wage", ("logwage",)),
    "gbsg2": ("cens", ()),
    "Cai_2015": ("takeup_survey", ()),
    "penguins": ("species", ()),
    "fair": ("affairs", ()),
    "anes96": ("vote", ()),
    "modechoice": ("choice", ()),
    "star98": ("NABOVE", ()),
    "randhie": ("mdvis", ()),
}
LABELS = 10  # different values up to which a target is a label as it is
WORSE = 1.05  # times the best log-loss of the peers, at the most
NORMALS = range(1, 9)
PLACES = 32  # within a cell


def frames() -> Iterator[tuple[str, pd.DataFrame]]:
    """A name and a table, one after the other."""
    for name in ("iris", "wine", "breast_cancer", "diabetes", "linnerud"):
        loaded = getattr(datasets, f"load_{name}")(as_frame=True)
        frame = loaded.frame
        if name in ("iris", "wine", "breast_cancer"):
            frame = frame.assign(target=np.asarray(loaded.target_names)[loaded.target])
        yield name, frame
    for name, (package, file) in PACKED.items():
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            print(f"{package} is not installed", file=sys.stderr)
        else:
            yield name, pd.read_csv(Path(found.origin).parent / file)
    try:
        yield "penguins", importlib.import_module("palmerpenguins").load_penguins()
    except ImportError:
        print("palmerpenguins is not installed", file=sys.stderr)
    for name in STATSMODELS:
        try:
            yield name, importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
        except ImportError:
            print("statsmodels is not installed", file=sys.stderr)
            return


def steps(table: Table) -> torch.Tensor:
    """log of the smallest step of each column of numbers that are not scored as probabilities already; else 0."""
    found = []
    for at, variable in enumerate(table.world.variables.values()):
        values = np.unique(table.codes[:, at][~table.codes[:, at].isnan()].numpy())
        free = isinstance(variable, Real) and not variable.step and len(values) > 1
        found.append(math.log(np.diff(values).min()) if free else 0.0)
    return torch.tensor(found, dtype=torch.float64)


def run(name: str, frame: pd.DataFrame, seed: int = 0) -> dict[str, object]:
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=seed).reset_index(drop=True)
    first = np.random.default_rng(seed).random(len(frame)) < 0.7
    start = clock.now()
    model = nbr.fit(frame[first], seed=seed)
    seconds = clock.now() - start
    world = model.world
    whole, train, test = (tables.read(part, world) for part in (frame, frame[first], frame[~first]))
    size = (torch.where(test.codes.isnan(), 0.0, steps(whole))).sum(dim=1)
    scores = {
        "nbr": model.log_prob(test) + size,
        "independent": priors.marginals(train).log_prob(test.codes) + size,
        "tree": priors.trees(train, 1, seed=seed).log_prob(test.codes) + size,
        "mixture": _normals(train, test, whole, seed),
    }
    figures = {key: round(float(value.mean()), 3) for key, value in scores.items()}
    best = max((key for key in figures if key != "nbr"), key=figures.__getitem__)
    paired = scores["nbr"] - scores[best]
    above, error = float(paired.mean()), float(paired.std()) / len(test) ** 0.5
    return {"table": name, "seed": seed, "rows": len(frame), "columns": len(world), "seconds": round(seconds, 1)} | {
        **figures,
        "best": best,
        "nbr_above_best_by": round(above, 3),
        "error": round(error, 3),
        "within_two_errors": above > -2 * error,
    }


def _normals(train: Table, test: Table, whole: Table, seed: int) -> torch.Tensor:
    """Numbers by normal curves, labels as often as they are.

    A curve may be narrower than the step of a column, and then density times step is more than 1: so curves learn from
    values spread over their steps at random, and a cell is scored by its mean over as many places within it. Holes are
    filled with the mean to learn from, and left out of scores.
    """
    real = [isinstance(variable, Real) for variable in train.world.variables.values()]
    rest = test.codes.clone()
    rest[:, real] = torch.nan
    total = priors.marginals(train).log_prob(rest)
    if not any(real):
        return total
    random = np.random.default_rng(seed)
    mean, spread = np.nanmean(train.codes[:, real], axis=0), np.nanstd(train.codes[:, real], axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    values = [np.unique(column[~np.isnan(column)]) for column in whole.codes[:, real].numpy().T]
    step = np.array([np.diff(each).min() if len(each) > 1 else 1.0 for each in values]) / spread
    seen, asked = ((part.codes[:, real].numpy() - mean) / spread for part in (train, test))
    seen = np.nan_to_num(seen) + step * (random.random(seen.shape) - 0.5)
    fits = [GaussianMixture(n, random_state=seed, reg_covar=1e-4).fit(seen) for n in NORMALS if n < len(seen) / 4]
    best = min(fits, key=lambda each: each.bic(seen))
    places = [_curves(best, asked + step * (random.random(asked.shape) - 0.5)) for _ in range(PLACES)]
    size = np.where(np.isnan(asked), 0.0, np.log(step)).sum(axis=1)
    return total + torch.from_numpy(np.logaddexp.reduce(places, axis=0) - math.log(PLACES) + size)


def _curves(mixture: GaussianMixture, rows: np.ndarray) -> np.ndarray:
    """The log density of rows, holes summed over."""
    found = np.empty(len(rows))
    patterns, member = np.unique(np.isnan(rows), axis=0, return_inverse=True)
    for number, hole in enumerate(patterns):
        mine, seen = member.ravel() == number, ~hole
        parts = [
            math.log(weight) + multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).logpdf(rows[mine][:, seen])
            for weight, mean, cov in zip(mixture.weights_, mixture.means_, mixture.covariances_, strict=True)
        ]
        found[mine] = np.logaddexp.reduce([np.atleast_1d(part) for part in parts], axis=0) if seen.any() else 0.0
    return found


def samples(name: str, frame: pd.DataFrame, seed: int = 0) -> dict[str, object]:
    """Quantiles of samples beside the data's, over its range from the 5th to the 95th of 100; and correlations."""
    model = nbr.fit(frame, seed=seed)
    drawn = tables.read(model.sample(20_000, seed=seed), model.world).codes.numpy()
    codes = tables.read(frame, model.world).codes.numpy()
    shares = [0.05, *np.arange(0.1, 0.95, 0.1), 0.95]
    wanted, found = np.nanquantile(codes, shares, axis=0), np.quantile(drawn, shares, axis=0)
    span = np.maximum(wanted[-1] - wanted[0], 1e-12)
    complete = codes[~np.isnan(codes).any(axis=1)]
    gap = np.abs(np.corrcoef(complete.T) - np.corrcoef(drawn.T))[np.triu_indices(codes.shape[1], 1)]
    real = [isinstance(variable, Real) for variable in model.world.variables.values()]
    return {
        "table": name,
        "worst_quantile": round(float((np.abs(wanted - found) / span)[:, real].max()), 3),
        "correlations_off_by": round(float(gap.mean()), 3),
        "pairs_within_0.1": round(float((gap < 0.1).mean()), 3),
    }


def predict(name: str, frame: pd.DataFrame, seed: int = 0) -> dict[str, object]:
    """The log-loss of a target in rows that were not learned from, by `nbr.Predictor` and by the peers."""
    target, same = TARGETS[name]
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=seed).dropna(subset=[target]).reset_index(drop=True)
    first = np.random.default_rng(seed).random(len(frame)) < 0.7
    y = frame.pop(target)
    if y.nunique() > LABELS:
        y = y > y[first].median()
    y, X = y.map(str).to_numpy(dtype=object), frame.drop(columns=list(same))
    numbers = [column for column in X if pd.api.types.is_numeric_dtype(X[column])]
    words = [column for column in X if column not in numbers]
    X[words] = X[words].astype(object).where(X[words].notna(), None)
    one_hot = OneHotEncoder(handle_unknown="ignore")
    coded = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), one_hot), words),
        sparse_threshold=0,
    )
    peers = {
        "logistic": LogisticRegression(max_iter=5000),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": GradientBoostingClassifier(random_state=seed),
    }
    models = {key: make_pipeline(coded, peer) for key, peer in peers.items()}
    models = {"nbr": nbr.Predictor(random_state=seed, task="classification"), **models}
    losses, right, seconds = {}, {}, {}
    for key, model in models.items():
        start = clock.now()
        model.fit(X[first], y[first])
        seconds[key] = clock.now() - start
        chances = model.predict_proba(X[~first])
        losses[key] = log_loss(y[~first], chances, labels=model.classes_)
        right[key] = float((model.classes_[chances.argmax(axis=1)] == y[~first]).mean())
        seconds[f"{key}, predicting"] = clock.now() - start - seconds[key]
    best = min(peers, key=losses.__getitem__)
    return {
        "table": name,
        "seed": seed,
        "target": target,
        **{key: round(value, 4) for key, value in losses.items()},
        "best": best,
        "over_best": round(losses["nbr"] / losses[best], 3),
        "within": losses["nbr"] <= WORSE * losses[best],
        "right": {key: round(value, 4) for key, value in right.items()},
        "seconds": {key: round(value, 1) for key, value in seconds.items()},
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # normal curves that do not converge
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--samples", action="store_true")
    other.add_argument("--predict", action="store_true")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    if asked.processor:
        clock.now = time.process_time
    ask = samples if asked.samples else predict if asked.predict else run
    path = RESULTS / (f"mixed-tables-{ask.__name__}.json" if ask is not run else "mixed-tables.json")
    known = json.loads(path.read_text()) if path.exists() and asked.names else []
    found = {(row["table"], row.get("seed", 0)): row for row in known}
    for seed in range(asked.seeds):
        for name, frame in frames():
            if (not asked.names or name in asked.names) and (ask is not predict or name in TARGETS):
                found[name, seed] = ask(name, frame, seed)
                print(", ".join(f"{key} {value}" for key, value in found[name, seed].items()), flush=True)
                path.write_text(json.dumps(list(found.values()), indent=1) + "\n")  # a table that stops loses no others
