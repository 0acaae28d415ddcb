"""How likely other density models find held-out rows of bits, and how long they take, on one thread.

A Chow-Liu tree of pgmpy is what one has in a second; a hidden Chow-Liu tree of SPFlow is a circuit of the kind that
leads the published tables. Both learn from train.csv, valid.csv says when to stop, and test.csv is only scored.
Neither learns from rows with holes (SPFlow 1.1.0 scores them, but has no gradient there), so that these are filled by
scikit-learn's IterativeImputer first.
"""

from __future__ import annotations

import copy
import logging
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from measure import Row

HIDDEN, BATCH, RATE = 16, 512, 0.02
EPOCHS, PATIENCE = 300, 10

Bits = np.ndarray
Peer = Callable[[Bits, Bits, Bits], tuple[np.ndarray, str]]


def run(parts: dict[str, Bits], data: str) -> list[Row]:
    """Train each peer on the parts of a table of bits, NaN where a cell is not known."""
    train, valid, test = _filled(parts)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rows: list[Row] = []
    for name, library, peer in PEERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # pgmpy warns of its own imports
            import_module(library)  # not counted
        start = time.perf_counter()
        scores, how = peer(train, valid, test)
        seconds = time.perf_counter() - start
        error = scores.std() / len(scores) ** 0.5
        note = f"test log-likelihood {scores.mean():.3f} (standard error {error:.3f}); {how}"
        rows.append({"name": f"{name}, {data}", "ours_seconds": seconds, "test": scores.mean(), "note": note})
        print(f"{rows[-1]['name']}: {note}, {seconds:.0f} s", flush=True)
    torch.set_num_threads(threads)
    return rows


def _filled(parts: dict[str, Bits]) -> list[Bits]:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    found = [parts[name] for name in ("train", "valid", "test")]
    if np.isnan(found[0]).any():
        filler = IterativeImputer(random_state=0, min_value=0, max_value=1).fit(found[0])
        found = [filler.transform(part).round() for part in found]
    return [part.astype(int) for part in found]


def _chow_liu(train: Bits, valid: Bits, test: Bits) -> tuple[np.ndarray, str]:
    """The best tree, its tables smoothed by pgmpy's default prior (BDeu); there is nothing to choose on valid."""
    import pandas as pd
    from pgmpy.estimators import TreeSearch
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    table = pd.DataFrame(train, columns=[f"x{i}" for i in range(train.shape[1])])
    tree = TreeSearch(table, n_jobs=1).estimate(show_progress=False)
    model = DiscreteBayesianNetwork(tree.edges()).fit(table, DiscreteBayesianEstimator())
    scores = np.zeros(len(test))
    for cpd in model.get_cpds():  # pgmpy scores row by row; a tree is a product of its tables
        scores += np.log(cpd.values[tuple(test[:, table.columns.get_loc(name)] for name in cpd.variables)])
    return scores, f"pgmpy {version('pgmpy')}"


def hidden_chow_liu(train: Bits, valid: Bits) -> tuple[Any, str]:
    """A hidden variable of 16 values behind each bit, trained by Adam until the validation part gains no more."""
    from spflow.zoo.hclt import learn_hclt_binary

    rows, held = (torch.tensor(part, dtype=torch.float32) for part in (train, valid))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        # init="random" of SPFlow 1.1.0 gives every hidden variable a single value: no better than independent bits.
        model = learn_hclt_binary(
            torch.where(rows.isnan(), rows.nanmean(dim=0).round(), rows), num_hidden_cats=HIDDEN, init="uniform"
        )
        optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
        best, best_epoch, weights = -np.inf, 0, {}
        for epoch in range(1, EPOCHS + 1):
            for chosen in torch.randperm(len(rows)).split(BATCH):
                optimiser.zero_grad()
                (-model.log_likelihood(rows[chosen]).mean()).backward()
                optimiser.step()
            with torch.no_grad():
                gained = float(model.log_likelihood(held).mean())
            if gained > best:
                best, best_epoch, weights = gained, epoch, copy.deepcopy(model.state_dict())
            elif epoch - best_epoch >= PATIENCE:
                break
    model.load_state_dict(weights)
    return model, f"spflow {version('spflow')}, {HIDDEN} hidden values, {best_epoch} epochs chosen on valid {best:.3f}"


def _hidden_chow_liu(train: Bits, valid: Bits, test: Bits) -> tuple[np.ndarray, str]:
    model, how = hidden_chow_liu(train, valid)
    with torch.no_grad():
        return model.log_likelihood(torch.tensor(test, dtype=torch.float32)).double().flatten().numpy(), how


PEERS: list[tuple[str, str, Peer]] = [
    ("Chow-Liu tree", "pgmpy.estimators", _chow_liu),
    ("hidden Chow-Liu tree", "spflow.zoo.hclt", _hidden_chow_liu),
]
