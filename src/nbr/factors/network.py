"""A model as a product of tables: sums, marginals, the best point and draws, for many conditions at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from nbr.factors import alike, contraction
from nbr.factors.comparisons import shares
from nbr.factors.contraction import aligned
from nbr.factors.hanging import hanging, shared
from nbr.factors.order import SECONDS
from nbr.factors.several import several
from nbr.factors.structures import Compiled, Structure, compiled, structure_of, too_wide
from nbr.factors.value_codes import ValueCodes
from nbr.language import Expression, conjuncts
from nbr.priors import Factor, Prior
from nbr.rules import Rule
from nbr.ways import Unfit
from nbr.world import World

WIDTH = 1 << 22  # entries of a table
COST = 1 << 28  # products of numbers for one condition
QUICK = 1 << 23  # products of numbers up to which what counts is how many steps there are

_masses: WeakKeyDictionary[Prior, tuple[object, list[Factor]]] = WeakKeyDictionary()  # of the last structure


@dataclass(frozen=True)
class Network:
    """The tables of one model; all that conditions may say must be known when it is made.

    >>> from nbr.language import parse
    >>> from nbr.priors import uniform
    >>> from nbr.rules import Clause
    >>> world = World.bits(2)
    >>> rule, given = Clause("x0 -> x1", 0.9).bind(world), parse("x0")
    >>> network = Network.of(world, uniform(world), [[rule]], [given])
    >>> network.marginals([None, given])["x1"]
    tensor([[0.3548, 0.6452],
            [0.0909, 0.9091]], dtype=torch.float64)
    """

    world: World
    structure: Structure
    compiled: Compiled
    crisp: tuple[Rule, ...]
    fuzzy: tuple[Rule, ...]
    grades: tuple[Tensor, ...]  # of fuzzy rules, and below what the prior says
    masses: tuple[Factor, ...]
    sharing: frozenset[int] = frozenset()  # crisp rules that hang on hidden variables, and stand among the masses

    @classmethod
    def of(
        cls,
        world: World,
        prior: Prior | None,
        bodies: Sequence[Sequence[Rule]],
        said: Sequence[Expression],
        *,
        seconds: float = SECONDS,
        cost: float = COST,
    ) -> Network:
        """`bodies` are rules whose P_keep multiply, `said` all that conditions and questions will say.

        Without a prior every value counts 1, and a number has no more than pieces.
        Raises `Unfit` where this is no product of small tables, or one that is too wide to be summed.
        """
        rules = [[rule for rule in body if rule.levels() == [1.0] or float(rule.likeliest) > 0] for body in bodies]
        crisp = tuple(rule for body in rules for rule in body if rule.levels() == [1.0])
        fuzzy = tuple(rule for body in rules for rule in body if rule.levels() != [1.0])
        if any(sum(rule in fuzzy for rule in body) > 1 for body in rules):
            raise Unfit("several fuzzy rules: the smallest of their grades counts, which is not a product")
        statements = [rule.at_least(1.0) for rule in crisp]
        made = structure_of(world, [each for each in statements if each is not None], said)
        codes = {name: each.codes for name, each in made.values.items()}
        grades = [rule.factor(codes) for rule in fuzzy]
        tables = [each for each in grades if isinstance(each, Tensor)]
        if len(tables) < len(grades):
            raise Unfit("a fuzzy rule reads too many combinations of values, or numbers")
        if prior is None and made.compared:
            raise Unfit("numbers are compared with each other, which is only possible with a prior")
        hung = hanging(rules)
        masses = [] if prior is None else _known(prior, made)
        masses = [*masses, *shared(hung, crisp, fuzzy, made, tables)]
        alone = [number for number, rule in enumerate(fuzzy) if rule not in hung.rules]
        fuzzy, tables = tuple(fuzzy[number] for number in alone), [tables[number] for number in alone]
        sharing = frozenset(number for number, rule in enumerate(crisp) if rule in hung.rules)
        scopes = [*(rule.inputs for rule in fuzzy), *(names for names, _ in masses)]
        sizes = {name: size for names, table in masses for name, size in zip(names, table.shape, strict=True)}
        plan = compiled(made, scopes, sizes, seconds)
        reason = too_wide(plan.order, WIDTH, cost)
        if reason is not None:
            raise reason
        return cls(world, made, plan, crisp, fuzzy, tuple(tables), tuple(masses), sharing)

    @property
    def values(self) -> Mapping[str, ValueCodes]:
        """The values of each variable that are told apart."""
        return self.structure.values

    def log_sums(self, conditions: Sequence[Expression | None]) -> Tensor:
        """log of the sum of P_0 P_keep over all points that meet each condition: (conditions,).

        Differentiable by beliefs that are tensors.
        """
        return self._log_sums(len(conditions), self.evidence(conditions))

    def weighed(self, weights: Mapping[str, Tensor], conditions: Sequence[Expression | None]) -> Tensor:
        """The same with a weight for each value of some variables, (conditions, values) each, by which points count.

        Weights are at least 0 and in the order of `values`; differentiable by them too. A weight far below the largest
        one of its row still counts: where plain numbers would lose it, logs are added.
        """

        known = self.evidence(conditions)
        for name, weight in weights.items():
            known[name] = weight * known[name] if name in known else weight
        return self._log_sums(len(conditions), known)

    def believing(self, beliefs: Mapping[Rule, Tensor]) -> Network:
        """The same with some rules believed to other degrees, which may be learned."""
        moved = [
            [rule.with_belief(beliefs.get(rule, rule.belief)) for rule in part] for part in (self.crisp, self.fuzzy)
        ]
        return replace(self, crisp=tuple(moved[0]), fuzzy=tuple(moved[1]))

    def _log_sums(self, count: int, known: Mapping[str, Tensor]) -> Tensor:
        order, tables = self.compiled.order, [*self._tables(), *self._single(known)]
        if not any(table.requires_grad for table in tables):
            return alike.log_sums(order, tables, count)
        if order.cost * count <= QUICK and order.shallow.cost * count <= QUICK:
            order = order.shallow
        found = []
        for part in contraction.batches(order, count):
            some = [
                table[part] if table.dim() > len(scope) else table
                for table, scope in zip(tables, order.scopes, strict=True)
            ]
            found.append(contraction.log_sums(order, some).expand(part.stop - part.start))
        return torch.cat(found) if found else torch.zeros(0, dtype=torch.float64)

    def marginals(self, conditions: Sequence[Expression | None]) -> dict[str, Tensor]:
        """How likely each value of each variable is under each condition: (conditions, values); NaN where it has
        probability 0. All of them are one gradient: of the log of the sum, by the logs of what is known of values.
        """
        order, first = self.compiled.order, len(self.compiled.groups)
        wanted = [first + place for place, name in enumerate(self.compiled.open) if name in self.values]
        found = []
        with torch.no_grad():
            for part in contraction.batches(order, len(conditions)):
                single = self._single(self.evidence(conditions[part]))
                found.append(contraction.marginals(order, [*self._fixed, *single], wanted, len(conditions[part])))
        return {name: torch.cat(each) for name, each in zip(self.values, zip(*found, strict=True), strict=True)}

    def best(self, condition: Expression | None = None) -> tuple[float, dict[str, int]]:
        """The log of the largest P_0 P_keep of values that meet a condition, and the number of each value there.

        Sums over what is hidden, such as the trees of a mixture, are no part of a largest product: then it is refused.
        """
        self._has_points()
        with torch.no_grad():
            value, found = contraction.best(self.compiled.order, self._logs(condition))
        return value, self._named(found)

    def several(self, count: int, condition: Expression | None = None) -> list[tuple[float, dict[str, int]]]:
        """The same for the `count` largest products, the largest first; fewer where no others are above 0."""
        self._has_points()
        if self.structure.compared:
            raise Unfit("numbers are compared with each other, which cuts their intervals")
        first = len(self.compiled.groups)
        places = [first + place for place, name in enumerate(self.compiled.open) if name in self.values]
        with torch.no_grad():
            found = several(self.compiled.order, self._logs(condition), places, count)
        return [(value, self._named(point)) for value, point in found]

    def _has_points(self) -> None:
        if any(name not in self.structure.sizes for names, _ in self.masses for name in names):
            raise Unfit("hidden variables are summed over, so the best point is not a maximum of products")

    def draw(self, count: int, condition: Expression | None, generator: torch.Generator) -> dict[str, Tensor]:
        """The numbers of values, as likely as they are under the condition: (count,) for each variable."""
        with torch.no_grad():
            logs = self._logs(condition)
            return self._named(contraction.draw(self.compiled.order, logs, count, generator))

    def evidence(self, conditions: Sequence[Expression | None]) -> dict[str, Tensor]:
        """What conditions leave of the values of each variable that some of them speak of: (conditions, values)."""
        said: dict[Expression, list[int]] = {}
        for row, condition in enumerate(conditions):
            for part in () if condition is None else conjuncts(condition):
                said.setdefault(part, []).append(row)
        found: dict[str, Tensor] = {}
        for part, rows in said.items():
            name, left = self._told(part)
            if name not in found:
                found[name] = torch.ones(len(conditions), len(left), dtype=torch.float64)
            found[name][rows] *= left
        return found

    @property
    def places(self) -> dict[str, int]:
        """The number of the table that holds what is known of each variable, among `logs`."""
        first = len(self.compiled.groups)
        return {name: first + place for place, name in enumerate(self.compiled.open) if name in self.values}

    def logs(self, condition: Expression | None = None) -> list[Tensor]:
        """The logs of all tables, for the steps of `compiled.order`."""
        with torch.no_grad():
            return self._logs(condition)

    def read(self, found: Mapping[int, Tensor]) -> dict[str, Tensor]:
        """The numbers of values of variables by name, from those by their numbers in the order."""
        return self._named(found)

    def _told(self, part: Expression) -> tuple[str, Tensor]:
        names = part.names()
        if len(names) > 1:
            return self.structure.asked[part], torch.tensor([0.0, 1.0], dtype=torch.float64)
        name = next(iter(names), self.world.names[0])
        small, codes = World({name: self.world.variables[name]}), self.values[name].codes
        return name, part.holds(small, codes[:, None]).double()

    def _named(self, found: Mapping[int, int] | Mapping[int, Tensor]) -> dict:  # type: ignore[type-arg]
        return {name: found[place] for place, name in enumerate(self.compiled.names) if name in self.values}

    def _tables(self) -> list[Tensor]:
        """The table of each group, by the beliefs as they are now."""
        learned = any(
            isinstance(rule.belief, Tensor) and rule.belief.requires_grad for rule in (*self.crisp, *self.fuzzy)
        )
        if learned and torch.is_grad_enabled():
            return self._multiplied()
        return self._fixed

    @cached_property
    def _fixed(self) -> list[Tensor]:
        with torch.no_grad():
            return self._multiplied()

    def _multiplied(self) -> list[Tensor]:
        one = torch.ones((), dtype=torch.float64)
        each = [one if number in self.sharing else 1 - _belief(rule) for number, rule in enumerate(self.crisp)]
        kept = torch.stack(each) if each else torch.zeros(0).double()
        others: list[Factor] = []
        for rule, table in zip(self.fuzzy, self.grades, strict=True):
            others.append((rule.inputs, 1 - _belief(rule) * (1 - table)))
        others += self.masses
        found = []
        for group in self.compiled.groups:
            table = group.certain
            if len(group.rules):
                mine = kept[group.rules].view([-1, *[1] * len(group.scope)])
                table = table * torch.where(group.broken, mine, 1.0).prod(dim=0)
            for number in group.others:
                names, numbers = others[number]
                table = table * aligned(numbers, names, group.scope)
            found.append(table)
        return found

    def _single(self, evidence: Mapping[str, Tensor]) -> list[Tensor]:
        """What is known of the values of each variable; nothing where no condition speaks of it."""
        return [
            evidence[name] if name in evidence else torch.ones(self.structure.sizes[name], dtype=torch.float64)
            for name in self.compiled.open
        ]

    def _logs(self, condition: Expression | None) -> list[Tensor]:
        known = {name: left[0] for name, left in self.evidence([condition]).items()}
        return [table.log() for table in (*self._fixed, *self._single(known))]


def _belief(rule: Rule) -> Tensor:
    return torch.as_tensor(rule.likeliest, dtype=torch.float64)


def _known(prior: Prior, made: Structure) -> list[Factor]:
    last = _masses.get(prior)
    if last is not None and last[0] == made.key:
        return last[1]
    own = {name: each.allowed for name, each in made.values.items() if name in prior.world.variables}
    found = prior.factors(own)
    if found is None:
        raise Unfit("the prior is not a product of small tables")
    found = [*found, *(shares(prior, prior.world, numbers, made.values) for numbers in made.compared)]
    _masses[prior] = made.key, found
    return found
