"""How often: of models with a prior, on the screen and as plain data."""

from __future__ import annotations

import time
from collections.abc import Sequence

from nbr.asking import Answer, Ranking
from nbr.density import Moved, Probability, RankedValues, probability_or_reason, value_probabilities
from nbr.errors import NbrError
from nbr.reasoner import Reasoner
from nbr.ways import SHARES

FIRST = 1.0  # seconds for a first look, which nearly always is enough
SURE = 0.01  # an error that is


def within(reasoner: Reasoner, question: str, given: str | None, budget: float, seed: int) -> Probability | str | None:
    """The probability, or the reason why there is none; None for a model without a prior."""
    return (
        None if reasoner.model.prior is None else probability_or_reason(reasoner.model, question, given, budget, seed)
    )


def quick(reasoner: Reasoner, question: str, given: str | None, budget: float, seed: int) -> Probability | str | None:
    """The probability by a first look, or, if that does not tell, for its share of the time; else why there is none.

    None for a model without a prior.
    """
    share = SHARES["frequency beside"] * budget
    found = within(reasoner, question, given, min(FIRST, share), seed)
    told = not isinstance(found, Probability) or (found.error is not None and found.error <= SURE)
    return found if told or share <= FIRST else within(reasoner, question, given, share, seed)


def as_json(answer: Answer, found: Probability | str | None) -> dict[str, object]:
    """An answer as plain data, with the probability or null."""
    told = answer.as_json()
    if isinstance(found, str):
        told["notes"] = [*answer.notes, f"there is no probability: {found}"]
    return {**told, "probability": found.as_json() if isinstance(found, Probability) else None}


def ranked_json(ranking: Ranking, found: RankedValues | str | None) -> dict[str, object]:
    """A ranking as plain data, with probabilities beside beliefs, or the quantiles of a number."""
    told = ranking.as_json()
    if not isinstance(found, RankedValues):
        return told if found is None else {**told, "notes": [f"there is no probability: {found}"]}
    known = {value: each.as_json() for value, each in found.values}
    told["values"] = [{**each.as_json(), "probability": known.get(each.value)} for each in ranking.values]
    return {**told, "rows": found.rows, "quantiles": [each.as_json() for each in found.quantiles]}


def asked(question: str, given: str | None) -> str:
    """What was asked."""
    return question + (f"   given   {given}" if given else "")


def first(question: str, given: str | None, found: Probability | str) -> str:
    """What was asked, and how often."""
    return "\n".join([asked(question, given), "", *probability(found)])


ESTIMATE = "the model's estimate"


def probability(found: Probability | str) -> list[str]:
    """How often, first as the range that as many rows leave possible, and what the tables leave open of it.

    >>> print(*probability(Probability("x", None, 0.25, 0.0, True, (0.1, 0.5), "listed")), sep="\\n")
      probability  0.2500
      open         0.1000 to 0.5000   what columns never seen together leave open
    >>> counted = Probability("x", "y", 0.8, 0.0, True, (0.8, 0.8), "listed", range=(0.4902, 0.9433), rows=10.0)
    >>> print(*probability(counted), sep="\\n")
      probability  0.4902 to 0.9433   95% range, from 10 rows under the condition
      value        0.8000             the model's estimate
      open         nothing: the columns were seen together
    """
    if isinstance(found, str):
        return [f"  probability  not known: {found}"]
    how = "" if found.exact else f"   ({found.note})" if found.value is None else f"   (95%, {found.method})"
    lines = [f"  probability  {found.words}{how}"]
    if found.range is not None and found.rows is not None:
        low, high = found.range
        lines = [f"  probability  {low:.4f} to {high:.4f}   95% range, from {rows(found)}"]
        lines.append(f"  value        {found.words:<16}   {how.strip() or ESTIMATE}")
    if found.open is not None and found.open[1] - found.open[0] < 1e-9:
        lines.append("  open         nothing: the columns were seen together")
    elif found.open is not None:
        why = found.note or "what columns never seen together leave open"
        lines.append(f"  open         {found.open[0]:.4f} to {found.open[1]:.4f}   {why}")
        if found.range is None and found.widened is not None and found.open_error is not None:
            low, high = found.widened
            lines.append(f"               {low:.4f} to {high:.4f}   with the sampling error of either end (95%)")
    return lines


def rows(found: Probability) -> str:
    """How many rows stand behind a probability, in words, and that columns were never seen together."""
    apart = found.open is not None and found.open[1] - found.open[0] >= 1e-9
    told = counted(found.rows or 0.0, None if apart else found.given)
    return f"{told} and columns never seen together" if apart else told


def counted(number: float, given: str | None) -> str:
    """So many rows, all of them or those under a condition.

    >>> counted(1200, None), counted(1.0, "x"), counted(0.25, "x")
    ('1,200 rows', '1 row under the condition', '0.2 rows under the condition')
    """
    few = f"{number:.1f}" if 0 < number < 9.95 and number != round(number) else f"{number:,.0f}"
    return f"{few} row{'' if few == '1' else 's'}" + ("" if given is None else " under the condition")


def silent(reasoner: Reasoner, names: Sequence[str], given: str | None) -> str | None:
    """What there is to say where no rule reads anything that is asked about; None where one does.

    Belief is 0 and plausibility 1 there, unless the condition speaks of it.
    """
    model = reasoner.model
    observing, condition = model.observing(given)
    read = {name for rule in observing.rules if rule.degree > 0 for name in rule.inputs}
    told = frozenset[str]() if condition is None else condition.names()
    if model.codec is not None or read.intersection(names) or told.intersection(names):
        return None
    what = "this is the base rate" if given is None else "the probability is all that is known"
    if not model.rules:
        return f"\n  the model has no rules: {what}"
    return f"\n  no rule reads {' or '.join(sorted(names))}: {what}"


def ranked(reasoner: Reasoner, name: str, given: str | None, budget: float, seed: int) -> RankedValues | str | None:
    """How often each value of a variable is, or the reason why that is not known; None for a model without a prior."""
    if reasoner.model.prior is None:
        return None
    try:
        return value_probabilities(reasoner.model, name, given, SHARES["frequency beside"] * budget, seed)
    except NbrError as error:
        return str(error)


def shown(name: str, given: str | None, found: RankedValues | str) -> str:
    """The values of a variable, the likeliest first, or the quantiles of a number."""
    lines = [asked(name, given), ""]
    if isinstance(found, str):
        return "\n".join([*lines, f"  probability  not known: {found}"])
    known = "" if found.rows is None else f"95% range, from {counted(found.rows, given)}"
    if found.quantiles:
        width = max(len(each.value) for each in found.quantiles)
        lines.append(f"  {'below':<7}{'value':<{max(width, 5)}}   {known}".rstrip())
        for part in found.quantiles:
            ends = "" if part.range is None else f"   {part.range[0]} to {part.range[1]}"
            lines.append(f"  {f'{part.share:.0%}':<7}{part.value:<{max(width, 5)}}{ends}")
        return "\n".join(lines)
    width = max(5, *(len(value) for value, _ in found.values))
    lines.append(f"  {'value':<{width}}  probability  {known}".rstrip())
    for value, each in found.values:
        ends = "" if each.range is None else f"       {each.range[0]:.4f} to {each.range[1]:.4f}"
        lines.append(f"  {value:<{width}}  {'-' if each.value is None else f'{each.value:.4f}'}{ends}")
    return "\n".join([*lines, *([f"  and {found.left:,} less likely values"] if found.left else [])])


def moved(question: str, found: Moved) -> list[str]:
    """What moved a probability from its base rate, a line for each part of the condition."""
    steps = [("(base rate)", found.base), *found.steps]
    width = min(44, max(len(said) for said, _ in steps))
    lines = ["", f"  what moved the probability of {question} from its base rate"]
    before = None
    for said, each in steps:
        if each.value is None:
            lines.append(f"    {said:<{width}}  not computed")
            continue
        step = "" if before is None else f"{round(each.value - before, 4) + 0.0:+.4f}"
        ends = "" if each.range is None else f"   {each.range[0]:.4f} to {each.range[1]:.4f}"
        lines.append(f"    {said:<{width}}  {each.value:.4f}  {step:<7}{ends}".rstrip())
        before = each.value
    return lines


def left(start: float, budget: float) -> float:
    """Seconds that are left of a budget."""
    return max(0.01, start + budget - time.monotonic())
