"""Every command of pip that the program can print: collected from its source, as it is printed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nbr
from nbr import kinds, registry
from nbr.errors import install

SOURCE = Path(nbr.__file__).parent
BY_NAME = {"__init__.py", "registry.py"}  # those two look the extra up in a table, see `printed`
COMMAND = re.compile(r"pip install ('[^']+'|[\w.-]+)")


def printed() -> set[str]:
    """All of them: of `install("extra")`, of the two tables that name an extra, and of plain text."""
    assert kinds.load  # the table of what a file may hold is filled when this is imported
    tables = {*nbr._EXTRA.values(), *(extra for _, extra in registry._HOMES.values() if extra)}
    found = {install(extra) for extra in tables}
    for path in sorted(SOURCE.rglob("*.py")):
        found.update(_in(ast.parse(path.read_text(encoding="utf-8")), path))
    return found


def _in(tree: ast.Module, path: Path) -> Iterator[str]:
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "install":
            (extra,) = node.args
            if isinstance(extra, ast.Constant):
                yield install(str(extra.value))
            else:
                assert path.parent == SOURCE, f"{path}: an extra that this cannot see"
                assert path.name in BY_NAME, f"{path}: an extra that this cannot see"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from (found[0] for found in COMMAND.finditer(node.value) if "{" not in found[0])
