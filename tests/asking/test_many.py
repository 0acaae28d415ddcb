"""Many questions at once are the same as one after the other."""

from __future__ import annotations

import pytest

import nbr
import rule_bases


@pytest.mark.parametrize("seed", range(8))
def test_many_questions_are_the_single_ones(seed: int) -> None:
    model, question, given = rule_bases.mixed(seed, rules=5)
    asked: list[tuple[str, str | None]] = []
    for words in (question, "x0", "~x0 | x1", "true"):
        for condition in (None, given, "x1"):
            try:
                model.ask(words, condition)
            except nbr.NbrError:
                continue
            asked.append((words, condition))
    table = model.ask_many(asked)
    assert len(table) == len(asked)
    for row, (words, condition) in zip(table.itertuples(), asked, strict=True):
        single = model.ask(words, condition)
        assert (row.belief, row.plausibility, row.conflict) == pytest.approx(
            (single.belief, single.plausibility, single.conflict), abs=1e-9
        )


def test_questions_without_a_condition_may_be_plain_text() -> None:
    model = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", 0.9)])
    table = model.ask_many(["x1", ("x1", "x0")])
    assert table["belief"].tolist() == pytest.approx([0.0, 0.9])
    assert table["given"].tolist()[1] == "x0"


def test_an_impossible_condition_is_named() -> None:
    model = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0", 1.0)])
    with pytest.raises(nbr.NbrError, match="condition contradicts rule 1"):
        model.ask_many([("x1", None), ("x1", "~x0")])


def test_observations_one_at_a_time() -> None:
    model = rule_bases.clauses(3, 12, 20, 4)
    session = model.given("x0").given("~x1")
    assert session.ask("x2") == model.ask("x2", "x0, ~x1").__class__(
        **{**vars(model.ask("x2", "x0, ~x1")), "given": "x0 & ~x1"}
    )
    with pytest.raises(nbr.NbrError, match="unknown variable"):
        session.given("y")


def test_a_shared_memory_changes_no_answer() -> None:
    pytest.importorskip("pyganak")
    model = rule_bases.clauses(3, 24, 33, 8)
    session = model.given("x1")
    for name in ("x0", "x2", "x3", "x0 | x4"):
        shared, alone = session.ask(name), model.ask(name, "x1")
        assert (shared.belief, shared.plausibility, shared.conflict) == pytest.approx(
            (alone.belief, alone.plausibility, alone.conflict), abs=1e-9
        )
