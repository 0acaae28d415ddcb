"""A model as plain data and tensors: what a file holds, or what a person writes in a .toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nbr import aims, registry
from nbr.density import sensors
from nbr.density.written import by_hand as prior_by_hand
from nbr.density.written import written as prior_written
from nbr.errors import NbrError, suggest
from nbr.model import Model
from nbr.priors import Prior
from nbr.rules import Choices, Codec, Rule, Sources, possibilities, read_rule, together_by_hand, together_plain, written
from nbr.tables import Together
from nbr.world import World

IN_TOML = (
    *("things", "variables", "rules", "expect", "prior", "views", "view_rows", "dispersion", "sensors"),
    *("observable", "actions", "sources", "closed", "words"),
)
LEARNED = "learned"  # a prior that is a model


def write(model: Model) -> tuple[registry.Spec, registry.Tensors]:
    """All of a model but its memory."""
    spec: registry.Spec = {"variables": _ordered(model.world), "rules": []}
    tensors: registry.Tensors = {}
    first: dict[int, int] = {}  # of rules that share weights, the one that has them
    for position, rule in enumerate(model.rules):
        said, parts = rule.spec()
        if rule.weights is not None and first.setdefault(id(rule.weights), position) != position:
            said["weights"], parts = first[id(rule.weights)] + 1, {}
        spec["rules"].append(said)
        tensors |= registry.joined(parts, f"rules.{position}")
    spec |= together_plain(model.rules, spec["rules"])
    spec |= {"closed": sorted(model.closed)} if model.closed else {}
    if model.codec is not None:
        said, parts = model.codec.spec()
        spec |= {"latent": _ordered(model.latent), **said}
        tensors |= parts
    if model.prior is not None:
        spec["prior"], parts = prior_spec(model.prior)
        tensors |= registry.joined(parts, "prior")
    if model.sensors:
        spec["sensors"], parts = sensors.write(model.sensors)
        tensors |= registry.joined(parts, "sensors")
    spec |= model.aims.plain() | _told_words(model.world)
    return spec | ({} if model.seen is None else model.seen.plain()), tensors


def prior_spec(prior: Prior | Model) -> tuple[registry.Spec, registry.Tensors]:
    """A prior, or a model that is one."""
    if isinstance(prior, Prior):
        return prior.spec()
    spec, tensors = write(prior)
    return {"prior": LEARNED, "model": spec}, tensors


def read(spec: Mapping[str, Any], parts: registry.Parts) -> Model:
    """The inverse of `write`; the words of a .toml are the same."""
    by_hand = not isinstance(spec.get("variables"), list)
    if by_hand:
        _check_entries(spec, IN_TOML)
        spec = written.plain(spec)
    world = _world(spec["variables"])
    if "words" in spec:
        world = world.with_words(_words(spec["words"]))
    codec = Codec.from_spec(world, _world(spec["latent"]), spec, parts) if "decoder" in spec else None
    rules: list[Rule] = []
    sources, choices = Sources(spec.get("sources", {})), Choices()
    for position, said in enumerate(spec.get("rules", []), 1):
        try:
            below = parts.below(f"rules.{position - 1}", earlier=rules, codec=codec)
            if isinstance(said, dict) and "one_of" in said:
                rules += possibilities(said, sources)
            else:
                rules.append(choices.joined(said, sources.said(said, read_rule(said, below))))
        except NbrError as error:
            raise NbrError(f"rule {position}: {error}") from None
    prior: Prior | Model | None = None
    if "prior" in spec:
        below = parts.below("prior", world=world)
        prior = prior_written(world, spec["prior"]) if by_hand else _prior(spec["prior"], below)
    seen = Together.of(world, spec.get("views"), spec.get("view_rows"), spec.get("dispersion", 1.0))
    eyes = sensors.read(spec["sensors"], parts, by_hand) if "sensors" in spec else {}
    closed = frozenset(spec.get("closed", []))
    return Model(world, tuple(rules), codec, prior, seen, eyes, aims=aims.read(world, spec), closed=closed)


def _prior(spec: Mapping[str, Any], parts: registry.Parts) -> Prior | Model:
    if spec["prior"] == LEARNED:
        return read(spec["model"], parts)
    found: Prior = registry.find("prior", spec["prior"]).from_spec(spec, parts)
    return found


def by_hand(model: Model) -> registry.Spec:
    """The same as a person would write it in a .toml; an error where that has no words for something."""
    if model.codec is not None:
        raise NbrError("a .toml file cannot hold a decoder: save the model as .nbr, or distil it")
    spec: registry.Spec = {} if model.seen is None else dict(model.seen.plain())
    spec |= {"variables": model.world.spec, "rules": []}
    for position, rule in enumerate(model.rules, 1):
        said, tensors = rule.spec()
        if tensors:
            raise NbrError(
                f"rule {position} ({rule}) cannot be written to a .toml file: save the model as .nbr, or distil it"
            )
        spec["rules"].append(said)
    spec |= together_by_hand(model.rules, spec["rules"])
    spec |= {"closed": sorted(model.closed)} if model.closed else {}
    spec |= model.aims.by_hand() | _told_words(model.world)
    if model.sensors:
        spec["sensors"] = sensors.by_hand(model.sensors)
    return spec if model.prior is None else spec | {"prior": prior_by_hand(model.prior)}


def _ordered(world: World) -> list[list[object]]:
    """Variables as pairs: their order is part of the model, and JSON objects do not promise one."""
    return [[name, spec] for name, spec in world.spec.items()]


def _world(pairs: object) -> World:
    """The inverse of `_ordered`."""
    whole = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    if not isinstance(pairs, list) or not whole or not all(isinstance(name, str) for name, _ in pairs):
        raise NbrError("the variables of a model are pairs of a name and a kind")
    if len({name for name, _ in pairs}) < len(pairs):
        raise NbrError("a variable appears twice")
    return World.from_spec(dict(pairs))


def _words(table: object) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise NbrError("[words] must be a table, such as hot = { temperature = [25, 30] }")
    return table


def _told_words(world: World) -> dict[str, Any]:
    return {"words": {name: word.spec for name, word in world.words.items()}} if world.words else {}


def _check_entries(spec: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise an error that names an entry of a hand-written model which nobody reads."""
    for key in spec:
        if key not in known:
            raise NbrError(f"unknown entry {key!r}" + suggest(key, known))
