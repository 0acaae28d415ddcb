"""All attacks: adding one is a file with a class, and a line here."""

from __future__ import annotations

from nbr.errors import NbrError, suggest
from nbr.robustness.base import Attack
from nbr.robustness.foolbox_attacks import Boundary, CarliniWagner, DecoupledDirection, ProjectedGradient
from nbr.robustness.margin_attacks import Descent, SeededCarliniWagner
from nbr.robustness.square_attack import Square

# Cheap ones first.
ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for attack in (
        ProjectedGradient(),
        DecoupledDirection(),
        Descent(),
        Square(),
        CarliniWagner(),
        SeededCarliniWagner(),
        Boundary(),
    )
}


def attack(name: str) -> Attack:
    """The attack of that name."""
    if name not in ATTACKS:
        raise NbrError(f"unknown attack {name!r}" + suggest(name, ATTACKS))
    return ATTACKS[name]
