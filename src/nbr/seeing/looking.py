"""Pictures for the variables of a model, looked at by its sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbr.errors import NbrError, suggest
from nbr.model import Model
from nbr.rules import Evidence


@dataclass(frozen=True)
class Looked:
    """The evidence of one input or of n for each variable."""

    evidence: Mapping[str, Evidence]
    many: bool  # whether inputs came in batches
    count: int


def evidence_of(model: Model, pictures: Mapping[str, Any]) -> Looked:
    """The evidence of a picture for each of some variables, or of as many pictures for each."""
    if not model.sensors:
        raise NbrError('the model has no sensors: give it some with [sensors], or nbr.Reasoner(.., sensors={"d1": ..})')
    if not pictures:
        raise NbrError("no picture was given: give one for a variable, as in see(d1=picture)")
    batches, sizes = {}, {}
    for name, given in pictures.items():
        if name not in model.sensors:
            raise NbrError(f"{name!r} has no sensor" + suggest(name, model.sensors))
        try:
            batches[name], sizes[name] = _sized(model, name, given)
        except NbrError as error:
            raise NbrError(f"the picture of {name!r}: {error}") from None
    first = next(iter(sizes))
    for name, size in sizes.items():
        if size != sizes[first]:
            told = ["one picture" if each is None else f"{each} pictures" for each in (sizes[first], size)]
            raise NbrError(f"there are {told[0]} of {first!r} and {told[1]} of {name!r}: give as many of each")
    found = {name: model.sensors[name].look(batch) for name, batch in batches.items()}
    return Looked(found, sizes[first] is not None, sizes[first] or 1)


def _sized(model: Model, name: str, given: Any) -> tuple[Any, int | None]:
    batch, many = model.sensors[name].batch(given)
    return batch, len(batch) if many else None
