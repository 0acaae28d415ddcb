"""Networks whose objections are not distinct bodies of evidence: of all that object to a label the strongest counts.

Networks of one classifier share layers and pixels, so their objections to a label are not added up. With G_ab the lead
of label a over b, log pl_b = -s max over a of max(0, G_ab): the exponent moves no further than s times the input does,
whatever the number of labels. s is the one number to learn: by the softmax of log pl the true labels should be likely.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from nbr.classify.recipe import TrainingSample
from nbr.classify.rules import NonexpansiveRules
from nbr.classify.tempering import sharpness


def cautious(rules: NonexpansiveRules, held: TrainingSample) -> NonexpansiveRules:
    """The networks alone, each believed to degree 1, with s from inputs that they were best not trained on."""
    plain = _weighing(rules.only(torch.arange(len(rules)) < rules.first_memory), 1.0)
    with torch.no_grad():
        scores = plain.batch(plain.scores(held.points.double()), "cautious").points()
    return _weighing(plain, sharpness(scores, held.labels))


def _weighing(rules: NonexpansiveRules, scale: float) -> NonexpansiveRules:
    one = torch.ones_like(rules.scale)
    return replace(rules, share=one, scale=scale * one, belief=one.clone())
