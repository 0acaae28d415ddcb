"""The description of the API is true of what it answers, and whole: shapes for programs, and a page for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

import nbr
from browsing import Seen, judged
from nbr.app.serving import bodies, reasoning, replies

EXAMPLES = Path(__file__).parents[2] / "examples"
ASKED: dict[str, tuple[type[replies.Reply], dict[str, Any]]] = {
    "ask": (replies.AskedReply, {"question": "x10", "given": "x0=1"}),
    "ask-many": (replies.Answers, {"questions": ["x10", "x5"]}),
    "explain": (replies.ExplanationReply, {"question": "x10", "given": "x0=1"}),
    "probability": (replies.ProbabilityReply, {"question": "x10"}),
    "sample": (replies.SampledReply, {"count": 2}),
    "marginals": (replies.Shares, {"given": "x0=1"}),
    "rules": (replies.Rules, {"rules": [{"rule": 1, "says": None, "belief": 0.5}]}),
}


@pytest.mark.parametrize("path", ASKED)
def test_answers_have_the_shape_that_is_told(client: httpx.Client, path: str) -> None:
    shape, body = ASKED[path]
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    shape.model_validate_json(answer.text, strict=True)
    told = client.get("/openapi.json").json()["paths"][f"/api/{path}"]["post"]["responses"]
    assert told["200"]["content"]["application/json"]["schema"]["$ref"].endswith(f"/{shape.__name__}")
    assert told["400"]["content"]["application/json"]["schema"]["$ref"].endswith("/Error")


def test_models_classifiers_and_errors_too(client: httpx.Client, classifier: httpx.Client) -> None:
    replies.ModelReply.model_validate_json(client.get("/api/model").text, strict=True)
    replies.File.model_validate_json(client.get("/api/version").text, strict=True)
    replies.Tells.model_validate_json(classifier.get("/api/model").text, strict=True)
    one = classifier.post("/api/classify", json={"sample": 0})
    replies.Classified.model_validate_json(one.text, strict=True)
    both = classifier.post("/api/classify-many", json={"pictures": [{"sample": 0}, {"sample": 5}]})
    replies.Several.model_validate_json(both.text, strict=True)
    assert both.json()["pictures"][0] == one.json()
    whole = classifier.get("/openapi.json").json()
    described = whole["paths"]["/api/classify-files"]["post"]
    answer = described["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer["$ref"].endswith("/Several")
    form = described["requestBody"]["content"]["multipart/form-data"]["schema"]["$ref"].rpartition("/")[2]
    files = whole["components"]["schemas"][form]["properties"]["pictures"]["items"]
    assert files == {"type": "string", "format": "binary"}  # what makers of typed clients know as a file
    replies.Certified.model_validate_json(classifier.post("/api/certify", json={"sample": 5}).text, strict=True)
    wrong = classifier.post("/api/classify", json={"sample": 99})
    assert wrong.status_code == 400
    replies.Error.model_validate_json(wrong.text, strict=True)


def test_a_rule_of_a_request_counts_for_that_alone(client: httpx.Client) -> None:
    body = {"question": "x10", "given": "x0=1"}
    before = client.post("/api/ask", json=body).json()["plausibility"]
    added = {"rules": [{"rule": None, "says": "x10", "belief": 1.0}]}
    assert client.post("/api/ask", json={**body, **added}).json()["belief"] == 1.0
    assert client.post("/api/ask", json=body).json()["plausibility"] == before
    wrong = client.post("/api/rules", json={"rules": [{"rule": None, "says": "x0 -> y", "belief": 1.0}]})
    assert (wrong.status_code, wrong.json()["field"], wrong.json()["at"]) == (400, "rules.0", 7)
    refused = client.post("/api/save", json=added)
    assert refused.status_code == 400
    assert ".toml" in refused.json()["error"]


def test_the_page_of_the_api(browser: Any, majority: str) -> None:
    found = Seen(browser, majority, viewport={"width": 390, "height": 844})
    page = found.open("/docs")
    page.get_by_role("heading", name="POST /api/explain").wait_for()
    page.get_by_text("ExplanationReply: What an answer owes").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert judged(page) == []
    found.close()


def test_a_rule_in_other_words_is_still_from_whom_it_was() -> None:
    world = nbr.World(t=nbr.Real(0, 9, step=1), a=nbr.Bit(), b=nbr.Bit()).with_words({"hot": {"t": [3, 7]}})
    choice = nbr.one_of({"a": 0.3, "~a": 0.5}, source="guard")
    rules = [nbr.Clause("hot -> a", 0.8, source=nbr.Source("log", 0.5)), *choice]
    rules[0].quote = "it was hot"
    model = nbr.Reasoner(world, rules).model
    said = [{"rule": 1, "says": "hot -> a & b", "belief": 0.7}, {"rule": 2, "says": "a & b", "belief": 0.25}]
    found = reasoning.changed(model, [bodies.Written(**each) for each in said])
    assert [str(rule.source and rule.source.name) for rule in found.rules] == ["log", "guard", "guard"]
    assert found.rules[0].quote == "it was hot"
    assert found.rules[1].choice is found.rules[2].choice is not None
    assert found.rules[0].source == nbr.Source("log", 0.5)
    birds = nbr.Reasoner(world, [nbr.Clause("a", 0.5, unless="b")], closed=["a", "b"]).model
    (again,) = reasoning.changed(birds, [bodies.Written(rule=1, says=birds.rules[0].describe(), belief=0.7)]).rules
    assert (again.describe(), again.degree) == (birds.rules[0].describe(), 0.7)
