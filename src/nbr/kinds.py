"""Everything that a file may hold, one line for each kind; and `load`, which reads any of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union

from nbr import registry
from nbr.density import OPEN
from nbr.errors import NbrError, suggest
from nbr.storage import Mistakes, all_mistakes, container

if TYPE_CHECKING:
    from nbr.classify import BeliefClassifier, NonexpansiveClassifier, RobustClassifier
    from nbr.reasoner import Reasoner
    from nbr.rules import Sensing

Model = Union["Reasoner", "RobustClassifier", "NonexpansiveClassifier", "BeliefClassifier"]
Kind = TypeVar("Kind")
TABLES = (".csv", ".tsv", ".parquet", ".xlsx")  # endings of files that are taken for models by mistake
SHIPPED = Path(__file__).parent / "models"

registry.home("rule", "rule", "nbr.rules.clause")
registry.home("rule", "memory", "nbr.rules.memory")
registry.home("rule", "veiled", "nbr.rules.code_network")
registry.home("rule", "network", "nbr.rules.neural")
registry.home("prior", "independent", "nbr.priors.independent")
registry.home("prior", "empirical", "nbr.priors.empirical")
registry.home("prior", "trees", "nbr.priors.mixture")
registry.home("prior", "grouped", "nbr.priors.grouped")
registry.home("model", "reasoner", "nbr.reasoner.reasoner")
registry.home("model", "robust", "nbr.classify.robust", "classify")
registry.home("model", "nonexpansive", "nbr.classify.nonexpansive", "classify")
registry.home("model", "belief", "nbr.classify.belief", "classify")
registry.home("sensor", "classifier", "nbr.classify.sensor", "classify")
registry.home("sensor", "network", "nbr.teaching.network", "classify")


def load(path: str | PathLike[str]) -> Model:
    """Load a reasoner or a classifier.

    Args:
        path: A .nbr file, a .toml file with rules, or the name of an included classifier: "mnist-4-9" or "mnist-10".

    Returns:
        A `Reasoner` or a classifier.
    """
    place = _place(path)
    try:
        content = container.read(place)
    except NbrError as error:
        near = difflib.get_close_matches(str(path), shipped(), n=1)
        raise NbrError(f"{error}" + (f"; did you mean {near[0]!r}, which is included?" if near else "")) from None
    try:
        if place.suffix.lower() == ".toml":
            return by_hand(content, place.parent)
        if place.suffix.lower() in TABLES:
            raise NbrError(f"this is a table, not a model; learn one first: nbr fit {place.name} -o {place.stem}.nbr")
        model, tensors = container.unpack(content)
        return _read(model, registry.Parts(tensors, {OPEN: partial(_sensor, place.parent)}))
    except Mistakes as found:
        raise Mistakes([f"{place}: {each}" for each in found.parts]) from None
    except NbrError as error:
        raise NbrError(f"{place}: {' '.join(str(error).split())}") from None
    except Exception as error:  # made by hand, checksum and all: readers check what they can name, this is the rest
        raise NbrError(f"{place}: the file does not hold a model that can be read ({type(error).__name__})") from error


def by_hand(content: bytearray, folder: Path) -> Model:
    """A model from the bytes of a .toml in a folder; an error names all that is wrong with it, by line."""
    spec, context = container.from_toml(content), {OPEN: partial(_sensor, folder)}
    try:
        return _read(spec, registry.Parts(context=context))
    except NbrError as error:
        text = content.decode("utf-8-sig")
        raise all_mistakes(spec, text, lambda part: _read(part, registry.Parts(context=context)), error) from None


def parsed(text: str, folder: Path, name: str) -> Reasoner:
    """A model from the text of a .toml that would stand in a folder under a name."""
    try:
        found = by_hand(bytearray(text.encode()), folder)
    except Mistakes as wrong:
        raise Mistakes([f"{name}: {each}" for each in wrong.parts]) from None
    except NbrError as error:
        raise NbrError(f"{name}: {' '.join(str(error).split())}", error.at) from None
    from nbr.reasoner import Reasoner

    if not isinstance(found, Reasoner):
        raise NbrError(f"{name}: this is a classifier, which does not answer questions")
    return found


def load_reasoner(path: str | PathLike[str]) -> Reasoner:
    """Read a model that answers questions."""
    from nbr.reasoner import Reasoner

    return load_as(Reasoner, path, "a classifier, which does not answer questions; use nbr classify")


def load_as(kind: type[Kind], path: str | PathLike[str], otherwise: str = "another kind of model") -> Kind:
    """Read a model that must be of one kind; else an error says that it is something else."""
    found = load(path)
    if not isinstance(found, kind):
        raise NbrError(f"{path} is {otherwise}")
    return found


def shipped() -> list[str]:
    """The names of the models that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.nbr"))


def _read(model: Mapping[str, Any], parts: registry.Parts) -> Model:
    found: Model = registry.find("model", model.get("classifier", "reasoner")).from_spec(model, parts)
    return found


def _sensor(folder: Path, source: str) -> Sensing:
    """The classifier that a file names as a sensor: one that ships, or a .nbr in the folder of that file."""
    if not source or Path(source).name != source or source in (".", ".."):
        raise NbrError(
            f"the sensor {source!r} is neither an included model nor the name of a .nbr file in the same folder"
        )
    place = folder / source
    if not place.exists():
        place = SHIPPED / f"{source}.nbr"
    elif place.suffix.lower() != ".nbr" or place.resolve().parent != folder.resolve():
        raise NbrError(f"the sensor {source!r} is not a .nbr file in the same folder")
    if not place.exists():
        raise NbrError(f"there is no sensor {source!r}: no .nbr file in the same folder" + suggest(source, shipped()))
    try:
        model, tensors = container.unpack(container.read(place))
        if "classifier" not in model:
            raise NbrError("it is not a classifier")
        found: Sensing = registry.find("sensor", "classifier").of(_read(model, registry.Parts(tensors)), source)
    except NbrError as error:
        raise NbrError(f"the sensor {source!r}: {error}") from None
    return found


def _place(path: str | PathLike[str]) -> Path:
    """A path; a name such as mnist-4-9 that is no file here stands for a model that comes with the package."""
    named = SHIPPED / f"{Path(path).name}.nbr"
    return named if str(path) == Path(path).name and not Path(path).exists() and named.exists() else Path(path)
