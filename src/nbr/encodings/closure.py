"""Closed variables in formulas: each is true exactly where a rule that is there makes it so.

Where no variable depends on itself that is Clark's completion. Where n of them depend on each other the least model is
reached in at most n rounds, each of which has variables of its own: a variable is true in a round where a rule makes it
so from what was true in the round before.
"""

from __future__ import annotations

from collections.abc import Sequence

from nbr.encodings.encoding import Encoder
from nbr.errors import NbrError
from nbr.language import Atom, Constant, Expression, with_atoms
from nbr.rules import Definition, Program
from nbr.world import Bit, World

ROUNDS = 1 << 16  # bodies of rules, over all rounds


class Closure:
    """What defines closed variables, round by round, over a world with a bit for each variable in each round."""

    def __init__(self, world: World, program: Program) -> None:
        later, self.steps = list[str](), list[tuple[str, list[tuple[int, Expression]]]]()
        for layer in program.layers:
            own = {name: program.of(name) for name in layer}
            last = len(layer) if layer[0] in program.looped else 1
            if last * sum(map(len, own.values())) > ROUNDS:
                raise NbrError(f"{last} closed variables depend on each other, among them {layer[0]!r}: too many")
            for at in range(1, last + 1):
                later += [_later(name, at) for name in layer if at < last]
                for name in layer:
                    bodies = [(each.rule, _before(each, layer, at)) for each in own[name]]
                    reasons = bodies if name in program.looped else [(each.rule, each.body) for each in own[name]]
                    self.steps.append((name if at == last else _later(name, at), reasons))
        self.world = World({**world.variables, **{name: Bit() for name in later}}) if later else world

    @property
    def statements(self) -> list[Expression]:
        """All that is said of variables, for an encoder to know."""
        return [body for _, reasons in self.steps for _, body in reasons]

    def define(self, encoder: Encoder, there: Sequence[int]) -> None:
        """Say when each closed variable is true; `there` has a literal for each rule, true where the rule is there."""
        for name, reasons in self.steps:
            head = encoder.literal(Atom(name))
            found = [encoder.both([there[rule], encoder.literal(body)]) for rule, body in reasons]
            encoder.add((-head, *found))
            for each in found:
                encoder.add((head, -each))


def _before(each: Definition, layer: Sequence[str], at: int) -> Expression:
    """A body that reads what was true a round before."""
    names = set(layer)

    def turned(atom: Atom) -> Expression:
        if atom.name not in names:
            return atom
        return Constant(False) if at == 1 else Atom(_later(atom.name, at - 1), atom.operator, atom.values)

    return with_atoms(each.body, turned)


def _later(name: str, at: int) -> str:
    return f"{name} in round {at}"
