"""The sensors of a model in its file: by name, or with all that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nbr import registry
from nbr.errors import NbrError
from nbr.language import names_in_range
from nbr.rules import NAMED, Sensing

OPEN = "open"  # in the context of a reader: the sensor of a name, as a file may give it

Opener = Callable[[str], Sensing]


def write(sensors: Mapping[str, Sensing]) -> tuple[registry.Spec, registry.Tensors]:
    """Each sensor once, and for each variable the number of its own."""
    each = list({id(sensor): sensor for sensor in sensors.values()}.values())
    place = {id(sensor): number for number, sensor in enumerate(each)}
    spec: registry.Spec = {"of": [[name, place[id(sensor)]] for name, sensor in sensors.items()], "each": []}
    tensors: registry.Tensors = {}
    for number, sensor in enumerate(each):
        said, parts = sensor.spec()
        spec["each"].append(said)
        tensors |= registry.joined(parts, str(number))
    return spec, tensors


def read(spec: object, parts: registry.Parts, by_hand: bool) -> dict[str, Sensing]:
    """The inverse of `write`; by hand a name for each variable or range of variables."""
    if not isinstance(spec, Mapping):
        raise NbrError('[sensors] must be a table, such as "d1..d5" = "mnist-10"')
    found: dict[str, Sensing] = {}
    if by_hand:
        opened: dict[str, Sensing] = {}
        for names, source in spec.items():
            if not isinstance(source, str):
                raise NbrError(f"the sensor of {names!r} is a name, such as 'mnist-10', and not {source!r}")
            if source not in opened:
                opened[source] = _opened(source, parts)
            for name in names_in_range(names):
                if name in found:
                    raise NbrError(f"{name!r} has two sensors")
                found[name] = opened[source]
        return found
    below = [parts.below(f"sensors.{number}", **parts.context) for number in range(len(spec["each"]))]
    each = [_sensor(said, own) for said, own in zip(spec["each"], below, strict=True)]
    for pair in spec["of"]:
        name, number = pair
        if not isinstance(number, int) or not 0 <= number < len(each) or not isinstance(name, str):
            raise NbrError("the sensors of a model are pairs of a variable and a number")
        found[name] = each[number]
    return found


def by_hand(sensors: Mapping[str, Sensing]) -> registry.Spec:
    """For a .toml, the names of sensors that have one."""
    found: registry.Spec = {}
    for name, sensor in sensors.items():
        said, _ = sensor.spec()
        if said.get("sensor") != NAMED:
            raise NbrError(f"the sensor of {name!r} has no name that a .toml could give: save the model as .nbr")
        found[name] = said["name"]
    return found


def _sensor(spec: object, parts: registry.Parts) -> Sensing:
    kind = spec.get("sensor") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or kind is None:
        raise NbrError("a sensor of a model is a table that names its kind")
    if kind == NAMED:
        return _opened(str(spec.get("name")), parts)
    found: Sensing = registry.find("sensor", kind).from_spec(spec, parts)
    return found


def _opened(source: str, parts: registry.Parts) -> Sensing:
    if OPEN not in parts.context:
        raise NbrError(f"the sensor {source!r} is looked for where models are loaded from files")
    opened: Sensing = parts.context[OPEN](source)
    return opened
