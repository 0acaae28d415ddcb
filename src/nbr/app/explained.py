"""Explanations as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from nbr.app import often, screen
from nbr.asking import Explanation, Possibilities, Witness, bare_name
from nbr.reasoner import Reasoner

SHOWN = 8  # lines of each list
FEW = 2  # sets of rules for a value, and against it
SETTLED = 1e-3  # between bounds of a conflict that is shown
WIDE = 100  # characters


def explained(
    reasoner: Reasoner, question: str, given: str | None, budget: float, seed: int
) -> tuple[Explanation | Possibilities, str]:
    """An explanation, or one of all values where a choice is named and nothing else; and how it is shown."""
    variable = bare_name(reasoner.world, question)
    if variable is not None and not reasoner.world.variables[variable].numeric:
        several = reasoner.explain_values(variable, given, budget=budget, seed=seed)
        return several, values(several)
    found = reasoner.explain(question, given, budget=budget, seed=seed)
    return found, text(found)


def text(found: Explanation) -> str:
    """Words that a person reads first, then numbers and tables."""
    answer, likely = found.answer, found.probability
    if likely is None:
        lines = [often.asked(answer.question, answer.given), "", *_words(found.words()), "", screen.interval(answer)]
    else:
        lines = [often.first(answer.question, answer.given, likely), "", *_words(found.words()), screen.beside(answer)]
    if found.moved is not None:
        lines += often.moved(found.answer.question, found.moved)
    if found.effects:
        lines += ["", "  without rule                                     the answer would be"]
        computed = [effect for effect in found.effects if effect.computed(found.answer)]
        for effect in computed[:SHOWN]:
            without, said = effect.without, _short(effect.text, 36)
            low, high = without.bounds.conflict
            clash = f", conflict {without.conflict:.4f}" if high - low < SETTLED else ""
            numbers = f"[{without.belief:.4f}, {without.plausibility:.4f}]{clash}"
            lines.append(f"  {effect.rule:>4}  {effect.belief:.2f}  {said:<36} {numbers}")
        lines += _more(len(computed))
        if left := len(found.effects) - len(computed):
            lines.append(f"    {left} rule{'s' * (left > 1)} not examined in time: give a larger --budget")
    entailing = found.supports[:SHOWN]
    lines += _sets("rules that together entail it", found, entailing, len(found.supports), found.supports_complete)
    lines += _sets("rules that together rule it out", found, found.against[:SHOWN], len(found.against))
    lines += _conflicts(found)
    lines += _point("possible, for example", found, found.witness)
    lines += _point("against, for example", found, found.counter)
    lines += _next(found)
    if found.at_half:
        verb = "counts" if len(found.at_half) == 1 else "count"
        lines += ["", f"  in sets of rules, {found.named(found.at_half)} {verb} as satisfied from grade 1/2 on"]
    moved = [effect.rule for effect in found.effects[:SHOWN] if effect.computed(found.answer)]
    return "\n".join([*lines, *_legend(found, [*entailing, *found.against[:SHOWN], *found.conflicts[:SHOWN], moved])])


def values(found: Possibilities) -> str:
    """Each value of a variable with its interval, and what speaks for it and against it."""
    lines = [often.asked(found.variable, found.given), "", *_words(found.words()), ""]
    for each in found.ranked:
        answer, why = each.why.answer, each.why
        drawn = screen.bar(answer.bounds.belief, answer.bounds.plausibility).partition(" against")[0]
        lines += [
            f"  {each.said}",
            f"    [{answer.belief:.4f}, {answer.plausibility:.4f}]  {drawn.removeprefix('for ')}",
        ]
        lines += [f"    for      {why.named(some)}" for some in why.favour[:FEW]]
        lines += [f"    against  {why.named(some)}" for some in why.opposed[:FEW]]
    how = "exact" if found.exact else "not exact: the intervals hold what may be true"
    lines += ["", f"  conflict {found.conflict:.4f}; {how}"]
    lines += _conflicts(found.first)
    lines += _point(f"{found.ranked[0].values[0]} is possible, for example", found.first, found.first.witness)
    lines += _next(found.first)
    sets = [some for each in found.ranked for some in (*each.why.favour[:FEW], *each.why.opposed[:FEW])]
    return "\n".join([*lines, *_legend(found.first, [*sets, *found.first.conflicts[:SHOWN]])])


def _words(words: str) -> list[str]:
    return [f"  {line}" for line in textwrap.wrap(words, WIDE)]


def _conflicts(found: Explanation) -> list[str]:
    title, shown = "rules that cannot all hold", found.conflicts[:SHOWN]
    return _sets(title, found, shown, len(found.conflicts), found.conflicts_complete)


def _sets(title: str, found: Explanation, shown: list[list[int]], count: int, complete: bool = True) -> list[str]:
    if not shown:
        return [] if complete else ["", f"  {title}: not found in time"]
    rest = "" if complete else "   (there may be more)"
    head = f"  {title}, the most probable first{rest}" if count > 1 or rest else f"  {title}"
    return ["", head, *(f"    {found.named(each)}" for each in shown), *_more(count)]


def _point(title: str, found: Explanation, point: Witness | None) -> list[str]:
    if point is None:
        return []
    broken = f"breaks {found.named(point.breaks)}" if point.breaks else "breaks no rule"
    said = textwrap.wrap(point.shown(found.about), WIDE)
    return ["", f"  {title} ({broken})", *(f"    {line}" for line in said)]


def _next(found: Explanation) -> list[str]:
    useful = [each for each in found.next if each.gap < found.answer.ignorance - 1e-9]
    if not useful:
        return []
    costs = ["" if each.cost is None else f"   cost {each.cost:g}" for each in useful]
    lines = ["", "  to observe next                                  mean gap then"]
    lines += [f"    {o.variable:<46} {o.gap:.4f}{cost}" for o, cost in zip(useful[:SHOWN], costs, strict=False)]
    return lines + _more(len(useful))


def _legend(found: Explanation, sets: Iterable[Iterable[int]]) -> list[str]:
    """The rules that are named above, each once, in full."""
    wanted = {rule for each in sets for rule in each}
    shown = [each for each in found.rules if each.rule in wanted]
    lines = ["", "  the rules named here"] if shown else []
    for each in shown:
        source = f"   ({each.source})" if each.source else ""
        first, *rest = textwrap.wrap(f"{each.text}{source}", WIDE - 12) or [""]
        lines += [f"  {each.rule:>4}  {each.belief:.2f}  {first}", *(f"{'':12}{line}" for line in rest)]
    return lines


def _more(count: int) -> list[str]:
    return [f"    and {count - SHOWN} more"] if count > SHOWN else []


def _short(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 3] + "..."
