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
import torch
from torch import Tensor

from nbr import clock
from nbr.priors.em import StateRows, TreeLearner
from nbr.priors.mixture import Trees
from nbr.priors.tree import Tree
from nbr.progress import Progress, Watcher, silent
from nbr.storage import checkpoints

STARTS = 8  # mixtures of as many trees, at the most
MOST = 256  # trees in all of them
FEW = 3  # of the amounts of trees say how fine numbers are cut
ROUNDS = 80  # of expectation and maximisation
GAIN = 1e-4  # nats a row; a round that gains less counts as none
FEW_ROWS = 4  # of which a standard error says so little that it counts twice
PATIENCE = 5  # rounds without gain on held-out rows, and then no more


@dataclass(frozen=True)
class Chosen:
    """Mixtures, one for each fold, how many rounds each took, and the log-likelihood of each held-out row."""

    models: tuple[Trees, ...]
    rounds: tuple[int, ...]
    scores: Tensor

    @property
    def trees(self) -> int:
        return len(self.models[0].trees)

    @property
    def alone(self) -> bool:
        """Whether every column is by itself."""
        return self.trees == 1 and all(model.alone for model in self.models)


@dataclass(frozen=True)
class Cutting:
    """One way to cut numbers: its place among others, all rows to learn from, and folds of rows held out in turn."""

    number: int
    learner: TreeLearner
    folds: tuple[tuple[TreeLearner, StateRows], ...]  # one alone has the learner of all rows

    @property
    def weights(self) -> Tensor:
        return torch.cat([held.weights for _, held in self.folds])

    def mean(self, scores: Tensor) -> float:
        return float(self.weights @ scores / self.weights.sum())

    def scores(self, models: Sequence[Trees]) -> Tensor:
        """Of each held-out row, by the mixture that has not seen it."""
        return torch.cat([held.scores(model) for (_, held), model in zip(self.folds, models, strict=True)])

    def gains(self, before: Tensor, after: Tensor) -> bool:
        """Whether held-out rows gain more than the standard error of their paired differences, and than rounding."""
        rows, each = float(self.weights.sum()), after - before
        mean = self.mean(each)
        error = (self.mean((each - mean) ** 2) / rows) ** 0.5
        return bool(mean > max((1 + FEW_ROWS / rows) * error, GAIN))


@dataclass(frozen=True)
class KeptMixtures:
    """Where mixtures are kept for a run that is stopped, and what tells this run from others."""

    folder: Path
    run: str
    writes: bool = True  # of several processes with one folder, one does

    def find(self, name: str, learner: TreeLearner) -> Chosen | None:
        known = checkpoints.restore(self._path(name), {"run": self.run})
        if known is None:
            return None
        state, found = known
        trees = [Tree(*each) for each in zip(found["order"], found["parent"], found["table"], strict=True)]
        model = Trees(learner.world, learner.columns, found["weights"], trees)
        return Chosen((model,), (int(state["rounds"]),), found["scores"])

    def keep(self, name: str, found: Chosen) -> None:
        if self.writes:
            (model,), (rounds,) = found.models, found.rounds
            _, tensors = model.spec()
            checkpoints.save(
                self._path(name), {"run": self.run}, {"rounds": rounds}, tensors | {"scores": found.scores}
            )

    def _path(self, name: str) -> Path:
        return self.folder / f"prior-{name}.safetensors"


@dataclass
class MixtureSearch:
    """Mixtures judged by held-out rows, until it is late.

    `watch` is told of each round, and `kept` keeps what is found.
    """

    seed: int
    watch: Watcher = silent
    kept: KeptMixtures | None = None
    deadline: float = math.inf
    tried: int = field(default=0, init=False)
    most: int = field(default=0, init=False)  # mixtures that there may be to try
    score: float = field(default=-math.inf, init=False)  # of the best so far

    def best(self, ways: Sequence[Cutting], amounts: Sequence[int], several: bool = True) -> Trees:
        """The best of a few trees for each way to cut numbers; more for the best way; then `several` starts."""
        few, more = (amounts[:FEW], amounts[FEW:]) if len(ways) > 1 else ((), amounts)
        self.most = len(ways) * len(few) + len(more) + (STARTS - 1 if several else 0)
        try:
            tried = [list(self._until_late(way, few, number == 0)) for number, way in enumerate(ways)]
            best_of = [
                max((way.mean(one.scores) for one in some), default=-math.inf)
                for way, some in zip(ways, tried, strict=True)
            ]
            at = max(range(len(ways)), key=best_of.__getitem__)
            later = self._until_late(ways[at], more, not few)
            best = _grown(chain(tried[at], later), ways[at])
            starts = self._averaged(ways[at], best) if several else [best]
            return self._delivered(ways[at], starts)
        finally:
            self._tell(ended=True)

    @property
    def _late(self) -> bool:
        return clock.now() > self.deadline

    def _until_late(self, way: Cutting, amounts: Sequence[int], first: bool) -> Iterator[Chosen]:
        """Mixtures of more and more trees; the first, if nothing else is there, however late it is."""
        for place, amount in enumerate(amounts):
            if self._late and (place or not first):
                return
            yield self._stopped(way, amount)

    def _averaged(self, way: Cutting, first: Chosen) -> list[Chosen]:
        """Mixtures from more and more starts, whose average is the best on held-out rows; a single tree has but one.

        Two without gain end it.
        """
        parts, each, late = [first], first.trees, 0
        best, scores = 1, first.scores
        while 1 < each <= MOST // (len(parts) + 1) and len(parts) < STARTS and late < 2 and not self._late:
            parts.append(self._stopped(way, each, len(parts)))
            together = way.scores(
                [Trees.average(models) for models in zip(*(one.models for one in parts), strict=True)]
            )
            late += 1
            if way.gains(scores, together):
                best, scores, late = len(parts), together, 0
            self.score = max(self.score, way.mean(together))
        return parts[:best]

    def _delivered(self, way: Cutting, starts: Sequence[Chosen]) -> Trees:
        """The average of mixtures from each start; where folds were held out in turn, learned from all rows."""
        if len(way.folds) == 1:
            models = [start.models[0] for start in starts]
        else:
            models = [self._learned_again(way.learner, start, number) for number, start in enumerate(starts)]
        return models[0] if len(models) == 1 else Trees.average(models)

    def _learned_again(self, learner: TreeLearner, start: Chosen, number: int) -> Trees:
        if start.alone:
            return learner.alone()
        model = learner.begun(start.trees, _another(self.seed, number))
        for _ in range(round(sum(start.rounds) / len(start.rounds))):
            model, _ = learner.improve(model)
        return model

    def _stopped(self, way: Cutting, components: int, start: int = 0) -> Chosen:
        """Mixtures that are learned until held-out rows gain no more, from disk if they are there."""
        name = f"{way.number}-{components}-{start}"
        kept = self.kept if len(way.folds) == 1 else None  # folds are for small tables
        found = None if kept is None else kept.find(name, way.learner)
        if found is None:
            each = [self._learned(*fold, components, _another(self.seed, start)) for fold in way.folds]
            models, rounds = zip(*each, strict=True)
            found = Chosen(models, rounds, way.scores(models))
            if kept is not None:
                kept.keep(name, found)
        self.tried, self.score = self.tried + 1, max(self.score, way.mean(found.scores))
        return found

    def _learned(self, learner: TreeLearner, held: StateRows, components: int, seed: int) -> tuple[Trees, int]:
        """Rounds until held-out rows have not gained for long; the best on the way, and which round it is of."""
        if not components:
            return learner.alone(), 0
        model = learner.begun(components, seed)
        best, at, score = model, 0, held.mean(model)
        found_at_once = components == 1 and learner.complete  # a single tree of complete rows
        for number in range(1, 1 if found_at_once else ROUNDS + 1):
            if self._late:
                break
            self._tell(score if components > 1 else -math.inf)
            model, _ = learner.improve(model)
            now = held.mean(model)
            if now > score + GAIN:
                best, at, score = model, number, now
            elif number - at >= PATIENCE:
                break
        return best, at

    def _tell(self, score: float = -math.inf, ended: bool = False) -> None:
        self.watch(Progress("prior", self.tried, self.most, {"held out": max(score, self.score)}, ended))


def _grown(tried: Iterator[Chosen], way: Cutting) -> Chosen:
    """More trees while held-out rows gain; two sizes without gain end it."""
    best, late = next(tried), 0
    for found in tried:
        late, best = (0, found) if way.gains(best.scores, found.scores) else (late + 1, best)
        if late == 2:
            break
    return best


def _another(seed: int, number: int) -> int:
    """A seed for one more start; of larger ones torch takes the last 32 bits only."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0]) if number else seed
