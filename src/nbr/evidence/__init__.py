"""Dempster-Shafer mass functions on a finite frame, as batched tensors.

A mass function over L labels is a tensor (..., 2^L): the index is the bitmask of a set of labels, index 0 the
empty set. All functions are differentiable, broadcast over batch dimensions, and keep dtype and device.

>>> import torch
>>> from nbr import evidence
>>> frame = evidence.Frame("cat", "dog", "fox")
>>> witness = evidence.simple_support(frame.subset("cat", "dog"), 0.75, labels=3)
>>> track = evidence.simple_support(frame.subset("dog", "fox"), 0.5, labels=3)
>>> both = evidence.dempster(torch.stack([witness, track]))
>>> print(frame.show(both))
{dog} 0.375, {cat, dog} 0.375, {dog, fox} 0.125, {cat, dog, fox} 0.125
>>> dog = frame.subset("dog")
>>> evidence.belief(both)[dog].item(), evidence.plausibility(both)[dog].item()
(0.375, 1.0)
"""

from nbr.evidence.combine import (
    cautious,
    conflict,
    conjunctive,
    dempster,
    disjunctive,
    separable_support,
    yager,
)
from nbr.evidence.decide import pignistic, plausibility_transform
from nbr.evidence.decomposition import from_log_weights, log_weights, weights
from nbr.evidence.frame import Frame
from nbr.evidence.revise import condition, discount, normalise, restrict
from nbr.evidence.sources import categorical, simple_support, vacuous
from nbr.evidence.transforms import (
    belief,
    commonality,
    from_belief,
    from_commonality,
    from_implicability,
    from_plausibility,
    implicability,
    moebius_subsets,
    moebius_supersets,
    plausibility,
    zeta_subsets,
    zeta_supersets,
)

__all__ = [
    "Frame",
    "belief",
    "categorical",
    "cautious",
    "commonality",
    "condition",
    "conflict",
    "conjunctive",
    "dempster",
    "discount",
    "disjunctive",
    "from_belief",
    "from_commonality",
    "from_implicability",
    "from_log_weights",
    "from_plausibility",
    "implicability",
    "log_weights",
    "moebius_subsets",
    "moebius_supersets",
    "normalise",
    "pignistic",
    "plausibility",
    "plausibility_transform",
    "restrict",
    "separable_support",
    "simple_support",
    "vacuous",
    "weights",
    "yager",
    "zeta_subsets",
    "zeta_supersets",
]
