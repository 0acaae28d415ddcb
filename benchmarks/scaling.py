"""What more processes would give: a model of cost fitted to 1 and 2 processes, checked on 4 that share two cores.

python benchmarks/scaling.py    reads docs/results/parallel.json and large-tables.json, writes docs/results/scaling.json

Trainings: T(N) = k (S + W / N + M m(N)) + C(N), with S what every process does alike, W what is shared row by row, M
the turning of matrices, of which the busiest process has the share m(N), C(N) sums of gradients, and k how much slower
cores are that share their memory: 1 for one process, else fitted to two. S comes from what one of 64 would compute.
Maps over chunks: T(N) = S + B + W ceil(n / N) / n, with n chunks and B the start of processes. 4 processes on two cores
compute at half the pace.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from nbr.training import Process

RESULTS = Path(__file__).parent.parent / "docs" / "results"
SIZES = (16, 64, 1024)
TURNED = [384**2 * 768.0] * 5 + [14 * 64**2 * 448.0, 14 * 64.0]  # cost of each matrix of a robust classifier
NUMBERS = {"fit": 65_536 + 13_000, "robust": 1_100_000 * 2}  # that go through a sum in a step, of 4 bytes each
WIRE = 10e9 / 8  # bytes a second between machines
DELAY = 50e-6  # seconds of a message between machines


def share(size: int) -> float:
    """Of the turning, what the busiest of several processes has."""
    owners = Process(0, size).dealt(TURNED)
    return max(sum(c for c, o in zip(TURNED, owners, strict=True) if o == who) for who in range(size)) / sum(TURNED)


def training(task: str, told: dict[str, Any], alike: dict[str, float]) -> dict[str, Any]:
    steps, seconds = told["steps"], {int(size): each for size, each in told["seconds"].items()}
    step = {size: each / steps for size, each in seconds.items()}
    turned = told.get("seconds_of_turning", 0.0)
    on_wire = {int(size): each * NUMBERS[task] / 1_100_000 for size, each in told["seconds_of_a_sum"].items()}
    beyond = alike["64"] / alike["1"] * step[1]  # seconds of one of 64, of which S + W / 64 + M m(64)
    rows = (step[1] - beyond - turned * (1 - share(64))) / (1 - 1 / 64)
    same = step[1] - rows - turned
    slower = (step[2] - on_wire[2]) / (same + rows / 2 + turned * share(2))
    found: dict[str, Any] = {
        "seconds_of_a_step": step,
        "alike": same,
        "shared_by_rows": rows,
        "turning": turned,
        "sums_of_2": on_wire[2],
        "slower_side_by_side": slower,
        "4_on_two_cores_predicted": 2 * slower * (same + rows / 4 + turned * share(4)) + on_wire[4],
        "4_on_two_cores_measured": step[4],
    }
    for size in SIZES:
        sums = 2 * math.log2(size) * DELAY + 2 * (size - 1) / size * 4 * NUMBERS[task] / WIRE
        found[f"times_as_fast_{size}"] = step[1] / (slower * (same + rows / size + turned * share(size)) + sums)
    return found


def chunks(told: dict[str, Any]) -> dict[str, Any]:
    seconds, begin, count = {int(size): each for size, each in told["seconds"].items()}, told["start"], told["chunks"]
    # seconds[1] = S + W;  seconds[2] = S + B + W / 2
    work = 2 * (seconds[1] - seconds[2] + begin)
    serial = seconds[1] - work
    found = {"work": work, "serial": serial, "start": begin}
    if 4 in seconds:
        found |= {"4_on_two_cores_predicted": serial + 2 * begin + work / 2, "4_on_two_cores_measured": seconds[4]}
    for size in SIZES:
        found[f"times_as_fast_{size}"] = seconds[1] / (serial + begin + work * math.ceil(count / size) / count)
    return found


def billion(told: dict[str, Any]) -> dict[str, float]:
    """A table of 16 bits and a billion rows, from figures for 20 million."""
    times = 1e9 / told["rows"]
    per_row = {name: told[name]["seconds"] / told["rows"] for name in ("sample", "score")}
    return {
        "file_gigabytes": told["file_megabytes"] * times / 1024,
        "sample_minutes": per_row["sample"] * 1e9 / 60,
        "score_minutes": per_row["score"] * 1e9 / 60,
        "fit_megabytes": told["fit"]["peak_megabytes"],
        "fit_reading_minutes": 2 * per_row["score"] * 1e9 / 60,  # once for the world, once to count
        "fit_training_minutes": told["fit"]["told"]["seconds"] / 60,  # does not grow with rows
    }


def main() -> None:
    known = json.loads((RESULTS / "parallel.json").read_text())
    found = {
        task: training(task, known[task], known["alike"][task])
        for task in ("fit", "robust")
        if "seconds_of_a_sum" in known.get(task, {})
    }
    found |= {task: chunks(known[task]) for task in ("certify", "attack") if task in known}
    path = RESULTS / "large-tables.json"
    if path.exists():
        found["billion_rows"] = billion(json.loads(path.read_text()))
    (RESULTS / "scaling.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
