"""How far work in chunks is, by the one reporter."""

from __future__ import annotations

from nbr.parallel import Told
from nbr.progress import Progress, reporter


def chunks_of(stage: str) -> Told:
    """Tells on stderr how many chunks of a stage are done."""
    watch = reporter(True)
    return lambda done, of: watch(Progress(stage, done, of, ended=done == of))
