"""Closed variables beside ProbLog: the same programs, the same probabilities, and the time of each.

    python benchmarks/closed_beside_problog.py            # 20 programs written here and 200 random ones
    python benchmarks/closed_beside_problog.py --random 50 --seed 1000

A program is a list of ground clauses: possibilities of which one is the case, each with its probability, and a body of
atoms that may be denied. ProbLog reads it as text; we take it as rules over closed bits, with `one_of` where a clause
has several heads. Times are of the question alone, after reading, with nothing kept from others.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from dataclasses import dataclass

import nbr

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

    @property
    def model(self) -> nbr.Reasoner:
        """As rules over closed bits."""
        rules: list[nbr.Clause] = []
        for heads, body in self.clauses:
            reasons = " & ".join(atom if kept else f"~{atom}" for atom, kept in body)
            said = {f"{reasons} -> {head}" if reasons else head: chance for chance, head in heads}
            rules += nbr.one_of(said) if len(said) > 1 else [nbr.Clause(*each) for each in said.items()]
        names = sorted(self.atoms)
        return nbr.Reasoner(nbr.World(**{name: nbr.Bit() for name in names}), rules, closed=names)

    @property
    def condition(self) -> str | None:
        """What was observed, as a condition."""
        return ", ".join(atom if kept else f"~{atom}" for atom, kept in self.evidence) or None


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


class Refused(Exception):
    """ProbLog does not take a program."""


def by_problog(program: Program) -> tuple[dict[str, float] | None, float]:
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
    return {str(atom): float(value) for atom, value in found.items()}, time.perf_counter() - start


def by_us(program: Program) -> tuple[dict[str, tuple[float, float, float]] | None, float]:
    """Belief, plausibility and probability of each query."""
    model, given = program.model, program.condition
    start = time.perf_counter()
    try:
        asked = {query: model.ask(query, given) for query in program.queries}
    except nbr.NbrError as error:
        assert "cannot hold" in str(error), error
        return None, time.perf_counter() - start
    seconds = time.perf_counter() - start
    often = {query: model.probability(query, given).value for query in program.queries}
    return {query: (a.belief, a.plausibility, often[query] or 0.0) for query, a in asked.items()}, seconds


def compared(programs: list[Program], show: bool) -> None:
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
        error = max(abs(value - expected[query]) for query, values in found.items() for value in values)
        worst, wrong = max(worst, error), wrong + (error > 1e-6)
        if show or error > 1e-6:
            print(f"  {program.name:<36} error {error:.1e}   ours {quick:6.3f} s   ProbLog {slow:6.3f} s")
    total = f"ours {sum(ours):.2f} s, ProbLog {sum(theirs):.2f} s"
    apart = f"{unlikely} whose evidence cannot be, {refused} that ProbLog refuses"
    print(f"{len(programs)} programs, {apart}: {wrong} wrong, worst {worst:.1e}; {total}")


def refused() -> None:
    """Loops through negation end in one line."""
    loop = Program("loop", [clause("a", "-b", chance=0.5), clause("b", "-a", chance=0.5)], ["a"], [])
    try:
        _ = loop.model
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
    compared([drawn(told.seed + number) for number in range(told.random)], show=False)
    refused()


if __name__ == "__main__":
    main()
