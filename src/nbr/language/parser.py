"""From text to an expression, with errors that point at the character."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from nbr.errors import NbrError
from nbr.language import expressions as ex
from nbr.language.graded import Graded
from nbr.language.linear import TURNED, Linear, resolved
from nbr.language.meant import meant_at
from nbr.language.ranges import counted, foretold, reading, spread
from nbr.language.sides import (
    Called,
    Names,
    Remainder,
    Side,
    Sum,
    added,
    difference,
    over,
    remainder,
    start,
    times,
)
from nbr.language.spaced import spaced
from nbr.remembered import Remembered
from nbr.world import TRUE_WORDS, World

LONGEST = 20_000
DEEPEST = 60
KEPT = 32 << 20  # bytes of statements that were read before
OF_A_NAME, OF_A_LETTER = 500, 300  # bytes of an expression: by the names in its ranges, and by its letters
GROUPS: dict[str, Callable[[tuple[ex.Expression, ...]], ex.Expression]]
GROUPS = {
    "majority": ex.Majority,
    "any": ex.Or,
    "all": ex.And,
    "one": lambda parts: ex.Count(parts, "=", 1.0),
    "at_most_one": lambda parts: ex.Count(parts, "<=", 1.0),
}
ORDERED = (">=", "<=", ">", "<")


_before: Remembered[str, ex.Expression] = Remembered(KEPT)


def parse(text: str, world: World | None = None) -> ex.Expression:
    """Parse a statement of the query language.

    Args:
        text: The statement.
        world: The variables. With them, names and labels that contain spaces need no quotes where that is
            unambiguous, and ranges of names that do not exist are reported.

    Returns:
        The statement as an expression; `str` writes it again.

    >>> print(parse("x0, x1..x3=0"))
    x0 & x1=0 & x2=0 & x3=0
    >>> print(parse("rain -> grass in {wet, soaked}"))
    rain -> grass in {wet, soaked}
    >>> print(parse("income > rent"))
    income>rent

    Names and labels of a world that have spaces need no quotes where nothing else can be meant.
    """
    found = _before.get(text) if isinstance(text, str) else None
    if found is None:
        found, names, plain = _spaced(text, world)
        if any(sign in text for sign in "<>"):
            found = ex.with_atoms(found, _between_numbers)
        if plain == text:  # else it is the world that says what it means
            _before.put(text, found, OF_A_NAME * names + OF_A_LETTER * len(text))
    return found if world is None else resolved(found, world)


def _spaced(text: str, world: World | None) -> tuple[ex.Expression, int, str]:
    """A statement, how many names its ranges stand for, and what was read: names with spaces may want quotes.

    Where that does not help, the error is that of the text as it stands.
    """
    try:
        return *_read(text, world), text
    except NbrError:
        plain = text if world is None or not isinstance(text, str) or len(text) > LONGEST else spaced(text, world)
        if plain == text:
            raise
        with suppress(NbrError):
            return *_read(plain, world), plain
        raise


def _between_numbers(atom: ex.Atom) -> ex.Expression:
    """`a < b`: labels have no order, so b is another variable."""
    if atom.operator not in ORDERED or not ex.PLAIN.match(atom.values[0]) or atom.values[0].lower() in TRUE_WORDS:
        return atom
    return Linear(((1.0, atom.name), (-1.0, atom.values[0])), (), atom.operator, 0.0, atom.at)


def parse_words(text: str) -> ex.Expression:
    """The same, but what a name is compared with stays a word, whatever the sign: indices are compared so."""
    return _read(text, None)[0]


def _read(text: str, world: World | None) -> tuple[ex.Expression, int]:
    """A statement, and how many names its ranges stand for."""
    if not isinstance(text, str):
        raise NbrError(f"a question is text in the query language, not {type(text).__name__}")
    if not text.strip():
        raise NbrError("a statement is missing; write for example: x5 & ~x6")
    if len(text) > LONGEST:
        raise NbrError(f"the question has more than {LONGEST} characters")
    if ".." in text:
        foretold(text)
    try:
        with reading(world) as now:
            return _lark().parse(text), now.names  # type: ignore[return-value]
    except VisitError as error:
        if isinstance(error.orig_exc, NbrError):
            raise NbrError(f"{error.orig_exc} in {_short(text)}", at=error.orig_exc.at) from None
        raise
    except UnexpectedInput as error:
        _explain(text, error)


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", transformer=_Build(), propagate_positions=True)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "...")


def _explain(text: str, error: UnexpectedInput) -> NoReturn:
    balance = text.count("(") - text.count(")")
    at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    if at_end:
        what = "a ')' is missing" if balance > 0 else "something is missing"
        raise NbrError(f"{what} at the end of {_short(text)}", at=len(text) + 1)
    at = (error.pos_in_stream or 0) + 1
    found = str(error.token) if isinstance(error, UnexpectedToken) else text[at - 1]
    if isinstance(error, UnexpectedCharacters | UnexpectedToken) and found == ")" and balance < 0:
        raise NbrError(f"one ')' too many at character {at} of {_short(text)}", at=at)
    if (meant := meant_at(text, at)) is not None:
        start, sign, instead = meant
        raise NbrError(f"cannot read {sign!r} at character {start} of {_short(text)}; {instead}", at=start)
    raise NbrError(f"cannot read {found!r} at character {at} of {_short(text)}", at=at)


class _Spread(list[ex.Expression]):
    """What a span of names stands for, before its surroundings say how the parts belong together."""


Item = ex.Expression | _Spread


def _one(item: Item) -> ex.Expression:
    if isinstance(item, _Spread):
        return item[0] if len(item) == 1 else ex.And(tuple(item))
    return item


def _shallow(expression: ex.Expression) -> ex.Expression:
    if expression.depth > DEEPEST:
        raise NbrError(f"brackets and operators are nested more than {DEEPEST} deep")
    return expression


def _word(token: Token) -> str:
    return token[1:-1] if token.type == "QUOTED" else indexed(str(token))


def indexed(name: str) -> str:
    """A name as variables have it: one blank within an index, none around it.

    >>> indexed("friends[ann , bob]"), indexed("wet[living  room]"), indexed("rain")
    ('friends[ann,bob]', 'wet[living room]', 'rain')
    """
    head, bracket, indices = name.partition("[")
    if not bracket:
        return name
    words = [" ".join(word.split()) for word in indices.removesuffix("]").split(",")]
    if not all(words):
        raise NbrError(f"{name} has an empty index; write for example {head}[ann]")
    return f"{head}[{','.join(words)}]"


def _sign(token: Token) -> str:
    return "=" if token == "==" else str(token)


@v_args(inline=True)
class _Build(Transformer[Token, ex.Expression]):
    """Builds expressions bottom up while lark parses."""

    def start(self, statement: Item) -> ex.Expression:
        return _one(statement)

    bracket = start

    def conjunction(self, *parts: Item) -> ex.Expression:
        return _shallow(ex.And(self.arguments(*parts)))

    def disjunction(self, *parts: Item) -> ex.Expression:
        return _shallow(ex.Or(tuple(map(_one, parts))))

    def equivalence(self, *parts: Item) -> ex.Expression:
        return _shallow(ex.Iff(tuple(map(_one, parts))))

    def implication(self, premise: Item, conclusion: Item) -> ex.Expression:
        return _shallow(ex.Implies(_one(premise), _one(conclusion)))

    def negation(self, part: Item) -> ex.Expression:
        return _shallow(ex.Not(_one(part)))

    def graded(self, part: Item, degree: Token) -> ex.Expression:
        return _shallow(Graded(_one(part), float(degree), degree.start_pos or 0))

    def yes(self) -> ex.Expression:
        return ex.Constant(True)

    def no(self) -> ex.Expression:
        return ex.Constant(False)

    def arguments(self, *items: Item) -> tuple[ex.Expression, ...]:
        return tuple(part for item in items for part in (item if isinstance(item, _Spread) else [item]))

    def called(self, function: Token, parts: tuple[ex.Expression, ...]) -> Called:
        return Called(function, parts)

    def span(self, first: Token, last: Token | None) -> Names:
        at = first.start_pos or 0
        names = spread(first, last, at) if last else [_word(first)]
        return Names([(name, at) for name in names], first, last is not None)

    def times(self, one: Side, other: Side) -> Sum:
        return times(one, other)

    def over(self, one: Side, number: Token) -> Sum:
        return over(one, number)

    def sum(self, first: Side, *others: Token | Side) -> Sum:
        return added(first, others)

    def modulo(self, side: Side, number: Token) -> Remainder:
        return remainder(side, number)

    def modulo_of(self, bracket: Token, side: Side, number: Token) -> Remainder:
        return remainder(side, number)

    def alone(self, side: Side) -> Item:
        if isinstance(side, Names):
            return _Spread(ex.Atom(name, at=at) for name, at in side.names)
        if not isinstance(side, Called):
            at = start(side) + 1
            raise NbrError(f"a comparison is missing after the number at character {at}", at)
        name = side.known((*GROUPS, "count"))
        if name == "count":
            at = side.at + 1
            raise NbrError(f"count(...) must be compared with a number, as in count(...)>=2, at character {at}", at)
        return _shallow(GROUPS[name](side.parts))

    def compared(self, left: Side, operator: Token, right: Side) -> Item:
        sign = _sign(operator)
        for side in (left, right):
            if isinstance(side, Called) and side.known((*GROUPS, "count")) != "count":
                at = (operator.start_pos or 0) + 1
                raise NbrError(f"only count(...) can be compared with a number, at character {at}", at)
        if isinstance(left, Names) and (isinstance(right, Token) or (isinstance(right, Names) and not right.range)):
            value = _word(right if isinstance(right, Token) else right.first)
            return _Spread(ex.Atom(name, sign, (value,), at) for name, at in left.names)
        if isinstance(left, Token) and left.type == "NUMBER" and isinstance(right, Names) and not right.range:
            return ex.Atom(right.names[0][0], TURNED[sign], (str(left),), right.names[0][1])
        if isinstance(right, Remainder) and not isinstance(left, Remainder):
            left, sign, right = right, TURNED[sign], left
        return _shallow(difference(left, sign, right))

    def between(self, low: Side, first: Token, middle: Side, second: Token, high: Side) -> ex.Expression:
        parts = self.compared(low, first, middle), self.compared(middle, second, high)
        return _shallow(ex.And(self.arguments(*parts)))

    def member(self, side: Names, *values: Token) -> _Spread:
        words = tuple(map(_word, values))
        counted(len(side.names) * (len(words) - 1), start(side))
        return _Spread(ex.Atom(name, "in", words, at) for name, at in side.names)
