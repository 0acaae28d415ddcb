"""Model files: hand-written .toml, and .nbr, one safetensors file that carries data and never code.

The header of a .nbr file holds the model as JSON, in the same words as a .toml, with a format version and a
checksum over all of it and the tensors. It is written to a temporary name and renamed, so a file is never half there.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from nbr.codec import Codec
from nbr.errors import NbrError, suggest
from nbr.language import span
from nbr.learning import priors
from nbr.reasoner import Reasoner
from nbr.rules import Clause, Memory, Neural, Rule, Veiled, layers
from nbr.rules.base import number, text
from nbr.world import World

FORMAT = 1
KEY = "nbr"
MODELS = Path(__file__).parent / "models"
KEYS = {
    "rule": {"rule", "belief", "name"},
    "memory": {"memory", "radius", "sharpness", "belief", "name"},
    "veiled": {"veiled", "network", "belief", "name"},
    "network": {"network", "inputs", "output", "weights", "belief", "name"},
}


def load(path: str | PathLike[str]) -> Any:
    """Read a reasoner from a .nbr or .toml file, or a classifier from a .nbr file or by the name of a shipped one."""
    path = _shipped(path)
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise NbrError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        if not content:
            raise NbrError("the file is empty")
        return _from_toml(content) if path.suffix.lower() == ".toml" else _from_nbr(content)
    except NbrError as error:
        raise NbrError(f"{path}: {error}") from None


def load_reasoner(path: str | PathLike[str]) -> Reasoner:
    """Read a model that answers questions."""
    found = load(path)
    if not isinstance(found, Reasoner):
        raise NbrError(f"{path} is a classifier, which does not answer questions; use nbr classify")
    return found


def _shipped(path: str | PathLike[str]) -> Path:
    """A path; a name such as mnist-4-9 that is no file here stands for a model that comes with the package."""
    named = MODELS / f"{Path(path).name}.nbr"
    return named if str(path) == Path(path).name and not Path(path).exists() and named.exists() else Path(path)


def save(reasoner: Reasoner, path: str | PathLike[str]) -> None:
    """Write a model to a .nbr file."""
    save_parts(*pack(reasoner), path)


def save_parts(model: dict[str, Any], tensors: dict[str, Tensor], path: str | PathLike[str]) -> None:
    """Write plain data and tensors to a .nbr file, with a checksum over both."""
    path = Path(path)
    if path.suffix.lower() != ".nbr":
        raise NbrError(f"a model is saved with the ending .nbr, not as {path.name!r}")
    header = json.dumps({"format": FORMAT, "checksum": _checksum(model, tensors), "model": model})
    content = safetensors.torch.save(tensors, metadata={KEY: header})
    write(path, content)


def write(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it is never half there."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise NbrError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise NbrError(f"cannot write {path}: {error.strerror or error}") from None


def pack(reasoner: Reasoner) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """A model as plain data and tensors."""
    model: dict[str, Any] = {"variables": _ordered(reasoner.world), "rules": []}
    tensors: dict[str, Tensor] = {}
    written: dict[int, int] = {}
    for position, rule in enumerate(reasoner.rules):
        spec, parts = rule.spec()
        if isinstance(rule, Neural) and written.setdefault(id(rule.network), position) != position:
            spec["weights"], parts = written[id(rule.network)] + 1, {}
        model["rules"].append(spec)
        tensors.update({f"rules.{position}.{key}": part.contiguous() for key, part in parts.items()})
    if reasoner.codec is not None:
        model["latent"] = _ordered(reasoner.latent)
        for name, network in (("decoder", reasoner.codec.decoder), ("encoder", reasoner.codec.encoder)):
            if network is not None:
                if not isinstance(network, nn.Module):
                    raise NbrError(f"the {name} is a function of yours and cannot be saved")
                model[name], parts = layers.write(network)
                tensors.update({f"{name}.{key}": part.contiguous() for key, part in parts.items()})
    if reasoner.known_prior is not None:
        model["prior"], parts = reasoner.known_prior.spec()
        tensors.update({f"prior.{key}": part.contiguous() for key, part in parts.items()})
    return model, tensors


def _ordered(world: World) -> list[list[object]]:
    """Variables as pairs: their order is part of the model, and JSON objects do not promise one."""
    return [[name, spec] for name, spec in world.spec.items()]


def _checksum(model: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps([FORMAT, model], sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _from_nbr(content: bytes) -> Any:
    header, tensors = _unpack(content)
    version = header.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise NbrError("this is not an NBR model: its header has no format version")
    if version > FORMAT:
        raise NbrError(f"the file has format {version}, and this version of nbr reads up to {FORMAT}: update nbr")
    model = header.get("model")
    if not isinstance(model, dict) or header.get("checksum") != _checksum(model, tensors):
        raise NbrError("the file is damaged: its checksum does not fit")
    try:
        if "classifier" in model:
            from nbr.classify.storage import unpack as unpack_classifier

            return unpack_classifier(model, tensors)
        return unpack(model, tensors)
    except ModuleNotFoundError as error:
        raise NbrError(f"classifiers need {error.name}: pip install 'nbr[classify]'") from None
    except NbrError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError):  # made by hand, checksum and all
        raise NbrError("the file does not hold a model that can be read") from None


def _unpack(content: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
        tensors = safetensors.torch.load(content)
        header = json.loads(metadata[KEY])
    except (
        safetensors.SafetensorError,
        ValueError,
        KeyError,
        AttributeError,
        TypeError,
        RecursionError,
        OverflowError,
    ):
        raise NbrError("this is not an NBR model, or it is damaged") from None
    if not isinstance(header, dict):
        raise NbrError("this is not an NBR model, or it is damaged")
    return header, tensors


def _from_toml(content: bytes) -> Reasoner:
    try:
        model = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise NbrError(f"not a TOML file: {error}") from None
    for key in model:
        if key not in ("variables", "rules"):
            raise NbrError(f"unknown entry {key!r}" + suggest(key, ["variables", "rules"]))
    if "variables" not in model:
        raise NbrError("there is no [variables] table")
    if not isinstance(model["variables"], dict):
        raise NbrError("[variables] must be a table of names")
    variables: dict[str, object] = {}
    for key, spec in model["variables"].items():
        for name in span(key):
            if name in variables:
                raise NbrError(f"variable {name!r} stands twice in [variables]")
            variables[name] = spec
    return unpack({**model, "variables": variables}, {})


def unpack(model: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Reasoner:
    """The inverse of `pack`; the words of a .toml are the same."""
    specs = model.get("rules", [])
    if not isinstance(specs, list):
        raise NbrError("rules must be a list: write [[rules]] above each one")
    world = World.from_spec(dict(model["variables"]))
    codec = _codec(world, model, tensors)
    rules: list[Rule] = []
    for position, spec in enumerate(specs, 1):
        rules.append(_rule(position, spec, tensors, rules, codec))
    prior = priors.read(world, model["prior"], _below(tensors, "prior.")) if "prior" in model else None
    if codec is None:
        return Reasoner(world, rules, prior=prior)
    return Reasoner(world, rules, latent=codec.latent, decoder=codec.decoder, encoder=codec.encoder, prior=prior)


def _codec(world: World, model: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Codec | None:
    if "decoder" not in model:
        return None
    networks = {
        name: layers.read(model[name], _below(tensors, f"{name}.")) for name in ("decoder", "encoder") if name in model
    }
    return Codec(world, World.from_spec(dict(model["latent"])), networks["decoder"], networks.get("encoder"))


def _rule(
    position: int, spec: object, tensors: Mapping[str, Tensor], earlier: Sequence[Rule], codec: Codec | None
) -> Rule:
    try:
        if not isinstance(spec, dict):
            raise NbrError("must be a table: write [[rules]] above it")
        kind = next((kind for kind in KEYS if kind in spec), None)
        if kind is None:
            raise NbrError('has no rule = "..." and no memory = {...}')
        for key in spec:
            if key not in KEYS[kind]:
                raise NbrError(f"unknown entry {key!r}" + suggest(key, KEYS[kind]))
        if "belief" not in spec:
            raise NbrError("has no belief")
        belief = number(spec, "belief")
        name = text(spec, "name") if "name" in spec else None
        if kind == "rule":
            return Clause(text(spec, "rule"), belief, name)
        if kind == "memory":
            if not isinstance(spec["memory"], dict) or "radius" not in spec:
                raise NbrError("a memory needs a table of values and a radius")
            sharpness = number(spec, "sharpness") if "sharpness" in spec else 10.0
            return Memory(spec["memory"], number(spec, "radius"), belief, sharpness=sharpness, name=name)
        if kind == "veiled" and codec is not None:
            return Veiled(spec["veiled"], _network(position, spec, tensors, earlier), belief, codec, name)
        if not isinstance(spec.get("inputs"), list):
            raise NbrError("a network can only stand in a .nbr file, with its weights and inputs")
        return Neural(
            spec["inputs"], _network(position, spec, tensors, earlier), belief, name, output=spec.get("output", 0)
        )
    except NbrError as error:
        raise NbrError(f"rule {position}: {error}") from None


def _network(
    position: int, spec: Mapping[str, Any], tensors: Mapping[str, Tensor], earlier: Sequence[Rule]
) -> nn.Module:
    """The network of a rule, which may be that of an earlier one."""
    if "weights" in spec:
        owner = earlier[int(number(spec, "weights")) - 1]
        if isinstance(owner, Neural):
            return owner.network
    parts = _below(tensors, f"rules.{position - 1}.")
    if not parts:
        raise NbrError("a network can only stand in a .nbr file, with its weights and inputs")
    return layers.read(spec["network"], parts)


def _below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): part for key, part in tensors.items() if key.startswith(prefix)}
