"""A world, rules and a prior as plain data and tensors: what a file of a reasoner holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbr import registry
from nbr.density.seen_together import Together
from nbr.density.written import by_hand as prior_by_hand
from nbr.density.written import written
from nbr.errors import NbrError
from nbr.priors import Prior
from nbr.rules.knowledge import Knowledge
from nbr.world import World


def write(knowledge: Knowledge, prior: Prior | None) -> tuple[registry.Spec, registry.Tensors]:
    model, tensors = knowledge.spec()
    if prior is not None:
        model["prior"], parts = prior.spec()
        tensors |= registry.joined(parts, "prior")
    return model, tensors


def fitting(prior: Prior | None, world: World) -> Prior | None:
    """A prior for a model of this world."""
    if prior is not None and prior.world != world:
        raise NbrError("the prior is of another world than the model")
    return prior


def read(model: Mapping[str, Any], parts: registry.Parts) -> tuple[Knowledge, Prior | None]:
    knowledge = Knowledge.from_spec(model, parts)
    if "prior" not in model:
        return knowledge, None
    if not isinstance(model["variables"], list):  # by hand
        return knowledge, written(knowledge.world, model["prior"])
    kind = registry.find("prior", model["prior"]["prior"])
    return knowledge, kind.from_spec(model["prior"], parts.below("prior", world=knowledge.world))


def by_hand(knowledge: Knowledge, prior: Prior | None, seen: Together | None) -> registry.Spec:
    """The same as a person would write it in a .toml; an error where that has no words for something."""
    if knowledge.codec is not None:
        raise NbrError("a decoder cannot stand in a .toml: save the model as .nbr, or distil it")
    model: registry.Spec = {} if seen is None else dict(seen.plain())
    model |= {"variables": knowledge.world.spec, "rules": []}
    for number, rule in enumerate(knowledge.rules, 1):
        spec, tensors = rule.spec()
        if tensors:
            raise NbrError(f"rule {number} ({rule}) cannot stand in a .toml: save the model as .nbr, or distil it")
        model["rules"].append(spec)
    return model if prior is None else model | {"prior": prior_by_hand(prior)}
