"""A world, rules and a prior as plain data and tensors: what a file of a reasoner holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbr import registry
from nbr.density.written import written
from nbr.priors import Prior
from nbr.rules.knowledge import Knowledge


def write(knowledge: Knowledge, prior: Prior | None) -> tuple[registry.Spec, registry.Tensors]:
    model, tensors = knowledge.spec()
    if prior is not None:
        model["prior"], parts = prior.spec()
        tensors |= registry.joined(parts, "prior")
    return model, tensors


def read(model: Mapping[str, Any], parts: registry.Parts) -> tuple[Knowledge, Prior | None]:
    knowledge = Knowledge.from_spec(model, parts)
    if "prior" not in model:
        return knowledge, None
    if not isinstance(model["variables"], list):  # by hand
        return knowledge, written(knowledge.world, model["prior"])
    kind = registry.find("prior", model["prior"]["prior"])
    return knowledge, kind.from_spec(model["prior"], parts.below("prior", world=knowledge.world))
