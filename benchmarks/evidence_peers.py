"""How quickly 2,632 simple support functions on two labels are combined, beside other libraries.

Every library gets its sources ready-made and combines them by the quickest way it documents, on one thread.
Weights of support stay below 0.01: with more evidence pybelief and evtools-dst lose the answer in
1 - conflict (nearly 1 - 1), and could not be compared to 1e-9.
"""

from collections.abc import Callable
from functools import partial, reduce

import numpy as np
import torch

from measure import Row, best, rival
from nbr import evidence

SOURCES, CASES = 2632, 1000
FRAME = ["a", "b"]


def run() -> list[Row]:
    """Measure ours on a batch of 1,000 cases and theirs case by case; the answers must agree to 1e-9."""
    generator = torch.Generator().manual_seed(0)
    subsets = torch.randint(1, 3, (SOURCES,), generator=generator)
    support = torch.rand(CASES, SOURCES, generator=generator, dtype=torch.float64) * 0.01
    ours = partial(evidence.separable_support, subsets, support, labels=2)
    answers = ours()
    ours_seconds = best(ours) / CASES

    rows: list[Row] = []
    for name, prepare, target, note in PEERS:
        combines = [prepare(subsets.tolist(), support[i].tolist()) for i in range(3)]
        for combine, answer in zip(combines, answers.tolist(), strict=False):
            assert np.allclose(combine(), answer, rtol=0, atol=1e-9), name
        rows.append(rival(name, ours_seconds, min(map(best, combines)), target, note))

    masses = evidence.simple_support(subsets, support, labels=2)
    general = partial(evidence.dempster, masses)
    assert torch.allclose(general(), answers, rtol=0, atol=1e-9)
    general_seconds = best(general) / CASES
    note = "ours from the (1000, 2632, 4) tensor of masses, not from weights of support; " + PEERS[0][-1]
    rows.append(rival(f"{PEERS[0][0]}, from stacked masses", general_seconds, rows[0]["theirs_seconds"], None, note))
    return rows


def _pybelief(subsets: list[int], support: list[float]) -> Callable[[], list[float]]:
    from pybelief import MassFunction

    sources = [MassFunction(FRAME, {a: s, 3: 1 - s}) for a, s in zip(subsets, support, strict=True)]

    def combine() -> list[float]:
        together = reduce(MassFunction.combine_conjunctive, sources)
        together = together.combine_dempster(MassFunction.vacuous(FRAME))
        return [together[subset] for subset in range(4)]

    return combine


def _evtools(subsets: list[int], support: list[float]) -> Callable[[], list[float]]:
    from evtools.combinations import crc, dempster
    from evtools.dsvector import DSVector

    names = {1: frozenset("a"), 2: frozenset("b")}
    sources = [DSVector.simple(FRAME, names[a], 1 - s) for a, s in zip(subsets, support, strict=True)]
    vacuous = DSVector.simple(FRAME, frozenset(FRAME), 1.0)
    return lambda: list(dempster(reduce(crc, sources), vacuous).dense)


def _evtools_weights(subsets: list[int], support: list[float]) -> Callable[[], list[float]]:
    from evtools.conversions import wtom

    doubt, first = 1 - np.array(support), np.array(subsets) == 1

    def combine() -> list[float]:
        mass = wtom(np.array([1, doubt[first].prod(), doubt[~first].prod(), 1]))
        mass[0] = 0
        return list(mass / mass.sum())

    return combine


def _pyds(subsets: list[int], support: list[float]) -> Callable[[], list[float]]:
    import pyds

    sources = [pyds.MassFunction({" ab"[a]: s, "ab": 1 - s}) for a, s in zip(subsets, support, strict=True)]

    def combine() -> list[float]:
        together = sources[0].combine_conjunctive(sources[1:])
        return [0.0, together["a"], together["b"], together["ab"]]

    return combine


Prepare = Callable[[list[int], list[float]], Callable[[], list[float]]]
PEERS: list[tuple[str, Prepare, float | None, str]] = [
    ("pybelief 0.1.0", _pybelief, 1000, "combine_conjunctive source by source, normalised once at the end"),
    ("evtools-dst 0.27.1", _evtools, 1000, "crc (sparse) source by source, normalised once at the end"),
    ("pyds (py_dempster_shafer 0.7)", _pyds, 1000, "one combine_conjunctive call with the list of sources"),
    (
        "evtools-dst 0.27.1, by hand",
        _evtools_weights,
        None,
        "the user multiplies weights in numpy, evtools' wtom does the rest: only for simple supports",
    ),
]
