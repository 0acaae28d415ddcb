"""What was worked out before, within a number of bytes: whoever asks much, or about much, fills no memory."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator, Mapping, MutableMapping, Sequence, Set
from types import FunctionType, MethodType, ModuleType
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
MANY = 25_000  # members of a collection; of a larger one some are looked at
LOOKED_AT = 1_000
ELSEWHERE = (type, ModuleType, FunctionType, MethodType)


class Remembered(MutableMapping[Key, Value], Generic[Key, Value]):
    """A mapping that forgets what was not used for longest; what was put in last always stays.

    Threads may share it. A copy, or one that travels to another process, begins empty.

    >>> known = Remembered(most=1_000)
    >>> known["a"], known["b"] = "x" * 400, "y" * 400
    >>> list(known)
    ['b']
    """

    def __init__(self, most: int) -> None:
        self.most, self.bytes = most, 0
        self._known: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __getitem__(self, key: Key) -> Value:
        with self._lock:
            found = self._known[key]
            self._known.move_to_end(key)
        return found[0]

    def __setitem__(self, key: Key, value: Value) -> None:
        self.put(key, value, size_of((key, value)))

    def put(self, key: Key, value: Value, size: int) -> None:
        """The same where its size in bytes is known."""
        with self._lock:
            self._dropped(key)
            self._known[key] = value, size
            self.bytes += size
            while self.bytes > self.most and len(self._known) > 1:
                self._dropped(next(iter(self._known)))

    def __delitem__(self, key: Key) -> None:
        with self._lock:
            if key not in self._known:
                raise KeyError(key)
            self._dropped(key)

    def _dropped(self, key: Key) -> None:
        self.bytes -= self._known.pop(key, (None, 0))[1]

    def __iter__(self) -> Iterator[Key]:
        with self._lock:
            return iter(list(self._known))

    def __len__(self) -> int:
        return len(self._known)

    def __reduce__(self) -> tuple[type[Remembered[Key, Value]], tuple[int]]:
        return type(self), (self.most,)


def size_of(thing: object) -> int:
    """About how many bytes a thing takes with all that it leads to; of a very large collection some members are asked.

    >>> size_of("a" * 1_000) > 1_000, size_of(["a" * 1_000] * 1_000) < 20_000
    (True, True)
    """
    total, seen = 0.0, set()
    left: list[tuple[Any, float]] = [(thing, 1.0)]
    while left:
        part, times = left.pop()
        if id(part) in seen or isinstance(part, (Remembered, *ELSEWHERE)):  # what is counted elsewhere, or not ours
            continue
        seen.add(id(part))
        total += times * sys.getsizeof(part, 64)
        if isinstance(part, str | bytes | int | float | None):
            continue
        if hasattr(part, "nbytes"):  # tensors and arrays
            total += times * part.nbytes
            continue
        members = _members(part)
        step = max(1, len(members) // LOOKED_AT) if len(members) > MANY else 1
        left += [(member, times * step) for member in members[::step]]
    return round(total)


def _members(thing: Any) -> Sequence[Any]:
    if isinstance(thing, Mapping):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, list | tuple):
        return thing
    if isinstance(thing, Set | deque):
        return list(thing)
    slots = [getattr(thing, name, None) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*vars(thing).values(), *slots] if hasattr(thing, "__dict__") else slots
