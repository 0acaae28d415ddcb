"""Ground clauses with probabilities, as rules over closed variables that answer the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nbr.errors import NbrError, suggest
from nbr.language import Atom, Constant, Expression, Implies, Not
from nbr.rules import Definition, denied_loop, said_of

OFF = 1e-9  # by which chances of one clause may exceed 1: fractions are rounded


@dataclass(frozen=True)
class Term:
    """A name with its arguments.

    >>> Term("edge", (Term("1"), Term("f", (Term("a"),)))).name
    'edge[1,f(a)]'
    """

    functor: str
    parts: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return self.functor + (f"({','.join(map(str, self.parts))})" if self.parts else "")

    @property
    def name(self) -> str:
        """The name of a variable: what stands in brackets is what it is about."""
        said = self.functor + (f"[{','.join(map(str, self.parts))}]" if self.parts else "")
        kept = "".join(sign if sign.isprintable() and sign not in "\"'" else "_" for sign in said)
        return " ".join(kept.replace("..", "_").split()) or "_"


@dataclass(frozen=True)
class ImportedClause:
    """Possibilities, of which one is the case where the body holds; the rest of the chance is for none of them."""

    heads: list[tuple[float, str]]
    body: Expression
    line: int | None


@dataclass
class ImportedProgram:
    """Clauses, what was observed, and what is asked, with the line in which each variable is named first."""

    clauses: list[ImportedClause] = field(default_factory=list)
    evidence: list[tuple[Expression, int | None]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    lines: dict[str, int | None] = field(default_factory=dict)
    names: dict[Term, str] = field(default_factory=dict)

    def named(self, term: Term, line: int | None = None) -> str:
        """The variable that stands for a term: one for each."""
        if term not in self.names:
            name, number = term.name, 2
            while name in self.lines:
                name, number = f"{term.name}_{number}", number + 1
            self.names[term] = name
            self.lines[name] = line
        return self.names[term]


def model(program: ImportedProgram) -> dict[str, Any]:
    """The entries of a .toml: every variable closed, what was observed as rules that cannot fail."""
    names = list(program.lines)
    _defined(program)
    rules = [rule for clause in program.clauses for rule in _rules(clause)]
    for observed, line in program.evidence:
        said = Implies(Not(observed), Constant(False)) if isinstance(observed, Atom) else observed
        where = "" if line is None else f", line {line}"
        rules.append({"name": f"evidence{where}", "rule": str(said), "belief": 1.0})
    if not names:
        raise NbrError("line 1: there is no clause in it; is this a ProbLog program?")
    return {"closed": names, "variables": dict.fromkeys(names, "bit"), "rules": rules}


def _rules(clause: ImportedClause) -> Iterator[dict[str, Any]]:
    total = math.fsum(chance for chance, _ in clause.heads)
    if total > 1 + OFF:
        raise NbrError(f"{_line(clause.line)}the probabilities of its heads add up to {total:g}, which is more than 1")
    if clause.body == Constant(False):
        return
    said = []
    for chance, head in clause.heads:
        rule = Atom(head) if clause.body == Constant(True) else Implies(clause.body, Atom(head))
        said.append({"rule": str(rule), "belief": chance / max(total, 1.0)})
    said = [each for each in said if each["belief"]]
    if said:
        yield said[0] if len(said) == 1 else {"one_of": said}


def _defined(program: ImportedProgram) -> None:
    """Raise an error for what no clause speaks of, and for what depends on its own denial."""
    heads = {head for clause in program.clauses for _, head in clause.heads}
    for name, line in program.lines.items():
        if name not in heads:
            near = suggest(name, heads) if heads else ""
            raise NbrError(
                f"{_line(line)}no clause says when {name} holds (write {name} :- fail. if it never does){near}"
            )
    definitions = [
        Definition(position, clause.body, tuple(head for _, head in clause.heads))
        for position, clause in enumerate(program.clauses)
    ]
    loop = denied_loop(definitions, program.lines)
    if loop is not None:
        raise NbrError(_line(program.clauses[loop[0].rule].line) + said_of(*loop[1:]))


def _line(line: int | None) -> str:
    return "" if line is None else f"line {line}: "
