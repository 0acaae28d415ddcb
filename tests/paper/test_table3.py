"""Other ways to put scores together: they learn, and the proofs of the monotone ones hold."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.naive_bayes import GaussianNB

from nbr import RobustClassifier
from nbr.classify.recipe import Recipe, TrainingSample
from nbr.paper.table3 import PAPER, combined
from nbr.robustness.attacks import attack
from nbr.robustness.base import Attempt
from nbr.robustness.target import Target


class Centred(torch.nn.Module):
    """Rules see vectors less what their training examples have in common."""

    def __init__(self, centre: torch.Tensor, module: torch.nn.Module) -> None:
        super().__init__()
        self.centre, self.module = centre, module

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.module(points - self.centre.to(points.dtype))
        return found


def test_all_four_and_their_proofs() -> None:
    dice = np.random.default_rng(0)
    y = dice.integers(0, 2, 200)
    X = 0.5 + 0.08 * dice.normal(size=(200, 10)) + 0.25 * (y - 0.5)[:, None] * np.eye(10)[0]
    X = X.clip(0, 1)
    settings = {
        "networks": 2,
        "linear": False,
        "width": 16,
        "depth": 1,
        "head": 8,
        "epochs": 20,
        "batch_size": 64,
        "gamma": 0.3,
    }
    trained = RobustClassifier(0.1, random_state=0, **settings).fit(X, y)
    assert trained.centre_ is not None
    centre = torch.from_numpy(trained.centre_)
    sample = TrainingSample((torch.from_numpy(X) - centre).float(), torch.from_numpy(y), None)
    found = combined(sample, trained.rules_, Recipe(epsilon=0.1))
    assert {"NBR", *found} == set(PAPER)
    images, labels = torch.from_numpy(X[:40]), torch.from_numpy(y[:40])
    for name, each in found.items():
        target = Target(Centred(centre, each.module()))
        right = ~target.lost(images, labels)
        assert float(right.double().mean()) > 0.8, name
        radius = each.proved(images - centre)
        assert bool((radius > 0).any()) is each.monotone
        far = attack("DDN").run(target, Attempt(images, labels), 60).distance
        assert bool((far[right] >= radius[right]).all()), name


def test_naive_bayes_is_that_of_scikit_learn() -> None:
    from nbr.paper.table3 import SMALLEST, _bayes, _itself

    generator = torch.Generator().manual_seed(0)
    side = torch.arange(100) % 2
    scores = torch.randn(100, 3, generator=generator, dtype=torch.float64) + side[:, None]
    ours = torch.sigmoid(_bayes(_itself, scores, side)(scores))
    theirs = GaussianNB(var_smoothing=SMALLEST).fit(scores.numpy(), side.numpy()).predict_proba(scores.numpy())[:, 1]
    np.testing.assert_allclose(ours.numpy(), theirs, atol=0.01)  # theirs divides by n, ours by n - 1
