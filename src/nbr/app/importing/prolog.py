"""The text of a ProbLog program whose clauses have no variables: its clauses, what was observed, what is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from nbr.app.importing.clauses import ImportedClause, ImportedProgram, Term
from nbr.errors import NbrError
from nbr.language import And, Atom, Constant, Expression, Not, Or

TOKEN = re.compile(
    r"""(?P<space>\s+|%[^\n]*|/\*.*?\*/)
    |(?P<quoted>'(?:[^'\\\n]|''|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<number>\d+\.\d+(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?)
    |(?P<variable>[A-Z_]\w*)
    |(?P<name>[^\W\d]\w*)
    |(?P<end>\.(?=\s|%|\Z))
    |(?P<sign>\\\+|[()\[\]{},;|!]|[-+*/\\^<>=~:.?@\#&$]+)""",
    re.DOTALL | re.VERBOSE,
)
IF, NOT = (":-", "<-"), ("\\+", "not")
TOLD = {("query", 1), ("evidence", 1), ("evidence", 2)}
Part = TypeVar("Part")
DEEPEST = 100  # brackets within one another
UNLEARNED = "its probability is still to be learned; put a number in its place"


class NotGround(Exception):
    """A program has to be grounded first, because of what stands in a line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line, self.reason = line, reason


@dataclass(frozen=True)
class Token:
    """One word of a program."""

    kind: str
    text: str
    line: int


def read(text: str) -> ImportedProgram:
    r"""A program; NotGround says why it cannot be taken as it stands.

    >>> program = read("0.4::a; 0.3::b :- c, \\+d(1). c. 0.1::d(1). query(a).")
    >>> print(program.clauses[0].body, program.clauses[0].heads, program.queries)
    c & ~d[1] [(0.4, 'a'), (0.3, 'b')] ['a']
    """
    reader = _PrologReader(_words(text))
    while reader.more():
        reader.clause()
    return reader.found


def _words(text: str) -> list[Token]:
    found, place, line = [], 0, 1
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise NbrError(f"line {line}: cannot read {text[place]!r}")
        if match.lastgroup != "space":
            found.append(Token(str(match.lastgroup), match[0], line))
        place, line = match.end(), line + match[0].count("\n")
    return found


class _PrologReader:
    """One clause after the other."""

    def __init__(self, words: list[Token]) -> None:
        self.words, self.at, self.depth, self.line = words, 0, 0, 1
        self.found = ImportedProgram()

    def more(self) -> bool:
        return self.at < len(self.words)

    def clause(self) -> None:
        """Past the next clause, and what it says."""
        self.line = self._peek().line
        if self._past(*IF):
            raise NotGround(self.line, "it is a directive")
        heads = self._several(";", self._head)
        body = self._either() if self._past(*IF) else Constant(True)
        self._expect(".")
        chance, first = heads[0]
        if (first.functor, len(first.parts)) in TOLD and len(heads) == 1 and chance == 1:
            self._told(first, body)
            return
        named = [(chance, self.found.named(head, self.line)) for chance, head in heads]
        self.found.clauses.append(ImportedClause(named, body, self.line))

    def _told(self, term: Term, body: Expression) -> None:
        """A query, or what was observed."""
        if body != Constant(True):
            raise NotGround(self.line, f"{term.functor} has a body")
        about, value = term.parts[0], "true" if len(term.parts) == 1 else term.parts[1].functor
        if term.functor == "query":
            self.found.queries.append(self.found.named(about, self.line))
            return
        if value not in ("true", "false"):
            raise NbrError(f"line {self.line}: evidence is true or false, not {value}")
        denied = about.functor in NOT and len(about.parts) == 1
        atom = Atom(self.found.named(about.parts[0] if denied else about, self.line))
        self.found.evidence.append((atom if denied == (value == "false") else Not(atom), self.line))

    def _head(self) -> tuple[float, Term]:
        """A term with its probability."""
        line = self._peek().line
        if self._peek().text.startswith("?"):
            raise NbrError(f"line {line}: decisions cannot be taken; say what is worth what in [actions]")
        if self._peek().kind == "number" or self._next("("):
            chance = self._chance()
            self._expect("::")
            return chance, self._term()
        term = self._term()
        if self._next("::"):
            told = UNLEARNED if term.functor == "t" else f"the probability {term} is no number"
            raise NbrError(f"line {line}: {told}")
        return 1.0, term

    def _chance(self) -> float:
        """A number, or a fraction."""
        bracket = self._past("(")
        value = self._number()
        while self._past("/"):
            below = self._number()
            value = value / below if below else float("nan")
        if bracket:
            self._expect(")")
        if not 0 <= value <= 1:
            raise NbrError(f"line {self.line}: a probability must be a number from 0 to 1, not {value:g}")
        return value

    def _number(self) -> float:
        if self._peek().kind != "number":
            self._stuck("a number is expected")
        return float(self._take().text)

    def _either(self) -> Expression:
        parts = self._several(";", self._all)
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self) -> Expression:
        parts = self._several(",", self._literal)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _literal(self) -> Expression:
        with self:
            if self._past(*NOT):
                return Not(self._literal())
            if self._past("("):
                inner = self._either()
                self._expect(")")
                return inner
            term = self._term()
        if not self._next(",", ";", ")", "."):
            self._stuck("a comma, a semicolon or a full stop is expected")
        if term.functor in ("true", "fail", "false") and not term.parts:
            return Constant(term.functor == "true")
        return Atom(self.found.named(term, self.line))

    def _term(self) -> Term:
        if self._past("-"):
            return Term(f"-{self._number():g}")
        word = self._peek()
        if self._next("\\+"):
            self.at += 1
            return Term("\\+", (self._term(),))
        if word.kind not in ("name", "quoted", "number"):
            self._stuck("a name is expected")
        self.at += 1
        said = word.text
        functor = said[1:-1].replace("''", "'") if said.startswith("'") else said
        if word.kind == "number" or not self._past("("):
            return Term(functor)
        with self:
            parts = self._several(",", self._term)
        self._expect(")")
        return Term(functor, tuple(parts))

    def _several(self, sign: str, part: Callable[[], Part]) -> list[Part]:
        found = [part()]
        while self._past(sign):
            found.append(part())
        return found

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NbrError(f"line {self._peek().line}: more than {DEEPEST} brackets within one another")

    def __exit__(self, *_: object) -> None:
        self.depth -= 1

    def _peek(self) -> Token:
        if not self.more():
            line = self.words[-1].line if self.words else 1
            raise NbrError(f"line {line}: the file ends in the middle of a clause; is a full stop missing?")
        return self.words[self.at]

    def _take(self) -> Token:
        word = self._peek()
        self.at += 1
        return word

    def _next(self, *signs: str) -> bool:
        word = self._peek()
        return word.text in signs and word.kind != "quoted"

    def _past(self, *signs: str) -> bool:
        """Whether a sign comes next, and past it."""
        is_next = self._next(*signs)
        self.at += is_next
        return is_next

    def _expect(self, sign: str) -> None:
        if not self._past(sign):
            self._stuck(f"{'a full stop' if sign == '.' else repr(sign)} is missing")

    def _stuck(self, told: str) -> NoReturn:
        word = self._peek()
        if word.kind == "variable":
            raise NotGround(word.line, f"{word.text} is a variable")
        if word.kind == "sign" and word.text not in "(),;":
            raise NotGround(word.line, f"{word.text} is more than a name")
        raise NbrError(f"line {word.line}: {told} before {word.text!r}")
