"""Rules beside ProbLog: grids of Horn rules, disjoint pairs, and the worked base, where both mean the same.

For definite rules (a head, premises, no negation) the belief of a goal given facts is the probability that it can be
derived, which is ProbLog's success probability. In process, after start-up; ProbLog stops after 60 s.

python benchmarks/rules_beside_problog.py    needs pip install '.[bench]'; prints a table, writes JSON beside it
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import nbr
from nbr.language import expressions as ex

LIMIT = 60.0
EDGE = 0.8
GRIDS = ((4, 5), (5, 5), (6, 6), (7, 7), (8, 8), (10, 10))
CAR = Path(__file__).parents[1] / "examples" / "car.toml"
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "rules-beside-problog.json"

Horn = tuple[tuple[str, ...], str, float]  # premises, head, belief


def grid(rows: int, columns: int) -> tuple[list[Horn], list[str], str]:
    """From the first corner to the last, right and down; every edge exists with the same probability."""
    rules: list[Horn] = []
    for i in range(rows):
        for j in range(columns):
            if j + 1 < columns:
                rules.append(((f"n{i}_{j}",), f"n{i}_{j + 1}", EDGE))
            if i + 1 < rows:
                rules.append(((f"n{i}_{j}",), f"n{i + 1}_{j}", EDGE))
    return rules, ["n0_0"], f"n{rows - 1}_{columns - 1}"


def pairs(count: int) -> tuple[list[Horn], list[str], str]:
    """Pairs that have nothing to do with each other; the question is about one."""
    rules = [((f"a{i}",), f"b{i}", 0.5 + i / 50) for i in range(count)]
    rules += [((f"c{i}",), f"b{i}", 0.4) for i in range(count)]
    return rules, [f"{letter}{i}" for i in range(count) for letter in "ac"], "b7"


def definite(reasoner: nbr.Reasoner) -> list[Horn]:
    """The rules of a model that conclude one thing from things that are so; a label of a choice counts as a thing."""
    found: list[Horn] = []
    for rule in reasoner.rules:
        said = rule.at_least(1.0)
        if not isinstance(said, ex.Implies) or not isinstance(said.conclusion, ex.Atom):
            continue
        premises = said.premise.parts if isinstance(said.premise, ex.And) else (said.premise,)
        if all(map(_thing, premises)) and _thing(said.conclusion):
            found.append((tuple(str(part) for part in premises), str(said.conclusion), rule.degree))
    return found


def _thing(part: ex.Expression) -> bool:
    return isinstance(part, ex.Atom) and part.operator in ("", "=")


def ours(rules: Sequence[Horn], facts: Sequence[str], goal: str) -> tuple[nbr.Answer, float]:
    names = {name: f"v{number}" for number, name in enumerate(_names(rules, facts, goal))}
    world = nbr.World({short: nbr.Bit() for short in names.values()})
    said = [nbr.Clause(f"{' & '.join(names[p] for p in body)} -> {names[head]}", b) for body, head, b in rules]
    reasoner = nbr.Reasoner(world, said)
    began = time.perf_counter()
    answer = reasoner.ask(names[goal], given=", ".join(names[fact] for fact in facts), budget=10)
    return answer, time.perf_counter() - began


def theirs(rules: Sequence[Horn], facts: Sequence[str], goal: str) -> tuple[float | None, float]:
    """ProbLog in a process of its own, so that it can be stopped; the time is its own, without start-up."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_problog, args=(program(rules, facts, goal), there))
    process.start()
    try:
        if here.recv() == "ready" and here.poll(LIMIT):
            found: tuple[float, float] = here.recv()
            return found
        return None, LIMIT
    finally:
        process.kill()
        process.join()


def program(rules: Sequence[Horn], facts: Sequence[str], goal: str) -> str:
    names = {name: f"v{number}" for number, name in enumerate(_names(rules, facts, goal))}
    lines = [f"{names[fact]}." for fact in facts]
    lines += [f"{belief}::{names[head]} :- {', '.join(names[part] for part in body)}." for body, head, belief in rules]
    heads = {head for _, head, _ in rules} | set(facts)
    lines += [f"{short} :- fail." for name, short in names.items() if name not in heads]
    return "\n".join([*lines, f"query({names[goal]})."])


def _problog(text: str, there) -> None:  # type: ignore[no-untyped-def]
    from problog import get_evaluatable
    from problog.program import PrologString

    get_evaluatable().create_from(PrologString("0.5::a. query(a).")).evaluate()  # start-up
    there.send("ready")
    began = time.perf_counter()
    (value,) = get_evaluatable().create_from(PrologString(text)).evaluate().values()
    there.send((float(value), time.perf_counter() - began))


def _names(rules: Sequence[Horn], facts: Sequence[str], goal: str) -> list[str]:
    words = [word for body, head, _ in rules for word in (*body, head)]
    return list(dict.fromkeys([*words, *facts, goal]))


def cases() -> list[tuple[str, list[Horn], list[str], str]]:
    found = [(f"grid {rows} x {columns}", *grid(rows, columns)) for rows, columns in GRIDS]
    found.append(("20 disjoint pairs", *pairs(20)))
    car = nbr.load(CAR)
    assert isinstance(car, nbr.Reasoner)
    rules = definite(car)
    seen = {word for body, _, _ in rules for word in body}
    for facts, goal in (
        (["code=P0335", "crank=normal", "spark=none"], "bad[crank sensor]"),
        (["cold", "crank=slow", "sound=grinding", "tap_helps"], "bad[starter]"),
        (["compression=none", "crank=fast"], "bad[timing belt]"),
    ):
        known = [fact for fact in facts if fact in seen]
        found.append((f"car: {goal} | {', '.join(known)}", rules, known, goal))
    return found


def main() -> int:
    rows, missed = [], []
    ours(*grid(4, 4))  # start-up of the counter
    print(f"{'':<58}{'nbr':>22}{'s':>8}{'ProbLog':>12}{'s':>8}")
    for name, rules, facts, goal in cases():
        answer, seconds = ours(rules, facts, goal)
        value, their_seconds = theirs(rules, facts, goal)
        low, high = answer.bounds.belief
        agrees = None if value is None else low - 1e-6 <= value <= high + 1e-6
        in_time = seconds <= max(1.0, 5 * their_seconds) if value is not None else high - low <= 0.02
        missed += [] if agrees is not False and in_time else [name]
        shown = f"{low:.6f}" if low == high else f"{low:.4f} to {high:.4f}"
        other = "over 60 s" if value is None else f"{value:.6f}"
        print(f"{name:<58}{shown:>22}{seconds:>8.2f}{other:>12}{their_seconds:>8.2f}", flush=True)
        row = {
            "case": name,
            "rules": len(rules),
            "belief": [low, high],
            "kind": answer.bounds.kind,
            "exact": answer.exact,
        }
        row |= {
            "engine": answer.engine,
            "seconds": round(seconds, 3),
            "problog": value,
            "problog_seconds": round(their_seconds, 3),
        }
        rows.append({**row, "agrees": agrees, "met": agrees is not False and in_time})
    RESULTS.write_text(re.sub(r",\n\s+(?=[\d.])", ", ", json.dumps(rows, indent=1)) + "\n")
    print(f"missed: {', '.join(missed) or 'no target'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
