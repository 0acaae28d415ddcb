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

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
