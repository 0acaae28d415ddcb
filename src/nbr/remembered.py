"""What was worked out before, within a number of bytes: whoever asks much, or about much, fills no memory."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from types import FunctionType, MethodType, ModuleType
from typing import Any, Generic, TypeVar, overload

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Other = TypeVar("Other")
MANY = 25_000  # members of a collection; of a larger one some are looked at
LOOKED_AT = 1_000
ALONE = frozenset({str, bytes, int, float, bool, type(None)})
ELSEWHERE = frozenset({ModuleType, FunctionType, MethodType})


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
        found = self._known[key]
        with self._lock, suppress(KeyError):  # another thread may have dropped it just now
            self._known.move_to_end(key)
        return found[0]

    @overload
    def get(self, key: Key) -> Value | None: ...

    @overload
    def get(self, key: Key, default: Other) -> Value | Other: ...

    def get(self, key: Key, default: object = None) -> object:
        """The same without an error, and without looking twice for what is not there."""
        found = self._known.get(key)
        if found is None:
            return default
        with self._lock, suppress(KeyError):
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
    left: list[tuple[Any, int]] = [(thing, 1)]
    sized = sys.getsizeof
    while left:
        part, times = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        kind = type(part)
        if kind in ALONE:
            total += times * sized(part)
            continue
        if (
            kind is Remembered or kind in ELSEWHERE or isinstance(part, type)
        ):  # what is counted elsewhere, or is not ours
            continue
        total += times * (sized(part, 64) + getattr(part, "nbytes", 0))  # as tensors and worlds say themselves
        members = part if kind is tuple or kind is list else _members(part)
        step = max(1, len(members) // LOOKED_AT) if len(members) > MANY else 1
        left += [(member, times * step) for member in members[::step]]
    return round(total)


def _members(thing: Any) -> Sequence[Any]:
    if isinstance(thing, dict):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, tuple | list):
        return thing
    if isinstance(thing, set | frozenset | deque):
        return list(thing)
    if hasattr(thing, "nbytes"):
        return ()
    if hasattr(thing, "__dict__"):
        return list(vars(thing).values())
    return [getattr(thing, name, None) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
