"""A statement of the query language as a rule: a classical set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.language import And, Expression, Implies, Not, Or, holds_within, parse, resolved
from nbr.rules.base import Rule, spec_number, spec_text
from nbr.rules.source import OneOf, Source, checked_sources

WHOLE = 1e-6  # by which masses may miss 1 in all


@registry.kind("rule", "rule", keys={"rule", "adds", "unless"})
class Clause(Rule):
    """A statement: the grade of a point is 1 where it holds, and 0 elsewhere.

    Args:
        statement: A text in the query language, or an expression.
        belief: The degree of belief, from 0 to 1.
        name: A name to show instead of the statement.
        source: The source of the rule, or its name.
        unless: An exception, a statement about closed variables.
        adds: For a learned clause, what it adds to the mean log-likelihood of a row, in nats.

    >>> import torch, nbr
    >>> rule = Clause("x0 -> x1", belief=0.9).bind(nbr.World.bits(2))
    >>> rule.grades(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([0., 1.])
    """

    expression: Expression

    def __init__(
        self,
        statement: str | Expression,
        belief: float | Tensor,
        name: str | None = None,
        *,
        source: Source | str | None = None,
        unless: str | None = None,
        adds: float | None = None,
    ) -> None:
        super().__init__(belief, name)
        self.source = Source.of(source)
        self.expression = statement if isinstance(statement, Expression) else parse(statement)
        self.text = str(statement)
        self.unless = unless
        if unless is not None:
            self.expression = _except(self.expression, parse(unless))
        self.adds = adds
        self._inputs = tuple(sorted(self.expression.names()))

    @property
    def exceptions(self) -> frozenset[str]:
        return frozenset() if self.unless is None else parse(self.unless).names()

    @property
    def statement(self) -> str:
        return str(self.expression)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._inputs

    @property
    def smooth(self) -> tuple[str, ...]:
        return ()

    def at_least(self, level: float) -> Expression:
        return self.expression

    def levels(self) -> list[float]:
        return [1.0]

    def cuts(self) -> dict[str, set[float]]:
        return self.expression.cuts(self.world)

    def grades(self, points: Tensor) -> Tensor:
        return self.expression.holds(self.world, points).to(points.dtype)

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        surely, possibly = holds_within(self.expression, self.world, low, high)
        return surely.to(low.dtype), possibly.to(low.dtype)

    @property
    def bounded(self) -> bool:
        return True

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        learned = {} if self.adds is None else {"adds": self.adds}
        except_ = {} if self.unless is None else {"unless": self.unless}
        return {"rule": self.text, **self._common_spec(), **except_, **learned}, {}

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Clause:
        adds = spec_number(spec, "adds") if "adds" in spec else None
        unless = spec_text(spec, "unless") if "unless" in spec else None
        return cls(spec_text(spec, "rule"), spec["belief"], spec["name"], unless=unless, adds=adds)

    def _check(self) -> None:
        try:
            self.expression = resolved(self.expression, self.world)
            self.expression.check(self.world)
        except NbrError as error:
            raise NbrError(f"{error} in {self.text!r}", error.at) from None
        self._inputs = tuple(sorted(self.expression.names()))

    def describe(self) -> str:
        said = " ".join(self.text.split())
        return said if self.unless is None else f"{said} unless {' '.join(self.unless.split())}"


def _except(statement: Expression, exception: Expression) -> Expression:
    """The body and not the exception, where a statement has a body."""
    if isinstance(statement, Implies):
        return Implies(And((statement.premise, Not(exception))), statement.conclusion)
    return Implies(Not(exception), statement)


def one_of(
    possibilities: Mapping[str, float] | Tensor,
    over: Sequence[str] | None = None,
    *,
    name: str | None = None,
    source: Source | str | None = None,
) -> list[Clause]:
    """Possibilities named by one source: at most one of these rules is present, each with its belief.

    Args:
        possibilities: A belief for each statement; they add up to at most 1, and the rest stays open. Or a mass
            function of `nbr.evidence`, shape (2^L,): what the whole frame has stays open, and what no label has is
            conflict.
        over: For a mass function the statement that each of its L labels stands for, exactly one of which is true.
        name: A name for the rules.
        source: The source, or its name.

    Returns:
        The rules, for the list of rules of a `Reasoner`.

    >>> import nbr
    >>> r = nbr.Reasoner(nbr.World(night=nbr.Bit()), nbr.one_of({"night": 0.3, "~night": 0.5}))
    >>> print(r.ask("night"))
    night: [0.3000, 0.5000], conflict 0.0000 (exact)
    """
    if isinstance(possibilities, Tensor):
        possibilities = _by_statement(possibilities, over)
    elif over is not None:
        raise NbrError("over= is for a mass function: statements with their beliefs need none")
    if not isinstance(possibilities, Mapping) or not possibilities:
        raise NbrError('one_of takes statements with their beliefs, as in {"night": 0.3, "~night": 0.5}')
    choice = OneOf()
    rules = [Clause(said, belief, name, source=source).one_of(choice) for said, belief in possibilities.items()]
    checked_sources(rules)
    return rules


def _by_statement(mass: Tensor, over: Sequence[str] | None) -> dict[str, float]:
    """A statement for each focal set, one of its labels."""
    labels = [] if over is None else [parse(each) for each in over]
    if not labels or isinstance(over, str) or mass.shape != (1 << len(labels),):
        raise NbrError(
            f"a mass function of shape {tuple(mass.shape)} needs the statement of each of its labels, as in "
            'over=["grass=dry", "grass=wet"] for 4 masses'
        )
    if not bool((mass >= 0).all()) or abs(float(mass.sum()) - 1) > WHOLE:
        raise NbrError(f"the masses must not be negative and must add up to 1, not {float(mass.sum()):g}")
    found: dict[str, float] = {}
    for subset, share in enumerate(mass.tolist()[:-1]):
        inside = [label for bit, label in enumerate(labels) if subset >> bit & 1]
        said = Or(tuple(inside)) if len(inside) > 1 else inside[0] if inside else And((labels[0], Not(labels[0])))
        if share > 0:
            found[str(said)] = share
    if not found:
        raise NbrError("the mass function is vacuous: it says nothing")
    return found
