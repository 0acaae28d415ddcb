"""The tools that an agent is offered: what each takes, and how what it was given is checked before anything is done."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbr import clock
from nbr.app import failing
from nbr.app.agents import reading, writing
from nbr.app.agents.shelf import Shelf
from nbr.app.schema import BELIEF, RULE, STATEMENT
from nbr.asking import CRITERIA
from nbr.clock import OutOfTime
from nbr.errors import NbrError, suggest

LONGEST = 2_000_000  # characters of what a tool is given, and of what it says
HINT = re.compile(r"(?:; |: )((?:did you mean|there are|write|use|say|ask for) [^;(]*[^;( ])")
LATE = 2.0  # times its seconds, and some more, after which a call is given up
MODEL = {
    "type": "string",
    "minLength": 1,
    "maxLength": 80,
    "description": "A model in the folder, such as garden.toml.",
}
GIVEN = {"type": "string", "minLength": 1, "description": "What is observed: 'rain, grass=wet'; 'a, c @ 0.8'."}
CHANGE = {"type": "object", "properties": {**RULE["properties"], "belief": BELIEF}, "additionalProperties": False}


@dataclass(frozen=True)
class Tool:
    """Something that an agent can do with the models of a folder."""

    name: str
    description: str
    run: Callable[..., dict[str, Any]]
    takes: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    writes: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": dict(self.takes),
            "required": list(self.needs),
            "additionalProperties": False,
        }


ASKED = {"model": MODEL, "question": STATEMENT, "given": GIVEN}
TOOLS = (
    Tool("list_models", "The models of the folder.", reading.list_models),
    Tool("describe", "How models and statements are written (a JSON schema), and what answers mean.", reading.describe),
    Tool("show_model", "The text of a model file.", reading.show_model, {"model": MODEL}, ("model",)),
    Tool(
        "write_model",
        "Write a whole model in TOML. Nothing is kept unless all of it can be read; what contradicts is told with its "
        "sources and quotes.",
        writing.write_model,
        {
            "model": MODEL,
            "toml": {"type": "string", "description": "[variables] and [[rules]], as `describe` explains."},
            "replace": {"type": "boolean", "description": "Whether an existing model of that name may be overwritten."},
        },
        ("model", "toml"),
        writes=True,
    ),
    Tool(
        "add_rules",
        "Add rules, each with its belief and, if known, source, quote and date; and variables or other entries in "
        "`tables`. Makes the model if there is none. All or nothing. Comments of the file are not kept.",
        writing.add_rules,
        {"model": MODEL, "rules": writing.RULES, "tables": writing.MORE},
        ("model", "rules"),
        writes=True,
    ),
    Tool(
        "change_rule",
        "Change or remove one entry of the rules, by its number from 1 in the file. Comments of the file are not kept.",
        writing.change_rule,
        {
            "model": MODEL,
            "entry": {"type": "integer", "minimum": 1},
            "change": CHANGE,
            "remove": {"type": "boolean"},
        },
        ("model", "entry"),
        writes=True,
    ),
    Tool(
        "check",
        "Minimal sets of rules that cannot all hold, with the source and the quote of each; rules that never matter.",
        reading.check,
        {"model": MODEL},
        ("model",),
    ),
    Tool(
        "ask",
        "Belief, plausibility and conflict of a statement, and the rules for and against it.",
        reading.ask,
        ASKED,
        ("model", "question"),
    ),
    Tool(
        "explain",
        "Why the answer is what it is: in words, with the answer without each rule, and with examples for and against.",
        reading.explain,
        ASKED,
        ("model", "question"),
    ),
    Tool(
        "marginals",
        "Every value of some variables, or of all: belief, plausibility, probability.",
        reading.marginals,
        {
            "model": MODEL,
            "variables": {"type": "array", "items": {"type": "string"}, "maxItems": 1000},
            "given": GIVEN,
        },
        ("model",),
    ),
    Tool(
        "decide",
        "What to do: the lower and upper expected utility of each of the model's [actions], and the choice.",
        reading.decide,
        {
            "model": MODEL,
            "given": GIVEN,
            "criterion": {"enum": list(CRITERIA)},
            "optimism": {"type": "number", "minimum": 0, "maximum": 1},
        },
        ("model",),
    ),
    Tool(
        "look_next",
        "What to observe next to settle a question, ranked by how far it narrows the answer for its cost.",
        reading.look_next,
        ASKED,
        ("model", "question"),
    ),
    Tool(
        "best",
        "The most plausible value of every variable, and the rules that are broken then.",
        reading.best,
        {"model": MODEL, "given": GIVEN},
        ("model",),
    ),
)
NAMED = {tool.name: tool for tool in TOOLS}


def called(shelf: Shelf, name: str, given: Mapping[str, Any] | None, seconds: float) -> tuple[dict[str, Any], bool]:
    """What a tool says, and whether that is an error; it never raises anything but what ends the program."""
    try:
        return _run(shelf, name, dict(given or {}), seconds), False
    except NbrError as error:
        return _failed(error), True
    except OutOfTime:
        late = f"there was no time for all of it in {seconds:g} seconds: ask for less, or start with a larger --budget"
        return _failed(NbrError(late)), True
    except RecursionError:
        return _failed(NbrError("it is nested too deeply")), True
    except Exception as error:  # a fault of ours: the server lives on
        told = f"this should not have happened ({type(error).__name__}: {error}); please report it"
        return _failed(NbrError(told)), True


def _run(shelf: Shelf, name: str, given: dict[str, Any], seconds: float) -> dict[str, Any]:
    tool = NAMED.get(name)
    if tool is None:
        raise NbrError(f"there is no tool {name!r}" + suggest(str(name), NAMED))
    if len(repr(given)) > LONGEST:
        raise NbrError(f"a call has up to {LONGEST:,} characters")
    _check(tool, given)
    with clock.until(clock.now() + LATE * seconds + 5.0):
        return tool.run(shelf, seconds, **given)


def _check(tool: Tool, given: Mapping[str, Any]) -> None:
    """Raise an error that names the entry that is wrong, and what it should be."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    for key in given:
        if key not in tool.takes:
            raise NbrError(f"{tool.name} takes no {key!r}" + suggest(str(key), tool.takes))
    wrong = best_match(Draft202012Validator(tool.schema).iter_errors(dict(given)))
    if wrong is not None:
        place = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in wrong.absolute_path)
        said = wrong.message if len(wrong.message) <= 300 else wrong.message[:300] + "..."
        if wrong.validator == "additionalProperties" and isinstance(wrong.instance, dict):
            known = wrong.schema.get("properties", {})
            unknown = next(key for key in wrong.instance if key not in known)
            said = f"unknown entry {unknown!r}" + suggest(str(unknown), known)
        raise NbrError(f"{tool.name}{place}: {said}")


def _failed(error: NbrError) -> dict[str, Any]:
    """The error as data, with what would work where it says so."""
    told = failing.as_json(error)
    message = str(error)
    hint = HINT.search(message)
    fix = hint[1] if hint is not None else "`describe` explains how to write models and statements"
    told["error"]["fix"] = fix  # type: ignore[index]
    return told
