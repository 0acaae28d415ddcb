"""The JSON schema of a model in TOML, for editors and for programs that write models."""

from __future__ import annotations

import json
from typing import Any

import typer

ADDRESS = "https://json-schema.org/draft/2020-12/schema"
STATEMENT = {
    "type": "string",
    "minLength": 1,
    "description": "A statement: rain -> grass=wet; ~a & (b | c); age>=40; grass in {wet, soaked}; count(x1..x9)>=5; "
    "one(a, b, c).",
}
BELIEF = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER_OR_TEXT = {"type": ["number", "string"]}
FIGURE = {"oneOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]}
WORDS = {
    "oneOf": [
        {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1},
        {"type": "string", "description": 'A range such as "1..5", or the name of some things.'},
    ]
}
KIND = {
    "description": "What a variable can be.",
    "oneOf": [
        {"const": "bit", "description": "0 or 1."},
        {
            "type": "array",
            "items": {"type": ["string", "number"]},
            "minItems": 1,
            "description": "One of these labels.",
        },
        {
            "type": "object",
            "description": "A number, a date or a time between two bounds; with a step only its multiples.",
            "properties": {"from": NUMBER_OR_TEXT, "to": NUMBER_OR_TEXT, "step": {"type": "number", "minimum": 0}},
            "required": ["from", "to"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "description": "One of these labels, from the lowest to the highest.",
            "properties": {"ordered": {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1}},
            "required": ["ordered"],
            "additionalProperties": False,
        },
    ],
}
WHO = {
    "source": {"type": "string", "description": "The source of the statement."},
    "quote": {"type": "string", "description": "The words of the source."},
    "date": {"type": "string", "description": "When."},
}
RULE: dict[str, Any] = {
    "type": "object",
    "description": "A statement, and the degree to which it is believed.",
    "properties": {
        "rule": STATEMENT,
        "belief": BELIEF,
        "name": {"type": "string"},
        "unless": {"type": "string", "description": "An exception, over closed variables: the body and not that."},
        "for": {"type": "object", "additionalProperties": WORDS, "description": "Repeats the rule for each thing."},
        "where": {"type": "string", "description": "The combinations of things to keep: p != q."},
        "memory": {"type": "object", "description": "A point: the rule holds near it.", "minProperties": 1},
        "radius": {"type": "number"},
        "one_of": {
            "type": "array",
            "minItems": 1,
            "description": "Possibilities of which one source names at most one; their beliefs add up to at most 1.",
            "items": {
                "type": "object",
                "properties": {"rule": STATEMENT, "belief": BELIEF},
                "required": ["rule", "belief"],
                "additionalProperties": False,
            },
        },
        "choice": {
            "type": "number",
            "description": "Rules with the same number are possibilities, of which at most one is present.",
        },
        "adds": {"type": "number"},
        "support": {"type": "object"},
        **WHO,
    },
    "additionalProperties": False,
    "oneOf": [{"required": ["rule", "belief"]}, {"required": ["memory", "radius", "belief"]}, {"required": ["one_of"]}],
}
PAYOFF = {
    "type": "object",
    "properties": {"when": STATEMENT, "value": {"type": "number"}},
    "required": ["value"],
    "additionalProperties": False,
}
TABLES: dict[str, Any] = {
    "things": {
        "type": "object",
        "additionalProperties": WORDS,
        "description": "Names of things that indices stand for.",
    },
    "variables": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": KIND,
        "description": 'What there is. A key such as "x0..x9" or "smokes[person]" stands for several variables.',
    },
    "rules": {"type": "array", "items": RULE, "description": "[[rules]] above each."},
    "expect": {
        "type": "array",
        "description": "Answers that the model should give, asked by nbr check.",
        "items": {
            "type": "object",
            "properties": {
                "ask": STATEMENT,
                "given": STATEMENT,
                **dict.fromkeys(("belief", "plausibility", "conflict"), FIGURE),
                "best": NUMBER_OR_TEXT,
                "tolerance": {"type": "number"},
            },
            "required": ["ask"],
            "additionalProperties": False,
        },
    },
    "sources": {
        "type": "object",
        "description": "Who says rules: how likely a source is to be reliable at all, and whether its rules are "
        "distinct evidence or nested (one degree of confidence behind all).",
        "additionalProperties": {
            "type": "object",
            "properties": {"reliability": BELIEF, "rules": {"enum": ["distinct", "nested"]}},
            "additionalProperties": False,
        },
    },
    "words": {
        "type": "object",
        "description": "Words with degrees: numbers from grade 0 to grade 1, four corners, or a grade for each label. "
        'A key such as "hot[tank]" stands for a word of each thing.',
        "additionalProperties": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "oneOf": [
                    {"type": "array", "items": NUMBER_OR_TEXT, "minItems": 2, "maxItems": 4},
                    {"type": "object", "additionalProperties": BELIEF},
                ]
            },
        },
    },
    "closed": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Variables that are true only if a rule that is there makes them so.",
    },
    "prior": {"type": "object", "description": "Base rates: of a bit, of labels, of a number { mean, spread }."},
    "views": {"type": "array", "description": "Which columns rows showed together, of a learned model."},
    "view_rows": {"type": "array"},
    "dispersion": {"type": "number"},
    "sensors": {"type": "object", "description": "Which classifier reads pictures of a variable."},
    "observable": {
        "type": "object",
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
        "description": "What can be observed, and its cost.",
    },
    "actions": {
        "type": "object",
        "description": "What can be done: a number, or a list of which the first entry whose `when` holds counts.",
        "additionalProperties": {
            "oneOf": [{"type": "number"}, {"type": "array", "items": PAYOFF, "minItems": 1}],
        },
    },
}


def model() -> dict[str, Any]:
    """The schema of a whole model; statements are text, whose grammar no schema tells."""
    return {
        "$schema": ADDRESS,
        "title": "A model of the Neural Belief Reasoner",
        "type": "object",
        "properties": TABLES,
        "required": ["variables"],
        "additionalProperties": False,
    }


def schema() -> None:
    """Print the JSON schema of models in TOML.

    Editors that know it complete and check rule files; programs that write models are told what there is.

    \b
    nbr schema > nbr.schema.json
    """
    typer.echo(json.dumps(model(), indent=2))
