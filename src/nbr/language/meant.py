"""What people write who know another language: the sign they meant, for an error message."""

from __future__ import annotations

import re

IMPLICATION = "write -> for an implication"
EQUIVALENCE = "write <-> for an equivalence"
BOTH, EITHER, NOT = "write & for and", "write | for or", "write ~ for not"
MEANT = (  # longer signs before those that they contain
    (r"<=+>|⇔|↔|\biff\b|\bequals\b|\bequivalent\b", EQUIVALENCE),
    (r"=+>|⇒|→|=*-->|:-|\bimplies\b|\bthen\b", IMPLICATION),
    (r"&&|∧|\+\+", BOTH),
    (r"\|\||∨", EITHER),
    (r"!(?!=)|¬|−", NOT),
    (r"≥", "write >= for at least"),
    (r"≤", "write <= for at most"),
    (r"≠|<>|=!=|\bis\s+not\b", "write != for a different value"),
    (r"\bxor\b|\^|⊕", "write one(a, b) for exactly one of them"),
    (r"\bis\b|:=|:|\beq\b", "write = for a value, such as grass=wet"),
    (r"\bbetween\b", "write a range such as 20<=age<40"),
    (r"\bif\b", "write a -> b for: if a then b"),
)
SIGNS = re.compile("|".join(f"(?P<s{number}>{sign})" for number, (sign, _) in enumerate(MEANT)), re.IGNORECASE)


def meant_at(text: str, at: int) -> tuple[int, str, str] | None:
    """A sign of another language at a character, or a word right before it: where it begins, and what to write.

    Args:
        text: what could not be read.
        at: the character, from 1, at which that was noticed.

    >>> meant_at("rain => wet", 7)
    (6, '=>', 'write -> for an implication')
    >>> meant_at("rain -> ", 6) is None
    True
    """
    for found in SIGNS.finditer(text):
        if found.start() < at <= found.end() or (
            found[0].isalpha() and found.end() < at and not text[found.end() : at - 1].strip()
        ):
            assert found.lastgroup is not None
            return found.start() + 1, found[0], MEANT[int(found.lastgroup[1:])][1]
    return None
