"""Two tables that share columns but no rows: what follows from both, and what they leave open.

The breast cancer data of scikit-learn, each measurement cut at its median. Half of the patients have a diagnosis
and no symmetry, the other half symmetry and no diagnosis. The full table is kept back to check the answers.

    python examples/two_tables.py               needs scikit-learn; pgmpy, where it is installed, stands beside
    python examples/two_tables.py 3 marginals   another split, another prior
"""

import sys
import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer

import nbr

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # pgmpy warns of its own imports
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator
except ModuleNotFoundError:
    VariableElimination = None

SHARED = ["radius", "texture", "concavity", "smoothness"]
ACROSS = {
    "symmetry": [
        *["malignant", "malignant, smoothness", "malignant, ~smoothness", "malignant, ~concavity"],
        *["~malignant", "~malignant, concavity"],
    ],
    "malignant": ["symmetry", "~symmetry"],
}
WITHIN = {
    "malignant": ["radius, concavity", "~radius, ~concavity", "true"],
    "symmetry": ["concavity, smoothness", "~concavity, ~smoothness", "true"],
}


def main() -> None:
    full = patients()
    seed, prior = int((sys.argv[1:] or ["0"])[0]), (sys.argv[2:] or ["auto"])[0]
    first, second = np.array_split(np.random.default_rng(seed).permutation(len(full)), 2)
    a, b = full.iloc[first][["malignant", *SHARED]], full.iloc[second][["symmetry", *SHARED]]
    start = time.perf_counter()
    model = nbr.fit([a, b], prior=prior, confidence=None)
    print(f"{len(a)} rows with a diagnosis, {len(b)} with symmetry, {len(SHARED)} columns in both")
    print(f"fitted in {time.perf_counter() - start:.1f} s: {model}")
    for title, questions in (("across the tables", ACROSS), ("within one table", WITHIN)):
        head = "how often  open          widened       rules support  truth (95%, n)"
        print(f"\n{title:<36}{head}" + ("" if VariableElimination is None else "  pgmpy"))
        lines = [told(model, full, a, b, q, c) for q, conditions in questions.items() for c in conditions]
        print("\n".join(line for line, _ in lines))
        settled = all(figures["its width"] == 0 for _, figures in lines)  # then no range can be judged
        keys = [key for key in lines[0][1] if not settled or "off by" in key or "support" in key]
        print("mean: " + ", ".join(f"{key} {np.mean([each[key] for _, each in lines]):.3f}" for key in keys))


def told(
    model: nbr.Reasoner, full: pd.DataFrame, a: pd.DataFrame, b: pd.DataFrame, question: str, condition: str
) -> tuple[str, dict[str, float]]:
    """A line with the three answers beside the truth, and figures to take the mean of."""
    given = bits(condition)
    often, answer = model.probability(question, condition), model.ask(question, given=condition)
    assert often.open is not None
    assert often.widened is not None
    (low, high), (least, most) = often.open, often.widened
    rows = matching(full, given)[question]
    truth, (under, over) = rows.mean(), binomtest(int(rows.sum()), len(rows)).proportion_ci(method="wilson")
    peer = network(a, b, question, given)
    line = (
        f"{question + ' | ' + condition:<36}{often.value:.2f}       [{low:.2f}, {high:.2f}]  [{least:.2f}, {most:.2f}]"
        f"  [{answer.belief:.2f}, {answer.plausibility:.2f}]   {truth:.2f} ({under:.2f} to {over:.2f}, {len(rows)})"
    )
    figures = {
        "how often is off by": abs(often.value - truth),
        "open holds the truth": low <= truth <= high,
        "its width": high - low,
        "widened holds it": least <= truth <= most,
        "its width, widened": most - least,
        "what rules support holds it": answer.belief <= truth <= answer.plausibility,
    }
    return line + ("" if peer is None else f"  {peer:.2f}"), figures | (
        {} if peer is None else {"pgmpy is off by": abs(peer - truth)}
    )


def patients() -> pd.DataFrame:
    """569 patients, six bits: malignant, and whether each mean measurement lies above the median of all."""
    raw = load_breast_cancer(as_frame=True)
    high = {name: raw.data[f"mean {name}"] > raw.data[f"mean {name}"].median() for name in [*SHARED, "symmetry"]}
    return pd.DataFrame({"malignant": raw.target == 0, **high}).astype(int)


def bits(condition: str) -> dict[str, int]:
    return {part.strip(" ~"): int("~" not in part) for part in condition.split(",") if part != "true"}


def matching(table: pd.DataFrame, given: dict[str, int]) -> pd.DataFrame:
    return table[(table[list(given)] == pd.Series(given, dtype=int)).all(axis=1)]


def network(a: pd.DataFrame, b: pd.DataFrame, question: str, given: dict[str, int]) -> float | None:
    """What pgmpy says, where it is installed."""
    if VariableElimination is None:
        return None
    asked = VariableElimination(bayesian_network(a, b)).query([question], given, show_progress=False)
    return float(asked.values[1])


def bayesian_network(a: pd.DataFrame, b: pd.DataFrame) -> "DiscreteBayesianNetwork":
    """All shared columns are parents of malignant and of symmetry, which are then independent given them.

    pgmpy's EM drops every row with a hole, which here is every row. With this structure it is not needed: each
    conditional table is seen whole in one of the tables, so each is estimated where it is seen.
    """
    parts = [
        (pd.concat([a[SHARED], b[SHARED]]), list(combinations(SHARED, 2)), SHARED),
        (a, [(name, "malignant") for name in SHARED], ["malignant"]),
        (b, [(name, "symmetry") for name in SHARED], ["symmetry"]),
    ]
    whole = DiscreteBayesianNetwork([edge for _, edges, _ in parts for edge in edges])
    for table, edges, nodes in parts:
        part = DiscreteBayesianNetwork(edges).fit(table.reset_index(drop=True), DiscreteBayesianEstimator())
        whole.add_cpds(*[part.get_cpds(node) for node in nodes])
    return whole


if __name__ == "__main__":
    main()
