"""One process against several: the same results, how much faster, and what killed processes cost.

python benchmarks/parallel.py certify    a proof for each training image of mnist-10, in 1, 2 and 4 processes
python benchmarks/parallel.py attack     nbr attack on mnist-4-9, the same
python benchmarks/parallel.py fit        training under torchrun: losses and weights in float64, seconds in float32
python benchmarks/parallel.py robust     the same for the networks of a robust classifier of 4 and 9
python benchmarks/parallel.py ten        the same for those of ten digits
python benchmarks/parallel.py alike      what one of 64 processes would compute in a step, beside one alone
python benchmarks/parallel.py cluster    a dask cluster of two processes, one of them killed
python benchmarks/parallel.py killed TABLE.csv    one of two ranks of nbr fit killed ten times

Each adds its figures to docs/results/parallel.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch
from joblib.externals.loky import get_reusable_executor

import nbr
from nbr import datasets
from nbr.app import attack as attacking
from nbr.classify import estimator
from nbr.parallel import mapped
from nbr.robustness import protocol

HERE = Path(__file__).parent
RESULTS = HERE.parent / "docs" / "results" / "parallel.json"
ATTACKS = ["PGD", "DDN", "margin"]
KILLS = 10


def certify(images: int) -> dict[str, Any]:
    """Processes are started in the time measured."""
    classifier = nbr.load("mnist-10")
    X, _ = datasets.mnist(range(10), "train")
    X, radius, seconds = X[:images], {}, {}
    classifier.certified_radius(X[:64])
    start = _start(classifier, X)
    for jobs in (1, 2, 4):
        began = time.perf_counter()
        radius[jobs] = classifier.set_params(n_jobs=jobs).certified_radius(X)
        seconds[jobs] = time.perf_counter() - began
        print(f"{jobs} jobs: {seconds[jobs]:.1f} s", file=sys.stderr)
        get_reusable_executor().shutdown()
    same = all(bool(np.array_equal(radius[1], each)) for each in radius.values())
    return {"images": images, "chunks": -(-images // estimator.CHUNK), "start": start, "same": same, **_times(seconds)}


def _start(classifier: nbr.RobustClassifier, X: np.ndarray) -> float:
    """Seconds until two processes have their first result: little work in processes that have yet to begin, less that
    in processes that are there."""
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        list(mapped(partial(_proofs, classifier), [X[:1], X[:1]], 2))
        seconds.append(time.perf_counter() - began)
    get_reusable_executor().shutdown()
    return seconds[0] - seconds[1]


def _proofs(classifier: nbr.RobustClassifier, X: np.ndarray) -> np.ndarray:
    return classifier.certified_radius(X)


def attack(images: int) -> dict[str, Any]:
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for jobs in (1, 2):
            began = time.perf_counter()
            _attacked(Path(folder) / str(jobs), images, jobs)
            seconds[jobs] = time.perf_counter() - began
            print(f"{jobs} jobs: {seconds[jobs]:.1f} s", file=sys.stderr)
        same = _alike(Path(folder) / "1", Path(folder) / "2")
    get_reusable_executor().shutdown()
    start = _start(nbr.load("mnist-4-9"), datasets.mnist((4, 9), "test")[0])
    count = -(-images // (2 * protocol.BATCH))  # about half of the images are attacked: the others are proved, or wrong
    return {"images": images, "attacks": ATTACKS, "chunks": count, "start": start, "same": same, **_times(seconds)}


def trained(task: str, steps: int, exact_steps: int) -> dict[str, Any]:
    """Losses and weights of two processes and one, in float64; seconds of 1, 2 and of 4 that share two cores."""
    one, two = (_joint(task, exact_steps, size, "--double") for size in (1, 2))
    gap = max(abs(a - b) for a, b in zip(one["losses"], two["losses"], strict=True))
    moved = float((one["weights"] - two["weights"]).abs().max())
    quick = {size: _joint(task, steps, size) for size in (1, 2, 4)}
    seconds = {size: found["seconds"] for size, found in quick.items()}
    told = {"float64_steps": len(one["losses"]), "largest_loss_difference": gap, "largest_weight_difference": moved}
    sums = {size: _joint("sums", 50, size)["seconds"] for size in (2, 4)}
    turned = {"seconds_of_turning": _joint("turn", 10, 1)["seconds"]} if task == "robust" else {}
    return {**told, "steps": len(quick[1]["losses"]), **_times(seconds), "seconds_of_a_sum": sums, **turned}


def alike() -> dict[str, Any]:
    """Seconds of the processor for a step, alone and as the first of 64: the part that is not shared out."""
    few, more = {"fit": 3, "robust": 46}, {"fit": 83, "robust": 184}
    told: dict[str, Any] = {}
    for task in few:
        for size in (1, 64):
            cpu = [_joint(task, steps[task], 1, "--one-of", str(size))["cpu"] for steps in (few, more)]
            told.setdefault(task, {})[size] = (cpu[1] - cpu[0]) / (more[task] - few[task])  # without what goes before
    return told


def cluster(images: int) -> dict[str, Any]:
    """The files of a dask cluster beside those of one process; then again while one of its processes is killed."""
    from dask.distributed import Client, LocalCluster

    told: dict[str, Any] = {"images": images, "attacks": ATTACKS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        _attacked(folder / "alone", images, 1)
        usual = time.perf_counter() - began
        for case in ("cluster", "killed"):
            with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as dask, Client(dask):
                workers = [int(each.pid) for each in dask.workers.values()]
                with joblib.parallel_config(backend="dask"), _killer(workers[0], usual / 3, case == "killed") as killed:
                    began = time.perf_counter()
                    _attacked(folder / case, images, 2)
                    told[f"{case}_seconds"] = time.perf_counter() - began
            told[f"{case}_same_files"] = _alike(folder / "alone", folder / case)
            told[f"{case}_processes_killed"] = len(killed)
    return {"one_process_seconds": usual, **told}


def killed(table: Path, steps: int) -> dict[str, Any]:
    """`nbr fit` under torchrun with and without kills: the model files, byte for byte."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [str(table), "--rules", "16", "--steps", str(steps)]
        began = time.perf_counter()
        subprocess.run(_torchrun(2, "-m", "nbr", "fit", *words, "-o", str(folder / "whole.nbr")), check=True)
        usual = time.perf_counter() - began
        run = subprocess.Popen(
            _torchrun(2, "--max-restarts", "99", "-m", "nbr", "fit", *words, "-o", str(folder / "killed.nbr"))
        )
        dice, kills = random.Random(0), 0
        while run.poll() is None and kills < KILLS:
            time.sleep(dice.uniform(4, 14))  # starting takes some six of them
            ranks = _children(run.pid)
            if ranks and run.poll() is None:
                os.kill(dice.choice(ranks), signal.SIGKILL)
                kills += 1
        status = run.wait()
        ended = (folder / "killed.nbr").exists()
        same = ended and (folder / "whole.nbr").read_bytes() == (folder / "killed.nbr").read_bytes()
    return {"kills": kills, "exit": status, "same_model": same, "unbroken_seconds": usual, "steps": steps}


def _attacked(folder: Path, images: int, jobs: int) -> None:
    attacking.run("mnist-4-9", "mnist", 2.0, "quick", ATTACKS, images, folder, False, 0, jobs)


def _alike(one: Path, other: Path) -> bool:
    """Whether two folders have the same files, byte for byte."""
    files = [
        {path.relative_to(each): path.read_bytes() for path in each.rglob("*.safetensors")} for each in (one, other)
    ]
    return bool(files[0]) and files[0] == files[1]


def _joint(task: str, steps: int, size: int, *more: str) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".pt") as out:
        words = [str(HERE / "joint_training.py"), task, "--steps", str(steps), "--out", out.name, *more]
        subprocess.run(_torchrun(size, *words), check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        found: dict[str, Any] = torch.load(out.name)
    print(f"{task}, {size} processes, {' '.join(more)}: {found['seconds']:.3f} s", file=sys.stderr)
    return found


def _torchrun(size: int, *words: str) -> list[str]:
    return [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(size), *words]


def _children(pid: int) -> list[int]:
    """The processes that a process has started."""
    task = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in task.read_text().split()] if task.exists() else []


@contextlib.contextmanager
def _killer(pid: int, seconds: float, wanted: bool) -> Iterator[list[int]]:
    """Kills a process after some time, if wanted; tells which."""
    done: list[int] = []

    def kill() -> None:
        os.kill(pid, signal.SIGKILL)
        done.append(pid)

    timer = threading.Timer(seconds, kill)
    if wanted:
        timer.start()
    yield done
    timer.cancel()


def _times(seconds: dict[int, float]) -> dict[str, Any]:
    return {"seconds": seconds, "times_as_fast": seconds[1] / seconds[2]}


def main(task: str, table: Path | None, images: int, steps: int) -> None:
    if task in ("fit", "robust", "ten"):
        told = trained(task, steps or (60 if task == "fit" else 138), 20 if task == "fit" else 46)
    elif task == "alike":
        told = alike()
    elif task == "killed":
        assert table is not None, "give it a table"
        told = killed(table, steps or 1500)
    else:
        told = {"certify": certify, "attack": attack, "cluster": cluster}[task](images)
    told["cores"] = os.cpu_count()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**known, task: told}, indent=1) + "\n")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["certify", "attack", "fit", "robust", "ten", "alike", "cluster", "killed"])
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("--images", type=int, default=1991)
    parser.add_argument("--steps", type=int, default=0)
    given = parser.parse_args()
    main(given.task, given.table, given.images, given.steps)
