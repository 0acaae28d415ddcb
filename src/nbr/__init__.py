"""Neural Belief Reasoner: rules with degrees of belief, answered as [belief, plausibility] and a conflict.

>>> import nbr
>>> r = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", belief=0.9)])
>>> r.ask("x1", given="x0").belief
0.9
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbr import datasets, evidence, lipschitz, priors
    from nbr.asking.answer import Answer, Bounds
    from nbr.classify.affine import certified_radius
    from nbr.classify.belief import BeliefClassifier
    from nbr.classify.nonexpansive import NonexpansiveClassifier
    from nbr.classify.robust import RobustClassifier
    from nbr.classify.sensor import Sensor
    from nbr.density.probability import Probability
    from nbr.errors import NbrError
    from nbr.kinds import load
    from nbr.language import Expression, parse
    from nbr.learning.fitting import fit
    from nbr.learning.predictor import Predictor
    from nbr.reasoner import Reasoner
    from nbr.rules import Clause, Fuzzy, Memory, Neural, Rule, Source, one_of
    from nbr.teaching.teach import train
    from nbr.world import Bit, Choice, Ordered, Real, World

__version__ = "0.2.0"

# Names are imported when first used, so that the command line answers --help without loading torch.
_HOME = {
    "Answer": "asking.answer",
    "BeliefClassifier": "classify.belief",
    "Bit": "world",
    "Bounds": "asking.answer",
    "Choice": "world",
    "Ordered": "world",
    "Clause": "rules",
    "Expression": "language",
    "Fuzzy": "rules",
    "Memory": "rules",
    "NbrError": "errors",
    "Neural": "rules",
    "NonexpansiveClassifier": "classify.nonexpansive",
    "Predictor": "learning.predictor",
    "Probability": "density.probability",
    "Real": "world",
    "Reasoner": "reasoner",
    "RobustClassifier": "classify.robust",
    "Rule": "rules",
    "Sensor": "classify.sensor",
    "Source": "rules",
    "World": "world",
    "certified_radius": "classify.affine",
    "datasets": "datasets",
    "evidence": "evidence",
    "fit": "learning.fitting",
    "lipschitz": "lipschitz",
    "load": "kinds",
    "one_of": "rules",
    "parse": "language",
    "priors": "priors",
    "train": "teaching.teach",
}

_EXTRA = {"learning": "learn", "classify": "classify", "teaching": "classify", "Predictor": "learn,classify"}

__all__ = [
    "Answer",
    "BeliefClassifier",
    "Bit",
    "Bounds",
    "Choice",
    "Clause",
    "Expression",
    "Fuzzy",
    "Memory",
    "NbrError",
    "Neural",
    "NonexpansiveClassifier",
    "Ordered",
    "Predictor",
    "Probability",
    "Real",
    "Reasoner",
    "RobustClassifier",
    "Rule",
    "Sensor",
    "Source",
    "World",
    "certified_radius",
    "datasets",
    "evidence",
    "fit",
    "lipschitz",
    "load",
    "one_of",
    "parse",
    "priors",
    "train",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'nbr' has no attribute {name!r}")
    module = _imported(name)
    value = module if _HOME[name].endswith(name) else getattr(module, name)
    globals()[name] = value
    return value


def _imported(name: str) -> ModuleType:
    """The module of a name; where a package of another project is missing, an error that says what to install."""
    try:
        return importlib.import_module(f"nbr.{_HOME[name]}")
    except ModuleNotFoundError as error:
        room = _HOME[name].partition(".")[0]
        if room not in _EXTRA:
            raise
        from nbr.errors import NbrError, install

        extra = _EXTRA.get(name, _EXTRA[room])
        raise NbrError(f"nbr.{name} needs {error.name}: {install(extra)}") from None


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
