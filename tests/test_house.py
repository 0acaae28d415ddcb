"""Imports go down only, late ones included: the storeys of the house, from the ground up."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from nbr.doors import LISTED

SOURCE = Path(__file__).parents[1] / "src" / "nbr"
STOREYS = [
    ["errors", "clock", "doors"],
    ["ways"],
    ["registry", "dates", "plots", "parallel", "progress", "remembered"],
    ["storage"],
    ["variables"],
    ["world"],
    ["points", "language"],
    ["aims", "tables", "rules"],
    ["evidence", "calculus", "restating"],
    ["priors"],
    ["model"],
    ["encodings"],
    ["factors"],
    ["density"],
    ["asking"],
    ["seeing"],
    ["reasoner"],
    ["training"],
    ["learning", "lipschitz"],
    ["classify"],
    ["robustness", "teaching", "datasets", "models"],
    ["kinds"],
    ["paper"],
    ["app"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(STOREYS) for room in rooms}
NAMESPACES = {"evidence", "lipschitz", "priors", "datasets"}  # what users have whole: nbr.evidence.Frame
MAKE_THEM = {"rules", "priors", "learning"}  # rooms that make rules and priors of some kind


def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return {name: path for name, path in found.items() if name != "__init__"}


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a file imports, wherever in the file, except for type checkers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("nbr."):
                part = name.removeprefix("nbr.")
                found.add(part if part in known else part.rpartition(".")[0])
    return found - {""}


def room(module: str) -> str:
    return module.partition(".")[0]


def named(path: Path) -> set[tuple[str, str]]:
    """Each name that a file imports from a module of ours, type checkers' imports included."""
    return {
        (node.module.removeprefix("nbr").removeprefix("."), alias.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.split(".")[0] == "nbr"
        for alias in node.names
    }


def doors() -> dict[str, dict[str, str]]:
    """The names that each room offers, and where they are from."""
    return {
        path.parent.name: {
            found["name"]: found["module"] for found in LISTED.finditer(path.read_text(encoding="utf-8"))
        }
        for path in SOURCE.glob("*/__init__.pyi")
    }


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    known = modules()
    return {name: imports(path, known) for name, path in known.items()}


def test_every_room_has_a_storey(graph: dict[str, set[str]]) -> None:
    assert {room(name) for name in graph} - set(LEVEL) == set()


def test_imports_go_down(graph: dict[str, set[str]]) -> None:
    upward = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others
        if room(name) != room(other) and LEVEL[room(other)] >= LEVEL[room(name)]
    ]
    assert upward == []


def test_no_module_stands_on_itself(graph: dict[str, set[str]]) -> None:
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name not in done:
            for other in graph.get(name, ()):
                visit(other, (*above, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_rooms_are_entered_by_their_doors() -> None:
    """Only what the `__init__.pyi` of a room lists is used by other rooms; inside, files are named whole."""
    offered, known, wrong = doors(), modules(), []
    for name, path in known.items():
        for module, what in named(path):
            entered = room(module) if module else what
            if entered not in offered:
                continue
            if entered == room(name):
                if module in ("", entered) and f"{module}.{what}" not in known:
                    wrong.append(f"{name} uses the door of its own room for {what}: name the file")
            elif "." in module:
                wrong.append(f"{name}: import {what} from nbr.{entered}, not from nbr.{module}")
            elif module and what not in offered[entered]:
                wrong.append(f"{name}: nbr.{entered} does not offer {what}")
    assert wrong == []


def test_doors_offer_what_others_use() -> None:
    """Other rooms, tests, benchmarks or the recipes."""
    top = SOURCE.parents[1]
    outside = [path for name in ("tests", "benchmarks", "site") for path in (top / name).rglob("*.py")]
    outside += [top / "CONTRIBUTING.md", *(top / "docs").rglob("*.md")]
    used: set[str] = set()
    for path in (*SOURCE.rglob("*.py"), SOURCE / "__init__.pyi", *outside):
        own = path.relative_to(SOURCE).parts[0] if path.is_relative_to(SOURCE) else ""
        text = path.read_text(encoding="utf-8")
        for module, names in re.findall(r"^ *(?:>>> )?from nbr(?:\.(\w+))? import (\([^)]*\)|.*)$", text, re.MULTILINE):
            for name in re.findall(r"(?<!as )\b\w+", names):
                if module != own:
                    used |= {f"{module}.{name}"} | {f"{name}.{each}" for each in re.findall(rf"\b{name}\.(\w+)", text)}
    offered = {f"{entered}.{what}" for entered, names in doors().items() if entered not in NAMESPACES for what in names}
    assert sorted(offered - used) == []


def test_a_door_shows_what_it_names() -> None:
    """A name at a door that is also a file of the room would turn into that file once it is loaded."""
    known = modules()
    hidden = [
        f"{entered}.{what}"
        for entered, names in doors().items()
        for what, home in names.items()
        if f"{entered}.{what}" in known and home != f"nbr.{entered}"
    ]
    assert hidden == []


def test_a_class_name_stands_for_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for name, path in modules().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def drawing(graph: dict[str, set[str]]) -> str:
    """The rooms and what each stands on, without what follows from others, for CONTRIBUTING."""
    below: dict[str, set[str]] = {each: set() for each in LEVEL}
    for name, others in graph.items():
        below[room(name)] |= {room(other) for other in others} - {room(name)}
    reached: dict[str, set[str]] = {}
    for each in LEVEL:  # from the ground up
        reached[each] = below[each] | {far for near in below[each] for far in reached[near]}
    lines = []
    for each in reversed(LEVEL):
        needed = sorted(
            (near for near in below[each] if not any(near in reached[other] for other in below[each] - {near})),
            key=lambda near: (-LEVEL[near], near),
        )
        lines += [f"  {each} --> {' & '.join(needed)}"] if needed else []
    return "\n".join(["```mermaid", "graph TD", *lines, "```"])


def test_contributing_shows_the_graph(graph: dict[str, set[str]]) -> None:
    wanted = drawing(graph)
    shown = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert wanted in shown, f"the house has changed; in CONTRIBUTING.md it is now:\n{wanted}"


def test_budgets_read_one_clock() -> None:
    """What has a deadline asks `clock`, which tests can set."""
    timed = [name for name in modules() if room(name) in {"calculus", "encodings", "asking", "density"}]
    assert [name for name in timed if "\nimport time\n" in modules()[name].read_text()] == []


def test_one_table_has_the_shares_of_time() -> None:
    """A share is a line of `ways.SHARES`, or as much as each of those that are left."""
    steps = r"limits\.share\((?!(max\()?SHARES\[|1 /)"
    written = re.compile(steps + r"|(0\.\d+|[A-Z]{3,}) \* (settings\.budget|budget|limits\.left)\b")
    answering = [name for name in modules() if room(name) in {"calculus", "encodings", "asking", "density", "app"}]
    found = [name for name in answering if written.search(modules()[name].read_text(encoding="utf-8"))]
    assert not found, f"put the share of time into ways/limits.py: {', '.join(found)}"


def test_no_file_is_long() -> None:
    long = {name: lines for name, path in modules().items() if (lines := len(path.read_text().splitlines())) > 350}
    assert long == {}


def test_nobody_asks_of_which_kind_a_variable_is() -> None:
    """Kinds are asked for what they know: another one is one file."""
    asks = re.compile(r"isinstance\([^\n]*\b(Bit|Choice|Ordered|Real)\b")
    inside = [path for path in SOURCE.rglob("*.py") if path.parts[-2] != "variables" and path.name != "checks.py"]
    found = [str(path.relative_to(SOURCE)) for path in inside if asks.search(path.read_text(encoding="utf-8"))]
    assert not found, f"use a method or flag of nbr.variables in {', '.join(found)}"


def test_nobody_asks_of_which_kind_a_rule_or_a_prior_is() -> None:
    """Rules and priors are asked for what they know; who makes them, and learns them, may tell them apart."""
    kinds = r"Clause|Neural|Fuzzy|Memory|CodeNetwork|Projected|Independent|Empirical|Trees|Mixture|Drawn|Grouped|Worded"
    asks = re.compile(rf"isinstance\([^\n]*\b({kinds})\b")
    inside = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in MAKE_THEM]
    found = [str(path.relative_to(SOURCE)) for path in inside if asks.search(path.read_text(encoding="utf-8"))]
    assert not found, f"use what nbr.rules.base or nbr.priors.base say in {', '.join(found)}"
