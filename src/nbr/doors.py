"""The door of a room: the names that others may use, as its `__init__.pyi` lists them, imported when first used.

A room's `__init__.py` says what lives there and ends in

    __getattr__, __dir__, __all__ = door(__name__)

Type checkers read that list too, so that each public name is told once:

    from nbr.rules.clause import Clause as Clause
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

LISTED = re.compile(r"^from (?P<module>[\w.]+) import (?P<name>\w+) as (?P=name)$", re.MULTILINE)


def door(room: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """What a room's `__init__` needs so that its names are imported when they are first used.

    Args:
        room: The `__name__` of the package.

    Returns:
        Its `__getattr__`, its `__dir__` and its `__all__`.
    """
    homes = listed(room)

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home = homes[name]
        value = (
            importlib.import_module(f"{room}.{name}") if home == room else getattr(importlib.import_module(home), name)
        )
        setattr(sys.modules[room], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)


def listed(room: str) -> dict[str, str]:
    """The public names of a room, each with the module that defines it; of a public module that is the room."""
    place = sys.modules[room].__file__
    assert place is not None
    text = Path(place).with_suffix(".pyi").read_text(encoding="utf-8")
    return {found["name"]: found["module"] for found in LISTED.finditer(text)}
