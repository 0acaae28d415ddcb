"""`nbr serve`: every address, who is let in, what is too much, and that nothing holds up a quick question."""

from __future__ import annotations

import base64
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import nbr
from command import run
from nbr.app.serving.limits import Allowed
from nbr.app.serving.security import Door
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
JSON = {"Content-Type": "application/json"}
REASONER = ["ask", "ask-many", "explain", "probability", "sample"]
EVERY = [*REASONER, "classify", "certify", "attack"]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with (
        served(nbr.load(EXAMPLES / "majority.toml"), "majority.toml") as address,
        httpx.Client(base_url=address, timeout=60) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def digits() -> Iterator[httpx.Client]:
    with served(nbr.load("mnist-4-9"), "mnist-4-9") as address, httpx.Client(base_url=address, timeout=120) as found:
        yield found


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


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.0.7", ""])
def test_another_host_is_refused(client: httpx.Client, host: str) -> None:
    """A page elsewhere may let its own name lead here; it must not read what it gets."""
    for path in ("/api/model", "/", "/healthz"):
        assert client.get(path, headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ],
)
def test_pages_from_elsewhere_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    found = client.get("/api/model", headers=headers)
    assert found.status_code == 403
    assert "access-control-allow-origin" not in found.headers
    assert client.post("/api/ask", json={"question": "x1"}, headers=headers).status_code == 403


def test_our_own_page_and_links_to_it_are_let_in(client: httpx.Client) -> None:
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/ask", json={"question": "x1"}, headers=own).status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    page = client.get("/", headers=link)
    assert page.status_code == 200
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    frame = {**link, "Sec-Fetch-Dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403


def test_a_form_elsewhere_cannot_ask(client: httpx.Client) -> None:
    """Forms and simple requests cannot say that their body is JSON."""
    found = client.post("/api/ask", content='{"question": "x1"}', headers={"Content-Type": "text/plain"})
    assert found.status_code == 415


def test_another_host_needs_the_token() -> None:
    door = Door.of("0.0.0.0", "a secret")
    with served(nbr.load(EXAMPLES / "garden.toml"), door=door) as address, httpx.Client(base_url=address) as client:
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "a secret"}, {"Authorization": "é"}):
            coded = {name: value.encode() for name, value in header.items()}
            assert client.get("/api/model", headers=coded).status_code == 401
            assert client.post("/api/ask", json={"question": "rain"}, headers=coded).status_code == 401
        right = {"Authorization": "Bearer a secret"}
        assert client.get("/api/model", headers=right).status_code == 200
        assert client.get("/api/model", headers={**right, "Host": "192.168.0.7:80"}).status_code == 200
        assert client.get("/api/model", headers={**right, "Host": "evil.example"}).status_code == 421
        assert client.get("/healthz").status_code == 200


def test_too_much_is_refused(client: httpx.Client) -> None:
    def status(path: str, **body: object) -> int:
        return client.post(f"/api/{path}", json=body).status_code

    assert client.post("/api/ask", content=b" " * (1 << 19), headers=JSON).status_code == 413
    assert client.post("/api/ask", content=iter([b" " * (1 << 17)] * 5), headers=JSON).status_code == 413
    assert status("ask", question="x1 " * 2_000) == 422
    assert status("ask-many", questions=["x1"] * 501) == 422
    assert status("sample", count=10_001) == 422
    assert status("ask", question="x1", budget=-1) == 422
    assert status("ask", question="x1", bugdet=1) == 422  # a misspelt setting is told, not ignored


def test_a_body_that_does_not_come_is_given_up() -> None:
    with served(nbr.load(EXAMPLES / "garden.toml"), allowed=Allowed(upload=0.2)) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as line:
            head = ["POST /api/ask HTTP/1.1", f"Host: {host}", "Content-Type: application/json", "Content-Length: 50"]
            line.sendall("\r\n".join([*head, "", '{"question"']).encode())
            line.settimeout(10)
            assert line.recv(1 << 16).startswith(b"HTTP/1.1 408")


def slow_world() -> nbr.Reasoner:
    """A model in which a moment passes whenever a point with slow=1 is graded."""

    def grade(points):
        if bool((points[:, 0] == 1).any()):
            time.sleep(0.4)
        return points[:, 1]

    return nbr.Reasoner(nbr.World(slow=nbr.Bit(), x=nbr.Bit()), [nbr.Fuzzy(grade, belief=0.5)])


def test_a_slow_question_does_not_hold_up_a_quick_one() -> None:
    allowed = Allowed(seconds=5.0, slow_threads=1)
    with served(slow_world(), allowed=allowed) as address, httpx.Client(base_url=address, timeout=60) as client:

        def explain(_: int) -> int:
            return client.post("/api/explain", json={"question": "x", "given": "slow=1"}).status_code

        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(explain, number) for number in range(2)]
            time.sleep(0.3)
            start = time.monotonic()
            told = client.post("/api/ask", json={"question": "x", "given": "slow=0"}).json()
            took = time.monotonic() - start
            still = sum(not each.done() for each in waiting)
            assert [each.result() for each in waiting] == [200] * 2
    assert told["belief"] == 0.5
    assert still >= 1
    assert took < 0.9


def test_more_work_than_the_server_takes_on_is_turned_away() -> None:
    allowed = Allowed(slow_threads=1, slow_waiting=0)
    with served(slow_world(), allowed=allowed) as address:
        body = {"question": "x", "given": "slow=1"}
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(httpx.post, f"{address}/api/explain", json=body, timeout=60)
            time.sleep(0.3)
            second = httpx.post(f"{address}/api/explain", json=body)
            assert (second.status_code, second.headers["retry-after"]) == (503, "1")
            assert first.result().status_code == 200


def test_a_question_that_cannot_be_settled_gets_bounds_in_time() -> None:
    """A function of six reals: no engine settles that in half a second."""
    import torch

    world = nbr.World({f"y{i}": nbr.Real(0, 1) for i in range(6)})
    rule = nbr.Fuzzy(lambda points: torch.sigmoid(points.sum(dim=1) - 3), belief=0.7)
    with served(nbr.Reasoner(world, [rule]), allowed=Allowed(seconds=0.5)) as address:
        start = time.monotonic()
        told = httpx.post(f"{address}/api/ask", json={"question": "y0>=0.5", "budget": 100}, timeout=60).json()
        took = time.monotonic() - start
    assert told["exact"] is False
    assert told["bounds"]["plausibility"][0] <= told["plausibility"]
    assert took < 10


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
QUERY = st.text("x01259 &|~()=<>-.,{}\"'inorcount", max_size=30)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "question": QUERY | values,
        "questions": st.lists(QUERY, max_size=3) | values,
        "given": QUERY | values,
        "off": st.lists(st.integers(0, 4), max_size=3) | values,
        "seed": st.integers(-1, 3) | values,
        "count": st.integers(-1, 3) | values,
        "picture": st.binary(max_size=40).map(lambda raw: base64.b64encode(raw).decode()) | values,
        "numbers": st.lists(st.floats(), max_size=3) | values,
        "other": values,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(REASONER), body=BODIES.map(lambda body: {**body, "budget": 0.2}))
def test_garbage_is_never_a_fault_of_the_server(client: httpx.Client, path: str, body: dict[str, object]) -> None:
    found = client.post(f"/api/{path}", content=json.dumps(body).encode(), headers=JSON)
    assert found.status_code in (200, 400, 422), (body, found.text)
    assert found.status_code == 200 or set(found.json()) == {"error", "field", "at"}


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[",
        b"[" * 100_000,
        b"null",
        b"\xff\xfe",
        b'{"question": "\\ud800"}',
        b'{"question": ' + b"9" * 5_000 + b"}",
        b'{"question": "x1", "seed": 1e400}',
        b'{"question": "x1", "budget": NaN}',
        b'{"count": true}',
        b'{"picture": "\\u00e9"}',
        b'{"picture": "AAAA", "numbers": [1]}',
        b'{"numbers": [Infinity]}',
    ],
)
def test_broken_bodies(client: httpx.Client, digits: httpx.Client, path: str, raw: bytes) -> None:
    found = (client if path in REASONER else digits).post(f"/api/{path}", content=raw, headers=JSON)
    assert found.status_code in (400, 422)
    assert set(found.json()) == {"error", "field", "at"}


def test_unknown_addresses_and_methods(client: httpx.Client) -> None:
    for path in ("/nothing", "/../pyproject.toml", "/api/classify", "/%2e%2e/serving/api.py", "/api.py"):
        assert client.post(path, json={}).status_code in (404, 405)
        assert client.get(path).status_code in (404, 405)
    assert client.get("/api/ask").status_code == 405


def test_the_description_names_every_address(client: httpx.Client, digits: httpx.Client) -> None:
    told = client.get("/openapi.json").json()
    assert set(told["paths"]) == {"/healthz", "/api/model", *(f"/api/{path}" for path in REASONER)}
    assert set(digits.get("/openapi.json").json()["paths"]) >= {"/api/classify", "/api/certify", "/api/attack"}
    assert told["paths"]["/api/ask"]["post"]["responses"]["400"]["content"]["application/json"]["schema"]


def picture(name: str) -> str:
    return base64.b64encode((EXAMPLES / name).read_bytes()).decode()


def test_pictures_are_classified(digits: httpx.Client) -> None:
    model = digits.get("/api/model").json()
    assert (model["kind"], model["labels"], model["pictures"]) == ("classifier", [4, 9], True)
    told = digits.post("/api/classify", json={"picture": picture("four.png")}).json()
    classifier, shown = nbr.load("mnist-4-9"), nbr.classify.pictures.read(EXAMPLES / "four.png")[0]
    assert told["label"] == 4
    assert told["proved_radius"] == pytest.approx(float(classifier.certified_radius(shown[None])[0]))
    assert told["intervals"]["4"] == pytest.approx(classifier.belief(shown[None])[0, 0].tolist())
    assert np.array(told["image"]).reshape(28, 28) == pytest.approx(255 * shown, abs=0.51)
    short = digits.post("/api/certify", json={"picture": picture("nine.png")}).json()
    assert set(short) == {"label", "proved_radius", "warnings"}
    assert short["label"] == 9
    numbers = digits.post("/api/certify", json={"numbers": shown.ravel().tolist()}).json()
    assert numbers["proved_radius"] == pytest.approx(told["proved_radius"])


def test_an_attack_finds_nothing_within_the_proved_radius(digits: httpx.Client) -> None:
    body = {"picture": picture("four.png")}
    told, radius = digits.post("/api/attack", json=body).json(), digits.post("/api/certify", json=body).json()
    assert told["label"] == 9
    assert radius["proved_radius"] < told["distance"] < 5
    assert len(told["image"]) == 784


def test_the_example_that_a_rule_remembers_is_shown(digits: httpx.Client) -> None:
    classifier = nbr.load("mnist-4-9")
    remembered = classifier.rules_.memories[0].double().numpy().clip(0, 1)
    told = digits.post("/api/classify", json={"numbers": remembered.tolist()}).json()
    first = next(rule for rule in told["rules"] if rule["kind"] == "memory")
    assert np.array(first["image"]) == pytest.approx(255 * remembered, abs=0.51)


def test_pictures_that_are_none(digits: httpx.Client) -> None:
    content = io.BytesIO()
    Image.new("L", (3_000, 10), 255).save(content, "PNG")
    drawn = io.BytesIO()
    Image.new("RGB", (40, 40), "white").save(drawn, "EPS")
    wrong = {
        base64.b64encode(content.getvalue()).decode(): "the picture: the picture has 3000 x 10 pixels",
        base64.b64encode(drawn.getvalue()).decode(): "not a picture that can be read",
        base64.b64encode(b"no picture").decode(): "not a picture that can be read",
        "not base64!": "not base64",
    }
    for text, words in wrong.items():
        found = digits.post("/api/classify", json={"picture": text})
        assert (found.status_code, words in found.json()["error"]) == (400, True), found.text
    assert digits.post("/api/classify", json={"numbers": [0.5]}).status_code == 400
    assert digits.post("/api/classify", json={"picture": "A" * (5 << 20)}).status_code == 413


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


def test_another_host_gets_a_token_that_is_printed_once() -> None:
    with mock.patch("uvicorn.Server.run"):
        here, there, given = (
            run("serve", EXAMPLES / "garden.toml", "--port", "0", *options).stderr
            for options in ([], ["--host", "0.0.0.0"], ["--host", "0.0.0.0", "--token", "ours"])
        )
    assert "token" not in here
    made = re.search(r"#token=([\w-]{32}) ", there)
    assert made
    assert there.count(made[1]) == 1
    assert "/#token=ours " in given


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "70000"], "a port is a number from 0 to 65535, not 70000"),
        (["--budget", "0"], "the budget is a number of seconds above 0"),
        (["--host", "no such host"], "cannot listen at no such host"),
    ],
)
def test_what_the_command_refuses(options: list[str], words: str) -> None:
    found = run("serve", EXAMPLES / "garden.toml", *options)
    assert found.returncode == 2
    assert words in found.stderr
    assert found.stderr.count("\n") == 1
