"""Two tables that share columns but no rows: what follows from both, and what they leave open.

The breast cancer data of scikit-learn, each measurement cut at its median. Half of the patients have a diagnosis
and no symmetry, the other half symmetry and no diagnosis. The full table is kept back to check the answers.

    python examples/two_tables.py               needs scikit-learn and pgmpy
    python examples/two_tables.py 3 uniform     another split, another prior
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

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # pgmpy warns of its own imports
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

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
    seed, prior = int((sys.argv[1:] or ["0"])[0]), (sys.argv[2:] or ["marginals"])[0]
    first, second = np.array_split(np.random.default_rng(seed).permutation(len(full)), 2)
    a, b = full.iloc[first][["malignant", *SHARED]], full.iloc[second][["symmetry", *SHARED]]
    start = time.perf_counter()
    model = nbr.fit([a, b], prior=prior)
    print(f"{len(a)} rows with a diagnosis, {len(b)} with symmetry, {len(SHARED)} columns in both")
    print(f"fitted in {time.perf_counter() - start:.1f} s: {model}")
    for rule in model.rules:
        print(f"  belief {rule.degree:.2f} in a rule on {', '.join(rule.inputs)}")
    network = VariableElimination(bayesian_network(a, b))
    for title, questions in (("across the tables", ACROSS), ("within one table", WITHIN)):
        print(f"\n{title:<40}NBR             conflict  P     pgmpy  open          truth (95%, n)")
        for question, condition in ((q, c) for q, conditions in questions.items() for c in conditions):
            given = bits(condition)
            answer = model.ask(question, given=condition)
            open_low, open_high = left_open(a, b, question, given)
            rows = matching(full, given)[question]
            low, high = binomtest(int(rows.sum()), len(rows)).proportion_ci(method="wilson")
            inside = answer.belief <= rows.mean() <= answer.plausibility
            print(
                f"{question + ' | ' + condition:<40}[{answer.belief:.2f}, {answer.plausibility:.2f}]"
                f"    {answer.conflict:.2f}      {probability(model, question, given):.2f}"
                f"  {network.query([question], given, show_progress=False).values[1]:.2f}"
                f"   [{open_low:.2f}, {open_high:.2f}]  {rows.mean():.2f} ({low:.2f} to {high:.2f}, {len(rows)})"
                f"{'' if inside else '  outside NBR'}"
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


def probability(model: nbr.Reasoner, question: str, given: dict[str, int]) -> float:
    """P(question | given) of the model's distribution, prior times rules: rows with holes are summed over."""
    rows = pd.DataFrame([{**given, question: value} for value in (1, 0)]).reindex(columns=list(model.world.names))
    yes, no = model.log_prob(rows).exp().tolist()
    return yes / (yes + no)


def bayesian_network(a: pd.DataFrame, b: pd.DataFrame) -> DiscreteBayesianNetwork:
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


def left_open(a: pd.DataFrame, b: pd.DataFrame, question: str, given: dict[str, int]) -> tuple[float, float]:
    """The lowest and highest frequency that any joint table with these two as its parts could have.

    Within each of the 16 patterns of shared columns the tables fix how many are malignant and how many symmetric;
    how the two overlap is open between the bounds of Frechet. Frequencies are taken as if they were exact.
    """
    weight = matching(pd.concat([a, b]), {name: given[name] for name in given if name in SHARED}).groupby(SHARED).size()
    rate = {
        name: table.groupby(SHARED)[name].mean().reindex(weight.index).fillna(table[name].mean())
        for table, name in ((a, "malignant"), (b, "symmetry"))
    }
    yes, held = rate[question], weight * 0 + 1.0
    for other in set(given) - set(SHARED):
        held = rate[other] if given[other] else 1 - rate[other]
    low, high = (yes + held - 1).clip(0), np.minimum(yes, held)
    return float(weight @ low / (weight @ held)), float(weight @ high / (weight @ held))


if __name__ == "__main__":
    main()
