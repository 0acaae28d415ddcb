"""Which columns some rows showed together: the sets that a model was learned from."""

from __future__ import annotations

from collections.abc import Iterable

from nbr.errors import NbrError
from nbr.world import World

Views = tuple[tuple[str, ...], ...]


def checked(world: World, views: Iterable[Iterable[str]]) -> Views:
    """Sets of names of the world; those within others are left out.

    >>> checked(World.bits(3), [["x0", "x1"], ["x1"], ["x1", "x2"]])
    (('x0', 'x1'), ('x1', 'x2'))
    """
    given = list(views)
    if any(isinstance(view, str) or not all(isinstance(name, str) for name in view) for view in given):
        raise NbrError("views= is a list of lists of column names")
    sets = list(dict.fromkeys(frozenset(view) for view in given))
    for name in sorted(frozenset().union(*sets)):
        world.column(name)
    largest = [each for each in sets if each and not any(each < other for other in sets)]
    return tuple(tuple(name for name in world.names if name in each) for each in largest)


def counted(views: Views, given: Iterable[Iterable[str]], rows: Iterable[int]) -> tuple[int, ...]:
    """How many rows showed each view, as told for the sets from which these were left."""
    sets, numbers = [frozenset(view) for view in given], list(rows)
    if len(sets) != len(numbers) or not all(isinstance(number, int) and number > 0 for number in numbers):
        raise NbrError("view_rows= has a number of rows above 0 for each of views=")
    told = dict(zip(sets, numbers, strict=True))
    return tuple(told[frozenset(view)] for view in views)


def combined(one: Views | None, other: Views | None) -> Views | None:
    """What two models saw together; not known if one does not say."""
    return None if one is None or other is None else (*one, *other)


def checked_and_counted(
    world: World, views: Iterable[Iterable[str]] | None, rows: Iterable[int] | None
) -> tuple[Views | None, tuple[int, ...] | None]:
    """Views and how many rows showed each, as far as both are known."""
    if views is None:
        return None, None
    given = [view if isinstance(view, str) else tuple(view) for view in views]
    found = checked(world, given)
    return found, None if rows is None else counted(found, given, rows)


def plain(views: Views | None, rows: tuple[int, ...] | None) -> dict[str, list[list[str]] | list[int]]:
    """The same for a file."""
    told: dict[str, list[list[str]] | list[int]] = {}
    if views is not None:
        told["views"] = [list(view) for view in views]
    if rows is not None:
        told["view_rows"] = list(rows)
    return told
