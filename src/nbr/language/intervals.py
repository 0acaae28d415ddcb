"""Whether a statement holds everywhere or somewhere in a box, as far as its parts tell one by one."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.language import expressions as ex
from nbr.language.expressions import Expression
from nbr.language.linear import ROUNDING, Linear
from nbr.language.modulo import Modulo
from nbr.world import World

Truth = tuple[Tensor, Tensor]  # booleans: surely true, possibly true


def holds_within(statement: Expression, world: World, low: Tensor, high: Tensor) -> Truth:
    """For boxes from low to high, both of shape (boxes, variables) and included.

    The labels of a choice are those at the positions from low to high. "Surely" is never said wrongly, and "possibly"
    may be: parts that cannot be true together are not noticed.
    """
    match statement:
        case ex.Atom():
            column = world.column(statement.name)
            return _atom(statement, world, low[:, column], high[:, column])
        case ex.Constant():
            value = torch.full(low.shape[:1], statement.value)
            return value, value
        case ex.Not():
            surely, possibly = holds_within(statement.part, world, low, high)
            return ~possibly, ~surely
        case ex.Implies():
            (first, maybe), (then, perhaps) = (holds_within(part, world, low, high) for part in statement.parts)
            return ~maybe | then, ~first | perhaps
        case Linear():
            return _linear(statement, world, low, high)
        case Modulo():  # known only where nothing that it reads varies
            columns = [world.column(name) for name in statement.names()]
            fixed, holds = (low[:, columns] == high[:, columns]).all(dim=1), statement.holds(world, low)
            return fixed & holds, ~fixed | holds
    surely, possibly = (
        torch.stack(each)
        for each in zip(*(holds_within(part, world, low, high) for part in statement.parts), strict=True)
    )
    match statement:
        case ex.And():
            return surely.all(dim=0), possibly.all(dim=0)
        case ex.Or():
            return surely.any(dim=0), possibly.any(dim=0)
        case ex.Iff():
            settled = (surely == possibly).all(dim=0)
            even = (~surely).sum(dim=0) % 2 == 0
            return settled & even, ~settled | even
        case ex.Count():
            return _compared(statement.operator, surely.sum(dim=0), possibly.sum(dim=0), statement.number)
        case ex.Majority():
            return _compared(">", surely.sum(dim=0), possibly.sum(dim=0), len(statement.parts) / 2)
    raise TypeError(f"no bounds of {type(statement).__name__}")


def _atom(atom: ex.Atom, world: World, low: Tensor, high: Tensor) -> Truth:
    codes = atom.codes(world)
    if atom.operator != "in":
        return _compared(atom.operator or "=", low, high, codes[0])
    found = [_compared("=", low, high, code) for code in codes]
    possibly = torch.stack([possible for _, possible in found]).any(dim=0)
    surely = torch.stack([sure for sure, _ in found]).any(dim=0)
    inside = torch.stack([(low <= code) & (code <= high) for code in set(codes)]).sum(dim=0)
    if world.variables[atom.name].size:  # all labels from low to high are among them
        step = getattr(world.variables[atom.name], "step", 1.0)
        surely = surely | (inside == ((high - low) / step).round() + 1)
    return surely, possibly


def _linear(statement: Linear, world: World, low: Tensor, high: Tensor) -> Truth:
    """From the least and the most that the sum can be; what is nearly equal counts as equal."""
    least, most = (low.new_full(low.shape[:1], -statement.number) for _ in range(2))
    size = low.new_full(low.shape[:1], abs(statement.number))
    ends = [(weight, low[:, world.column(name)], high[:, world.column(name)]) for weight, name in statement.weights]
    for weight, part in statement.counted:
        surely, possibly = holds_within(part, world, low, high)
        ends.append((weight, surely.to(low.dtype), possibly.to(low.dtype)))
    for weight, lower, upper in ends:
        first, last = weight * lower, weight * upper
        least, most = least + first.minimum(last), most + first.maximum(last)
        size = size + first.abs().maximum(last.abs())
    near = ROUNDING * size
    some = torch.where(least == most, near, 0.0)  # at a single point as in `holds`; else on the safe side
    equal, apart = (least == most) & (least.abs() <= near), (least > near) | (most < -near)
    match statement.operator:
        case "=":
            return equal, ~apart
        case "!=":
            return apart, ~equal
        case ">=":
            return least >= -some, most >= -near
        case ">":
            return least > near, most > some
        case "<=":
            return most <= some, least <= near
    return most < -near, least < -some


def _compared(operator: str, low: Tensor, high: Tensor, number: float) -> Truth:
    equal, apart = (low == number) & (high == number), (high < number) | (low > number)
    match operator:
        case "=":
            return equal, ~apart
        case "!=":
            return apart, ~equal
        case ">=" | ">":
            compare = ex.COMPARE[operator]
            return compare(low, number), compare(high, number)
    compare = ex.COMPARE[operator]
    return compare(high, number), compare(low, number)
