"""Runs killed at random moments, each forked from a process that has loaded everything: none waits for torch."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path

KILLS = 4
LOADED = {"fit": ["pandas", "torch._dynamo", "nbr.learning.fitting"], "attack": ["nbr.robustness.protocol"]}


def killed_and_whole(run: Callable[..., None], arguments: Callable[[str], tuple], moved: Callable[[], int]) -> None:
    """Run as "whole", then as "broken" with kills on the way, each soon after `moved` has another value."""
    context, dice = multiprocessing.get_context("forkserver"), random.Random(0)
    context.set_forkserver_preload(LOADED[run.__name__])

    def start(name: str) -> multiprocessing.process.BaseProcess:
        process = context.Process(target=run, args=arguments(name))
        process.start()
        return process

    def ended(name: str) -> None:
        process = start(name)
        process.join(300)
        assert process.exitcode == 0

    ended("whole")
    for _ in range(KILLS):
        before = moved()
        process = start("broken")
        while process.is_alive() and moved() == before:
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.05))
        process.kill()
        process.join(60)
        assert process.exitcode == -9, "the run ended before it could be killed so often"
    ended("broken")


def fit(table: Path, out: Path) -> None:
    """Learn a small table, with a checkpoint twenty times a second."""
    import pandas

    import nbr
    from nbr.training import loop

    loop.SECONDS = 0.05
    nbr.fit(pandas.read_csv(table), rules=2, steps=200, checkpoint=f"{out}.part").save(out)


def attack(folder: Path, log: Path) -> None:
    """Attack the inputs of a linear model, three at a time, and tell how many at each time."""
    from distances import STEPS, subject
    from nbr.robustness import attacks, protocol

    true = attacks.Attack.run

    def counted(self, target, attempt, steps):
        with log.open("a") as file:
            file.write(f"{len(attempt.images)}\n")
        return true(self, target, attempt, steps)

    protocol.BATCH = 3
    attacks.Attack.run = counted
    protocol.measure(subject(), STEPS, 0.1, folder, skip_broken=False, skip_proved=False)
