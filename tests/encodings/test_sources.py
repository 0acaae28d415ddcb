"""One contract for all sources, held against a list of every point."""

from __future__ import annotations

import random
from itertools import product

import pytest
import torch

import nbr
import rule_bases
from nbr.asking.question import as_set
from nbr.calculus import sat
from nbr.encodings import Branching, Encoding, Listing, StatementEncoding
from nbr.encodings.source import Set
from nbr.model import Model
from nbr.ways import Limits

TIME = 20.0
UNIONS = ("yes", "no", "all")


def limits() -> Limits:
    return Limits.within(TIME)


def every(model: Model) -> torch.Tensor:
    """Points for every value that statements of `rule_bases` can tell apart."""
    values = []
    for variable in model.world.variables.values():
        if isinstance(variable, nbr.Real):
            steps = range(11) if variable.step else (0, 1, 2, 3, 5, 6, 7.5, 8, 10)
            values.append([float(value) for value in steps])
        else:
            values.append([float(value) for value in range(variable.size)])
    return torch.tensor(list(product(*values)), dtype=torch.float64)


class Case:
    """A question to a small base, the points of its condition, their grades and on which side they are."""

    def __init__(self, seed: int, fuzzy: bool) -> None:
        base, question, given = rule_bases.mixed(seed, rules=6)
        rules = list(base.rules)
        if fuzzy:
            draw = random.Random(seed)
            bits = [name for name in base.world.names if name.startswith("x")]
            point = {name: draw.randint(0, 1) for name in bits}
            rules.append(nbr.Memory(point, radius=1.5, belief=0.6))
        self.model = Model(base.world, rules)
        self.proposition: Set = as_set(question, base.world, "question")
        self.condition: Set = as_set(given, base.world, "condition")
        points = every(self.model)
        self.points = points[self.condition.holds(base.world, points)]
        self.grades = self.model.grades(self.points)
        self.holds = self.proposition.holds(base.world, self.points)

    def source(self, kind: type[Encoding]) -> Encoding:
        return kind.of(self.model, self.proposition, self.condition)

    def side(self, union: str) -> torch.Tensor:
        return {"yes": self.holds, "no": ~self.holds, "all": torch.ones_like(self.holds)}[union]

    def allowed(self, rules: list[int], level: float, union: str) -> bool:
        return bool(((self.grades[:, rules] >= level).all(dim=1) & self.side(union)).any())


@pytest.fixture(params=[(seed, fuzzy) for seed in range(6) for fuzzy in (False, True)], ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*request.param)


SOURCES = (Listing, StatementEncoding, Branching)

each_source = pytest.mark.parametrize("kind", SOURCES)
each_with_rows = pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind.rows is not Encoding.rows])
each_with_formula = pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind.formula is not Encoding.formula])


def placed(source: Encoding, point: dict[str, float], case: Case) -> torch.Tensor:
    """A point of the source's world as one of the whole; what the source does not name is free."""
    values = [getattr(variable, "low", 0.0) for variable in case.model.world.variables.values()]
    for name, value in point.items():
        values[case.model.world.column(name)] = value
    return torch.tensor([values], dtype=torch.float64)


@each_with_rows
def test_witnesses_are_attained_and_the_rest_is_covered(case: Case, kind: type[Encoding]) -> None:
    source = case.source(kind)
    rows = source.rows(limits())
    assert rows is not None
    assert len(rows.witnesses) == len(rows.points) == len(rows.member)
    for grades, place, member in zip(rows.witnesses, rows.points, rows.member, strict=True):
        point = placed(source, dict(zip(source.model.world.names, place.tolist(), strict=True)), case)
        assert bool(case.condition.holds(case.model.world, point))
        assert bool(case.proposition.holds(case.model.world, point)) == bool(member)
        assert torch.equal(case.model.grades(point)[0], grades)
    most, for_most, against_most = rows.most, rows.member_most > 0, rows.member_least < 1
    for grades, holds in zip(case.grades, case.holds, strict=True):
        above = (most >= grades).all(dim=1) & (for_most if holds else against_most)
        assert bool(above.any())


@each_with_formula
def test_a_formula_can_be_satisfied_exactly_where_there_is_a_point(case: Case, kind: type[Encoding]) -> None:
    source = case.source(kind)
    pytest.importorskip("pysat")
    draw = random.Random(0)
    rules = range(len(case.model.rules))
    for level in source.levels:
        deciding = sat.Deciding(source.formula(level))
        for union in UNIONS:
            for _ in range(6):
                some = [rule for rule in rules if draw.random() < 0.6]
                assert deciding.grows(set(some), union, float("inf")) == case.allowed(some, level, union)
    grades = {grade for grade in case.grades.flatten().tolist() if grade > 0}
    assert grades <= set(source.levels), "between two levels the formula stays the same"


@each_source
def test_what_is_decided_is_a_point_or_a_core(case: Case, kind: type[Encoding]) -> None:
    if kind.rows is Encoding.rows:
        pytest.importorskip("pysat")
    source = case.source(kind)
    draw = random.Random(1)
    known = 0
    for level, union, _ in product((0.5, 1.0), UNIONS, range(4)):
        some = [rule for rule in range(len(case.model.rules)) if draw.random() < 0.6]
        found = source.decide(some, level, union, limits())
        known += found.point is not None or found.core is not None
        if found.point is not None:
            point = placed(source, found.point, case)
            assert bool(case.condition.holds(case.model.world, point))
            assert bool((case.model.grades(point)[:, some] >= level).all())
            assert union == "all" or bool(case.proposition.holds(case.model.world, point)) == (union == "yes")
        if found.core is not None:
            core = sorted(found.core)
            assert set(core) <= set(some)
            assert not case.allowed(core, level, union)
            for rule in core:
                assert case.allowed([other for other in core if other != rule], level, union), "not minimal"
    if len(case.points) < 1000:
        assert known == 24, "a small question can always be decided"


@each_source
def test_every_source_answers_alike(case: Case, kind: type[Encoding]) -> None:
    name = {Listing: "few" if len(case.points) <= 16 else "lattice", StatementEncoding: "counting", Branching: "boxes"}[
        kind
    ]
    reasoner = nbr.Reasoner(case.model.world, case.model.rules)
    asked = (case.proposition, case.condition)
    try:
        wanted = reasoner.ask(*asked, engine="lattice")
    except nbr.NbrError as error:
        with pytest.raises(nbr.NbrError, match="contradict|cannot hold"):
            reasoner.ask(*asked, engine=name)
        assert "contradict" in str(error) or "cannot hold" in str(error)
        return
    found = reasoner.ask(*asked, engine=name)
    for each in ("belief", "plausibility", "conflict"):
        low, high = getattr(found.bounds, each)
        assert low - 1e-9 <= getattr(wanted, each) <= high + 1e-9
    assert not found.exact or found.belief == pytest.approx(wanted.belief, abs=1e-9)
