"""The one exception that users see."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

DISTRIBUTION = "neural-belief-reasoner"  # what pip knows us as; `nbr` on the package index is another project
Settings = ParamSpec("Settings")
Result = TypeVar("Result")


class NbrError(ValueError):
    """Wrong input; the message says what is wrong, where, and what would work."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


def install(extra: str) -> str:
    """The command that adds what a part needs to an environment in which we are, from a checkout or from a wheel.

    >>> install("serve")
    "pip install 'neural-belief-reasoner[serve]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def suggest(word: str, known: Iterable[str]) -> str:
    """Words to end an error message with: the known names closest to a wrong one.

    >>> suggest("rian", ["rain", "grass"])
    "; did you mean 'rain'?"
    >>> suggest("q", ["rain", "grass"])
    '; there are rain, grass'
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(repr(name) for name in close)}?"
    if not names:
        return ""
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"; there are {shown}"


def named_settings(function: Callable[Settings, Result]) -> Callable[Settings, Result]:
    """A function whose misspelt settings are named, with the near ones.

    >>> @named_settings
    ... def draw(count, seed=0): ...
    >>> draw(3, sead=1)
    Traceback (most recent call last):
        ...
    nbr.errors.NbrError: unknown setting 'sead'; did you mean 'seed'?
    """
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: Settings.args, **settings: Settings.kwargs) -> Result:
        for name in settings:
            if name not in known:
                raise NbrError(f"unknown setting {name!r}" + suggest(name, known))
        return function(*args, **settings)

    return checked
