"""What can be read as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray
from torch import Tensor

from nbr.tables.table import Table


class FrameLike(Protocol):
    """A DataFrame, as far as reading needs it."""

    @property
    def columns(self) -> Iterable[Any]: ...

    @property
    def iloc(self) -> Any: ...


OneTable: TypeAlias = str | PathLike[str] | FrameLike | NDArray[Any] | Tensor | Table | Sequence[Sequence[float | None]]
TableLike: TypeAlias = OneTable | Sequence[OneTable]  # several tables have each their own columns
