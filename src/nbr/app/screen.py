"""Answers and models as text for a terminal."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import Any

from nbr.app import often, sources
from nbr.asking import Answer, Best, Ranking
from nbr.density import Probability
from nbr.language import spoken
from nbr.reasoner import Reasoner
from nbr.restating import Restated
from nbr.rules import Support
from nbr.world import Variable, World

WIDTH = 50
RULES = "  what the rules say, without the prior"


def answer(result: Answer, found: Probability | str | None = None) -> str:
    """An answer with its interval drawn; of a model with a prior, first how often, or why that is not known."""
    if found is None:
        return f"{often.asked(result.question, result.given)}\n\n{interval(result)}"
    return f"{often.first(result.question, result.given, found)}\n{beside(result)}"


def beside(result: Answer) -> str:
    """What follows a probability."""
    return f"\n{RULES}\n\n{interval(result)}"


def interval(result: Answer) -> str:
    """Belief, plausibility and conflict, and a bar that reads from left to right: for, not known, against."""
    lines = []
    for name in ("belief", "plausibility", "conflict"):
        value, (low, high) = getattr(result, name), getattr(result.bounds, name)
        known = "" if low == high else f"   between {low:.4f} and {high:.4f}"
        lines.append(f"  {name:<13}{value:.4f}{known}")
    lines += ["", f"  {bar(result.bounds.belief, result.bounds.plausibility)}", ""]
    if result.sure is not None:
        (low, high), (least, most) = result.sure.belief, result.sure.plausibility
        lines += [f"  certain: belief {low:.4f} to {high:.4f}, plausibility {least:.4f} to {most:.4f}", ""]
    told = ["exact" if result.exact else f"not exact, bounds are {result.bounds.kind}"]
    counted = [_count(result.rules, "rule"), *([] if result.points is None else [_count(result.points, "point")])]
    return "\n".join([*lines, f"  {told[0]}; {', '.join(counted)}, engine {result.engine}"])


def ranking(found: Ranking) -> str:
    """The values of a variable with their intervals, the most plausible first."""
    return f"{often.asked(found.variable, found.given)}\n\n{ranked(found)}"


def ranked(found: Ranking) -> str:
    """The same without its first line."""
    width, lines = max(len(each.value) for each in found.values), []
    for each in found.values:
        ends = f"[{each.answer.belief:.4f}, {each.answer.plausibility:.4f}]"
        drawn = bar(each.answer.bounds.belief, each.answer.bounds.plausibility).partition(" against")[0]
        lines.append(f"  {each.value:<{width}}  {ends}  {drawn.removeprefix('for ')}")
    how = "exact" if found.exact else "not exact: the intervals contain the exact values"
    return "\n".join([*lines, "", f"  conflict {found.conflict:.4f}; {how}"])


def best(found: Best, reasoner: Reasoner) -> str:
    """A point, and the rules that it breaks; values that could as well be others are in brackets."""
    every, rated = (found, *found.others), reasoner.model.prior is not None
    head = "the likeliest point, by prior and rules" if rated else "the most plausible point"
    lines = [head + (f"   given   {found.given}" if found.given else "")]
    for number, each in enumerate(every, 1):
        lines += ["", *([f"{number} of {len(every)}", ""] if len(every) > 1 else []), *_point(each, reasoner)]
        likely = "" if each.probability is None else f"probability {each.probability:.4g}, "
        lines += ["", f"  {likely}degree {each.degree:.4g}; {'exact' if each.exact else 'perhaps not the best'}"]
    return "\n".join(lines)


def _point(found: Best, reasoner: Reasoner) -> list[str]:
    width = max(map(len, found.point))
    lines = []
    for name, value in found.point.items():
        piece = f"   {found.pieces[name]}" if name in found.pieces else ""
        lines.append(f"  {name:<{width}}  {f'({value})' if name in found.open else value}{piece}")
    lines += ["", "  it breaks no rule" if not found.broken else "  it breaks"]
    lines += [f"  {number:>3}  {reasoner.rules[number - 1]}" for number in found.broken]
    if found.open:
        lines += ["", "  (in brackets: another value would be just as good)"]
    return lines


def bar(belief: tuple[float, float], plausibility: tuple[float, float]) -> str:
    """The interval as a bar; where its ends are only known between bounds, that shows.

    >>> print(bar((0.2, 0.2), (0.6, 0.6)))
    for ██████████░░░░░░░░░░░░░░░░░░░░···················· against   (░ not known)
    >>> print(bar((0.2, 0.3), (0.5, 0.6)))
    for ██████████▒▒▒▒▒░░░░░░░░░░▒▒▒▒▒···················· against   (░ not known, ▒ not computed)
    """
    drawn = cells(belief, plausibility, WIDTH)
    return f"for {drawn} against   (░ not known{', ▒ not computed' if '▒' in drawn else ''})"


def cells(belief: tuple[float, float], plausibility: tuple[float, float], width: int) -> str:
    """The bar alone."""
    first, second, third, last = (round(width * end) for end in (*belief, *plausibility))
    last = max(first, last)
    second, third = (second, third) if second <= third else (last, last)
    return "█" * first + "▒" * (second - first) + "░" * (third - second) + "▒" * (last - third) + "·" * (width - last)


def model(found: Any, name: str) -> str:
    """What a model is made of, for reading."""
    return reasoner(found, name) if isinstance(found, Reasoner) else classifier(found, name)


def model_json(found: Any) -> dict[str, object]:
    """The same as plain data."""
    return reasoner_json(found) if isinstance(found, Reasoner) else classifier_json(found)


def apart(labels: list[str]) -> str:
    """Which labels a classifier tells apart.

    >>> apart(["cat", "dog"]), apart(["cat", "dog", "fox"])
    ('tells cat from dog', 'tells cat, dog and fox apart')
    """
    if len(labels) == 2:
        return f"tells {' from '.join(labels)}"
    return f"tells {', '.join(labels[:-1])} and {labels[-1]} apart"


def classifier(found: Any, name: str) -> str:
    """The labels, rules and recorded figures of a classifier."""
    told = classifier_json(found)
    lines = [f"{name}: {apart(list(map(str, told['labels'])))}", ""]
    contents = found.contents()
    lines.append("  " + ", ".join(f"{count:,} {_noun(name, count)}" for name, count in contents.items()))
    for rule in found.listed_rules():
        groups = " from ".join("{" + ", ".join(map(str, group)) + "}" for group in rule["frame"])
        lines.append(f"  belief {rule['belief']:.4f}  {rule['kind']} tells {groups}")
    lines.append(f"  picture files: {found.preparation_.words()}")
    settings = ", ".join(f"{key} {value}" for key, value in told["settings"].items() if value is not None)
    lines += ["", *textwrap.wrap(f"settings: {settings}", 80, initial_indent="  ", subsequent_indent="    ")]
    figures = [f"{key.replace('_', ' ')}: {_recorded(key, value)}" for key, value in told["figures"].items()]
    for each in figures:
        lines += textwrap.wrap(each, 80, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def _recorded(key: str, value: object) -> str:
    """A figure that was recorded when a classifier was trained, or several with their names."""
    if isinstance(value, dict):
        if key == "proved":
            kept = {radius: share for radius, share in value.items() if float(radius) % 0.5 == 0}
            return ", ".join(f"{share:.1%} at L2 {radius}" for radius, share in kept.items())
        return "; ".join(f"{name.replace('_', ' ')} {_recorded(name, each)}" for name, each in value.items())
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def classifier_json(found: Any) -> dict[str, Any]:
    """The same as plain data."""
    hidden = ("checkpoint", "verbose", "rules")
    return {
        "labels": found.classes_.tolist(),
        **found.contents(),
        **({"rules": listed} if (listed := found.listed_rules()) else {}),
        "settings": {key: value for key, value in found.get_params(deep=False).items() if key not in hidden},
        "preparation": found.preparation_.as_json(),
        "figures": getattr(found, "figures_", {}),
    }


def reasoner(reasoner: Reasoner, name: str) -> str:
    """The variables, rules and beliefs of a model."""
    head = f"{name}: {_count(len(reasoner.world), 'variable')}, {_count(len(reasoner.rules), 'rule')}"
    lines = [head, "", "variables", *_variables(reasoner.world)]
    if reasoner.codec is not None:
        lines += ["", "latent variables, decoded to those above", *_variables(reasoner.latent)]
    notes = left_open(reasoner)
    return "\n".join([*lines, *sources.lines(reasoner), *_rules(reasoner), *([""] if notes else []), *notes])


def left_open(reasoner: Reasoner) -> list[str]:
    """What the examples of sensors did not settle, in words."""
    sensors = reasoner.model.sensors.values()
    return list(dict.fromkeys(note for sensor in sensors for note in getattr(sensor, "notes", ())))


def _rules(reasoner: Reasoner) -> list[str]:
    """A line for each rule, and what it says in words; those that were learned as clauses come by what they add."""
    if not reasoner.rules:
        return []
    numbered = list(enumerate(zip(reasoner.rules, reasoner.restated(), strict=True), 1))
    adds = {at: rule.adds for at, (rule, _) in numbered if rule.adds is not None}
    counted = any(rule.support is not None for rule in reasoner.rules)
    levels = sorted({rule.support.level for rule in reasoner.rules if rule.support and rule.support.level})
    limits = ", ".join(f"{level:.4g}" for level in levels)
    head = "  support     confidence  lift" if counted else ""
    told = f" (belief: a lower limit with confidence {limits}; support: the rows behind it)" if levels else ""
    lines = ["", "rules" + told]
    lines.append("       belief" + head + ("  adds (nats a row)" if adds else ""))
    for position, (rule, words) in sorted(numbered, key=lambda each: -adds.get(each[0], 0.0)):
        said = rule.describe() if rule.name is None else f"{rule.name}: {rule.describe()}"
        said += sources.beside(rule, reasoner)
        gain = "" if not adds else f"  {adds[position]:.4f}" if position in adds else " " * 8
        beside = (_counted(rule.support) if counted else "") + gain
        lines.append(f"  {position:>3}  {rule.degree:.4f}{beside}  {said}")
        told = f"in words: {words}" if isinstance(words, Restated) else f"({words})" if words else ""
        if position in adds and rule.expression is not None:
            told = f"({spoken(rule.expression)})"
        lines += [" " * (15 + len(beside)) + told] if told else []
    return lines


def _counted(support: Support | None) -> str:
    """In how many of its rows a rule holds, how often that is, and how many times as often as usual."""
    if support is None:
        return " " * 30
    often, lift = (("-" if value is None else f"{value:.2f}") for value in (support.confidence, support.lift))
    return f"  {f'{support.held:.0f}/{support.rows:.0f}':<10}  {often:<10}  {lift:<4}"


def reasoner_json(reasoner: Reasoner) -> dict[str, object]:
    """The same as plain data."""
    rules = [
        {
            "kind": type(rule).__name__.lower(),
            "name": rule.name,
            "says": rule.describe(),
            "belief": rule.degree,
            "restated": words.as_json() if isinstance(words, Restated) else None,
        }
        | ({"adds": rule.adds} if rule.adds is not None else {})
        | ({"support": _told(rule.support)} if rule.support is not None else {})
        | ({"source": rule.source.name} if rule.source is not None else {})
        | ({"one_of": sources.others(rule, reasoner)} if rule.choice is not None else {})
        for rule, words in zip(reasoner.rules, reasoner.restated(), strict=True)
    ]
    notes = left_open(reasoner)
    opened = {"left_open": notes} if notes else {}
    return {"variables": reasoner.world.spec, "rules": rules, **sources.as_json(reasoner), **opened}


def _told(support: Support) -> dict[str, float | None]:
    return {**support.plain(), "confidence": support.confidence, "lift": support.lift}


def _variables(world: World) -> list[str]:
    """A line for each variable; numbered ones of the same kind in a row share one."""
    groups = [list(part) for _, part in groupby(enumerate(world.variables.items()), key=_series)]
    shown = []
    for part in groups:
        (_, (first, variable)), (_, (last, _)) = part[0], part[-1]
        shown.append((first if first == last else f"{first}..{last}", variable.said()))
    width = max(len(name) for name, _ in shown)
    return [f"  {name:<{width}}  {kind}" for name, kind in shown]


def _series(item: tuple[int, tuple[str, Variable]]) -> tuple[object, ...]:
    position, (name, variable) = item
    numbered = re.fullmatch(r"(.*?)(0|[1-9]\d*)", name)
    return (numbered[1], int(numbered[2]) - position, variable) if numbered else (name,)


def _noun(name: str, count: int) -> str:
    """A plural, or its singular.

    >>> _noun("memories", 1), _noun("rules", 1), _noun("rules", 2)
    ('memory', 'rule', 'rules')
    """
    if count != 1:
        return name
    return name.removesuffix("ies") + "y" if name.endswith("ies") else name.removesuffix("s")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
