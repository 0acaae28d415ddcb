"""Rule bases of a user's size: how long an answer takes and how sure it is.

python benchmarks/scale.py            all cases; --old SRC also asks an older version at 24 bits
python benchmarks/scale.py --only networks    or clauses: measured again, the rest of the file stays

Bases are clauses of one to three literals over bits with beliefs from 0.3 to 0.95. A base and a question are drawn
until conflict lies between 0.1 and 0.95 and belief or plausibility between 0.05 and 0.95: most random questions have
the answer [0, 1] and prove nothing. Drawing looks at answers alone, never at times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

import nbr
import votes

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "scale.json"
DRAWS = 400


def clauses(seed: int, bits: int, rules: int, units: float = 0.15, three: float = 0.75) -> nbr.Reasoner:
    draw = random.Random(seed)
    made = []
    for number in range(rules):
        width = 1 if number < units * rules else 3 if draw.random() < three else 2
        chosen = draw.sample(range(bits), width)
        text = " | ".join(draw.choice(["", "~"]) + f"x{i}" for i in chosen)
        made.append(nbr.Clause(text, draw.uniform(0.3, 0.95)))
    return nbr.Reasoner(nbr.World.bits(bits), made)


def telling(bits: int, rules: int, seed: int, **shape: float) -> tuple[nbr.Reasoner, str, str]:
    """A base, a question and a condition whose answer says something."""
    draw = random.Random(seed)
    for number in range(DRAWS):
        model = clauses(1000 * seed + number, bits, rules, **shape)
        question, given = f"x{draw.randrange(bits)}", f"x{draw.randrange(bits)}={draw.randrange(2)}"
        try:
            answer = model.ask(question, given, budget=4.0, tolerance=0.02)
        except nbr.NbrError:
            continue
        inside = any(0.05 <= value <= 0.95 for value in (answer.belief, answer.plausibility))
        if inside and 0.1 <= answer.conflict <= 0.95 and answer.ignorance < 1:
            return nbr.Reasoner(model.world, model.rules), question, given  # nothing is known of it from before
    raise SystemExit(f"no telling question among {DRAWS} of {bits} bits")


def timed(name: str, model: nbr.Reasoner, question: str, given: str | None, **settings: float) -> dict[str, object]:
    began = time.perf_counter()
    answer = model.ask(question, given, **settings)  # type: ignore[arg-type]
    row = {
        "case": name,
        "seconds": round(time.perf_counter() - began, 3),
        "belief": list(answer.bounds.belief),
        "plausibility": list(answer.bounds.plausibility),
        "conflict": list(answer.bounds.conflict),
        "kind": answer.bounds.kind,
        "exact": answer.exact,
        "engine": answer.engine,
    }
    if answer.sure is not None:
        row["sure"] = answer.sure.as_json()
    width = max(high - low for low, high in (answer.bounds.belief, answer.bounds.plausibility))
    shown = "exact" if answer.exact else f"{answer.bounds.kind} {width:.4f} wide"
    interval = f"[{answer.belief:.4f}, {answer.plausibility:.4f}]"
    print(f"{name:<44}{row['seconds']:>8.2f} s  {interval} {shown:<20}{answer.engine}")
    sys.stdout.flush()
    return row


def many(model: nbr.Reasoner, count: int = 1000) -> dict[str, object]:
    """Single questions, each with a condition of its own."""
    draw, bits = random.Random(0), len(model.world)
    asked = [(f"x{draw.randrange(bits)}", f"x{draw.randrange(bits)}={draw.randrange(2)}") for _ in range(count)]
    began = time.perf_counter()
    exact = sum(model.ask(question, given).exact for question, given in asked)
    seconds = time.perf_counter() - began
    name = f"{count:,} single questions to {bits} bits"
    print(f"{name:<44}{seconds:>8.2f} s  {exact} exact")
    return {"case": name, "seconds": round(seconds, 3), "exact": exact == count}


def grid(size: int, other: int, belief: float = 0.8) -> nbr.Reasoner:
    rules = [nbr.Clause("g0_0", 1.0)]
    for i in range(size):
        for j in range(other):
            steps = [(i + 1, j), (i, j + 1)]
            rules += [nbr.Clause(f"g{i}_{j} -> g{k}_{m}", belief) for k, m in steps if k < size and m < other]
    return nbr.Reasoner(nbr.World({f"g{i}_{j}": nbr.Bit() for i in range(size) for j in range(other)}), rules)


def networks(settings: dict[str, float]) -> list[dict[str, object]]:
    """ReLU rules trained on planted votes, against all points at 16 bits and in a world of 30."""
    rows = []
    for bits in (16, 30):
        cases = [
            (f"6 networks on 10 of {bits} bits each", votes.some_bits(bits, 6, 10), {"tolerance": 0.01}),
            (f"4 networks on all {bits} bits", votes.all_bits(bits), {"budget": 60.0, "tolerance": 0.01}),
        ]
        for name, (model, question), wanted in cases:
            chosen = {**wanted, **settings, **({"engine": "boxes"} if bits == 16 else {})}
            used = time.process_time()
            rows.append(timed(name, model, question, None, **chosen))  # type: ignore[arg-type]
            rows[-1]["processor_seconds"] = round(time.process_time() - used, 3)
            if bits == 16:
                rows[-1]["by_all_points"] = right = votes.truth(model, question)
                ends = [rows[-1][figure] for figure in ("belief", "plausibility", "conflict")]
                assert all(low - 1e-9 <= value <= high + 1e-9 for (low, high), value in zip(ends, right, strict=True))
    return rows


def old_version(source: Path, model: nbr.Reasoner, question: str, given: str, folder: Path) -> float:
    """Seconds that an older version takes for the same question, after its start-up."""
    path = folder / "base.toml"
    lines = ["[variables]", f'"x0..x{len(model.world) - 1}" = "bit"']
    for rule in model.rules:
        lines += ["[[rules]]", f'rule = "{rule.describe()}"', f"belief = {rule.degree}"]
    path.write_text("\n".join(lines))
    script = (
        "import sys, time, nbr; m = nbr.load(sys.argv[1]); m.ask('x0 & ~x0', budget=0.1); t = time.perf_counter();"
        "a = m.ask(sys.argv[2], sys.argv[3]); print(time.perf_counter() - t, a)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), question, given],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    print(f"    the older version: {done.stdout.strip()}")
    return float(done.stdout.split()[0])


def bases(old: Path | None, settings: dict[str, float]) -> list[dict[str, object]]:
    """Statements: random bases, a chain, pairs and grids."""
    rows = []
    grid(4, 4).ask("g3_3")  # start-up of the counter
    for bits, rules in ((24, 33), (40, 35), (60, 67), (200, 325)):
        model, question, given = telling(bits, rules, seed=bits)
        rows.append(timed(f"{bits} bits, {rules} clauses", model, question, given, **settings))
        if old is not None and bits == 24:
            taken = old_version(old, model, question, given, Path(os.environ.get("TMPDIR", "/tmp")))
            rows[-1]["old_seconds"] = taken
            print(f"    {taken / float(str(rows[-1]['seconds'])):,.0f} times as long")
        if bits == 200 and not settings:
            rows.append(many(model))
    model, question, given = telling(1000, 1625, seed=1, units=0.05, three=0.9)
    rows.append(timed("1,000 bits, 1,625 clauses", model, question, given, **settings))
    dense = clauses(2, 50, 250)
    rows.append(timed("50 bits, 250 clauses, E f_C below 1e-3", dense, "x0", None, **{"budget": 30.0, **settings}))
    chain = nbr.Reasoner(nbr.World.bits(200), [nbr.Clause(f"x{i} -> x{i + 1}", 0.99) for i in range(199)])
    rows.append(timed("chain of 199 implications", chain, "x199", "x0", **settings))
    rows[-1]["closed_form"] = 0.99**199
    pairs = [nbr.Clause(f"x{2 * i} -> x{2 * i + 1}", 0.9) for i in range(20)]
    pairs += [nbr.Clause(f"x{2 * i}", 0.5) for i in range(20)]
    rows.append(timed("20 disjoint pairs", nbr.Reasoner(nbr.World.bits(40), pairs), "x1", None, **settings))
    for size, other in ((4, 5), (5, 5), (6, 6), (8, 8), (10, 10)):
        name = f"grid of {size} x {other} Horn rules"
        rows.append(timed(name, grid(size, other), f"g{size - 1}_{other - 1}", None, **{"budget": 30.0, **settings}))
    return rows


def main(old: Path | None, budget: float | None, only: str | None) -> None:
    torch.set_num_threads(1)
    settings = {} if budget is None else {"budget": budget}
    kept = json.loads(RESULTS.read_text()) if only else []
    written = [row for row in kept if "networks" not in row["case"]] if only == "networks" else bases(old, settings)
    nets = [row for row in kept if "networks" in row["case"]] if only == "clauses" else networks(settings)
    if budget is None:
        RESULTS.write_text(json.dumps(written + nets, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="the src folder of an older version, asked at 24 bits")
    parser.add_argument("--budget", type=float, help="the same cases within so many seconds each; nothing is written")
    parser.add_argument("--only", choices=["clauses", "networks"], help="measure these, and keep the other figures")
    chosen = parser.parse_args()
    main(chosen.old, chosen.budget, chosen.only)
