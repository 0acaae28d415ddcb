"""What a classifier says as a sensor: never outside its bounds, and the same for some inputs as for all."""

from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
from nbr.classify.robust import RobustClassifier

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def ten() -> RobustClassifier:
    return nbr.load("mnist-10").set_params(box=None)


@pytest.mark.parametrize("combine", ["cautious", "scaled", "exact"])
def test_no_change_leaves_the_bounds(ten: RobustClassifier, combine: str) -> None:
    """Steps along the gradient of every score both ways, where bounds of single objections are nearly met."""
    classifier = ten.without_memories().set_params(combine=combine)
    sensor, X = nbr.Sensor(classifier), classifier.read(EXAMPLES / "nine.png", EXAMPLES / "four.png")
    before = sensor.look(X)
    told = torch.from_numpy(classifier.decision_function(X)).clamp(-20, 0)
    torch.testing.assert_close(before.log_plausibility, told)  # what is seen is what is classified
    gaps = []
    for length in (0.1, 0.7):
        low, high = before.within(torch.full((2,), length, dtype=torch.float64))
        assert bool((low <= before.log_plausibility).all() & (before.log_plausibility <= high).all())
        points = torch.from_numpy(X).flatten(1).requires_grad_()
        scores = classifier.rules_.scores(points)
        for rule in range(0, 45, 4):
            (slope,) = torch.autograd.grad(scores[:, rule].sum(), points, retain_graph=True)
            step = length * slope / slope.norm(dim=1, keepdim=True)
            for way in (-1, 1):
                moved = sensor.look((points.detach() + way * step).view(X.shape).numpy()).log_plausibility
                assert bool((low <= moved).all() & (moved <= high).all())
                gaps.append(float((moved - low).amin(dim=0).min()))
    assert min(gaps) < 0.1


def test_evidence_of_some_inputs(ten: RobustClassifier) -> None:
    X = ten.read(EXAMPLES / "nine.png", EXAMPLES / "four.png")
    both, second = nbr.Sensor(ten).look(X), nbr.Sensor(ten).look(X).only([1])
    torch.testing.assert_close(second.log_plausibility, both.log_plausibility[1:], rtol=0, atol=0)
    length = torch.tensor([0.3, 0.5], dtype=torch.float64)
    for one, two in zip(both.within(length), second.within(length[1:]), strict=True):
        torch.testing.assert_close(one[1:], two, rtol=0, atol=1e-12)
    assert second.words(0, 9) == both.words(1, 9)


def test_a_number_that_does_not_fit_is_told(ten: RobustClassifier) -> None:
    for wrong, words in ((np.eye(3), "28 x 28 numbers"), (np.array("four"), "arrays of numbers or names of files")):
        with pytest.raises(nbr.NbrError, match=words):
            nbr.Sensor(ten).batch(wrong)
