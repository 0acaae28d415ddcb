"""`nbr serve` for a classifier of pictures."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

import nbr

EXAMPLES = Path(__file__).parents[2] / "examples"
REASONER = ["ask", "ask-many", "explain", "probability", "sample"]


def test_the_description_names_every_address(client: httpx.Client, classifier: httpx.Client) -> None:
    told = client.get("/openapi.json").json()
    assert set(told["paths"]) == {"/healthz", "/api/model", *(f"/api/{path}" for path in REASONER)}
    assert set(classifier.get("/openapi.json").json()["paths"]) >= {"/api/classify", "/api/certify", "/api/attack"}
    assert told["paths"]["/api/ask"]["post"]["responses"]["400"]["content"]["application/json"]["schema"]


def picture(name: str) -> str:
    return base64.b64encode((EXAMPLES / name).read_bytes()).decode()


def test_pictures_are_classified(classifier: httpx.Client) -> None:
    model = classifier.get("/api/model").json()
    assert (model["kind"], model["labels"], model["pictures"]) == ("classifier", [4, 9], True)
    told = classifier.post("/api/classify", json={"picture": picture("four.png")}).json()
    loaded, shown = nbr.load("mnist-4-9"), nbr.classify.pictures.read(EXAMPLES / "four.png")[0]
    assert told["label"] == 4
    assert told["proved_radius"] == pytest.approx(float(loaded.certified_radius(shown[None])[0]))
    assert told["intervals"]["4"] == pytest.approx(loaded.belief(shown[None])[0, 0].tolist())
    assert np.array(told["image"]).reshape(28, 28) == pytest.approx(255 * shown, abs=0.51)
    short = classifier.post("/api/certify", json={"picture": picture("nine.png")}).json()
    assert set(short) == {"label", "proved_radius", "warnings"}
    assert short["label"] == 9
    numbers = classifier.post("/api/certify", json={"numbers": shown.ravel().tolist()}).json()
    assert numbers["proved_radius"] == pytest.approx(told["proved_radius"])


def test_an_attack_finds_nothing_within_the_proved_radius(classifier: httpx.Client) -> None:
    body = {"picture": picture("four.png")}
    told, radius = classifier.post("/api/attack", json=body).json(), classifier.post("/api/certify", json=body).json()
    assert told["label"] == 9
    assert radius["proved_radius"] < told["distance"] < 5
    assert len(told["image"]) == 784


def test_the_example_that_a_rule_remembers_is_shown(classifier: httpx.Client) -> None:
    remembered = nbr.load("mnist-4-9").rules_.memories[0].double().numpy().clip(0, 1)
    told = classifier.post("/api/classify", json={"numbers": remembered.tolist()}).json()
    first = next(rule for rule in told["rules"] if rule["kind"] == "memory")
    assert np.array(first["image"]) == pytest.approx(255 * remembered, abs=0.51)


def test_pictures_that_are_none(classifier: httpx.Client) -> None:
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
        found = classifier.post("/api/classify", json={"picture": text})
        assert (found.status_code, words in found.json()["error"]) == (400, True), found.text
    assert classifier.post("/api/classify", json={"numbers": [0.5]}).status_code == 400
    assert classifier.post("/api/classify", json={"picture": "A" * (5 << 20)}).status_code == 413
