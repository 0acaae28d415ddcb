"""Which columns some rows showed together, and how many rows: what a model was learned from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from nbr.errors import NbrError
from nbr.world import World

Views = tuple[tuple[str, ...], ...]
Counts = tuple[int | None, ...]


@dataclass(frozen=True)
class Together:
    """Sets of columns that rows showed together, and how many rows each, as far as that is known.

    Both go the same ways, so that no range is told without the error that belongs to it. `dispersion` is how many times
    as far off these rows as chance has it the model is, squared: so many fewer are they worth.
    """

    views: Views
    rows: Counts | None = None
    dispersion: float = 1.0

    def __post_init__(self) -> None:
        if not 1.0 <= self.dispersion < math.inf:
            raise NbrError(f"dispersion= must be a number of at least 1, not {self.dispersion!r}")

    @classmethod
    def of(
        cls,
        world: World,
        views: Together | Iterable[Iterable[str]] | None,
        rows: Iterable[int | None] | None = None,
        dispersion: float = 1.0,
    ) -> Together | None:
        """Sets of names of a world; those within others are left out, and None if nothing is known of any.

        Rows of 0, as a file has them, and None mean that the number is not known. Of a set that is told twice the
        smaller number counts.

        >>> Together.of(World.bits(3), [["x0", "x1"], ["x1"], ["x1", "x2"], ["x1", "x0"]], [80, 90, 0, 70])
        Together(views=(('x0', 'x1'), ('x1', 'x2')), rows=(70, None), dispersion=1.0)
        """
        if views is None:
            return None
        if isinstance(views, Together):
            rows, dispersion, views = views.rows, views.dispersion, views.views
        given = [view if isinstance(view, str) else tuple(view) for view in views]
        found = checked(world, given)
        if isinstance(dispersion, bool) or not isinstance(dispersion, int | float):
            raise NbrError(f"dispersion= must be a number of at least 1, not {dispersion!r}")
        return cls(found, None if rows is None else counted(found, given, rows), float(dispersion))

    @property
    def counts(self) -> Counts:
        """The rows of each view, or None where they are not known."""
        return self.rows or (None,) * len(self.views)

    def plain(self) -> dict[str, list[list[str]] | list[int] | float]:
        """The same for a file."""
        told: dict[str, list[list[str]] | list[int] | float] = {"views": [list(view) for view in self.views]}
        told |= {} if self.rows is None else {"view_rows": [number or 0 for number in self.rows]}
        return told if self.dispersion == 1.0 else told | {"dispersion": self.dispersion}


def checked(world: World, views: Iterable[Iterable[str]]) -> Views:
    """Sets of names of the world; those within others are left out.

    >>> checked(World.bits(3), [["x0", "x1"], ["x1"], ["x1", "x2"]])
    (('x0', 'x1'), ('x1', 'x2'))
    """
    given = list(views)
    if any(isinstance(view, str) or not all(isinstance(name, str) for name in view) for view in given):
        raise NbrError("views= must be a list of lists of column names")
    sets = list(dict.fromkeys(frozenset(view) for view in given))
    for name in sorted(frozenset().union(*sets)):
        world.column(name)
    largest = [each for each in sets if each and not any(each < other for other in sets)]
    return tuple(tuple(name for name in world.names if name in each) for each in largest)


def combined(one: Together | None, other: Together | None) -> Together | None:
    """What two models saw, one after the other; not known if one does not say."""
    if one is None or other is None:
        return None
    both = (*one.views, *other.views), (*one.counts, *other.counts)
    return Together(*both, max(one.dispersion, other.dispersion))


def counted(views: Views, given: Iterable[Iterable[str]], rows: Iterable[int | None]) -> Counts | None:
    """How many rows showed each view, as told for the sets from which these were left; None if no number is known."""
    sets, numbers = [frozenset(view) for view in given], [number or None for number in rows]
    known = [number for number in numbers if number is not None]
    if len(sets) != len(numbers) or not all(isinstance(number, int) and number > 0 for number in known):
        raise NbrError("view_rows= has a number of rows for each of views=, 0 where it is not known")
    told: dict[frozenset[str], int | None] = {}
    for each, number in zip(sets, numbers, strict=True):
        before = told.get(each, number)
        told[each] = None if before is None or number is None else min(before, number)
    return tuple(told[frozenset(view)] for view in views) if known else None
