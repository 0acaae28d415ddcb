"""Neural Belief Reasoner: rules with degrees of belief, answered as [belief, plausibility] and a conflict.

>>> import nbr
>>> r = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", belief=0.9)])
>>> r.ask("x1", given="x0").belief
0.9
"""

from __future__ import annotations

from nbr.doors import door, listed

__version__ = "0.2.0"

# Names are imported when first used, so that the command line answers --help without loading torch.
_named, __dir__, __all__ = door(__name__)
_EXTRA = {"learning": "learn", "classify": "classify", "teaching": "classify", "Predictor": "learn,classify"}


def __getattr__(name: str) -> object:
    """A public name; where a package of another project is missing, an error that says what to install."""
    try:
        return _named(name)
    except ModuleNotFoundError as error:
        room = listed(__name__)[name].split(".")[1]
        if room not in _EXTRA:
            raise
        from nbr.errors import NbrError, install

        raise NbrError(f"nbr.{name} needs {error.name}: {install(_EXTRA.get(name, _EXTRA[room]))}") from None
