"""The JSON schema of models in TOML, and errors as JSON."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import nbr
from command import run
from nbr.app import failing, schema
from nbr.density.saved import IN_TOML
from nbr.errors import NbrError
from nbr.rules.told import OF_ONE, OF_RULES, OF_SOURCES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
WRITTEN = [path.read_text() for path in sorted((ROOT / "examples").glob("*.toml"))]
WRITTEN += [text for page in PAGES for text in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)]
VARIABLES = (nbr.Bit(), nbr.Choice("x", "y"), nbr.Ordered("low", "high"), nbr.Real(0, 1), nbr.Real(0, 4, step=1))
VALIDATOR = Draft202012Validator(schema.model())


def test_the_command_prints_a_schema() -> None:
    told = json.loads(run("schema").stdout)
    Draft202012Validator.check_schema(told)
    assert told == schema.model()


def test_every_model_that_we_show_fits() -> None:
    whole = [spec for spec in map(tomllib.loads, WRITTEN) if "variables" in spec]
    assert len(whole) >= 7
    for spec in whole:
        assert [error.message for error in VALIDATOR.iter_errors(spec)] == []


def test_every_kind_of_variable_fits() -> None:
    for kind in (*(each.spec for each in VARIABLES), {"from": "2026-01-01", "to": "2026-02-01"}):
        assert [error.message for error in VALIDATOR.iter_errors({"variables": {"a": kind}})] == []


def test_the_schema_has_what_files_may_have() -> None:
    assert set(schema.TABLES) == set(IN_TOML)
    assert {*OF_RULES, *OF_ONE} <= set(schema.RULE["properties"])
    assert set(schema.TABLES["sources"]["additionalProperties"]["properties"]) == set(OF_SOURCES)


@pytest.mark.parametrize(
    "text",
    [
        "[[rules]]\nrule = 'a'\nbelief = 1",
        "[variables]\na = 'byte'",
        "[variables]\na = 'bit'\n[[rules]]\nrule = 'a'",
        "[variables]\na = 'bit'\n[[rules]]\nrule = 'a'\nbelief = 2",
        "[variables]\na = 'bit'\n[[rules]]\nrule = 'a'\nbelif = 1\nbelief = 1",
        "[variables]\na = { from = 0 }",
        "[variables]\na = 'bit'\n[actions]\ngo = [{ when = 'a' }]",
        "[variables]\na = 'bit'\n[observable]\na = -1",
        "[variables]\na = 'bit'\n[sources]\nb = { reliable = 1 }",
        "[variables]\na = 'bit'\n[varables]\nb = 'bit'",
    ],
)
def test_what_the_schema_refuses_does_not_load_either(text: str, tmp_path: Path) -> None:
    assert not VALIDATOR.is_valid(tomllib.loads(text))
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(NbrError):
        nbr.load(tmp_path / "m.toml")


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("ask", "good.toml", "a & bb"), {"character": 5}),
        (("ask", "good.toml", "(a"), {"character": 3}),
        (("ask", "bad.toml", "a"), {"file": "bad.toml", "line": 4, "character": 6}),
        (("explain", "broken.toml", "a"), {"file": "broken.toml", "line": 2}),
        (("ask", "none.toml", "a"), None),
        (("decide", "good.toml"), None),
        (("ask", "good.toml", "a", "--budget", "much"), None),
        (("ask",), None),
    ],
)
def test_errors_are_json_where_json_was_asked_for(tmp_path: Path, words: tuple[str, ...], where: object) -> None:
    (tmp_path / "good.toml").write_text("[variables]\na = 'bit'\n")
    (tmp_path / "bad.toml").write_text("[variables]\na = 'bit'\n[[rules]]\nrule = 'a -> b'\nbelief = 1\n")
    (tmp_path / "broken.toml").write_text("[variables]\na = \n")
    done = run(*words, "--json", cwd=tmp_path)
    told = json.loads(done.stdout)["error"]
    assert done.returncode == 2
    assert told["message"]
    found = told["where"]
    assert found == where or (where and {key: found[key] for key in where} == where)
    plain = run(*words, cwd=tmp_path)
    assert (plain.returncode, plain.stdout) == (2, "")
    assert " ".join(told["message"].split()[:3]) in plain.stderr


def test_several_mistakes_are_listed_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        "[variables]\na = 'bit'\n[[rules]]\nrule = 'b'\nbelief = 1\n[[rules]]\nrule = 'a'\nbelief = 3\n"
    )
    told = json.loads(run("show", "m.toml", "--json", cwd=tmp_path).stdout)["error"]
    assert [each["where"]["line"] for each in told["mistakes"]] == [4, 8]


def test_an_error_of_ours_is_json_too() -> None:
    assert failing.as_json(NbrError("no", at=3)) == {"error": {"message": "no", "where": {"character": 3}}}
