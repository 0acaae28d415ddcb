"""What can be saved, by name: each kind brings its own writer and reader, and storage knows none of them.

A kind belongs to a family: "rule", "prior" or "model". Its class has `spec()`, which gives plain data and
tensors, and `from_spec(spec, parts)`, which takes them back. `kind` registers a class where it is defined:

>>> @kind("rule", "always", keys={"always"})
... class Always:
...     def spec(self): return {"always": True}, {}
...     @classmethod
...     def from_spec(cls, spec, parts): return cls()
>>> find("rule", "always").__name__
'Always'
>>> del _KNOWN["rule", "always"]

A kind whose module should be loaded only when a file names it is announced by `home`; `nbr.kinds` lists ours.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from torch import Tensor

from nbr.errors import NbrError, install, suggest

Spec = dict[str, Any]
Tensors = dict[str, Tensor]


class Saved(Protocol):
    """An object that can be written."""

    def spec(self) -> tuple[Spec, Tensors]: ...


@dataclass(frozen=True)
class Parts:
    """What a reader may need beside the spec: its tensors, and what was read before it."""

    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)

    def below(self, prefix: str, **context: Any) -> Parts:
        """The parts whose names begin with a prefix, without it; with what else a reader needs to know."""
        start = f"{prefix}."
        found = {key.removeprefix(start): part for key, part in self.tensors.items() if key.startswith(start)}
        return Parts(found, context)


Class = TypeVar("Class", bound=type)
_KNOWN: dict[tuple[str, str], type] = {}
_KEYS: dict[type, frozenset[str]] = {}
_HOMES: dict[tuple[str, str], tuple[str, str | None]] = {}


def kind(family: str, name: str, keys: Iterable[str] = ()) -> Callable[[Class], Class]:
    """Register a class under a name that files use; `keys` are the entries that its spec may have."""

    def register(cls: Class) -> Class:
        _KNOWN[family, name] = cls
        _KEYS[cls] = frozenset(keys)
        return cls

    return register


def home(family: str, name: str, module: str, extra: str | None = None) -> None:
    """Say where a kind is defined, so that it is imported when first needed; `extra` is what must be installed."""
    _HOMES[family, name] = module, extra


def names(family: str) -> list[str]:
    """The kinds of a family."""
    return sorted({name for of, name in (*_KNOWN, *_HOMES) if of == family})


def find(family: str, name: object) -> Any:
    """The class of a kind."""
    key = (family, str(name))
    if key not in _KNOWN and key in _HOMES:
        module, extra = _HOMES[key]
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            wanted = f": {install(extra)}" if extra else ""
            raise NbrError(f"the {family} {name!r} needs {error.name}{wanted}") from None
    if key not in _KNOWN:
        raise NbrError(f"unknown {family} {name!r}" + suggest(str(name), names(family)))
    return _KNOWN[key]


def name_of(family: str, value: object) -> str:
    """The name under which the class of an object is registered."""
    for (of, name), cls in _KNOWN.items():
        if of == family and type(value) is cls:
            return name
    raise NbrError(f"the {family} {type(value).__name__} cannot be saved")


def check_keys(spec: Mapping[str, Any], cls: type, common: Iterable[str]) -> None:
    """Raise an error that names an entry which this kind does not have."""
    known = _KEYS[cls] | set(common)
    for key in spec:
        if key not in known:
            raise NbrError(f"unknown entry {key!r}" + suggest(key, sorted(known)))


def joined(parts: Mapping[str, Tensor], prefix: str) -> Tensors:
    """Tensors under a common prefix, as a file holds them."""
    return {f"{prefix}.{key}": part.contiguous() for key, part in parts.items()}
