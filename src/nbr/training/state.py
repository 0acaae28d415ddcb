"""State as files hold it: plain data, and tensors by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor


def split(tree: Any, name: str = "") -> tuple[Any, dict[str, Tensor]]:
    """Nested mappings and lists as JSON data, with the tensors apart; keys may be numbers, as in optimisers.

    >>> split({"step": 2, "state": {0: [1.5, None]}})[0]
    {'items': [['step', 2], ['state', {'items': [[0, [1.5, None]]]}]]}
    """
    if isinstance(tree, Tensor):
        return {"tensor": name}, {name: tree}
    tensors: dict[str, Tensor] = {}
    if isinstance(tree, Mapping):
        items = []
        for key, value in tree.items():
            plain, found = split(value, f"{name}.{key}" if name else str(key))
            items.append([key, plain])
            tensors |= found
        return {"items": items}, tensors
    if isinstance(tree, list | tuple):
        listed = []
        for number, value in enumerate(tree):
            plain, found = split(value, f"{name}.{number}")
            listed.append(plain)
            tensors |= found
        return listed, tensors
    return tree, tensors


def join(plain: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The inverse of `split`; tuples come back as lists."""
    if isinstance(plain, dict):
        if "tensor" in plain:
            return tensors[plain["tensor"]]
        return {key: join(value, tensors) for key, value in plain["items"]}
    if isinstance(plain, list):
        return [join(value, tensors) for value in plain]
    return plain
