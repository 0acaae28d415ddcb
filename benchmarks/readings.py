"""Numbers with a check digit, and bills, read and proved as a whole: what rules are worth to pictures.

python benchmarks/readings.py check     1,000 numbers of 4 + 1 digits: right and proved, without the rule and with it
python benchmarks/readings.py nine      numbers of 9 + 1 digits
python benchmarks/readings.py attack    all pictures of a number attacked at once, 200 numbers, beside the proof
python benchmarks/readings.py belief    belief of a reading under changes: proved at a corner, searched by gradient
python benchmarks/readings.py bill      500 bills of five lines and a total; one digit of a line replaced

Digits are of the test images of MNIST; nothing is learned from them. Results go to docs/results/readings.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

import nbr

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "readings.json"
TOTAL, EACH = (1.0, 1.58, 2.0), (1.0, 1.58)
BELIEFS = (None, 1.0, 0.99, 0.9)
SENSOR = "mnist-10"
RIVALS = 3  # that an attack is after, in turn


def pictures() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    X, y = nbr.datasets.mnist(part="test")
    return X, y, [np.flatnonzero(y == digit) for digit in range(10)]


def weights(digits: int, modulus: int) -> list[int]:
    """Of the digits before the check digit, which has -1."""
    return [1] * digits if modulus == 10 else [1 + place % 10 for place in range(digits)]


def numbers(count: int, digits: int, modulus: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places of pictures (count, digits + 1), and the digits that they show; a check digit of 10 is drawn again."""
    dice, (_, y, each) = np.random.default_rng(seed), pictures()
    rows = []
    while len(rows) < count:
        row = dice.integers(0, len(y), digits)
        check = int(y[row] @ np.array(weights(digits, modulus)) % modulus)
        if check < 10:
            rows.append([*row, dice.choice(each[check])])
    found = np.array(rows)
    return found, y[found]


def model(digits: int, modulus: int, belief: float | None) -> nbr.Reasoner:
    world = nbr.World({f"d{place + 1}": nbr.Real(0, 9, 1) for place in range(digits + (belief is not None))})
    added = " + ".join(f"{weight}*d{place + 1}" for place, weight in enumerate(weights(digits, modulus)))
    rules = [] if belief is None else [nbr.Clause(f"({added} - d{digits + 1}) mod {modulus} = 0", belief)]
    return nbr.Reasoner(world, rules, sensors=dict.fromkeys(world.names, nbr.Sensor(nbr.load(SENSOR))))


def read(reasoner: nbr.Reasoner, X: np.ndarray, where: np.ndarray) -> nbr.Readings:
    return reasoner.see({name: X[where[:, place]] for place, name in enumerate(reasoner.world.names)})


def proved(count: int, digits: int, modulus: int, belief: float | None) -> dict:
    X, _, _ = pictures()
    where, truth = numbers(count, digits, modulus)
    start = time.perf_counter()
    found = read(model(digits, modulus, belief), X, where)
    right = (found.best().to_numpy()[:, :digits].astype(int) == truth[:, :digits]).all(axis=1)
    total = found.certified_radius()
    seconds = time.perf_counter() - start
    alone = found.certified_radius(each=True)
    shares = {f"total {length}": float((right & (total >= length)).mean()) for length in TOTAL}
    shares |= {f"each {length}": float((right & (alone >= length)).mean()) for length in EACH}
    told = {"digits": digits, "modulus": modulus, "belief": belief, "numbers": count, "right": float(right.mean())}
    return {**told, "proved": shares, "seconds": round(seconds, 1)}


def check(count: int) -> list[dict]:
    found = []
    for modulus in (10, 11):
        for belief in BELIEFS if modulus == 10 else BELIEFS[1:]:
            found.append(proved(count, 4, modulus, belief))
            print(json.dumps(found[-1]), flush=True)
    return found


def nine(count: int) -> list[dict]:
    found = []
    for belief in (None, 1.0):
        found.append(proved(count, 9, 10, belief))
        print(json.dumps(found[-1]), flush=True)
    return found


def objections(module: torch.nn.Module, points: torch.Tensor) -> torch.Tensor:
    """s times the strongest objection to each label, below 0 where there is none: log pl before it is cut at 0."""
    rules = module.rules
    rank, scores = rules.groups.rank.to(points.dtype), rules.scores(points)
    return (rank[None] * (scores * rules.scale.to(points.dtype))[:, None]).masked_fill(rank == 0, torch.inf).amin(dim=2)


def rivals(truth: torch.Tensor, modulus: int, ahead: torch.Tensor) -> torch.Tensor:
    """Readings that keep the check digit right and differ in two places, the likeliest ones: (n, some, places)."""
    places = truth.shape[1]
    step = torch.tensor([*weights(places - 1, modulus), -1])
    found, scores = [], []
    for one in range(places):
        for two in range(one + 1, places):
            for move in range(1, 10):
                other = truth.clone()
                other[:, one] = (truth[:, one] + move) % 10
                for value in range(10):
                    other[:, two] = value
                    fits = ((other * step).sum(dim=1) % modulus == 0) & (value != truth[:, two])
                    found.append(other.clone())
                    score = ahead.gather(2, other[..., None]).sum(dim=(1, 2))
                    scores.append(score.masked_fill(~fits, -torch.inf))
    best = torch.stack(scores, dim=1).topk(RIVALS, dim=1).indices
    return torch.stack(found, dim=1).gather(1, best[..., None].expand(-1, -1, places))


def attacked(X: torch.Tensor, reading: torch.Tensor, lengths: torch.Tensor, modulus: int, steps: int) -> torch.Tensor:
    """Pictures (n, places, pixels) changed by at most a length together, towards each of some rivals in turn.

    By gradients of the objections before they are cut at 0, which do not vanish; the one with the best lead is kept.
    """
    module = nbr.load(SENSOR).as_module()
    (n, places, _), whole = X.shape, X
    X, lengths = X.float(), lengths.float() * (1 - 1e-5)  # gradients need no more
    start = objections(module, X.flatten(0, 1)).view(n, places, 10)
    wanted = rivals(reading, modulus, start)
    kept, most = X.clone(), torch.full((n,), -torch.inf)
    for target in wanted.unbind(dim=1):
        moved = X.clone()
        for step in range(steps):
            moved = moved.detach().requires_grad_()
            logs = objections(module, moved.flatten(0, 1)).view(n, places, 10)
            cut = logs.clamp(max=0)
            real = (cut.gather(2, target[..., None]) - cut.gather(2, reading[..., None])).sum(dim=(1, 2))
            lead = (logs.gather(2, target[..., None]) - logs.gather(2, reading[..., None])).sum(dim=(1, 2))
            better = real.detach() > most
            kept[better], most[better] = moved.detach()[better], real.detach()[better]
            (slope,) = torch.autograd.grad((lead + real).sum(), moved)
            change = moved.detach() - X
            size_ = lengths[:, None, None] * (0.5 * (1 - step / steps) + 0.02)
            change = change + size_ * slope / slope.flatten(1).norm(dim=1).clamp(min=1e-12)[:, None, None]
            norm = change.flatten(1).norm(dim=1).clamp(min=1e-12)
            change = change * (lengths / norm).clamp(max=1)[:, None, None]
            moved = (X + change).clamp(0, 1)
    return (whole + (kept.double() - X.double())).clamp(0, 1)


def leads(logs: torch.Tensor, reading: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """By how much the likeliest of some rivals (n, some, places) is ahead of a reading: (n,)."""
    own = logs.gather(2, reading[..., None]).sum(dim=(1, 2))
    each = logs[:, None].expand(-1, wanted.shape[1], -1, -1).gather(3, wanted[..., None])[..., 0].sum(dim=2)
    return (each - own[:, None]).amax(dim=1)


def unseen(X: torch.Tensor, reading: torch.Tensor, lengths: torch.Tensor, modulus: int, queries: int) -> torch.Tensor:
    """The same by what the sensor says alone, without gradients: squares that help are kept (Andriushchenko 2020)."""
    module, source = nbr.load(SENSOR).as_module(), torch.Generator().manual_seed(0)
    (n, places, _), whole = X.shape, X
    X, lengths = X.float(), lengths.float() * (1 - 1e-5)

    def said(points: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return objections(module, points.flatten(0, 1)).view(n, places, 10).clamp(max=0)

    def drawn(side: int) -> torch.Tensor:
        """A square of one sign somewhere in one picture of each number."""
        patch = torch.zeros(n, places, 28, 28)
        top, left = torch.randint(29 - side, (2, n), generator=source)
        place = torch.randint(places, (n,), generator=source)
        sign = torch.randint(2, (n,), generator=source) * 2.0 - 1
        for row in range(n):
            patch[row, place[row], top[row] : top[row] + side, left[row] : left[row] + side] = sign[row] / side
        return patch.view_as(X)

    def within(change: torch.Tensor) -> torch.Tensor:
        norm = change.flatten(1).norm(dim=1).clamp(min=1e-12)
        return (X + change * (lengths / norm)[:, None, None]).clamp(0, 1)

    start = said(X)
    wanted = rivals(reading, modulus, start)
    change, kept, most = torch.zeros_like(X), X.clone(), leads(start, reading, wanted)
    for query in range(queries):
        side = 9 if query < queries // 4 else 6 if query < queries // 2 else 3
        tried = change + drawn(side) * lengths[:, None, None] * (0.6 if query < queries // 2 else 0.3)
        points = within(tried)
        lead = leads(said(points), reading, wanted)
        better = lead > most
        change[better], kept[better], most[better] = (points - X)[better], points[better], lead[better]
    return (whole + (kept.double() - X.double())).clamp(0, 1)


def attack(count: int, steps: int = 25, modulus: int = 10, queries: int = 200) -> dict:
    X, _, _ = pictures()
    where, truth = numbers(count, 4, modulus, seed=1)
    reasoner = model(4, modulus, 1.0)
    found = read(reasoner, X, where)
    names, reading = list(reasoner.world.names), torch.from_numpy(found.best().to_numpy().astype(int))
    right = (reading.numpy() == truth).all(axis=1)
    radius, flat = found.certified_radius(), torch.from_numpy(X[where].reshape(count, 5, -1)).double()
    told = {"numbers": count, "steps": steps, "queries": queries, "rivals": RIVALS, "right": float(right.mean())}
    for name, lengths, way, effort in (
        ("total 1.58", np.full(count, 1.58), attacked, steps),
        ("as proved", radius * (1 - 1e-9), attacked, steps),
        ("1.25 times as proved", 1.25 * radius, attacked, steps),
        ("total 1.58, without gradients", np.full(count, 1.58), unseen, queries),
        ("as proved, without gradients", radius * (1 - 1e-9), unseen, queries),
    ):
        changed = way(flat, reading, torch.from_numpy(lengths), modulus, effort)
        length = (changed - flat).flatten(1).norm(dim=1).numpy()
        assert (length <= lengths + 1e-9).all()
        seen = {each: changed[:, place].view(-1, 28, 28).numpy() for place, each in enumerate(names)}
        now = reasoner.see(seen).best().to_numpy().astype(int)
        same = (now == reading.numpy()).all(axis=1)
        told[name] = {
            "proved": float((right & (radius >= lengths)).mean()),
            "right after the attack": float((right & same).mean()),
            "proofs broken": int((~same & (radius >= length)).sum()),
        }
        print(name, told[name], flush=True)
    return told


def belief(count: int) -> list[dict]:
    return [searched(count, length) for length in (0.5, 1.0)]


def searched(count: int, length: float, steps: int = 40) -> dict:
    """Two digits with d1 + d2 a multiple of ten, where the calculus has a closed form with gradients."""
    X, _, _ = pictures()
    where, _ = numbers(count, 1, 10, seed=2)
    reasoner, module = model(1, 10, 1.0), nbr.load(SENSOR).as_module()
    partner = torch.arange(10)  # d1 = d2: their difference is a multiple of ten
    flat = torch.from_numpy(X[where].reshape(count, 2, -1)).double()
    reading = torch.from_numpy(read(reasoner, X, where).best().to_numpy().astype(int))

    def interval(points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Belief and plausibility of the reading: some pair of labels is left of which neither was objected to."""
        kept = objections(module, points.flatten(0, 1)).clamp(max=0).view(count, 2, 10).exp()
        both = kept[:, 0] * kept[:, 1][:, partner]
        own = both.gather(1, reading[:, :1])[:, 0]
        others = (1 - both).scatter(1, reading[:, :1], 1.0).prod(dim=1)
        whole = 1 - (1 - own) * others
        return 1 - (1 - others) / whole, own / whole

    start = objections(module, flat.flatten(0, 1)).view(count, 2, 10)
    likely = start.sum(dim=1).scatter(1, reading[:, :1], -torch.inf).topk(RIVALS, dim=1).indices
    found = {name: [torch.full((count,), end).double() for end in (1.0, 0.0)] for name in ("belief", "plausibility")}

    def climb(goal: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Along the gradient of a goal, each picture within its length; the ends met on the way are kept."""
        moved = flat.clone()
        for step in range(steps):
            moved = moved.detach().requires_grad_()
            for name, value in zip(found, interval(moved.detach()), strict=True):
                low, high = found[name]
                found[name] = [torch.minimum(low, value), torch.maximum(high, value)]
            (slope,) = torch.autograd.grad(goal(moved).sum(), moved)
            slope = slope / slope.norm(dim=2, keepdim=True).clamp(min=1e-12)
            change = moved.detach() - flat + length * (0.5 * (1 - step / steps) + 0.02) * slope
            change = change * (length / change.norm(dim=2, keepdim=True).clamp(min=1e-12)).clamp(max=1)
            moved = (flat + change).clamp(0, 1)

    def logit(which: int, way: int) -> Callable[[torch.Tensor], torch.Tensor]:
        def goal(points: torch.Tensor) -> torch.Tensor:
            value = interval(points)[which].clamp(1e-12, 1 - 1e-12)
            return way * (value.log() - (-value).log1p())

        return goal

    def ahead(rival: torch.Tensor, way: int) -> Callable[[torch.Tensor], torch.Tensor]:
        """By how much a rival is ahead before objections are cut at 0, where the interval itself has no slope."""

        def goal(points: torch.Tensor) -> torch.Tensor:
            logs = objections(module, points.flatten(0, 1)).view(count, 2, 10).sum(dim=1)
            return way * (logs.gather(1, rival[:, None]) - logs.gather(1, reading[:, :1]))[:, 0]

        return goal

    for way in (-1, 1):
        for which in (0, 1):
            climb(logit(which, way))
        for rival in likely.unbind(dim=1):
            climb(ahead(rival, way))
    crossed, gaps, widths = 0, [], []
    for row in range(count):
        seen = reasoner.see(d1=X[where[row, 0]], d2=X[where[row, 1]])
        bounds = seen.belief_within(length)
        assert bounds.exact
        for name in ("belief", "plausibility"):
            low, high = getattr(bounds, name)
            below, above = (float(each[row]) for each in found[name])
            crossed += below < low - 1e-7 or above > high + 1e-7
            gaps += [below - low, high - above]
            widths.append(high - low)
    told = {"readings": count, "each": length, "steps": steps, "rivals": RIVALS, "crossed": crossed}
    return {**told, "gap": {"mean": float(np.mean(gaps)), "most": float(np.max(gaps))}, "width": float(np.mean(widths))}


def bills(count: int) -> dict:
    dice, (X, y, each) = np.random.default_rng(3), pictures()
    lines = [[f"l{line}{place}" for place in "hzu"] for line in range(1, 6)]
    total = ["th", "hu", "te", "on"]
    worth = dict(zip(total, (1000, 100, 10, 1), strict=True))
    parts = [f"{100 // 10**place}*{name}" for line in lines for place, name in enumerate(line)]
    rule = " + ".join(parts) + " = " + " + ".join(f"{value}*{name}" for name, value in worth.items())
    names = [*(name for line in lines for name in line), *total]
    world = nbr.World({name: nbr.Real(0, 9, 1) for name in names})
    sensor = nbr.Sensor(nbr.load(SENSOR))
    where = np.empty((count, 19), dtype=int)
    for row in where:
        row[:15] = dice.integers(0, len(y), 15)
        added = int(y[row[:15]].reshape(5, 3) @ np.array([100, 10, 1]) @ np.ones(5, dtype=int))
        row[15:] = [dice.choice(each[int(digit)]) for digit in f"{added:04d}"]
    start = time.perf_counter()
    told: dict = {"bills": count}
    costs = {}
    for name, rules in (("without the rule", []), ("with the rule", [nbr.Clause(rule, 1.0)])):
        reasoner = nbr.Reasoner(world, rules, sensors=dict.fromkeys(names, sensor))
        found = read(reasoner, X, where)
        digits = found.best()[names].to_numpy().astype(int)
        told[f"right totals {name}"] = float((digits[:, 15:] == y[where[:, 15:]]).all(axis=1).mean())
        told[f"right bills {name}"] = float((digits == y[where]).all(axis=1).mean())
        costs[name] = -found.log_degrees()
    wrong = where.copy()
    for row in wrong:
        place = int(dice.integers(15))
        row[place] = dice.choice(each[(y[row[place]] + dice.integers(1, 10)) % 10])
    cost = -read(reasoner, X, wrong).log_degrees()
    label = np.repeat([0, 1], count)
    told["AUROC"] = float(roc_auc_score(label, np.concatenate([costs["with the rule"], cost])))
    return {**told, "seconds": round(time.perf_counter() - start, 1)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "nine", "attack", "belief", "bill"])
    parser.add_argument("--count", type=int)
    chosen = parser.parse_args()
    usual = {"check": 1000, "nine": 1000, "attack": 200, "belief": 100, "bill": 500}
    run = {"check": check, "nine": nine, "attack": attack, "belief": belief, "bill": bills}[chosen.what]
    result = run(chosen.count or usual[chosen.what])
    print(json.dumps(result, indent=1))
    if chosen.count is None:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        known[chosen.what] = result
        known["scale"] = float(nbr.load(SENSOR).rules_.scale[0])
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")
