"""What was compiled, kept for later questions: by structure, up to so many bytes, and of no model's own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Compilations(Generic[T]):
    """Things by their keys; what was not asked for the longest goes first when there are too many bytes of them.

    >>> kept = Compilations[str](room=3, size=len)
    >>> [kept.once(key, lambda: key.upper()) for key in ("a", "bb", "a", "c", "a")]
    ['A', 'BB', 'A', 'C', 'A']
    >>> list(kept.things)
    ['c', 'a']
    """

    def __init__(self, room: int, size: Callable[[T], int]) -> None:
        self.room, self.size = room, size
        self.things: OrderedDict[Hashable, T] = OrderedDict()
        self.held = 0

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key in self.things:
            self.things.move_to_end(key)
            return self.things[key]
        made = make()
        self.things[key] = made
        self.held += self.size(made)
        while self.held > self.room and len(self.things) > 1:
            _, gone = self.things.popitem(last=False)
            self.held -= self.size(gone)
        return made
