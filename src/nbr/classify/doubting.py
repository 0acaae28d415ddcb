"""Learning how often labels are right of damaged pictures, and which inputs a classifier had better pass on.

From pictures of the training set, as they are and damaged in several ways, of which it is known whether the label was
right, and from strangers, of which no label is. What is learned is the degree a at which a Bel, the belief in the
label, is as high as the share of such pictures that are right.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

from nbr.classify.damage import damaged
from nbr.classify.doubt import Doubt, SeenInputs, features
from nbr.classify.evaluation import evaluate
from nbr.classify.familiarity import Familiarity, kept_examples
from nbr.classify.recipe import TrainingSample, Watcher
from nbr.classify.rules import NonexpansiveRules
from nbr.classify.strangers import strangers
from nbr.training import Loop

Range = tuple[float, float]
FEWEST = 100  # examples below which nothing is learned
SMALLEST = 8  # pixels of the shorter side
DRAWN, TIMES = 30_000, 40  # pictures at the most, and for each example
PLAIN, STRANGE = 0.1, 0.25  # shares of these that are not damaged, and that show nothing
WIDTH, BATCH, RATE, DECAY = 96, 512, 3e-3, 1e-4
LEAST, STEPS, PASSES = 800, 2500, 40  # steps, at the least, at the most, and as many as look at each picture so often
PASSED = 3000  # pictures by which it is chosen what is passed on
CHUNK = 2048  # pictures at a time


def learnable(sample: TrainingSample, values: tuple[float, float] | None) -> bool:
    """Whether there are pictures of known black and white, large enough and enough of them."""
    return (
        sample.shape is not None
        and values is not None
        and min(sample.shape[:2]) >= SMALLEST
        and len(sample.points) >= FEWEST
    )


def doubt(
    sample: TrainingSample,
    rules: NonexpansiveRules,
    known: Familiarity,
    values: Range,
    seed: int,
    combine: str,
    watch: Watcher,
) -> Doubt:
    """From training pictures, whose black and white are these values."""
    told, belief, right = examples(sample, rules, known, values, seed, combine)
    centre, spread = told.mean(dim=0), told.std(dim=0).clamp(min=1e-3)
    layers, scaled = _layers(told.shape[1], seed), (told - centre) / spread
    source = torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        rows = torch.randint(len(scaled), (BATCH,), generator=source)
        said = torch.sigmoid(layers(scaled[rows])[:, 0]) * belief[rows]
        return binary_cross_entropy(said.clamp(1e-6, 1 - 1e-6), right[rows])

    steps = min(STEPS, max(LEAST, PASSES * len(scaled) // BATCH))
    optimiser = torch.optim.AdamW(layers.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    Loop(optimiser, loss, steps, schedule=schedule).run(watch, "doubt")
    dense = [layer for layer in layers if isinstance(layer, nn.Linear)]
    parts = [torch.cat([layer.weight.detach().T, layer.bias.detach()[None]]) for layer in dense]
    return Doubt(centre, spread, *parts)


def examples(
    sample: TrainingSample, rules: NonexpansiveRules, known: Familiarity, values: Range, seed: int, combine: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Pictures as they are, damaged, and strange: features, beliefs in their labels, and 1 where these are right."""
    place = torch.full((len(sample.points),), -1)  # of an example among those that familiarity keeps
    kept = kept_examples(sample, seed)
    place[kept] = torch.arange(len(kept))
    told, belief, right = [], [], []
    for points, truth, rows in drawn(sample, values, min(DRAWN, TIMES * len(sample.points)), seed, STRANGE):
        seen = SeenInputs.by(rules, points, evaluate(rules, points, combine))
        told.append(features(known, seen, place[rows]))
        belief.append(seen.belief.float())
        right.append((seen.labels == truth).float())
    return torch.cat(told), torch.cat(belief), torch.cat(right)


def drawn(
    sample: TrainingSample, values: Range, count: int, seed: int, strange: float = 0.0
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """So many pictures, some at a time: as inputs, the number of their label, -1 if they have none, and their rows."""
    assert sample.shape is not None
    source = torch.Generator().manual_seed(seed)
    every = torch.randint(len(sample.points), (count,), generator=source)
    for rows in every.split(CHUNK):
        pictures, truth = _light(sample.points[rows], values).view(-1, *sample.shape), sample.labels[rows].clone()
        other = torch.randint(len(sample.points), (len(rows),), generator=source)
        fate = torch.rand(len(rows), generator=source)
        odd, harmed = (fate < strange) & (sample.labels[other] != truth), fate >= strange + PLAIN
        others = _light(sample.points[other[odd]], values).view(-1, *sample.shape)
        pictures[odd], truth[odd] = strangers(pictures[odd], others, source), -1
        pictures[harmed] = damaged(pictures[harmed], source)
        yield _shaded(pictures.flatten(1).double(), values), truth, rows


def passed(sample: TrainingSample, values: Range, seed: int) -> tuple[Tensor, Tensor]:
    """Pictures, most of them damaged, by which it is chosen what is passed on, and the numbers of their labels."""
    parts = list(drawn(sample, values, PASSED, seed + 1))
    return torch.cat([points for points, _, _ in parts]), torch.cat([truth for _, truth, _ in parts])


def _layers(count: int, seed: int) -> nn.Sequential:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % 2**32)
        return nn.Sequential(
            nn.Linear(count, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)
        ).float()


def _light(points: Tensor, values: Range) -> Tensor:
    """Inputs as brightness from 0, black, to 1, white."""
    low, high = values
    return ((points - low) / (high - low)).clamp(0, 1)


def _shaded(light: Tensor, values: Range) -> Tensor:
    """The inverse; never outside black and white, whatever rounding does."""
    low, high = values
    return (low + (high - low) * light).clamp(low, high)
