"""Sums modulo a number: read, printed, and the same by every way of computing."""

from __future__ import annotations

import itertools

import pytest
import torch

import nbr
import oracle
from nbr.language import parse

DIGITS = nbr.World({f"d{place}": nbr.Real(0, 9, step=1) for place in range(1, 5)})
SMALL = nbr.World(a=nbr.Real(0, 4, step=1), b=nbr.Real(1, 3, step=1), x=nbr.Bit(), y=nbr.Bit())


def points(world: nbr.World) -> torch.Tensor:
    values = [
        [variable.low + place * variable.step for place in range(variable.size or 0)]
        if isinstance(variable, nbr.Real)
        else range(variable.size)
        for variable in world.variables.values()
    ]
    return torch.tensor(list(itertools.product(*values)), dtype=torch.float64)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("(d1 + 2*d2 + 3*d3) mod 11 = 0", lambda d: (d[0] + 2 * d[1] + 3 * d[2]) % 11 == 0),
        ("d1 mod 3 = 1", lambda d: d[0] % 3 == 1),
        ("d1 - d2 mod 10 >= 7", lambda d: (d[0] - d[1]) % 10 >= 7),
        ("0 != (d1 + 5) mod 2", lambda d: (d[0] + 5) % 2 != 0),
        ("(d1 + count(d2>=5, d3>=5)) mod 4 < 2", lambda d: (d[0] + (d[1] >= 5) + (d[2] >= 5)) % 4 < 2),
        ("~((d1 + d2) mod 10 = d1 mod 10)", None),
        ("d1>=3 -> (d1 + d4) mod 5 in {1}", None),
    ],
)
def test_what_it_says(text: str, holds: object) -> None:
    if holds is None:
        with pytest.raises(nbr.NbrError):
            parse(text)
        return
    statement, rows = parse(text), points(DIGITS)
    right = [holds(row) for row in rows.int().tolist()]  # type: ignore[operator]
    assert statement.holds(DIGITS, rows).tolist() == right
    again = parse(str(statement))
    assert again == statement
    assert again.holds(DIGITS, rows).tolist() == right


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(d1 + d2) mod 0 = 0", "whole number from 2 to 1000, at character 2"),
        ("(d1 + d2) mod 2.5 = 0", "whole number from 2"),
        ("(0.5*d1 + d2) mod 3 = 0", "only whole numbers multiply"),
        ("(d1 + d2) mod 3", "a comparison is missing"),
        ("(d1 + d2) mod 3 = d3", "only be compared with a number"),
        ("(d1 + dd) mod 3 = 0", "'dd' is not a number and not a variable"),
        ("(c + d1) mod 3 = 0", "'c' is a choice"),
        ("(t + d1) mod 3 = 0", "'t' is not a whole number"),
    ],
)
def test_errors_are_one_line(text: str, why: str) -> None:
    world = nbr.World({**DIGITS.variables, "c": nbr.Choice("p", "q"), "t": nbr.Real(0, 1)})
    with pytest.raises(nbr.NbrError, match=why):
        nbr.Reasoner(world).ask(text)
    if "at character 2" in why:
        with pytest.raises(nbr.NbrError) as error:
            parse(text)
        assert error.value.at == 2


@pytest.mark.parametrize("engine", ["auto", "counting", "lattice", "frontier", "drawn"])
@pytest.mark.parametrize(
    ("question", "given"),
    [("x", "a<=3"), ("(a + b) mod 2 = 0", None), ("a=2", "b=2, y"), ("(a + 2*x) mod 3=1", "a > b"), ("y", "a + x > b")],
)
def test_every_way_of_asking_equals_the_definitions(engine: str, question: str, given: str | None) -> None:
    rules = [
        nbr.Clause("(a + 2*b + count(x, y)) mod 3 = 0", 0.9),
        nbr.Clause("x -> (a + b) mod 2 = 1", 0.7),
        nbr.Clause("a=4 | y", 0.4),
        nbr.Clause("(a + 2*b + 2*x) mod 5 = 2", 0.6),
    ]
    model, rows = nbr.Reasoner(SMALL, rules), points(SMALL)
    condition = None if given is None else parse(given)
    rows = rows if condition is None else rows[condition.holds(SMALL, rows)]
    with torch.no_grad():
        grades, member = model.grades(rows).numpy(), parse(question).holds(SMALL, rows).double().numpy()
    right = oracle.answer(grades, model.beliefs.numpy(), member)
    if engine == "frontier" and str(given).endswith("> b"):  # numbers that are compared with each other are not walked
        with pytest.raises(nbr.NbrError, match="does not fit"):
            model.ask(question, given, engine=engine)
        return
    answer = model.ask(question, given, engine=engine, budget=0.5 if engine == "drawn" else 10.0)
    if answer.exact:
        assert (answer.belief, answer.plausibility, answer.conflict) == pytest.approx(right, abs=1e-9)
    assert answer.belief <= right[0] + 1e-9
    assert answer.plausibility >= right[1] - 1e-9
    assert answer.exact or engine == "drawn"


def test_frequencies_of_a_check_digit() -> None:
    """Nine digits and one that makes their weighted sum 0 mod 11: far too many points to list."""
    world = nbr.World({f"d{place}": nbr.Real(0, 9, step=1) for place in range(10)})
    total = " + ".join(f"{place + 1}*d{place}" for place in range(10))
    model = nbr.Reasoner(world, [nbr.Clause(f"({total}) mod 11 = 0", 1.0)], prior=nbr.priors.uniform(world))
    fixed = ", ".join(f"d{place}={place % 10}" for place in range(9))
    wanted = -sum((place + 1) * place for place in range(9)) * pow(10, -1, 11) % 11
    found = model.probability(f"d9={wanted}", given=fixed)
    assert (found.value, found.exact) == (pytest.approx(1.0), True)
    alone = model.probability("d0=3")
    assert alone.exact
    assert alone.value == pytest.approx(0.1, abs=1e-6)
    assert model.ask(f"d9={wanted}", given=fixed).belief == 1.0
