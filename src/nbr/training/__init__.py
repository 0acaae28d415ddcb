"""One loop for everything that is trained: steps, schedules, averages, early stopping, checkpoints, progress."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
