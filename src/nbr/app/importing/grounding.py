"""Programs with variables, lists or numbers to be worked out: ProbLog's own package grounds them, if it is installed.

It gives a formula: choices in groups of which one is taken, and what follows from them by "and" and "or", in circles
too.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from nbr.app.importing.clauses import ImportedClause, ImportedProgram, Term
from nbr.app.importing.prolog import NotGround
from nbr.errors import NbrError
from nbr.language import And, Atom, Constant, Expression, Not

WORKER = Path(__file__).with_name("grounding_worker.py")
SECONDS = 60.0


def grounded(text: str, why: NotGround, seconds: float = SECONDS) -> ImportedProgram:
    """A program by ProbLog's package; `why` is what cannot be taken without it."""
    if importlib.util.find_spec("problog") is None:
        raise NbrError(
            f"line {why.line}: {why.reason}: such programs are grounded by the package problog, which is not installed "
            "(pip install problog); clauses without variables need nothing"
        )
    try:
        done = subprocess.run(
            [sys.executable, str(WORKER)],
            input=json.dumps({"text": text}),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NbrError(f"line {why.line}: it was not grounded within {seconds:g} seconds") from None
    told = json.loads(done.stdout) if done.stdout else {"error": "ProbLog ended before it was grounded", "line": None}
    if "error" in told:
        raise NbrError(f"line {told['line'] or why.line}: ProbLog says: {' '.join(str(told['error']).split())}")
    return program(told)


def program(told: dict[str, Any]) -> ImportedProgram:
    """Clauses from the nodes, queries and evidence of a formula."""
    return _Formula(told).program()


class _Formula:
    """Nodes by their number from 1; 0 is true, None is false, and a number below 0 the denial of a node."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.nodes: list[dict[str, Any]] = told["nodes"]
        self.told = told
        self.found = ImportedProgram()
        self.uses = Counter(abs(key) for node in self.nodes for key in node.get("parts", ()) if key)
        self.groups = Counter(node["group"] for node in self.nodes if node["kind"] == "atom" and not node["extra"])
        self.choices = Counter(map(_about, filter(_chooses, self.nodes)))
        self.variables: dict[int, str] = {}

    def program(self) -> ImportedProgram:
        asked = [(key, _term(name)) for name, key in self.told["queries"]]
        seen = [(key, _term(name), value) for name, key, value in self.told["evidence"]]
        for key, term in (*asked, *((key, term) for key, term, _ in seen)):
            self._stands_for(key, term)
        for number in self._read():
            self._variable(number)
        done: set[str] = set()
        for number, node in enumerate(self.nodes, 1):
            if number in self.variables and node["kind"] != "atom":
                self._defined(number, node)
            elif number in self.variables and node["group"] not in done:
                done.add(node["group"])
                self._chosen(node["group"])
        self.found.queries += [self.found.named(term) for _, term in asked]
        for _, term, value in seen:
            atom = Atom(self.found.named(term))
            self.found.evidence += [(atom if value > 0 else Not(atom), None)] * bool(value)
        return self.found

    def _stands_for(self, key: int | None, term: Term) -> None:
        """The variable of a query or of evidence: the node itself, or one that is the same."""
        if term in self.found.names:
            return
        name = self.found.named(term)
        if key is not None and key > 0 and key not in self.variables:
            self.variables[key] = name
        elif key is None:
            self.found.clauses.append(ImportedClause([(1.0, name)], Constant(False), None))
        else:
            self.found.clauses.append(ImportedClause([(1.0, name)], self._literal(key), None))

    def _variable(self, number: int) -> str:
        if number not in self.variables:
            node = self.nodes[number - 1]
            term = Term(f"part{number}") if node["name"] is None else _term(node["name"])
            if node["kind"] == "atom" and _chooses(node) and self.choices[_about(node)] == 1:
                term = _term(node["name"][3])
            if term in self.found.names or term.functor.startswith("\\+"):
                term = Term(f"part{number}")
            self.variables[number] = self.found.named(term)
        return self.variables[number]

    def _read(self) -> list[int]:
        """The nodes that need a variable: those with a name, and those that stand within no other."""
        found = [
            number for number, node in enumerate(self.nodes, 1) if node["kind"] != "atom" and node["name"] is not None
        ]
        for node in self.nodes:
            found += [abs(key) for key in node.get("parts", ()) if key and not self._inside(key)]
        return list(dict.fromkeys(found))

    def _inside(self, key: int) -> bool:
        """Whether it is nothing but how far one clause is believed, or a part of what one clause needs."""
        if key < 0 or self.uses[key] > 1 or key in self.variables:
            return False
        node = self.nodes[key - 1]
        if node["kind"] == "atom":
            return _chooses(node) and self.groups[node["group"]] == 1 and isinstance(node["chance"], float)
        return node["kind"] == "conj" and node["name"] is None

    def _chosen(self, group: str) -> None:
        heads = []
        for number, node in enumerate(self.nodes, 1):
            if node["kind"] == "atom" and node["group"] == group and not node["extra"]:
                if not isinstance(node["chance"], float):
                    raise NbrError(f"the probability {node['chance']} of {_term(node['name'])} is no number")
                heads.append((node["chance"], self._variable(number)))
        self.found.clauses.append(ImportedClause(heads, Constant(True), None))

    def _defined(self, number: int, node: dict[str, Any]) -> None:
        """One clause for each way to derive a node."""
        for key in node["parts"] if node["kind"] == "disj" else [None]:
            chance, parts = self._needed(node["parts"] if key is None else [key])
            body = parts[0] if len(parts) == 1 else And(tuple(parts)) if parts else Constant(True)
            self.found.clauses.append(ImportedClause([(chance, self.variables[number])], body, None))

    def _needed(self, keys: list[int]) -> tuple[float, list[Expression]]:
        """How far it is believed that these together derive something, and what they need."""
        chance, parts = 1.0, []
        for key in keys:
            node = self.nodes[abs(key) - 1]
            if not self._inside(key):
                parts.append(self._literal(key))
            elif node["kind"] == "atom":
                chance *= node["chance"]
            else:
                share, needed = self._needed(node["parts"])
                chance, parts = chance * share, parts + needed
        return chance, parts

    def _literal(self, key: int) -> Expression:
        if key == 0:
            return Constant(True)
        return Atom(self._variable(key)) if key > 0 else Not(Atom(self._variable(-key)))


def _chooses(node: dict[str, Any]) -> bool:
    """Whether it is the choice behind a clause, which ProbLog names after its head."""
    return node["name"] is not None and node["name"][0] == "choice" and len(node["name"]) > 3


def _about(node: dict[str, Any]) -> str:
    return str(node["name"][3])


def _term(given: list[Any]) -> Term:
    return Term(given[0], tuple(map(_term, given[1:])))
