"""Many questions to one model: those with the same condition share the work.

Where the points of the world can be listed and rules are few, f_Q(y) of every world y is a maximum over one matrix of
memberships, for all questions with a condition at once. Elsewhere each question is asked, with a memory of what others
found out about parts that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from nbr import clock
from nbr.asking.answer import Answer, Bounds
from nbr.asking.asked import Memo
from nbr.asking.question import AskSettings, as_set, ask, tidy
from nbr.calculus import world_probabilities
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.points import NumberedPoints, numbered_points

POINTS = 1 << 13
RULES = 8
AT_ONCE = 1 << 25  # memberships of points in worlds, for all questions of a batch

Question = tuple[str, str | None]
Watcher = Callable[[int, int], None]  # questions answered, of how many


def ask_many(
    model: Model,
    questions: Sequence[Question],
    settings: AskSettings,
    watch: Watcher = lambda done, of: None,
    memo: Memo | None = None,
    first: int = 1,
) -> list[Answer]:
    """The answers, in order. The budget is that of each question; a `memo` keeps what later ones can use.

    `first` is the number of the first question, where an error names one.
    """
    listed = _listed(model, settings)
    found: dict[int, Answer] = {}
    by_condition: dict[str | None, list[int]] = {}
    for position, (_, given) in enumerate(questions):
        by_condition.setdefault(given, []).append(position)
    table = None if listed is None else _Table(model, listed)
    memo = {} if memo is None else memo
    told = clock.now()
    for given, positions in by_condition.items():
        if table is not None and not _graded(model, given):
            some = [questions[position][0] for position in positions]
            found |= dict(zip(positions, table.answers(some, given), strict=True))
        else:
            for position in positions:
                try:
                    found[position] = ask(model, questions[position][0], given, settings, memo)
                except NbrError as error:
                    raise NbrError(f"question {first + position}: {error}") from None
        if clock.now() - told > 0.2:
            told = clock.now()
            watch(len(found), len(questions))
    watch(len(found), len(questions))
    return [found[position] for position in range(len(questions))]


def _graded(model: Model, given: str | None) -> bool:
    """Whether a condition brings rules of its own; what is wrong with it is said by whoever asks."""
    if given is None or "@" not in given:
        return False
    with suppress(NbrError):
        return model.observing(given)[0] is not model
    return True


def pairs(questions: Iterable[Any]) -> list[Question]:
    """Questions, each alone or with a condition, as pairs of texts."""
    found: list[Question] = []
    for number, each in enumerate(questions, 1):
        asked, given = each if isinstance(each, list | tuple) and len(each) == 2 else (each, None)
        if not isinstance(asked, str) or not isinstance(given, str | None):
            wrong = type(given if isinstance(asked, str) else asked).__name__
            raise NbrError(
                f"question {number}: it must be a text, or a pair of a question and a condition, not a {wrong}"
            )
        found.append((asked, given))
    return found


def _listed(model: Model, settings: AskSettings) -> NumberedPoints | None:
    if (
        model.codec is not None
        or model.closed
        or settings.engine != "auto"
        or len(model.rules) > RULES
        or model.world.words
    ):
        return None
    return numbered_points(model.world, POINTS)


class _Table:
    """The membership of every point in every world y, and the answers that follow."""

    def __init__(self, model: Model, listed: NumberedPoints) -> None:
        self.model, self.points = model, listed.points
        with torch.no_grad():
            grades = model.grades(self.points)
        shapes = torch.ones(1, len(self.points), dtype=torch.float64)
        for rule in range(grades.shape[1]):
            shapes = torch.cat([shapes, torch.minimum(shapes, grades[:, rule])])
        self.shapes = shapes  # (worlds, points)
        self.chance = world_probabilities(model.presence).detach()
        self.known: dict[str, Tensor] = {}

    def holds(self, words: str, what: str) -> Tensor:
        if words not in self.known:
            statement = as_set(words, self.model.world, what)
            assert isinstance(statement, Expression)
            self.known[words] = statement.holds(self.model.world, self.points)
        return self.known[words]

    def answers(self, questions: Sequence[str], given: str | None) -> Iterable[Answer]:
        shapes, inside = self.shapes, None
        if given is not None:
            inside = self.holds(given, "condition")
            shapes = shapes[:, inside]
        possible = shapes.shape[1] > 0
        whole = float(shapes.amax(dim=1) @ self.chance) if possible else 0.0
        if whole == 0:  # the one that says why
            ask(self.model, questions[0], given, AskSettings())
        size = max(1, AT_ONCE // max(1, shapes.numel()))
        for start in range(0, len(questions), size):
            part = questions[start : start + size]
            held = torch.stack([self.holds(words, "question") for words in part])
            held = held if inside is None else held[:, inside]
            yes, no = ((_best(shapes, side) @ self.chance / whole).tolist() for side in (held, ~held))
            for words, plausible, doubted in zip(part, yes, no, strict=True):
                yield self._answer(words, given, plausible, doubted, whole, shapes.shape[1])

    def _answer(
        self, words: str, given: str | None, plausible: float, doubted: float, whole: float, points: int
    ) -> Answer:
        belief, plausibility, conflict = (tidy(value, value) for value in (1 - doubted, plausible, 1 - whole))
        bounds = Bounds(belief, plausibility, conflict, "proved")
        return Answer(words, given, bounds, True, "lattice", len(self.model.rules), points)


def _best(shapes: Tensor, held: Tensor) -> Tensor:
    """The highest membership among the points of each question, in each world: (questions, worlds)."""
    return torch.where(held[:, None], shapes, 0.0).amax(dim=2)
