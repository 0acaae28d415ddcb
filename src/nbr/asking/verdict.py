"""From the numbers of an answer to words, and never to words that say more than the numbers.

Evidence for is the belief b, evidence against 1 - Pl, and what is left between them is not known. Of an answer that is
not exact the outer ends count, so that what was not computed speaks for nothing.
"""

from __future__ import annotations

from nbr.asking.answer import Answer

SURE = 0.9  # evidence on one side from which on it is "yes" or "no"
MOSTLY = 0.5  # evidence on one side above which it is "rather yes" or "rather no"
LEAD = 0.2 - 1e-9  # by which that side has to be ahead of the other
HIGH = 0.5  # a conflict from which on it is told first


def sentences(answer: Answer, because: str = "") -> list[str]:
    """What the numbers say: of a high conflict first, then of the question; `because` follows a yes.

    >>> from nbr import Clause, Reasoner, World
    >>> r = Reasoner(World.bits(1), [Clause("x0", 0.95), Clause("~x0", 0.94)])
    >>> print(*sentences(r.ask("x0")), sep="\\n")
    Conflict 0.89: the rules contradict one another, and only 0.11 of the evidence is left to answer from.
    By what is left, undecided: evidence for x0 and against it weigh about the same, 0.53 and 0.44.
    """
    told = conflict(answer)
    word, said = _verdict(answer, because)
    if answer.bounds.conflict[0] >= HIGH:
        return [*told, f"By what is left, {word.lower()}: {said}."]
    return [*told, f"{word}: {said}."]


def conflict(answer: Answer) -> list[str]:
    """What is said of a high conflict; nothing of a low one."""
    low, high = answer.bounds.conflict
    whom = "one another or the condition" if answer.given else "one another"
    if low >= HIGH:
        how = _most(low) if high - low < 0.005 else f"{_most(low)} to {_most(high)}"
        return [
            f"Conflict {how}: the rules contradict {whom}, "
            f"and only {_part(1 - low)} of the evidence is left to answer from."
        ]
    if high >= HIGH:
        return [f"How far the rules contradict {whom} was not computed in time: from {low:.2f} to {high:.2f}."]
    return []


def _most(share: float) -> str:
    """A share that is never rounded up to all."""
    return f"{share:.2f}" if share < 0.99 else f"{share:.4f}"


def _part(share: float) -> str:
    return f"{share:.2f}" if share >= 0.01 else f"{share:.1g}"


def _verdict(answer: Answer, because: str) -> tuple[str, str]:
    asked, favour, against = answer.question, answer.belief, 1 - answer.plausibility
    unknown = answer.ignorance
    if favour >= SURE:
        return "Yes", asked + because
    if against >= SURE:
        return "No", f"{asked} is plausible only to {answer.plausibility:.2f}"
    if favour > MOSTLY and favour - against >= LEAD:
        return "Rather yes", f"{asked}, believed to {favour:.2f}{because}"
    if against > MOSTLY and against - favour >= LEAD:
        return "Rather no", f"{asked} is plausible only to {answer.plausibility:.2f}"
    if answer.uncomputed > unknown / 2:
        return "Not computed", f"within the time, all that is sure of {asked} is [{favour:.2f}, {1 - against:.2f}]"
    if unknown < 0.5:
        if abs(favour - against) < LEAD:
            return "Undecided", (
                f"evidence for {asked} and against it weigh about the same, {favour:.2f} and {against:.2f}"
            )
        side = "for" if favour > against else "against"
        return (
            "Undecided",
            f"there is more evidence {side} {asked}, but {favour:.2f} for it and {against:.2f} against it",
        )
    if favour > against and favour >= 0.005:
        return "Perhaps", f"{asked}, believed to {favour:.2f}{because}"
    if not answer.rules:
        return "Not known", f"there is no rule that speaks for {asked} or against it"
    return "Not known", f"nothing supports {asked} to more than {favour:.2f}"
