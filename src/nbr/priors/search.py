"""How many trees, and how fine: the search for a mixture that held-out rows like.

Expectation and maximisation ends elsewhere from each start. The average of several such mixtures is one again, with a
log-likelihood above the mean of theirs, and mostly above the best of them; rounds that all of its trees go through
together would undo that, so that each part is learned by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from nbr.priors.em import Learner, Rows
from nbr.priors.mixture import Trees
from nbr.priors.tree import Tree
from nbr.progress import Progress, Watcher, silent
from nbr.storage import checkpoints
from nbr.tables import Table

STARTS = 8  # mixtures of as many trees, at the most
MOST = 256  # trees in all of them
FEW = 3  # of the amounts of trees say how fine numbers are cut
ROUNDS = 80  # of expectation and maximisation
GAIN = 1e-4  # nats a row; a round that gains less counts as none
LEAST = 1.0  # nats that all held-out rows together have to gain by more trees
PATIENCE = 5  # rounds without gain on held-out rows, and then no more


@dataclass(frozen=True)
class Chosen:
    """A mixture, how many rounds it took, and its mean log-likelihood of a held-out row."""

    model: Trees
    rounds: int
    score: float


@dataclass(frozen=True)
class Way:
    """One way to cut numbers: its place among others, rows to learn from and rows to judge by."""

    number: int
    learner: Learner
    held: Rows

    @property
    def needed(self) -> float:
        """What held-out rows have to gain by more trees, in nats a row."""
        return max(GAIN, LEAST / float(self.held.weights.sum()))


@dataclass(frozen=True)
class Kept:
    """Where mixtures are kept for a run that is stopped, and what tells this run from others."""

    folder: Path
    run: str
    writes: bool = True  # of several processes with one folder, one does

    def find(self, name: str, learner: Learner) -> Chosen | None:
        known = checkpoints.restore(self._path(name), {"run": self.run})
        if known is None:
            return None
        state, found = known
        trees = [Tree(*each) for each in zip(found["order"], found["parent"], found["table"], strict=True)]
        model = Trees(learner.world, learner.columns, found["weights"], trees)
        return Chosen(model, int(state["rounds"]), float(state["score"]))

    def keep(self, name: str, found: Chosen) -> None:
        if self.writes:
            state, (_, tensors) = {"rounds": found.rounds, "score": found.score}, found.model.spec()
            checkpoints.save(self._path(name), {"run": self.run}, state, tensors)

    def _path(self, name: str) -> Path:
        return self.folder / f"prior-{name}.safetensors"


@dataclass
class Search:
    """Mixtures judged by held-out rows; `watch` is told of each round, and `kept` keeps what is found."""

    held: Table
    seed: int
    watch: Watcher = silent
    kept: Kept | None = None
    tried: int = field(default=0, init=False)
    most: int = field(default=0, init=False)  # mixtures that there may be to try
    score: float = field(default=-math.inf, init=False)  # of the best so far

    def best(self, learners: Sequence[Learner], amounts: Sequence[int], several: bool = True) -> Trees:
        """The best of a few trees for each way to cut numbers; more for the best way; then `several` starts."""
        few, more = (amounts[:FEW], amounts[FEW:]) if len(learners) > 1 else ((), amounts)
        self.most = len(learners) * len(few) + len(more) + (STARTS - 1 if several else 0)
        ways = [Way(at, learner, Rows.of(learner.columns, self.held.codes)) for at, learner in enumerate(learners)]
        try:
            tried = [[self._stopped(way, amount) for amount in few] for way in ways]
            at = max(range(len(ways)), key=lambda each: max((found.score for found in tried[each]), default=0.0))
            later = (self._stopped(ways[at], amount) for amount in more)
            best = _grown(chain(tried[at], later), ways[at].needed)
            return self._averaged(ways[at], best) if several else best.model
        finally:
            self._tell(ended=True)

    def _averaged(self, way: Way, first: Chosen) -> Trees:
        """The average of mixtures from more and more starts, the best on held-out rows; a single tree has but one.

        Two without gain end it.
        """
        parts, each, late = [first.model], len(first.model.trees), 0
        best, score = first.model, first.score
        while 1 < each <= MOST // (len(parts) + 1) and len(parts) < STARTS and late < 2:
            parts.append(self._stopped(way, each, len(parts)).model)
            together = Trees.average(parts)
            late, found = late + 1, way.held.mean(together)
            if found > score + way.needed:
                best, score, late = together, found, 0
            self.score = max(self.score, found)
        return best

    def _stopped(self, way: Way, components: int, start: int = 0) -> Chosen:
        """A mixture that is learned until held-out rows gain no more, from disk if it is there."""
        name = f"{way.number}-{components}-{start}"
        found = None if self.kept is None else self.kept.find(name, way.learner)
        if found is None:
            found = self._learned(way, components, _another(self.seed, start) if start else self.seed)
            if self.kept is not None:
                self.kept.keep(name, found)
        self.tried, self.score = self.tried + 1, max(self.score, found.score)
        return found

    def _learned(self, way: Way, components: int, seed: int) -> Chosen:
        """Rounds until held-out rows have not gained for long; the best on the way."""
        learner = way.learner
        model = learner.fitted(learner.start(components, seed))
        best = Chosen(model, 0, way.held.mean(model))
        alone = components == 1 and learner.complete  # a single tree of complete rows is found at once
        for number in range(1, 1 if alone else ROUNDS + 1):
            self._tell(best.score)
            model, _ = learner.improve(model)
            score = way.held.mean(model)
            if score > best.score + GAIN:
                best = Chosen(model, number, score)
            elif number - best.rounds >= PATIENCE:
                break
        return best

    def _tell(self, score: float = -math.inf, ended: bool = False) -> None:
        self.watch(Progress("prior", self.tried, self.most, {"held out": max(score, self.score)}, ended))


def _grown(tried: Iterator[Chosen], need: float) -> Chosen:
    """More trees while held-out rows gain; two sizes without gain end it."""
    best, late = next(tried), 0
    for found in tried:
        late, best = (0, found) if found.score > best.score + need else (late + 1, best)
        if late == 2:
            break
    return best


def _another(seed: int, number: int) -> int:
    """A seed for one more start; of larger ones torch takes the last 32 bits only."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
