"""The models of one folder, by name: nothing outside it is read or written, and nothing that does not load is kept."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbr import registry
from nbr.errors import NbrError, suggest
from nbr.kinds import parsed
from nbr.storage import container, write

if TYPE_CHECKING:
    from nbr.reasoner import Reasoner

NAME = re.compile(r"[\w][\w -]{0,60}\.toml")
LARGEST = 1 << 20  # bytes of a model
RULES = 5_000  # entries of a model
FILES = 500  # that a folder may have
HELD = 8  # models kept in memory
TOLD = ("rule", "memory", "one_of", "belief", "name", "source", "quote", "date", "unless")


@dataclass(frozen=True)
class Book:
    """A model, the entries of its file, and which entry each rule of the model comes from."""

    name: str
    text: str
    spec: Mapping[str, Any]
    reasoner: Reasoner
    entries: tuple[int, ...]  # of each rule, counted from 1

    def cited(self, rules: Sequence[int]) -> list[dict[str, object]]:
        """Rules by their numbers, as a reader can look them up: what is said, how firmly, by whom, in which words."""
        return [self._cited(number) for number in rules]

    def _cited(self, number: int) -> dict[str, object]:
        rule, entry = self.reasoner.rules[number - 1], self.entries[number - 1]
        said = {key: value for key, value in self.spec["rules"][entry - 1].items() if key in TOLD}
        said |= {"rule": rule.describe(), "belief": rule.degree}
        said.pop("one_of", None)
        return {"number": number, **({} if entry == number else {"entry": entry}), **said}


class Shelf:
    """A folder of models; with names given, only those."""

    def __init__(self, folder: Path, only: Sequence[str] = ()) -> None:
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            raise NbrError(f"{folder} is not a folder")
        self.only = frozenset(self._name(each) for each in only)
        self._held: OrderedDict[str, tuple[tuple[int, int], Book]] = OrderedDict()
        for each in sorted(self.only):
            self.book(each)

    def names(self) -> list[str]:
        """The models that are there."""
        there = sorted(path.name for path in self.folder.glob("*.toml") if NAME.fullmatch(path.name))
        return [name for name in there if not self.only or name in self.only]

    def book(self, name: object) -> Book:
        """A model by its name."""
        path = self._path(name)
        if not path.is_file():
            raise NbrError(f"there is no model {path.name!r}" + suggest(path.name, self.names()))
        status = path.stat()
        seen = status.st_mtime_ns, status.st_size
        known = self._held.get(path.name)
        if known is None or known[0] != seen:
            if status.st_size > LARGEST:
                raise NbrError(f"{path.name} is larger than {LARGEST:,} bytes")
            known = seen, self.read(path.name, container.read(path).decode("utf-8-sig", errors="replace"))
            self._held[path.name] = known
        self._held.move_to_end(path.name)
        while len(self._held) > HELD:
            self._held.popitem(last=False)
        return known[1]

    def read(self, name: str, text: str) -> Book:
        """A model from its text, which need not stand in a file; all that is wrong is told, by line."""
        if len(text.encode()) > LARGEST:
            raise NbrError(f"{name}: a model may have up to {LARGEST:,} bytes, not {len(text.encode()):,}")
        spec = container.from_toml(bytearray(text.encode()))
        rules = spec.get("rules", [])
        if isinstance(rules, list) and len(rules) > RULES:
            raise NbrError(f"{name}: a model may have up to {RULES:,} entries of rules, not {len(rules):,}")
        for variable, sensor in spec["sensors"].items() if isinstance(spec.get("sensors"), dict) else ():
            if not isinstance(sensor, str) or not re.fullmatch(r"[\w-]+", sensor):
                raise NbrError(f"[sensors] {variable!r}: only classifiers that are included can be named here")
        found = parsed(text, self.folder, name)
        return Book(name, text, spec, found, _entries(spec, found))

    def keep(self, book: Book) -> None:
        """Write a model; the file is whole or as it was."""
        path = self._path(book.name)
        if not path.exists() and len(self.names()) >= FILES:
            raise NbrError(f"the folder has {FILES} models already")
        write(path, book.text.encode())

    def has(self, name: object) -> bool:
        return self._path(name).exists()

    def _path(self, name: object) -> Path:
        checked = self._name(name)
        if self.only and checked not in self.only:
            raise NbrError(f"{checked!r} is not among the models that were offered: {', '.join(sorted(self.only))}")
        path = (self.folder / checked).resolve()
        if path.parent != self.folder:  # a link that leads out
            raise NbrError(f"{checked!r} lies outside the folder")
        return path

    @staticmethod
    def _name(name: object) -> str:
        found = name if isinstance(name, str) else repr(name)
        found = found if found.endswith(".toml") else f"{found}.toml"
        if not NAME.fullmatch(found):
            raise NbrError(
                f"{name!r} cannot name a model: letters, digits, - and _, as in garden.toml, without a folder"
            )
        return found


def _entries(spec: Mapping[str, Any], found: Reasoner) -> tuple[int, ...]:
    """Which entry each rule comes from: an entry with `for` or `one_of` stands for several."""
    given = spec.get("rules", [])
    if len(given) == len(found.rules):
        return tuple(range(1, len(given) + 1))
    others = {key: entry for key, entry in spec.items() if key not in ("rules", "expect")}
    numbers: list[int] = []
    for number, entry in enumerate(given, 1):
        alone = type(found).from_spec({**others, "rules": [entry]}, registry.Parts())
        numbers += [number] * len(alone.rules)
    return tuple(numbers)
