"""Two bodies of knowledge combined into one model.

A prior is a belief function whose focal sets are points, and Dempster's rule multiplies those of independent origin.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.density.saved import prior_spec
from nbr.errors import NbrError
from nbr.model import Model
from nbr.priors import Independent, Prior, product, uniform
from nbr.rules import joined_rules
from nbr.tables import Together, seen_together
from nbr.world import Variable, World


def combined(one: Model, other: Model) -> Model:
    """Both over the union of their worlds; which one stands first does not matter."""
    if one.codec is not None or other.codec is not None:
        raise NbrError("models with a decoder cannot be combined: their latent worlds differ")
    world = one.world | other.world
    seen = Together.of(world, seen_together.combined(one.seen, other.seen))
    prior, aims, rules = _prior(world, one, other), one.aims & other.aims, tuple(joined_rules(one.rules, other.rules))
    for name in sorted(one.closed ^ other.closed):
        if name in one.world.variables and name in other.world.variables:
            raise NbrError(f"{name!r} is closed in one model and open in the other")
    return Model(world, rules, prior=prior, seen=seen, aims=aims, closed=one.closed | other.closed)


def _prior(world: World, left: Model, right: Model) -> Prior | Model | None:
    """The prior of both.

    A model that was trained on top of the other brings no prior of its own, and one prior that both have counts once.
    """
    priors = [prior for prior in (_own(left, right), _own(right, left)) if prior is not None]
    if not priors:
        return None
    if len(priors) == 2 and _same(*priors):
        priors = priors[:1]
    if len(priors) == 1 and priors[0].world == world:
        return priors[0]
    alone = [prior.independent if isinstance(prior, Prior) else None for prior in priors]
    if None in alone:
        kinds = " and ".join(type(prior).__name__ for prior in priors)
        raise NbrError(
            f"the priors of the two models ({kinds}) cannot be combined; make Reasoner(r.world | s.world, "
            "[*r.rules, *s.rules], prior=...) with the prior that you mean"
        )
    columns = dict(zip(world.names, uniform(world).columns, strict=True))
    for prior, known in zip(priors, alone, strict=True):
        for name, column in zip(prior.world.names, known or (), strict=True):
            columns[name] = _product(name, world.variables[name], columns[name], column)
    return Independent(world, list(columns.values()))


def _own(model: Model, other: Model) -> Prior | Model | None:
    """The prior of a model, unless that is what the other model says."""
    trained_on_top = model.below is not None and _rules(model.below) == _rules(other)
    return None if trained_on_top else model.prior


def _rules(model: Model) -> list[tuple[str, float]]:
    return [(rule.describe(), rule.degree) for rule in model.rules]


def _same(one: Prior | Model, other: Prior | Model) -> bool:
    if one is other:
        return True
    if type(one) is not type(other) or one.world != other.world:
        return False
    (spec, tensors), (spec2, tensors2) = prior_spec(one), prior_spec(other)
    return (
        spec == spec2
        and tensors.keys() == tensors2.keys()
        and all(torch.equal(tensors[key], tensors2[key]) for key in tensors)
    )


def _product(name: str, variable: Variable, one: Tensor, other: Tensor) -> Tensor:
    """The product of two distributions of one variable; that of two normal curves is one again."""
    if not variable.numeric:
        both = one / one.sum() * other
        if not bool((both > 0).any()):
            raise NbrError(f"the priors of the two models exclude every value of {name!r}")
        return both
    if not len(one) or not len(other):
        return one if len(one) else other
    if one.dim() == 2 or other.dim() == 2:
        return product(variable, one, other)
    sharpness = one[1] ** -2 + other[1] ** -2
    mean = (one[0] * one[1] ** -2 + other[0] * other[1] ** -2) / sharpness
    return torch.stack([mean, sharpness**-0.5])
