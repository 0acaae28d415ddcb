"""Explanations as text for a terminal."""

from __future__ import annotations

import textwrap

from nbr.app import often, screen
from nbr.asking.explanation import Explanation, Point

SHOWN = 8  # lines of each list


def text(found: Explanation) -> str:
    """Words that a person reads first, then tables."""
    lines = [screen.answer(found.answer, found.probability), "", *(f"  {line}" for line in _wrapped(found.words()))]
    if found.moved is not None:
        lines += often.moved(found.answer.question, found.moved)
    if found.effects:
        lines += ["", "  without rule                                     the answer would be"]
        computed = [effect for effect in found.effects if effect.computed(found.answer)]
        for effect in computed[:SHOWN]:
            without, said = effect.without, _short(effect.text, 36)
            numbers = f"[{without.belief:.4f}, {without.plausibility:.4f}], conflict {without.conflict:.4f}"
            lines.append(f"  {effect.rule:>4}  {effect.belief:.2f}  {said:<36} {numbers}")
        lines += _more(len(computed))
        if left := len(found.effects) - len(computed):
            lines.append(f"    {left} rule{'s' * (left > 1)} not examined in time: give a larger --budget")
    lines += _sets("rules that together entail it", found.supports, found.supports_complete)
    lines += _sets("rules that cannot all hold", found.conflicts, found.conflicts_complete)
    lines += _point("possible, for example", found.witness) + _point("against, for example", found.counter)
    useful = [each for each in found.next if each.gap < found.answer.ignorance - 1e-9]
    if useful:
        lines += ["", "  to observe next                                  mean gap then"]
        costs = ["" if each.cost is None else f"   cost {each.cost:g}" for each in useful]
        lines += [f"    {o.variable:<46} {o.gap:.4f}{cost}" for o, cost in zip(useful[:SHOWN], costs, strict=False)]
        lines += _more(len(useful))
    if found.at_half:
        lines += ["", f"  in sets of rules, {_numbers(found.at_half)} counts as satisfied from grade 1/2 on"]
    return "\n".join(lines)


def _sets(title: str, sets: list[list[int]], complete: bool) -> list[str]:
    if not sets:
        return [] if complete else ["", f"  {title}: not found in time"]
    shown = [f"    {_numbers(each)}" for each in sets[:SHOWN]]
    rest = "" if complete else "   (there may be more)"
    return ["", f"  {title}, the most probable first{rest}", *shown, *_more(len(sets))]


def _numbers(rules: list[int] | tuple[int, ...]) -> str:
    if not rules:
        return "no rule: the condition alone"
    words = [str(rule) for rule in rules]
    return f"rule {words[0]}" if len(words) == 1 else f"rules {', '.join(words[:-1])} and {words[-1]}"


def _point(title: str, point: Point | None) -> list[str]:
    if point is None:
        return []
    broken = f"breaks {_numbers(point.breaks)}" if point.breaks else "breaks no rule"
    return ["", f"  {title} ({broken})", *(f"    {line}" for line in _wrapped(str(point)))]


def _more(count: int) -> list[str]:
    return [f"    and {count - SHOWN} more"] if count > SHOWN else []


def _short(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 3] + "..."


def _wrapped(words: str, width: int = 100) -> list[str]:
    return textwrap.wrap(words, width)
