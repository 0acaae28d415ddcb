"""What can be asked of a reasoner that is served: plain data in, plain data out, within a number of seconds."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from nbr.app import often, screen
from nbr.app.serving import bodies, reading
from nbr.app.serving.limits import Late
from nbr.app.serving.wall import Base
from nbr.app.serving.watched import Watched
from nbr.asking import AskSettings, Memo, ask, ask_many, bare_name
from nbr.classify import LARGEST_SIDE
from nbr.density import Probability, rows_of
from nbr.errors import NbrError
from nbr.language import LABEL_PATTERN, NUMBER_PATTERN, parse, quoted
from nbr.model import Model
from nbr.reasoner import Reasoner
from nbr.remembered import Remembered
from nbr.rules import Clause, Rule, spelled
from nbr.ways import SHARES
from nbr.world import Variable, World

Report = dict[str, Any]
REMEMBERED = 64 << 20  # bytes of what was found out about parts that questions share
VARIANTS = 64 << 20  # bytes of models with other rules switched off
READ = 0.25  # seconds for reading what is asked, where the budget is smaller
LEAST = 1e-3  # seconds for one of many questions
LABELS = 1_000  # of a choice that are told


class Misread(NbrError):
    """A question or a condition that cannot be read: which of them, and where."""

    field: str

    @classmethod
    def of(cls, field: str, error: NbrError) -> Misread:
        found = cls(f"{field}: {error}", error.at)
        found.field = field
        return found


class ReasonerApi:
    """A reasoner behind an API. Asking does not change it, so that threads may share it."""

    def __init__(self, reasoner: Reasoner, name: str, path: Path | None = None, side: int = LARGEST_SIDE) -> None:
        self.name, self.file, self.side = name, Watched(reasoner, path), side
        self._begin(reasoner)

    def _begin(self, reasoner: Reasoner) -> None:
        self.reasoner = reasoner
        self.memo: Memo = Remembered(REMEMBERED)
        self.variants: Remembered[tuple[object, ...], Reasoner] = Remembered(VARIANTS)
        self.base: Base | None = None

    def now(self) -> Reasoner:
        """The model, read again if its file has changed."""
        if (changed := self.file.changed()) is not None:
            self._begin(changed)
        return self.reasoner

    def model(self, body: bodies.Body | None = None, budget: float = 0.0) -> Report:
        """Variables, rules, whether there is a prior, and what its file is like."""
        reasoner = self.now()
        return {
            "name": self.name,
            "kind": "reasoner",
            "prior": reasoner.model.prior is not None,
            "learned": reasoner.model.prior is not None and reasoner.model.seen is not None,
            "counted": rows_of(reasoner.model.seen, ()),
            "variables": [_variable(name, kind) for name, kind in reasoner.world.variables.items()],
            "rules": _listed(reasoner),
            "sensors": reading.sensors(reasoner),
            **self.file.as_json(),
        }

    def version(self, body: bodies.Body | None = None, budget: float = 0.0) -> Report:
        """What tells that the file has changed, and what is wrong with it if it cannot be read."""
        self.now()
        return self.file.as_json()

    def listed(self, body: bodies.Edited, budget: float) -> Report:
        """The rules with those that were changed or added."""
        self.now()
        return {"rules": _listed(self.variant((), body.rules))}

    def save(self, body: bodies.Edited, budget: float) -> Report:
        """Write changed, added and switched rules to the file of the model, and read it again."""
        self.now()
        self.variant((), body.rules)
        self.file.save(body)
        return self.model()

    def marginals(self, body: bodies.Marginals, budget: float) -> Report:
        """Every value of every variable: how likely it is under the condition, and without one."""
        reasoner, given, budget = self._read(body, budget)
        if self.base is None:
            self.base = Base.of(self.reasoner)
        return self.base.report(reasoner, given, budget, body.seed)

    def ask(self, body: bodies.Ask, budget: float) -> Report:
        """The answer as `nbr ask --json` has it; a ranking where the question is the name of a choice or a number."""
        reasoner, given, budget = self._read(body, budget, question=body.question)
        if (variable := bare_name(reasoner.world, body.question)) is not None:
            return reasoner.rank(variable, given, budget=budget, seed=body.seed).as_json()
        share = 0.0 if reasoner.model.prior is None else SHARES["frequency beside"] * budget
        settings = AskSettings(budget=budget - share, tolerance=body.tolerance, seed=body.seed)
        answer = ask(reasoner.model, body.question, given, settings, self.memo)
        return often.as_json(answer, often.within(reasoner, body.question, given, share, body.seed))

    def ask_many(self, body: bodies.AskMany, budget: float) -> Report:
        """Answers to several questions under one condition, in order; the budget is for all of them."""
        asked = {f"questions.{n}": words for n, words in enumerate(body.questions)}
        reasoner, given, budget = self._read(body, budget, **asked)
        wanted = body.probability and reasoner.model.prior is not None
        share = max(LEAST, budget / len(body.questions) / (2 if wanted else 1))
        settings = AskSettings(budget=share, seed=body.seed)
        pairs = [(words, given) for words in body.questions]
        answers = ask_many(reasoner.model, pairs, settings, memo=self.memo)
        found: list[Probability | str | None] = [None] * len(answers)
        if wanted:
            found = [often.within(reasoner, words, given, share, body.seed) for words in body.questions]
        return {"answers": [often.as_json(*each) for each in zip(answers, found, strict=True)]}

    def explain(self, body: bodies.Explain, budget: float) -> Report:
        """The explanation as `nbr explain --json` has it, in words too, and what the points for and against break."""
        reasoner, given, budget = self._read(body, budget, question=body.question)
        found = reasoner.explain(body.question, given, budget=budget, seed=body.seed)
        breaks = {
            f"{name}_breaks": None if point is None else list(point.breaks)
            for name, point in (("witness", found.witness), ("counter", found.counter))
        }
        return {**found.as_json(), **breaks, "words": found.words()}

    def probability(self, body: bodies.Explain, budget: float) -> Report:
        """How often the question holds, P(Q | C); under a uniform prior where the model has none."""
        reasoner, given, budget = self._read(body, budget, question=body.question)
        return reasoner.probability(body.question, given, budget=budget, seed=body.seed).as_json()

    def read(self, body: bodies.Look, budget: float) -> Report:
        """What the pictures show together, beside what each would show alone, and how far that is proved."""
        seen, given, budget = self._read(body, budget)
        pictures = reading.prepared(self.reasoner, body.see, self.side)
        return reading.report(seen, pictures, given, AskSettings(budget=budget, seed=body.seed))

    def sample(self, body: bodies.SampleBody, budget: float) -> Report:
        """Rows drawn from the model and its prior."""
        reasoner, given, budget = self._read(body, budget)
        rows = reasoner.sample(body.count, given, seed=body.seed)
        return {"rows": json.loads(rows.to_json(orient="records")), "method": rows.attrs["method"]}

    def _read(self, body: bodies.About, budget: float, **asked: str) -> tuple[Reasoner, str | None, float]:
        """The model without what is switched off, the condition, and the seconds left after reading all that is asked.

        What takes too long to read is no quick question.
        """
        start, world, given = time.monotonic(), self.now().world, (body.given or "").strip() or None
        for field, words in {**asked, **({} if given is None else {"given": body.given or ""})}.items():
            _check(world, field, words)
            if time.monotonic() - start > max(budget, READ):
                raise Late(f"reading it took longer than the {budget:g} seconds that it may take; ask for less")
        reasoner = self.variant(tuple(sorted(set(body.off))), body.rules, body.see)
        return reasoner, given, max(LEAST, budget - (time.monotonic() - start))

    def variant(
        self, off: tuple[int, ...], rules: Sequence[bodies.Written] = (), see: Mapping[str, str] | None = None
    ) -> Reasoner:
        """The model with some rules changed or added, and others believed to degree 0: numbers stay; then what it sees
        in pictures.
        """
        if not off and not rules and not see:
            return self.reasoner
        shown = tuple((name, sha256(picture.encode()).digest()) for name, picture in (see or {}).items())
        key = (off, shown, *((each.rule, each.says, each.belief, each.name) for each in rules))
        found = self.variants.get(key)
        if found is None:
            found = self._variant(off, rules) if off or rules else self.reasoner
            if see:
                found = reading.seen(found, reading.prepared(found, see, self.side))
            self.variants[key] = found
        return found

    def _variant(self, off: Sequence[int], rules: Sequence[bodies.Written]) -> Reasoner:
        model = changed(self.reasoner.model, rules)
        if off and off[-1] > len(model.rules):
            raise NbrError(f"there is no rule {off[-1]}: the model has {len(model.rules)}")
        return Reasoner.of(model.without([number - 1 for number in off]))


def changed(model: Model, rules: Sequence[bodies.Written]) -> Model:
    """The model with rules in the place of its own, and others behind them; an error names the one that is wrong."""
    kept = list(model.rules)
    for place, each in enumerate(rules):
        try:
            if each.rule is not None and each.rule > len(model.rules):
                raise NbrError(f"there is no rule {each.rule}: the model has {len(model.rules)}")
            if each.says is None:
                if each.rule is None:
                    raise NbrError("a new rule needs a statement")
                kept[each.rule - 1] = kept[each.rule - 1].with_belief(each.belief)
                continue
            before = None if each.rule is None else kept[each.rule - 1]
            rule = _said(each.says, each.belief, each.name, before, model.world)
        except NbrError as error:
            raise Misread.of(f"rules.{place}", error) from None
        if each.rule is None:
            kept.append(rule)
        else:
            kept[each.rule - 1] = rule
    return model.with_rules(kept)


def _said(says: str, belief: float, name: str | None, before: Rule | None, world: World) -> Rule:
    """A rule in other words, from whom it was before."""
    text, _, unless = says.partition(" unless ")
    rule = spelled(Clause(text, belief, name, unless=unless or None), world).bind(world)
    if before is None:
        return rule
    rule = rule.from_source(before.source)
    rule.quote, rule.date = before.quote, before.date
    return rule if before.choice is None else rule.one_of(before.choice)


def _listed(reasoner: Reasoner) -> list[Report]:
    told: Any = screen.reasoner_json(reasoner)["rules"]
    return [
        {
            "rule": number,
            **each,
            "inputs": sorted(set(rule.inputs), key=rule.world.column),
            "clause": rule.expression is not None,
        }
        for number, (each, rule) in enumerate(zip(told, reasoner.rules, strict=True), 1)
    ]


def _check(world: World, field: str, words: str) -> None:
    try:
        said = parse(words, world)
        if field != "question" or bare_name(world, said) is None:
            said.check(world)
    except NbrError as error:
        raise Misread.of(field, error) from None


def _variable(name: str, kind: Variable) -> Report:
    """A variable, how it is written in a question, and the values that it may take."""
    written = {"name": name, "written": quoted(name)}
    if kind.boolean:
        return {**written, "kind": kind.kind}
    if not kind.numeric:
        labels = [{"value": label, "written": _label(label)} for label in kind.labels[:LABELS]]
        return {**written, "kind": kind.kind, "values": labels, "more": max(0, len(kind.labels) - LABELS)}
    middle = (kind.low + kind.high) / 2
    middle = round(middle / kind.step) * kind.step if kind.step else middle
    ends = {"from": kind.show(kind.low), "to": kind.show(kind.high), "middle": kind.show(middle)}
    return {**written, "kind": kind.kind, **ends, "step": kind.step, "unit": kind.unit}


def _label(word: str) -> str:
    """A label as it is written in a question."""
    return word if NUMBER_PATTERN.match(word) or LABEL_PATTERN.match(word) else quoted(word)
