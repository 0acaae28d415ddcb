"""ProbLog programs by `nbr import`, beside ProbLog: the same probabilities, and the time of each.

    python benchmarks/closed_beside_problog.py            # 20 programs written here, 5 with variables, 200 random ones
    python benchmarks/closed_beside_problog.py --random 50 --seed 1000

A program is text that ProbLog reads; we read the .toml that `nbr import` makes of it, with what was observed among its
rules, and ask for belief, plausibility and probability. Programs with variables are grounded by ProbLog's package on
the way. Times are of the question alone, after reading, with nothing kept from others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbr
from nbr.app.importing.command import imported

Body = list[tuple[str, bool]]
Clause = tuple[list[tuple[float, str]], Body]


@dataclass(frozen=True)
class Program:
    """Clauses, what is asked, and what was observed."""

    name: str
    clauses: list[Clause]
    queries: list[str]
    evidence: Body

    @property
    def text(self) -> str:
        """As ProbLog reads it."""
        lines = []
        for heads, body in self.clauses:
            said = "; ".join(f"{chance:.17g}::{head}" for chance, head in heads)
            reasons = ", ".join(atom if kept else f"\\+{atom}" for atom, kept in body)
            lines.append(f"{said}{' :- ' + reasons if reasons else ''}.")
        lines += [f"{atom} :- fail." for atom in sorted(self.atoms)]  # an atom without a clause is an error there
        lines += [f"evidence({atom}, {'true' if kept else 'false'})." for atom, kept in self.evidence]
        return "\n".join([*lines, *(f"query({atom})." for atom in self.queries)])

    @property
    def atoms(self) -> set[str]:
        """All that is named."""
        said = {head for heads, _ in self.clauses for _, head in heads}
        return (
            said
            | {atom for _, body in self.clauses for atom, _ in body}
            | set(self.queries)
            | {atom for atom, _ in self.evidence}
        )


@dataclass(frozen=True)
class Lifted:
    """A program with variables, which has to be grounded."""

    name: str
    text: str


def fact(chance: float, head: str) -> Clause:
    return [(chance, head)], []


def clause(head: str, *body: str, chance: float = 1.0) -> Clause:
    return [(chance, head)], [(atom.removeprefix("-"), not atom.startswith("-")) for atom in body]


def paths(name: str, edges: list[tuple[int, int]], chance: float, evidence: Body) -> Program:
    """Which places can be reached from the first, along edges that may be missing: cycles everywhere."""
    clauses = [fact(1.0, "r0")]
    for one, other in edges:
        clauses += [fact(chance, f"e{one}_{other}"), clause(f"r{other}", f"r{one}", f"e{one}_{other}")]
    last = max(max(edge) for edge in edges)
    return Program(name, clauses, [f"r{last}", f"r{last // 2}", "e0_1"], evidence)


def smokers(name: str, count: int, friends: list[tuple[int, int]], evidence: Body) -> Program:
    """Stress makes smoke, and so do friends who smoke."""
    clauses: list[Clause] = []
    for person in range(count):
        clauses += [fact(0.3, f"stress{person}"), clause(f"smokes{person}", f"stress{person}")]
        clauses += [clause(f"asthma{person}", f"smokes{person}", chance=0.4)]
    for one, other in friends:
        for each, by in ((one, other), (other, one)):
            clauses += [fact(0.2, f"sways{by}_{each}"), clause(f"smokes{each}", f"smokes{by}", f"sways{by}_{each}")]
    return Program(name, clauses, ["smokes0", f"asthma{count - 1}", "stress1"], evidence)


def grid(width: int) -> list[tuple[int, int]]:
    """Neighbours on a square, both ways."""
    found = []
    for row, column in itertools.product(range(width), repeat=2):
        place = row * width + column
        found += [(place, place + 1), (place + 1, place)] if column + 1 < width else []
        found += [(place, place + width), (place + width, place)] if row + 1 < width else []
    return found


def written() -> list[Program]:
    """Twenty programs."""
    ring = [(at, (at + 1) % 6) for at in range(6)]
    every = [(one, other) for one in range(4) for other in range(4) if one != other]
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)]
    alarm = [
        *(fact(0.1, "burglary"), fact(0.2, "earthquake")),
        *(
            clause("alarm", "burglary", "earthquake", chance=0.9),
            clause("alarm", "burglary", "-earthquake", chance=0.8),
        ),
        *(clause("alarm", "-burglary", "earthquake", chance=0.1), clause("mary", "alarm", chance=0.7)),
        *(clause("john", "alarm", chance=0.8), clause("john", "-alarm", chance=0.05)),
    ]
    dice: list[Clause] = [
        ([(1 / 6, f"d{face}") for face in range(1, 7)], []),
        clause("even", "d2"),
        clause("even", "d4"),
    ]
    dice += [clause("even", "d6"), clause("high", "d5"), clause("high", "d6"), clause("odd", "-even")]
    weather: list[Clause] = [
        ([(0.5, "sun0"), (0.3, "cloud0"), (0.2, "rain0")], []),
        *(
            ([(0.7, f"sun{d + 1}"), (0.2, f"cloud{d + 1}"), (0.1, f"rain{d + 1}")], [(f"sun{d}", True)])
            for d in range(3)
        ),
        *(([(0.3, f"sun{d + 1}"), (0.7, f"rain{d + 1}")], [(f"cloud{d}", True)]) for d in range(3)),
        *(([(0.4, f"cloud{d + 1}"), (0.6, f"rain{d + 1}")], [(f"rain{d}", True)]) for d in range(3)),
    ]
    birds = [
        *(fact(0.9, "bird"), clause("penguin", "bird", chance=0.1), clause("flies", "bird", "-penguin", chance=0.8)),
        *(clause("walks", "-flies", chance=0.9), clause("seen", "flies"), clause("seen", "walks", chance=0.5)),
    ]
    power = [fact(0.05, f"broken{at}") for at in range(5)] + [fact(0.99, "on0")]
    power += [clause(f"on{at + 1}", f"on{at}", f"-broken{at}") for at in range(5)] + [clause("dark", "-on5")]
    coins = [fact(0.5, f"h{at}") for at in range(4)] + [clause("all", "h0", "h1", "h2", "h3"), clause("some", "h0")]
    coins += [clause("some", f"h{at}") for at in (1, 2, 3)] + [clause("none", "-some"), clause("mixed", "some", "-all")]
    return [
        paths("ring", ring, 0.6, []),
        paths("ring, seen from the middle", ring, 0.6, [("r3", True)]),
        paths("everyone with everyone", every, 0.3, []),
        paths("everyone, not the last", every, 0.3, [("r3", False)]),
        paths("grid of 3 x 3", grid(3), 0.4, []),
        paths("grid of 3 x 3, the corner reached", grid(3), 0.4, [("r8", True)]),
        smokers("four smokers", 4, pairs, []),
        smokers("four smokers, one with asthma", 4, pairs, [("asthma3", True)]),
        smokers("six smokers", 6, [*pairs, (4, 5), (3, 4)], [("smokes2", True), ("smokes5", False)]),
        Program("alarm", alarm, ["burglary", "john"], []),
        Program("alarm, both call", alarm, ["burglary", "earthquake"], [("john", True), ("mary", True)]),
        Program("alarm, one calls", alarm, ["alarm"], [("john", True), ("mary", False)]),
        Program("dice", dice, ["even", "high", "odd"], []),
        Program("dice, high", dice, ["even", "d6"], [("high", True)]),
        Program("weather", weather, ["rain3", "sun2"], []),
        Program("weather, rain at the end", weather, ["sun0", "rain1"], [("rain3", True)]),
        Program("birds", birds, ["flies", "walks"], []),
        Program("birds, seen", birds, ["penguin", "flies"], [("seen", True)]),
        Program("power", power, ["broken2", "on5"], [("dark", True)]),
        Program("coins", coins, ["mixed", "h0"], [("none", False)]),
    ]


def drawn(seed: int) -> Program:
    """A random program in layers: what is denied is of an earlier layer, so that no loop goes through a negation."""
    draw = random.Random(seed)
    layers = [[f"a{layer}_{at}" for at in range(draw.randint(2, 4))] for layer in range(3)]
    clauses: list[Clause] = []
    for number, layer in enumerate(layers):
        before = [atom for each in layers[:number] for atom in each]
        for _ in range(draw.randint(3, 6)):
            body = [(atom, True) for atom in draw.sample(layer, draw.randint(0, min(2, len(layer))))]
            body += [(atom, draw.random() < 0.5) for atom in draw.sample(before, min(len(before), draw.randint(0, 2)))]
            heads = draw.sample(layer, draw.choice([1, 1, 1, 2]))
            shares = [draw.uniform(0.1, 0.9) / len(heads) for _ in heads]
            chances = [1.0] if len(heads) == 1 and body and draw.random() < 0.3 else shares
            clauses.append((list(zip(chances, heads, strict=True)), body))
    atoms = sorted({head for heads, _ in clauses for _, head in heads})
    evidence = [(atom, draw.random() < 0.5) for atom in draw.sample(atoms, draw.randint(0, 2))]
    return Program(f"random {seed}", clauses, draw.sample(atoms, min(3, len(atoms))), evidence)


def lifted() -> list[Lifted]:
    """Five programs with variables, lists and numbers."""
    smoke = """
        0.3::stress(X) :- person(X).
        0.2::influences(X, Y) :- friend(X, Y).
        smokes(X) :- stress(X).
        smokes(X) :- friend(X, Y), influences(Y, X), smokes(Y).
        0.4::asthma(X); 0.1::cough(X) :- smokes(X).
        healthy(X) :- person(X), \\+asthma(X), \\+cough(X).
        person(X) :- friend(X, _).
        friend(ann, bob). friend(bob, ann). friend(bob, carl). friend(carl, bob). friend(carl, ann).
    """
    reach = """
        0.6::edge(1, 2). 0.5::edge(2, 3). 0.4::edge(3, 1). 0.7::edge(3, 4). 0.3::edge(1, 4). 0.2::edge(4, 2).
        path(X, Y) :- edge(X, Y).
        path(X, Y) :- edge(X, Z), path(Z, Y).
        0.1::cut(X) :- edge(X, _), \\+edge(X, 4).
    """
    return [
        Lifted("smokers, lifted", f"{smoke} query(smokes(_)). query(healthy(ann))."),
        Lifted(
            "smokers, lifted, seen", f"{smoke} evidence(asthma(bob)). evidence(cough(ann), false). query(smokes(_))."
        ),
        Lifted("paths, lifted", f"{reach} query(path(1, _)). query(cut(_))."),
        Lifted("paths, lifted, seen", f"{reach} evidence(path(1, 4)). evidence(\\+path(2, 1)). query(edge(_, _))."),
        Lifted(
            "urns, with lists and numbers",
            """
            :- use_module(library(lists)).
            P::colour(B, red); Q::colour(B, green); 0.2::colour(B, blue) :- ball(B), P is 0.1 * B, Q is 0.8 - P.
            ball(B) :- between(1, 4, B).
            same(B, C) :- ball(B), ball(C), B < C, member(K, [red, green, blue]), colour(B, K), colour(C, K).
            pair :- same(_, _).
            evidence(colour(2, red)). query(pair). query(same(1, 2)). query(colour(4, _)).
            """,
        ),
    ]


class Refused(Exception):
    """ProbLog does not take a program."""


def by_problog(program: Program | Lifted) -> tuple[dict[str, float] | None, float]:
    from problog import get_evaluatable
    from problog.errors import InconsistentEvidenceError
    from problog.eval_nodes import NegativeCycle
    from problog.program import PrologString

    text = PrologString(program.text)
    start = time.perf_counter()
    try:
        found = get_evaluatable().create_from(text).evaluate()
    except InconsistentEvidenceError:
        return None, time.perf_counter() - start
    except NegativeCycle:  # it sees some where there are none: a denied atom of an earlier layer, met twice
        raise Refused from None
    return {str(atom).replace(" ", ""): float(value) for atom, value in found.items()}, time.perf_counter() - start


def by_us(program: Program | Lifted) -> tuple[dict[str, tuple[float, float, float]] | None, float]:
    """Belief, plausibility and probability of each query, of the model that was imported."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "program.pl"), Path(folder, "program.toml")
        source.write_text(program.text)
        with contextlib.redirect_stdout(io.StringIO()) as told:
            imported(source, output, as_json=True)
        model = nbr.load(output)
    queries = json.loads(told.getvalue())["queries"]
    start = time.perf_counter()
    try:
        asked = {query: model.ask(query) for query in queries}
    except nbr.NbrError as error:
        assert "cannot" in str(error), error
        return None, time.perf_counter() - start
    seconds = time.perf_counter() - start
    often = {query: model.probability(query).value for query in queries}
    return {
        query.replace("[", "(").replace("]", ")"): (a.belief, a.plausibility, often[query] or 0.0)
        for query, a in asked.items()
    }, seconds


def compared(programs: Sequence[Program | Lifted], show: bool) -> None:
    worst, wrong, unlikely, refused, ours, theirs = 0.0, 0, 0, 0, [], []
    for program in programs:
        try:
            (expected, slow), (found, quick) = by_problog(program), by_us(program)
        except Refused:
            refused += 1
            continue
        ours.append(quick)
        theirs.append(slow)
        if expected is None or found is None:
            unlikely += 1
            wrong += (expected is None) != (found is None)
            continue
        error = max(abs(value - expected.get(query, 0.0)) for query, values in found.items() for value in values)
        wrong += error > 1e-6 or not set(expected) <= set(found)
        worst = max(worst, error)
        if show or error > 1e-6:
            print(f"  {program.name:<36} error {error:.1e}   ours {quick:6.3f} s   ProbLog {slow:6.3f} s")
    total = f"ours {sum(ours):.2f} s, ProbLog {sum(theirs):.2f} s"
    apart = f"{unlikely} whose evidence cannot be, {refused} that ProbLog refuses"
    print(f"{len(programs)} programs, {apart}: {wrong} wrong, worst {worst:.1e}; {total}")


def refused() -> None:
    """Loops through negation end in one line."""
    loop = Program("loop", [clause("a", "-b", chance=0.5), clause("b", "-a", chance=0.5)], ["a"], [])
    try:
        by_us(loop)
    except nbr.NbrError as error:
        print(f"a loop through negation: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--written", type=int, default=20, help="how many of those written here")
    told = parser.parse_args()
    by_us(drawn(0))  # what is loaded once
    by_problog(drawn(0))
    compared(written()[: told.written], show=True)
    compared(lifted(), show=True)
    compared([drawn(told.seed + number) for number in range(told.random)], show=False)
    refused()


if __name__ == "__main__":
    main()
