"""A model as people write it in a .toml, turned into plain variables and rules: ranges, things, a rule for each.

[things]
person = ["ann", "bob"]

[variables]
"smokes[person]" = "bit"

[[rules]]
for = { p = "person" }
rule = "smokes[p] -> coughs[p]"
belief = 0.8
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch

from nbr.errors import NbrError, suggest
from nbr.language import (
    And,
    Atom,
    Constant,
    Expression,
    indexed,
    names_in_range,
    parse,
    parse_words,
    resolved,
    with_atoms,
)
from nbr.rules.base import spec_text
from nbr.world import World

MOST = 100_000  # rules, or variables, that one entry may stand for
FOR = ("for", "where")
STRAYED = "write closed = [..] above the first [table]; below one it is a part of that table"
ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
ANY = World.bits(1)
ANY_POINT = torch.zeros(1, 1)  # a statement without names holds at every point or at none

Things = dict[str, list[str]]
Binding = dict[str, str]


def plain(model: Mapping[str, Any]) -> dict[str, Any]:
    """The same model with one entry for each variable, in order, and one for each rule."""
    things = _things(model.get("things", {}))
    variables = _variables(model, things)
    words = _with_things(model.get("words", {}), things)
    world = World.from_spec(variables).with_words(words)
    specs = model.get("rules", [])
    if not isinstance(specs, list):
        raise NbrError("rules must be a list: write [[rules]] above each one")
    rules: list[object] = []
    for position, spec in enumerate(specs, 1):
        try:
            rules += _each(spec, things, world) if isinstance(spec, dict) and set(FOR) & set(spec) else [spec]
        except NbrError as error:
            raise NbrError(f"rule {position}: {error}") from None
    others = {key: entry for key, entry in model.items() if key != "things"}
    if words:
        others["words"] = words
    if "closed" in model:
        others["closed"] = _closed(model["closed"], things, variables)
    if isinstance(model.get("observable"), Mapping):
        others["observable"] = [
            [name, cost] for key, cost in model["observable"].items() for name in _names(key, things)
        ]
    return {**others, "variables": [[name, spec] for name, spec in variables.items()], "rules": rules}


def _closed(given: object, things: Things, variables: Mapping[str, object]) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(key, str) for key in given):
        raise NbrError('closed must be a list of names, such as ["penguin", "smokes[person]"]')
    found = list(dict.fromkeys(name for key in given for name in _names(key, things)))
    for name in found:
        if name not in variables:
            raise NbrError(f"closed: unknown variable {name!r}" + suggest(name, variables))
    return found


def _things(given: object) -> Things:
    if not isinstance(given, Mapping):
        raise NbrError('[things] must be a table, such as person = ["ann", "bob"]')
    return {kind: _words(kind, words, {}) for kind, words in given.items()}


def _words(kind: str, words: object, things: Things) -> list[str]:
    """What an index stands for: a list, a range such as "1..5", or the name of some things."""
    if isinstance(words, str) and ".." in words:
        return names_in_range(words)
    if isinstance(words, str):
        if words not in things:
            raise NbrError(f"{kind!r}: there are no things called {words!r}" + suggest(words, things))
        return things[words]
    if not isinstance(words, list) or not words or not all(type(word) in (str, int) for word in words):
        raise NbrError(f'{kind!r} must be a list of names, such as ["ann", "bob"], not {words!r}')
    found = [_index(str(word)) for word in words]
    if len(set(found)) < len(found):
        raise NbrError(f"{kind!r} contains a name twice")
    return found


def _index(word: str) -> str:
    if not word.strip() or any(sign in word for sign in "[],\"'\n"):
        raise NbrError(f"{word!r} cannot be the name of a thing: a name has no brackets, commas or quotation marks")
    return " ".join(word.split())


def _variables(model: Mapping[str, Any], things: Things) -> dict[str, object]:
    if "variables" not in model:
        raise NbrError("there is no [variables] table")
    given = model["variables"]
    if not isinstance(given, Mapping):
        raise NbrError("[variables] must be a table of names")
    variables: dict[str, object] = {}
    for key, spec in given.items():
        for name in _names(key, things):
            if name in variables:
                raise NbrError(f"variable {name!r} appears twice in [variables]")
            variables[name] = spec
    strayed = variables.get("closed")
    if isinstance(strayed, list) and all(isinstance(each, str) and each in {*given, *variables} for each in strayed):
        raise NbrError(f"[variables] 'closed': {STRAYED}")
    return variables


def _names(key: str, things: Things) -> Iterator[str]:
    head, bracket, rest = key.partition("[")
    if not bracket or not rest.endswith("]"):
        yield from names_in_range(key)
        return
    indices = indexed(key).removesuffix("]").partition("[")[2].split(",")
    columns = [things.get(index, names_in_range(index)) for index in indices]
    _few(columns, f"variable {key!r}")
    for words in product(*columns):
        yield f"{head}[{','.join(words)}]"


def _with_things(given: object, things: Things) -> dict[str, object]:
    """Words with degrees, one for each of the things that their names mention."""
    if not isinstance(given, Mapping):
        raise NbrError("[words] must be a table: hot = { temperature = [25, 30] }")
    found: dict[str, object] = {}
    for key, said in given.items():
        head, bracket, rest = key.partition("[")
        indices = indexed(key).removesuffix("]").partition("[")[2].split(",") if bracket and rest.endswith("]") else []
        columns = [things.get(index, [index]) for index in indices]
        _few(columns, f"word {key!r}")
        for chosen in product(*columns):
            binding = dict(zip(indices, chosen, strict=True))
            name = f"{head}[{','.join(chosen)}]" if indices else key
            if name in found:
                raise NbrError(f"word {name!r} appears twice in [words]")
            several = indices and isinstance(said, Mapping)
            found[name] = {_bound(Atom(each), binding).name: part for each, part in said.items()} if several else said
    return found


def _few(columns: list[list[str]], what: str) -> None:
    if math.prod(map(len, columns)) > MOST:
        raise NbrError(f"{what} stands for more than {MOST:,}")


def _each(spec: dict[str, Any], things: Things, world: World) -> Iterator[dict[str, Any]]:
    """One rule for each choice of things that meets `where`."""
    given = spec.get("for")
    if not isinstance(given, Mapping) or not given:
        raise NbrError('for must say what each index stands for, such as for = { p = ["ann", "bob"] }')
    parts = spec.get("one_of", [spec])
    if not isinstance(parts, list) or not all(isinstance(part, dict) and "rule" in part for part in parts):
        raise NbrError('for needs a rule = "..." to repeat')
    columns = {index: _words(index, words, things) for index, words in given.items()}
    _few(list(columns.values()), "for")
    statements = [parse(spec_text(part, "rule")) for part in parts]
    where = parse_words(spec_text(spec, "where")) if "where" in spec else Constant(True)
    _used(And(tuple(statements)), columns)
    for atom in where.atoms():
        _compared(atom, columns)
    rest = {key: entry for key, entry in spec.items() if key not in FOR}
    count = 0
    for words in product(*columns.values()):
        binding = dict(zip(columns, words, strict=True))
        if not _met(where, binding, columns):
            continue
        said = []
        for statement in statements:
            bare = with_atoms(statement, lambda atom, binding=binding: _bound(atom, binding))  # type: ignore[misc]
            said.append(resolved(bare, world))
            said[-1].check(world)
        named = {"name": f"{spec_text(spec, 'name')} [{', '.join(words)}]"} if "name" in spec else {}
        count += 1
        exception = parse(spec_text(spec, "unless")) if "unless" in spec else None
        if exception is not None:
            bare = with_atoms(exception, lambda atom, binding=binding: _bound(atom, binding))  # type: ignore[misc]
            rest["unless"] = str(bare)
        bound = [{**part, "rule": str(each)} for part, each in zip(parts, said, strict=True)]
        yield {**rest, **({"one_of": bound} if "one_of" in spec else {"rule": bound[0]["rule"]}), **named}
    if not count:
        raise NbrError("no combination of things meets its where")


def _bound(atom: Atom, binding: Binding) -> Atom:
    """An atom with things in the place of indices, in its name and among its values."""
    head, bracket, rest = atom.name.partition("[")
    name = atom.name
    if bracket:
        name = f"{head}[{','.join(binding.get(word, word) for word in rest.removesuffix(']').split(','))}]"
    return Atom(name, atom.operator, tuple(binding.get(value, value) for value in atom.values), atom.at)


def _used(statement: Expression, columns: Things) -> None:
    words: set[str] = set()
    for name in statement.names():
        words.update(name.partition("[")[2].removesuffix("]").split(","))
    for atom in statement.atoms():
        words.update(atom.name.partition("[")[2].removesuffix("]").split(","), atom.values)
    for index in columns:
        if index not in words:
            raise NbrError(f"its for names {index!r}, and no [{index}] is in the rule")


def _compared(atom: Atom, columns: Things) -> None:
    """Raise an error unless a comparison is one of indices."""
    if atom.name not in columns or not atom.operator:
        raise NbrError(f"where compares indices of for, as in p != q; {atom} does not")
    if atom.operator in ORDER and not all(v in columns[atom.name] or v in columns for v in atom.values):
        raise NbrError(f"where: {atom} compares with something that is not in the list of {atom.name!r}")


def _met(where: Expression, binding: Binding, columns: Things) -> bool:
    def decided(atom: Atom) -> Expression:
        values = [binding.get(value, value) for value in atom.values]
        if atom.operator in ORDER:  # by the place in the list
            order = columns[atom.name]
            places = [order.index(word) if word in order else -1 for word in (binding[atom.name], values[0])]
            return Constant(min(places) >= 0 and ORDER[atom.operator](*places))
        return Constant((binding[atom.name] in values) != (atom.operator == "!="))

    return bool(with_atoms(where, decided).holds(ANY, ANY_POINT)[0])
