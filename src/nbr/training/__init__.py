"""One loop for everything that is trained: steps, schedules, averages, early stopping, checkpoints, progress."""

from nbr.progress import Progress, Watcher, reporter, silent
from nbr.training.averaging import averaged
from nbr.training.batches import generator, shuffled
from nbr.training.early import EarlyStopping
from nbr.training.fingerprint import fingerprint
from nbr.training.loop import Checkpoint, Loop, Stateful
from nbr.training.processes import ALONE, Process, here

__all__ = [
    "ALONE",
    "Checkpoint",
    "EarlyStopping",
    "Loop",
    "Process",
    "Progress",
    "Stateful",
    "Watcher",
    "averaged",
    "fingerprint",
    "generator",
    "here",
    "reporter",
    "shuffled",
    "silent",
]
