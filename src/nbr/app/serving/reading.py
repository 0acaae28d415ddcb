"""What a served model sees in pictures: what they show together, and what each would show alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbr.app.seeing import told
from nbr.app.serving import bodies
from nbr.asking import AskSettings
from nbr.classify import Preparation, Prepared
from nbr.errors import NbrError, suggest
from nbr.language import Atom
from nbr.reasoner import Reasoner
from nbr.rules import label_columns

Report = dict[str, Any]
HEARD = 1e-4  # of plausibility: labels with less are not told


def sensors(reasoner: Reasoner) -> dict[str, Report]:
    """Variables of which pictures can be seen, with what their sensors take."""
    found = {}
    for name, sensor in reasoner.model.sensors.items():
        preparation = getattr(sensor, "preparation", None)
        if isinstance(preparation, Preparation) and preparation.refusal() is None and preparation.shape is not None:
            taken = {**preparation.as_json(), "words": preparation.words()}
            found[name] = {"shape": list(preparation.shape), "preparation": taken}
    return found


def prepared(reasoner: Reasoner, see: Mapping[str, str], side: int) -> dict[str, Prepared]:
    """Files in base64 as the sensors of these variables take them."""
    if not see:
        raise NbrError("there is nothing to see: give a picture of at least one variable")
    known, found = sensors(reasoner), {}
    for name, picture in see.items():
        if name not in known:
            raise NbrError(f"see: {name!r} has no sensor that takes pictures" + suggest(name, known))
        preparation: Any = getattr(reasoner.model.sensors[name], "preparation", None)
        try:
            found[name] = preparation.decode(bodies.content(picture), side)
        except NbrError as error:
            raise NbrError(f"the picture of {name!r}: {error}") from None
    return found


def seen(reasoner: Reasoner, pictures: Mapping[str, Prepared]) -> Reasoner:
    """The model with what it sees in one picture for each of some variables."""
    found = reasoner.see({name: each.pixels for name, each in pictures.items()})
    assert isinstance(found, Reasoner)
    return found


def report(seen: Reasoner, pictures: Mapping[str, Prepared], given: str | None, settings: AskSettings) -> Report:
    """What the pictures show together: values, the rules that these break, and how far pictures may be changed."""
    best = seen.best(given, budget=settings.budget, seed=settings.seed)
    found: dict[str, Report] = {}
    for name, picture in pictures.items():
        shows = _alone(seen, name)
        found[name] = {
            "value": best.point[name],
            "question": str(Atom(name, "=", (best.point[name],))),
            "alone": max(shows, key=lambda value: shows[value]),
            "shows": {value: share for value, share in shows.items() if share >= HEARD},
            "notes": picture.notes,
        }
    proof: Report = {"radius": None, "budget": "total", "proved_of": None}
    why: str | None = None
    try:
        proof = told(seen.certified_radius(given=given), list(pictures.values()), False)
    except NbrError as error:
        why = str(error)
    return {
        "pictures": found,
        "point": best.point,
        "corrected": [name for name, each in found.items() if each["alone"] != each["value"]],
        "broken": [
            {"rule": number, "text": str(seen.rules[number - 1]), "belief": seen.rules[number - 1].belief}
            for number in best.broken
        ],
        "degree": best.degree,
        "exact": best.exact,
        **proof,
        "unproved": why,
    }


def _alone(seen: Reasoner, name: str) -> dict[str, float]:
    """How plausible the picture of a variable alone makes each of its values."""
    sight = seen.model.sight
    assert sight is not None
    evidence, variable = sight.evidence[name], seen.world.variables[name]
    logs = evidence.log_plausibility[0]
    return {evidence.labels[at]: float(logs[at].exp()) for at in label_columns(name, variable, evidence.labels)}
