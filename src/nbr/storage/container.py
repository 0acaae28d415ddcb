"""Model files: hand-written .toml, and .nbr, one safetensors file that carries data and never code.

The header of a .nbr file holds the model as JSON, in the same words as a .toml, with a format version and a
checksum over all of it and the tensors. Which kinds of model there are is the registry's business.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.registry import Saved
from nbr.storage.atomic import write

FORMAT = 1
KEY = "nbr"
DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key without quotation marks
UNREADABLE = (
    ValueError,
    KeyError,
    AttributeError,
    TypeError,
    RuntimeError,  # RecursionError too
    OverflowError,
)


def save(model: Saved, path: str | PathLike[str]) -> None:
    """Write a model to a .nbr file, with a checksum over its data and tensors."""
    path = Path(path)
    if path.suffix.lower() != ".nbr":
        raise NbrError(f"the name of a model file must end in .nbr, not {path.name!r}")
    spec, tensors = model.spec()
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    header = json.dumps({"format": FORMAT, "checksum": checksum(spec, tensors), "model": spec})
    write(path, safetensors.torch.save(tensors, metadata={KEY: header}))


def save_toml(model: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write plain data to a .toml."""
    write(Path(path), toml(model).encode())


def toml(model: Mapping[str, Any]) -> str:
    """Plain data as TOML, one table for each entry that is one, a list of tables entry by entry."""
    lines = [f"{_key(name)} = {toml_value(value)}" for name, value in model.items() if not _tables(value)]
    for name, value in model.items():
        for table in value if isinstance(value, list) else [value]:
            if _tables(value):
                lines += ["", f"[[{_key(name)}]]" if isinstance(value, list) else f"[{_key(name)}]"]
                lines += [f"{_key(key)} = {toml_value(part)}" for key, part in table.items()]
    return "\n".join(lines).strip() + "\n"


def _tables(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(each, dict) for each in value))


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else toml_value(name)


def toml_value(value: object) -> str:
    """A value as TOML writes it: its texts, numbers and lists are those of JSON.

    >>> print(toml_value({"from": 0, "to": 1.5, "labels": ["a", 'b "c"']}))
    { from = 0, to = 1.5, labels = ["a", "b \\"c\\""] }
    """
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {toml_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(path: Path) -> bytearray:
    """The bytes of a file that is not empty."""
    try:
        content = bytearray(path.stat().st_size)
        with path.open("rb", buffering=0) as file:
            del content[file.readinto(content) or 0 :]
            content += file.read()  # what has no size, as a pipe
    except (OSError, ValueError) as error:
        raise NbrError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not content:
        raise NbrError(f"{path}: the file is empty")
    return content


def unpack(content: bytearray) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The data and tensors of a .nbr file, if its checksum fits."""
    header, tensors = _parse(content)
    version = header.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise NbrError("this is not an NBR model: its header has no format version")
    if version > FORMAT:
        raise NbrError(f"the file has format {version}, and this version of nbr reads up to {FORMAT}: update nbr")
    model = header.get("model")
    if not isinstance(model, dict) or header.get("checksum") != checksum(model, tensors):
        raise NbrError("the file is damaged: its checksum does not fit")
    return model, tensors


def from_toml(content: bytearray) -> dict[str, Any]:
    """The data of a .toml file."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise NbrError(f"not a TOML file: {error}") from None


def _tensor(content: bytearray, start: int, dtype: str, shape: list[int], data_offsets: list[int]) -> Tensor:
    kind, (first, last) = DTYPES[dtype], data_offsets
    count = math.prod(shape)
    if min(first, *shape, 0) < 0 or last - first != count * kind.itemsize or start + last > len(content):
        raise ValueError("a tensor is not at its stated position")
    if not count:
        return torch.empty(shape, dtype=kind)
    return torch.frombuffer(content, dtype=kind, count=count, offset=start + first).view(shape)


def checksum(model: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """A digest of plain data and tensors."""
    digest = hashlib.sha256(json.dumps([FORMAT, model], sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _parse(content: bytearray) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Tensors lie where they are in the content: safetensors itself would copy each."""
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        entries = json.loads(content[8:start])
        header = json.loads(entries.pop("__metadata__")[KEY])
        tensors = {name: _tensor(content, start, **entry) for name, entry in entries.items()}
        spans = sorted(tuple(entry["data_offsets"]) for entry in entries.values())
        if [0, *(last for _, last in spans)] != [*(first for first, _ in spans), len(content) - start]:
            raise ValueError("tensors leave gaps or overlap")
    except UNREADABLE:
        raise NbrError("this is not an NBR model, or it is damaged") from None
    if not isinstance(header, dict):
        raise NbrError("this is not an NBR model, or it is damaged")
    return header, tensors
