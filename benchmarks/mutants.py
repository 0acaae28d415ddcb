"""Small mistakes in Python code, each as the whole text of a file with one thing wrong."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

COMPARED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
PAIRS = ["min max", "amin amax", "argmin argmax", "minimum maximum", "any all", "zeros ones", "sum mean", "floor ceil"]
SWAPPED = {a: b for pair in PAIRS for a, b in (pair.split(), pair.split()[::-1])}


@dataclass(frozen=True)
class Mutant:
    """A file with one mistake, and what it is."""

    file: str
    line: int
    words: str
    content: str


def places(source: str) -> list[tuple[int, str]]:
    """The numbers of all places that can be broken, each with what stands there and its line."""
    tree, lines = ast.parse(source), source.splitlines()
    told = _told(tree)
    dice = random.Random(0)
    return [
        (number, f"{_short(node)}    in  {lines[node.lineno - 1].strip()}")  # type: ignore[attr-defined]
        for number, node in enumerate(ast.walk(tree))
        if id(node) not in told and _change(node, dice) is not None
    ]


def mutant(source: str, file: str, place: int, dice: random.Random) -> Mutant:
    """The file with a mistake at one place."""
    tree = ast.parse(source)
    node = next(each for number, each in enumerate(ast.walk(tree)) if number == place)
    before, line = _short(node), source.splitlines()[node.lineno - 1].strip()  # type: ignore[attr-defined]
    change = _change(node, dice)
    assert change is not None
    change(node)
    content = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(file, node.lineno, f"{before}  ->  {_short(node)}    in  {line}", content)  # type: ignore[attr-defined]


def _told(tree: ast.AST) -> set[int]:
    """Nodes that only tell something: annotations, docstrings, messages, and what type checkers alone read."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.AnnAssign | ast.arg):
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            parts = [node.returns, *node.decorator_list]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list, *node.bases]
        elif isinstance(node, ast.JoinedStr) or _is_note(node):
            parts = [node]
        elif isinstance(node, ast.Assign) and _is_type(node.value):
            parts = [node.value]
        for part in parts:
            if part is not None:
                found.update(id(each) for each in ast.walk(part))
    return found


def _is_note(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return getattr(node.test, "id", "") == "TYPE_CHECKING"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_type(node: ast.AST) -> bool:
    """Whether something like `int | None` stands there, a name for a type."""
    united = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
    parts = (ast.BinOp, ast.BitOr, ast.Name, ast.Load, ast.Constant)
    return united and all(isinstance(each, parts) for each in ast.walk(node))


def _change(node: ast.AST, dice: random.Random) -> Callable[[Any], object] | None:
    """What breaks a node in place, if it can be broken."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = dice.choice(COMPARED[type(node.ops[0])])
        return lambda it: it.ops.__setitem__(0, other())
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in COMPUTED:
        return lambda it: setattr(it, "op", COMPUTED[type(node.op)]())
    if isinstance(node, ast.BoolOp):
        return lambda it: setattr(it, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        positive = ast.UAdd() if isinstance(node.op, ast.USub) else None
        return lambda it: setattr(it, "op", positive) if positive else _replace(it, it.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return lambda it: setattr(it, "value", _other(node.value))
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return lambda it: setattr(it, "test", ast.UnaryOp(ast.Not(), it.test))
    if isinstance(node, ast.Name) and node.id in SWAPPED:
        return lambda it: setattr(it, "id", SWAPPED[node.id])
    if isinstance(node, ast.Attribute) and node.attr in SWAPPED:
        return lambda it: setattr(it, "attr", SWAPPED[node.attr])
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return lambda it: setattr(it, "value", ast.Constant(None))
    if isinstance(node, ast.Raise):
        return lambda it: _replace(it, ast.Pass())
    if isinstance(node, ast.Return) and node.value is not None:
        return lambda it: setattr(it, "value", ast.Constant(None))
    return None


def _other(value: float) -> float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else (2 * value or 1.0)


def _replace(node: ast.AST, other: ast.AST) -> None:
    """Make a node, in place, another one."""
    node.__class__ = other.__class__
    node.__dict__ = dict(other.__dict__)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split("\n")[0].split())
    return text if len(text) <= 70 else f"{text[:67]}..."
