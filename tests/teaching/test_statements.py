"""What statements say of pictures, against sums over all points."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

import nbr
from nbr.errors import NbrError
from nbr.model import Model
from nbr.teaching.columns import DigitColumn
from nbr.teaching.statements import Statement

DIGITS = ("a1", "a0", "b1", "b0")
WORLD = nbr.World({name: nbr.Real(0, 5, step=1) for name in DIGITS} | {"late": nbr.Bit()})


def logs(rows: int) -> dict[str, torch.Tensor]:
    source = torch.Generator().manual_seed(0)
    return {name: torch.randn(rows, 6, generator=source, dtype=torch.float64) for name in DIGITS}


def wanted(seen: dict[str, torch.Tensor], row: int, model: Model, text: str) -> float:
    """P(statement | pictures), point by point: pl times P_keep."""
    said = nbr.parse(text)
    agree = every = 0.0
    for point in itertools.product(range(6), range(6), range(6), range(6), range(2)):
        values = torch.tensor([point], dtype=torch.float64)
        weight = math.exp(sum(float(seen[name][row, value]) for name, value in zip(DIGITS, point[:4], strict=True)))
        for rule in model.rules:
            weight *= 1 - rule.degree * (1 - float(rule.grades(values)))
        every += weight
        agree += weight * bool(said.holds(WORLD, values))
    return agree / every


@pytest.mark.parametrize("rules", [[], [nbr.Clause("late -> a1 >= b1", 0.7), nbr.Clause("b0 != 3", 1.0)]])
@pytest.mark.parametrize(
    "text", ["10*a1 + a0 + 10*b1 + b0 = {s}", "a1 = {s} | ~(b1 - {s} = 0)", "(a0 + {s}) mod 3 = 1, late"]
)
def test_a_statement_is_as_likely_as_its_points(rules: list[nbr.Clause], text: str) -> None:
    model, sums = Model(WORLD, tuple(rules)), [5, 33, 2]
    seen = logs(3)
    found = Statement.of(model, text.format(s="s"), {"s": sums}, DIGITS).log_likelihood(seen, torch.arange(3)).exp()
    for row, number in enumerate(sums):
        plain = text.format(s=number)
        assert float(found[row]) == pytest.approx(wanted(seen, row, model, plain), rel=1e-10)


def test_the_scale_of_what_is_seen_does_not_matter() -> None:
    model, seen = Model(WORLD, (nbr.Clause("a1 >= b1", 0.7),)), logs(2)
    said = Statement.of(model, "a0 + b0 = s", {"s": [3, 4]}, DIGITS)
    other = {name: each - 1000.0 for name, each in seen.items()}
    one, two = (said.log_likelihood(each, torch.arange(2)) for each in (seen, other))
    assert torch.allclose(one, two, rtol=1e-9)


def test_numbers_of_a_hundred_digits() -> None:
    numbers = [10**99 + 7, 3]
    column = DigitColumn.of("s", numbers)
    for row, number in enumerate(numbers):
        digits = [int(code) + low for code, low in zip(column.codes[row], column.lows, strict=True)]
        assert sum(digit * 10**place for place, digit in enumerate(digits)) == number
    below = DigitColumn.of("s", [-123, 40])
    assert below.codes.min() >= 0
    assert (
        sum(
            (int(code) + low) * 10**place
            for place, (code, low) in enumerate(zip(below.codes[0], below.lows, strict=True))
        )
        == -123
    )


@pytest.mark.parametrize(
    ("text", "columns", "told"),
    [
        ("a0 + b0 = s", {"s": [1.5]}, "row 1 of 's' is 1.5"),
        ("s = 3", {"s": [1]}, "'s' is a column"),
        ("a0 in {s, 3}", {"s": [1]}, "'s' is a column"),
        ("a0 + c0 = s", {"s": [1]}, "'c0'"),
        ("a0 + b0 = late", {"late": [1]}, "variable of the model and a column"),
    ],
)
def test_what_cannot_be_said_is_one_line(text: str, columns: dict[str, list[object]], told: str) -> None:
    with pytest.raises(NbrError, match=told) as error:
        Statement.of(Model(WORLD), text, columns, DIGITS)
    assert "\n" not in str(error.value)
