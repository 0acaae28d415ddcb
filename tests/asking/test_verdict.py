"""Words follow numbers: a table of both, and no words that say more than the numbers do."""

from __future__ import annotations

import itertools

import pytest

import nbr
from nbr.asking import verdict
from nbr.asking.answer import Answer, Bounds

Ends = tuple[float, float]


def answer(
    belief: float | Ends,
    plausibility: float | Ends,
    conflict: float | Ends = 0.0,
    given: str | None = None,
    rules: int = 2,
) -> Answer:
    belief, plausibility, conflict = (
        each if isinstance(each, tuple) else (each, each) for each in (belief, plausibility, conflict)
    )
    exact = all(low == high for low, high in (belief, plausibility, conflict))
    return Answer("q", given, Bounds(belief, plausibility, conflict, "proved"), exact, "lattice", rules, None)


WORDS = [
    (answer(1.0, 1.0), ["Yes: q, because."]),
    (answer(0.9, 1.0), ["Yes: q, because."]),
    (answer(0.89, 1.0), ["Rather yes: q, believed to 0.89, because."]),
    (answer(0.7, 1.0), ["Rather yes: q, believed to 0.70, because."]),
    (answer(0.6, 0.7), ["Rather yes: q, believed to 0.60, because."]),
    (answer(0.6, 0.6), ["Rather yes: q, believed to 0.60, because."]),
    (answer(0.53, 0.55), ["Undecided: evidence for q and against it weigh about the same, 0.53 and 0.45."]),
    (answer(0.45, 0.47), ["Undecided: evidence for q and against it weigh about the same, 0.45 and 0.53."]),
    (answer(0.45, 0.8), ["Undecided: there is more evidence for q, but 0.45 for it and 0.20 against it."]),
    (answer(0.2, 0.55), ["Undecided: there is more evidence against q, but 0.20 for it and 0.45 against it."]),
    (answer(0.4, 1.0), ["Perhaps: q, believed to 0.40, because."]),
    (answer(0.3, 0.9), ["Perhaps: q, believed to 0.30, because."]),
    (answer(0.0, 1.0), ["Not known: nothing supports q to more than 0.00."]),
    (answer(0.1, 0.7), ["Not known: nothing supports q to more than 0.10."]),
    (answer(0.0, 0.4), ["Rather no: q is plausible only to 0.40."]),
    (answer(0.0, 0.1), ["No: q is plausible only to 0.10."]),
    (answer(0.0, 0.0), ["No: q is plausible only to 0.00."]),
    (answer(0.0, 1.0, rules=0), ["Not known: there is no rule that speaks for q or against it."]),
    (answer(1.0, 1.0, rules=0), ["Yes: q, because."]),
    (answer((0.0, 1.0), (0.0, 1.0)), ["Not computed: within the time, all that is sure of q is [0.00, 1.00]."]),
    (answer((0.3, 0.6), (0.6, 0.9)), ["Not computed: within the time, all that is sure of q is [0.30, 0.90]."]),
    (answer((0.92, 0.95), (0.97, 1.0)), ["Yes: q, because."]),
    (
        answer(0.53, 0.55, 0.96),
        [
            "Conflict 0.96: the rules contradict one another, and only 0.04 of the evidence is left to answer from.",
            "By what is left, undecided: evidence for q and against it weigh about the same, 0.53 and 0.45.",
        ],
    ),
    (
        answer(1.0, 1.0, 0.998, "c"),
        [
            "Conflict 0.9980: the rules contradict one another or the condition, "
            "and only 0.002 of the evidence is left to answer from.",
            "By what is left, yes: q, because.",
        ],
    ),
    (
        answer(1.0, 1.0, (0.2, 0.8)),
        ["How far the rules contradict one another was not computed in time: from 0.20 to 0.80.", "Yes: q, because."],
    ),
    (answer(0.95, 1.0, 0.49), ["Yes: q, because."]),
]


@pytest.mark.parametrize(("numbers", "words"), WORDS)
def test_words_follow_numbers(numbers: Answer, words: list[str]) -> None:
    assert verdict.sentences(numbers, ", because") == words


def test_no_words_say_more_than_the_numbers() -> None:
    steps = [step / 20 for step in range(21)]
    for low, high, conflict in itertools.product(steps, steps, (0.0, 0.3, 0.5, 0.97)):
        if low > high:
            continue
        told = verdict.sentences(answer(low, high, conflict))
        assert (conflict >= 0.5) == told[0].startswith("Conflict") == (len(told) == 2)
        said = told[-1].removeprefix("By what is left, ").partition(":")[0].lower()
        assert (said == "yes") == (low >= 0.9)
        assert (said == "no") == (1 - high >= 0.9)
        if said == "rather yes":
            assert low > 0.5
            assert low + high > 1
        if said == "rather no":
            assert high < 0.5
            assert low + high < 1


def test_an_explanation_tells_a_high_conflict_first() -> None:
    rules = [nbr.Clause("x0", 0.98), nbr.Clause("~x0", 0.979), nbr.Clause("x1 -> x0", 0.3)]
    found = nbr.Reasoner(nbr.World.bits(2), rules).explain("x0")
    assert found.answer.conflict == pytest.approx(0.98 * 0.979)
    words = found.words()
    assert words.startswith("Conflict 0.96: the rules contradict one another")
    assert words.index("Rules 1 and 2 contradict each other.") < words.index("By what is left, undecided")
    assert "Yes" not in words


@pytest.mark.parametrize("size", [2, 40])  # listed, and by a solver
@pytest.mark.parametrize("given", [None, "x1"])
def test_without_rules_nothing_is_known_and_nothing_quarrels(size: int, given: str | None) -> None:
    found = nbr.Reasoner(nbr.World.bits(size)).explain("x0", given)
    assert (found.answer.belief, found.answer.plausibility, found.answer.conflict) == (0.0, 1.0, 0.0)
    assert (found.rules, found.supports, found.conflicts) == ((), [], [])
    assert found.words() == "Not known: there is no rule that speaks for x0 or against it."
    assert nbr.Reasoner(nbr.World.bits(size)).explain("x0 | ~x0").words() == "Yes: x0 | ~x0."
