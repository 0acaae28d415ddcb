"""A model in which a question takes all the time that it may."""

from __future__ import annotations

import random


def slow_toml(bits: int = 200, rules: int = 900) -> str:
    """Clauses drawn at random over many bits: neither points nor statements are soon counted."""
    draw = random.Random(0)
    lines = ["[variables]", f'"x0..x{bits - 1}" = "bit"']
    for _ in range(rules):
        names = draw.sample(range(bits), 3)
        clause = " | ".join(f"{draw.choice(['', '~'])}x{name}" for name in names)
        lines += ["[[rules]]", f'rule = "{clause}"', "belief = 0.9"]
    return "\n".join(lines) + "\n"
