"""`nbr serve`: what it answers is what the library answers; errors point at the character."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

import nbr
from command import run
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_model_is_told(client: httpx.Client) -> None:
    told = client.get("/api/model").json()
    assert (told["name"], told["kind"], told["prior"]) == ("majority.toml", "reasoner", False)
    assert [each["name"] for each in told["variables"]] == [f"x{i}" for i in range(11)]
    assert told["rules"][0]["says"] == "x0 <-> majority(x1..x9)"
    assert told["rules"][1]["inputs"] == [f"x{i}" for i in range(1, 11)]
    assert client.get("/healthz").json() == {"ok": True}


def test_variables_of_all_kinds() -> None:
    world = nbr.World(
        {"wet": nbr.Bit(), "the sky": nbr.Choice("blue", "dark grey", "3"), "day": nbr.Real("2021-01-01", "2021-01-09")}
    )
    with served(nbr.Reasoner(world)) as address:
        bit, choice, day = httpx.get(f"{address}/api/model").json()["variables"]
        asked = [f"{choice['written']}={each['written']}" for each in choice["values"]]
        asked += [bit["written"], f"{day['written']}>={day['middle']}"]
        found = httpx.post(f"{address}/api/ask-many", json={"questions": asked, "given": "wet"})
    assert (bit["kind"], choice["kind"], day["kind"], day["middle"]) == ("bit", "choice", "real", "2021-01-05")
    assert [(a["belief"], a["plausibility"]) for a in found.json()["answers"]] == [(0, 1)] * 3 + [(1, 1), (0, 1)]


def test_answers_are_those_of_the_library(client: httpx.Client) -> None:
    """Table 1 of the paper: x10 given x0=1 is [0, 0.33]."""
    body = {"question": "x10", "given": "x0=1"}
    reasoner = nbr.load(EXAMPLES / "majority.toml")
    told = client.post("/api/ask", json=body).json()
    assert told == {**json.loads(json.dumps(reasoner.ask("x10", "x0=1").as_json())), "probability": None}
    assert (told["belief"], round(told["plausibility"], 2)) == (0.0, 0.33)
    (many,) = client.post("/api/ask-many", json={"questions": ["x10"], "given": "x0=1"}).json()["answers"]
    assert (many["belief"], many["plausibility"]) == pytest.approx((told["belief"], told["plausibility"]))
    often = client.post("/api/probability", json=body).json()
    assert often["value"] == pytest.approx(reasoner.probability("x10", "x0=1").value)
    why = client.post("/api/explain", json=body).json()
    assert why["rules"] == json.loads(json.dumps(reasoner.explain("x10", "x0=1").as_json()))["rules"]
    assert why["words"] == reasoner.explain("x10", "x0=1").words()
    rows = client.post("/api/sample", json={"count": 5, "given": "x0=1", "seed": 3}).json()["rows"]
    assert rows == reasoner.sample(5, "x0=1", seed=3).to_dict("records")


def test_a_rule_is_switched_off(client: httpx.Client) -> None:
    reasoner = nbr.load(EXAMPLES / "majority.toml")
    smaller = nbr.Reasoner(reasoner.world, reasoner.rules[1:])
    body = {"given": "x10, x1..x5=1", "off": [1]}
    wanted = smaller.ask("x0", body["given"])
    told = client.post("/api/ask", json={"question": "x0", **body}).json()
    assert (told["belief"], told["plausibility"]) == (wanted.belief, wanted.plausibility)
    assert told["plausibility"] > client.post("/api/ask", json={"question": "x0", **body, "off": []}).json()["belief"]
    (many,) = client.post("/api/ask-many", json={"questions": ["x0"], **body}).json()["answers"]
    assert (many["belief"], many["plausibility"], many["conflict"]) == pytest.approx(
        (wanted.belief, wanted.plausibility, wanted.conflict)
    )
    why = client.post("/api/explain", json={"question": "x0", **body}).json()
    assert [each["rule"] for each in why["rules"]] == [1, 2]
    assert why["answer"]["plausibility"] == wanted.plausibility
    missing = client.post("/api/ask", json={"question": "x0", "off": [3]})
    assert (missing.status_code, missing.json()["error"]) == (400, "there is no rule 3: the model has 2")


def test_the_values_of_a_choice_are_ranked() -> None:
    garden = nbr.load(EXAMPLES / "garden.toml")
    with served(garden) as address:
        told = httpx.post(f"{address}/api/ask", json={"question": "grass", "given": "rain"}).json()
    assert told == json.loads(json.dumps(garden.rank("grass", "rain").as_json()))


@pytest.mark.parametrize(
    ("body", "field", "at", "words"),
    [
        ({"question": "x1 & y"}, "question", 6, "unknown variable 'y'"),
        ({"question": "x1", "given": "x0=2"}, "given", 1, "'2' is not a value of a bit"),
        ({"question": "x1 &"}, "question", 5, "something is missing"),
        ({"question": "x1 $ x2"}, "question", 4, "cannot read '$'"),
        ({"question": "most(x1, x2)"}, "question", 1, "unknown function 'most'"),
        ({"question": "~" * 80 + "x1"}, "question", None, "nested"),
        ({"question": "x1", "given": "x0, ~x0"}, None, None, "the condition cannot hold"),
    ],
)
def test_errors_point_at_the_character(
    client: httpx.Client, body: dict[str, str], field: str, at: int | None, words: str
) -> None:
    found = client.post("/api/ask", json=body)
    told = found.json()
    assert (found.status_code, told["field"], told["at"]) == (400, field, at)
    assert words in told["error"]


def test_one_wrong_question_of_many_is_named(client: httpx.Client) -> None:
    found = client.post("/api/ask-many", json={"questions": ["x1", "x1 | zz"]})
    assert (found.status_code, found.json()["field"], found.json()["at"]) == (400, "questions.1", 6)


def test_how_often_where_there_is_a_prior(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        '[variables]\na="bit"\nb="bit"\n[prior]\na=0.2\n[[rules]]\nrule="a->b"\nbelief=1\n'
    )
    model = nbr.load(tmp_path / "m.toml")
    with served(model) as address:
        assert httpx.get(f"{address}/api/model").json()["prior"] is True
        told = httpx.post(f"{address}/api/ask-many", json={"questions": ["a", "b"], "probability": True}).json()
        one = httpx.post(f"{address}/api/ask", json={"question": "a"}).json()
    wanted = [model.probability(name).value for name in "ab"]
    assert [each["probability"]["value"] for each in told["answers"]] == pytest.approx(wanted)
    assert one["probability"]["value"] == pytest.approx(wanted[0])


def test_the_command_serves_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nbr", "serve", str(EXAMPLES / "garden.toml"), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"garden.toml: (http://127\.0\.0\.1:\d+/) ", said)
        assert address, said
        told = httpx.post(f"{address[1]}api/ask", json={"question": "rain", "given": "grass=wet, ~sprinkler"}).json()
        threading.Timer(0.1, process.send_signal, [signal.SIGINT]).start()
        rest = process.stderr.read()
        assert process.wait(30) == 0
    assert (told["belief"], told["plausibility"], rest) == (0.7, 1.0, "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "70000"], "a port must be a number from 0 to 65535, not 70000"),
        (["--budget", "0"], "the budget must be a number of seconds above 0"),
        (["--host", "no such host"], "cannot listen on no such host"),
    ],
)
def test_what_the_command_refuses(options: list[str], words: str) -> None:
    found = run("serve", EXAMPLES / "garden.toml", *options)
    assert found.returncode == 2
    assert words in found.stderr
    assert found.stderr.count("\n") == 1
