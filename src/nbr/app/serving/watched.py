"""The file of a model that is served: read again when it changes, and written from the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbr.app.serving import bodies
from nbr.errors import NbrError
from nbr.kinds import by_hand, load_reasoner
from nbr.reasoner import Reasoner
from nbr.storage import container, rewritten_rules, write

Stamp = tuple[int, int, int]


class Watched:
    """A file beside the model that was read from it. Every process that serves the model looks for itself."""

    def __init__(self, reasoner: Reasoner, path: Path | None) -> None:
        self.path = path
        self.stamp = self._stamp()
        self.trouble: str | None = None
        self.count = len(reasoner.rules)

    def _stamp(self) -> Stamp | None:
        """What differs when the file was written again."""
        try:
            found = None if self.path is None else self.path.stat()
        except OSError:
            return None
        return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)

    def changed(self) -> Reasoner | None:
        """The model as its file has it by now; None if that has not changed, or cannot be read."""
        stamp = self._stamp()
        if self.path is None or stamp == self.stamp:
            return None
        self.stamp = stamp
        try:
            found = load_reasoner(self.path)
        except NbrError as error:
            self.trouble = (
                f"the file has changed and cannot be read; the page shows the last version that could be read. {error}"
            )
            return None
        self.trouble, self.count = None, len(found.rules)
        return found

    def as_json(self) -> dict[str, Any]:
        """The version of the file, whether it can be saved, and what is wrong with it."""
        saved = self.path is not None and self.path.suffix.lower() == ".toml"
        version = "" if self.stamp is None else "-".join(map(str, self.stamp))
        return {"version": version, "savable": saved, "trouble": self.trouble}

    def save(self, body: bodies.Edited) -> None:
        """Write rules that were changed, added or switched off; the file is only touched if it can be read after."""
        if self.path is None or self.path.suffix.lower() != ".toml":
            raise NbrError("rules are saved to a .toml file; this model was not read from one")
        content = container.read(self.path)
        spec, text = container.from_toml(content), content.decode("utf-8-sig")
        entries = [(each.rule, {"name": each.name, "rule": each.says, "belief": each.belief}) for each in body.rules]
        touched = [*body.off, *(number for number, _ in entries if number is not None)]
        if touched and len(spec.get("rules", [])) != self.count:
            raise NbrError(
                "some rules of this file stand for several: edit those in the file; new rules can be saved here"
            )
        changed = {
            number: {key: value for key, value in each.items() if value is not None}
            for number, each in entries
            if number is not None
        }
        added = [each for number, each in entries if number is None]
        made = rewritten_rules(text, changed, added, [number for number in body.off if number <= self.count])
        by_hand(bytearray(made.encode()), self.path.parent)
        write(self.path, made.encode())
