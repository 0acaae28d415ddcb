"""Models behind a language model: the client of the `mcp` package drives the server, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.server.lowlevel import Server

import nbr
from nbr.app.agents.server import made
from nbr.app.agents.shelf import Shelf
from nbr.app.agents.tools import NAMED, TOOLS, called

ROOT = Path(__file__).parents[2]
INCIDENT = ROOT / "examples" / "incident.toml"
TIMES = int(os.environ.get("TIMES", "1"))  # 5 for 500 malformed calls
Call = Callable[..., Awaitable[tuple[dict[str, Any], bool]]]


def process(folder: Path) -> StdioServerParameters:
    """A server in a process of its own."""
    environment = {"PYTHONPATH": str(Path(nbr.__file__).parents[1]), "OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
    words = ["-m", "nbr", "mcp", "--folder", str(folder), "--budget", "2"]
    return StdioServerParameters(command=sys.executable, args=words, env=environment)


def driven(server: StdioServerParameters | Server[Any], script: Callable[[Call], Awaitable[Any]]) -> Any:
    """Run a script against a server; it calls tools by name."""

    async def run() -> Any:
        async with Client(server, read_timeout_seconds=60) as client:

            async def call(name: str, **given: Any) -> tuple[dict[str, Any], bool]:
                found = await client.call_tool(name, given)
                assert json.loads(found.content[0].text) == found.structured_content  # type: ignore[union-attr]
                return found.structured_content or {}, bool(found.is_error)

            return await script(call)

    return asyncio.run(run())


def report() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The incident without its sources' reliabilities: what an agent would have read from the reports."""
    spec = tomllib.loads(INCIDENT.read_text())
    return {key: spec[key] for key in ("variables", "observable", "actions")}, spec["rules"]


def test_a_report_is_written_its_conflicts_told_with_quotes_mended_and_asked(tmp_path: Path) -> None:
    tables, rules = report()
    assert len(rules) == 20

    async def script(call: Call) -> None:
        told, failed = await call("add_rules", model="report", rules=rules, tables=tables)
        assert not failed, told
        assert told["rules"] == 20
        quarrels = [each for each in told["conflicts"] if each["kind"] == "contradiction"]
        pairs = [{rule["quote"] for rule in each["rules"]} for each in quarrels if len(each["rules"]) == 2]
        assert {"I heard no alarm all night.", "23:04 ALARM level high"} in pairs
        assert {"It was pouring.", "0.4 mm between 22:00 and 24:00"} in pairs
        assert all(rule["source"] for each in quarrels for rule in each["rules"] if "quote" in rule)
        before, failed = await call("ask", model="report", question="flooded")
        assert before["answer"]["conflict"] > 0.5
        doubtful = {
            rule["number"]: rule for each in quarrels for rule in each["rules"] if rule.get("source") == "guard"
        }
        assert doubtful
        for number, rule in doubtful.items():  # the guard is believed less where a machine says otherwise
            told, failed = await call("change_rule", model="report", entry=number, change={"belief": 0.3})
            assert not failed, told
            assert told["before"]["quote"] == rule["quote"]
        after, failed = await call("ask", model="report", question="flooded")
        assert not failed
        assert after["answer"]["conflict"] < before["answer"]["conflict"] - 0.1
        sources = {rule.get("source") for rule in after["because"]["rules"]}
        assert "log" in sources
        assert "level 212 cm" in json.dumps(after["because"])
        chosen, failed = await call("decide", model="report", given="flooded", criterion="hurwicz")
        assert not failed
        assert chosen["choice"] in tables["actions"]
        assert any(each["rules"] for each in chosen["because"].values())
        looked, failed = await call("look_next", model="report", question='cause="power cut"', given="flooded")
        assert not failed
        assert {each["variable"] for each in looked["next"]} <= set(tables["observable"])
        told, failed = await call("explain", model="report", question='cause="power cut"', given="flooded")
        assert not failed
        assert told["words"]
        assert told["because"]["rules"]
        told, failed = await call("marginals", model="report", variables=["cause"], given="flooded")
        assert not failed
        assert len(told["variables"]["cause"]) == 4
        assert told["rules"]

    driven(process(tmp_path), script)
    model = nbr.load(tmp_path / "report.toml")
    assert len(model.rules) == 20
    assert model.rules[0].quote == rules[0]["quote"]


def malformed(draw: random.Random) -> tuple[str, dict[str, Any]]:
    """A call that no tool takes: wrong names, kinds, models, statements, TOML; places outside the folder."""
    odd: list[Any] = [
        None,
        True,
        -1,
        1e308,
        "",
        " ",
        "\x00",
        "x" * 5000,
        [],
        {},
        [[]],
        {"a": {}},
        "é\u202e",
        ["a"] * 50,
    ]
    outside = ["../out", "/etc/passwd", "a/b", "..", ".hidden", "link", "a\nb", "C:\\x", "~", "missing", "a" * 200]
    statements = ["a ->", "((", "zz", "a=", "a & & b", "count(a)", "a @ 2", "x1..x999999999=0", "~" * 30_000, "a=3"]
    broken = ["[variables", "a = 1", "[variables]\na = 'byte'", "rules = 3", "\x00", "[variables]\na='bit'\n[[rules]]"]
    kind = draw.randrange(6)
    tool = draw.choice(TOOLS)
    given: dict[str, Any] = dict.fromkeys(tool.needs, "ab")
    if kind == 0:
        return draw.choice(["", "rm", "ask ", "ASK", "__class__", "ask\n"]), given
    if kind == 1 or not tool.needs:
        return tool.name, {**given, draw.choice(["modle", "x", "", "__init__", "seconds", "shelf"]): draw.choice(odd)}
    if kind == 2:
        name = draw.choice(tool.needs)
        return tool.name, {key: value for key, value in given.items() if key != name}
    if kind == 3:
        return tool.name, {**given, "model": draw.choice([*odd, *outside])}
    if kind == 4:
        asking = [tool for tool in TOOLS if "question" in tool.takes]
        return draw.choice(asking).name, {"model": "ab", "question": draw.choice(statements)}
    if draw.random() < 0.5:
        return "write_model", {"model": "ab", "toml": draw.choice(broken), "replace": True}
    rules = [{"rule": draw.choice(statements), "belief": draw.choice([0.5, 2, -1, "much", None])}]
    return "add_rules", {"model": "ab", "rules": draw.choice([rules, draw.choice(odd)])}


def test_malformed_calls_end_in_errors_and_the_server_lives(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "out.toml"
    folder.mkdir()
    text = "[variables]\na = 'bit'\nb = 'bit'\n[[rules]]\nrule = 'a -> b'\nbelief = 0.9\n"
    outside.write_text(text)
    (folder / "ab.toml").write_text(text)
    (folder / "link.toml").symlink_to(outside)
    draw = random.Random(29)
    calls = [malformed(draw) for _ in range(100 * TIMES)]

    async def script(call: Call) -> None:
        for name, given in calls:
            told, failed = await call(name, **given)
            assert failed, (name, given, told)
            message = told["error"]["message"]
            assert message
            assert "\n" not in message
            assert "should not have happened" not in message, (name, given, message)
            assert told["error"]["fix"]
        told, failed = await call("ask", model="ab", question="b", given="a")
        assert not failed
        assert told["answer"]["belief"] == pytest.approx(0.9)

    driven(process(folder) if TIMES > 1 else made(Shelf(folder), 2.0), script)
    assert (folder / "ab.toml").read_text() == outside.read_text() == text
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["ab.toml", "in", "link.toml", "out.toml"]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    text = "[variables]\na = 'bit'\nb = 'bit'\n[[rules]]\nrule = 'a -> b'\nbelief = 0.9\n"
    (tmp_path / "ab.toml").write_text(text)
    return Shelf(tmp_path)


def test_errors_name_line_and_character_and_a_fix(shelf: Shelf) -> None:
    rules = [{"rule": "b -> a", "belief": 0.5}, {"rule": "a -> bb", "belief": 0.5}]
    told, failed = called(shelf, "add_rules", {"model": "ab", "rules": rules}, 5.0)
    assert failed
    assert told["error"]["where"] == {"file": "ab.toml", "line": 14, "character": 6}
    assert told["error"]["fix"] == "did you mean 'b'?"
    assert len(shelf.book("ab").reasoner.rules) == 1  # all or nothing


def test_sensors_of_a_model_open_no_file(shelf: Shelf) -> None:
    text = "[variables]\nd = ['0', '1']\n[sensors]\nd = '../secret.nbr'\n"
    told, failed = called(shelf, "write_model", {"model": "eyes", "toml": text}, 5.0)
    assert failed
    assert "only classifiers that are included" in told["error"]["message"]
    assert not shelf.has("eyes")


def test_a_model_that_is_there_is_not_written_over_unasked(shelf: Shelf) -> None:
    text = "[variables]\nc = 'bit'\n"
    assert called(shelf, "write_model", {"model": "ab", "toml": text}, 5.0)[1]
    assert not called(shelf, "write_model", {"model": "ab", "toml": text, "replace": True}, 5.0)[1]
    assert list(shelf.book("ab").reasoner.world.names) == ["c"]


def test_only_the_models_that_were_named_are_offered(tmp_path: Path, shelf: Shelf) -> None:
    (tmp_path / "other.toml").write_text("[variables]\nc = 'bit'\n")
    some = Shelf(tmp_path, ["ab"])
    assert some.names() == ["ab.toml"]
    assert called(some, "show_model", {"model": "other"}, 5.0)[1]
    with pytest.raises(nbr.NbrError, match="there is no model 'none.toml'"):
        Shelf(tmp_path, ["none"])
    with pytest.raises(nbr.NbrError, match="is not a folder"):
        Shelf(tmp_path / "ab.toml")


def test_cited_rules_name_their_entry_where_one_entry_is_several_rules(tmp_path: Path) -> None:
    text = (
        "[things]\np = ['ann', 'bob']\n[variables]\n'x[p]' = 'bit'\nc = 'bit'\n"
        "[[rules]]\nfor = { q = 'p' }\nrule = 'x[q] -> c'\nbelief = 0.5\nquote = 'all of them'\n"
        "[[rules]]\nrule = '~c'\nbelief = 0.25\nquote = 'not c'\n"
    )
    (tmp_path / "m.toml").write_text(text)
    told, failed = called(Shelf(tmp_path), "ask", {"model": "m", "question": "c", "given": "x[bob]"}, 5.0)
    assert not failed
    rules = {rule["number"]: rule for rule in told["because"]["rules"]}
    assert (rules[2]["entry"], rules[2]["quote"], rules[2]["rule"]) == (1, "all of them", "x[bob] -> c")
    assert (rules[3]["entry"], rules[3]["quote"]) == (2, "not c")
    assert (told["because"]["for"], told["because"]["against"]) == ([[2]], [[3]])


def test_every_tool_says_what_it_takes() -> None:
    from jsonschema import Draft202012Validator

    for tool in NAMED.values():
        Draft202012Validator.check_schema(tool.schema)
        assert set(tool.needs) <= set(tool.takes)
        assert tool.description.endswith(".")


def test_the_recorded_exchange_is_what_the_server_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    recorded = re.findall(r"```json (call|answer)\n(.*?)```", page, re.DOTALL)
    assert [kind for kind, _ in recorded] == ["call", "answer"] * 4
    shelf, told = Shelf(tmp_path), {}
    for kind, text in recorded:
        said = json.loads(text)
        if kind == "call":
            told, _ = called(shelf, said["tool"], said["arguments"], 10.0)
        else:
            assert_within(said, told)


def assert_within(part: Any, whole: Any) -> None:
    """What a page has of an answer: entries, and of lists of rules some."""
    if isinstance(part, dict):
        for key, value in part.items():
            assert_within(value, whole[key])
    elif isinstance(part, list) and part and isinstance(part[0], dict):
        for each in part:
            assert any(each.get("number") == other.get("number") for other in whole)
            assert_within(each, next(other for other in whole if other.get("number") == each.get("number")))
    elif isinstance(part, float):
        assert part == pytest.approx(whole, abs=1e-4)
    else:
        assert part == whole


def test_names_are_declared_closed_with_the_rules_that_make_them_so(tmp_path: Path) -> None:
    shelf, tables = Shelf(tmp_path), {"variables": {"a": "bit", "b": "bit", "c": "bit"}, "closed": ["b"]}
    told, failed = called(
        shelf, "add_rules", {"model": "m", "rules": [{"rule": "a -> b", "belief": 0.8}], "tables": tables}, 5.0
    )
    assert not failed, told
    more = {"model": "m", "rules": [{"rule": "b -> c", "belief": 0.5}], "tables": {"closed": ["b", "c"]}}
    told, failed = called(shelf, "add_rules", more, 5.0)
    assert not failed, told
    assert called(shelf, "change_rule", {"model": "m", "entry": 2, "change": {"belief": 0.25}}, 5.0)[1] is False
    told, failed = called(shelf, "ask", {"model": "m", "question": "c", "given": "a"}, 5.0)
    assert (told["answer"]["belief"], told["answer"]["plausibility"]) == (pytest.approx(0.2), pytest.approx(0.2))
