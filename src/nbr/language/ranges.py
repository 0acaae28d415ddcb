"""Ranges of names such as x1..x4, and how much a statement may stand for when they are written out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from nbr.errors import NbrError, suggest
from nbr.world import World

MOST = 20_000  # names that a range, or a whole statement, stands for
NUMBERED = re.compile(r"(.*?)(\d{1,12})\Z", re.DOTALL)
BETWEEN = re.compile(r"(\d{1,12})\s*\.\.\s*(\w*)")
QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")


@dataclass
class Spelled:
    """What a statement that is being read has come to, and the world that its ranges must lie in, if that is known."""

    world: World | None
    names: int = 0


_now: ContextVar[Spelled | None] = ContextVar("reading", default=None)


@contextmanager
def reading(world: World | None) -> Iterator[Spelled]:
    """While one statement is read: a few words can stand for more than there is memory for."""
    found = Spelled(world)
    before = _now.set(found)
    try:
        yield found
    finally:
        _now.reset(before)


def foretold(text: str) -> None:
    """Refuse a statement whose ranges alone are too much before any of it is read."""
    names = 0
    for found in BETWEEN.finditer(QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)):
        last = NUMBERED.match(found[2])
        names += 0 if last is None else max(0, int(last[2]) - int(found[1]))
        if names > MOST:
            raise _too_many(found.start())


def _too_many(at: int) -> NbrError:
    return NbrError(f"it stands for more than {MOST:,} names, from character {at + 1} on: ask about fewer", at + 1)


def counted(names: int, at: int) -> None:
    """Before a part of the statement that is being read is written out as so many names."""
    now = _now.get()
    if now is None:
        return
    now.names += names
    if now.names > MOST:
        raise _too_many(at)


def spread(first: str, last: str, at: int) -> list[str]:
    """The names of a range in a statement that is being read, each of which the world must have."""
    some = _Range.of(f"{first}..{last}")
    counted(len(some), at)
    now = _now.get()
    if now is not None and now.world is not None:
        unknown = next((name for name in some if name not in now.world.variables), None)
        if unknown is not None:
            near = suggest(unknown, now.world.names)
            raise NbrError(f"unknown variable {unknown!r}{near} (at character {at + 1})", at + 1)
    return list(some)


def names_in_range(name: str) -> list[str]:
    """The names that a range such as x1..x4 stands for; another name stands for itself. Leading zeros are kept.

    >>> names_in_range("x08..x10"), names_in_range("rain")
    (['x08', 'x09', 'x10'], ['rain'])
    """
    return list(_Range.of(name)) if ".." in name else [name]


@dataclass(frozen=True)
class _Range:
    head: str
    numbers: range
    width: int

    @classmethod
    def of(cls, name: str) -> _Range:
        first, _, last = name.partition("..")
        start, end = NUMBERED.match(first), NUMBERED.match(last)
        if not start or not end or start[1] != end[1] or int(start[2]) > int(end[2]):
            raise NbrError(f"{name} is not a range such as x1..x4")
        if int(end[2]) - int(start[2]) >= MOST:
            raise NbrError(f"{name} names more than {MOST} variables")
        width = len(start[2]) if start[2].startswith("0") else 0
        return cls(start[1], range(int(start[2]), int(end[2]) + 1), width)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return (f"{self.head}{number:0{self.width}d}" for number in self.numbers)
