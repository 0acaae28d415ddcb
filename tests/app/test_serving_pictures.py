"""`nbr serve` for a classifier of pictures."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

import nbr
from browsing import Seen, draw_a_four
from pictures import bars, text_bomb
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
REASONER = ["ask", "ask-many", "explain", "marginals", "probability", "read", "rules", "sample", "save", "version"]


def test_the_description_names_every_address(client: httpx.Client, classifier: httpx.Client) -> None:
    told = client.get("/openapi.json").json()
    assert set(told["paths"]) == {"/healthz", "/api/model", *(f"/api/{path}" for path in REASONER)}
    assert set(classifier.get("/openapi.json").json()["paths"]) >= {
        f"/api/{path}" for path in ("classify", "classify-many", "classify-files", "certify", "attack")
    }
    assert told["paths"]["/api/ask"]["post"]["responses"]["400"]["content"]["application/json"]["schema"]


def picture(name: str) -> str:
    return base64.b64encode((EXAMPLES / name).read_bytes()).decode()


def test_pictures_are_classified(classifier: httpx.Client) -> None:
    model = classifier.get("/api/model").json()
    assert (model["kind"], model["labels"], model["pictures"]) == ("classifier", [4, 9], True)
    told = classifier.post("/api/classify", json={"picture": picture("four.png")}).json()
    loaded = nbr.load("mnist-4-9")
    shown = loaded.read(EXAMPLES / "four.png")[0]
    assert told["label"] == 4
    assert told["proved_radius"] == pytest.approx(float(loaded.certified_radius(shown[None])[0]))
    assert told["intervals"]["4"] == pytest.approx(loaded.belief(shown[None])[0, 0].tolist())
    assert np.array(told["image"]).reshape(28, 28) == pytest.approx(255 * shown, abs=0.51)
    short = classifier.post("/api/certify", json={"picture": picture("nine.png")}).json()
    assert set(short) == {"label", "proved_radius", "proved_of", "warnings"}
    assert (short["label"], short["proved_of"]) == (9, "prepared picture")
    numbers = classifier.post("/api/certify", json={"numbers": shown.ravel().tolist()}).json()
    assert numbers["proved_radius"] == pytest.approx(told["proved_radius"])


def test_many_pictures_in_one_request(classifier: httpx.Client) -> None:
    names = ["four.png", "nine.png"]
    one_by_one = [classifier.post("/api/classify", json={"picture": picture(name)}).json() for name in names]
    files = [("pictures", (name, (EXAMPLES / name).read_bytes(), "image/png")) for name in names]
    form = classifier.post("/api/classify-files", files=files)
    as_json = classifier.post("/api/classify-many", json={"pictures": [{"picture": picture(name)} for name in names]})
    assert form.status_code == 200, form.text
    assert form.json() == as_json.json()
    assert form.json()["pictures"] == one_by_one
    large = [("pictures", (f"{number}.bmp", bitmap(), "image/bmp")) for number in range(5)]
    told = classifier.post("/api/classify-files", files=large)  # larger than a body of words may be
    assert told.status_code == 200, told.text


def test_a_form_that_is_wrong(classifier: httpx.Client) -> None:
    good = ("pictures", ("four.png", (EXAMPLES / "four.png").read_bytes()))
    bad = classifier.post("/api/classify-files", files=[good, ("pictures", ("b.png", b"no picture")), good])
    assert (bad.status_code, bad.json()["field"]) == (400, "pictures.1")
    assert "not a picture that can be read" in bad.json()["error"]
    for files in ([("photo", good[1])], [good] * 101):
        refused = classifier.post("/api/classify-files", files=files)
        assert (refused.status_code, refused.json()["field"]) == (422, "pictures")
    words = classifier.post("/api/classify-files", data={"pictures": "four.png"}, files=[("other", good[1])])
    assert words.status_code == 422
    assert classifier.post("/api/classify-files", json={"pictures": []}).status_code == 415
    assert classifier.post("/api/classify-many", files=[good]).status_code == 415
    head = {"Content-Type": "multipart/form-data"}  # no boundary
    assert classifier.post("/api/classify-files", content=b"--x", headers=head).status_code == 400
    huge = [("pictures", ("huge.png", b"0" * (5 << 20)))]
    assert classifier.post("/api/classify-files", files=huge).status_code == 413


def bitmap() -> bytes:
    content = io.BytesIO()
    drawn = Image.new("RGB", (200, 200), "white")
    drawn.paste("black", (95, 30, 105, 170))
    drawn.save(content, "BMP")
    return content.getvalue()


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


def test_pictures_that_are_none(classifier: httpx.Client, tmp_path: Path) -> None:
    content = io.BytesIO()
    Image.new("L", (3_000, 10), 255).save(content, "PNG")
    drawn = io.BytesIO()
    Image.new("RGB", (40, 40), "white").save(drawn, "EPS")
    bomb = text_bomb(tmp_path / "bomb.png").read_bytes()
    wrong = {
        base64.b64encode(bomb).decode(): "the picture: cannot be read as a picture: ",
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


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of somebody's own pictures, 28 x 28 and grey as MNIST, whose labels are words; dark on light."""
    X, y = bars(None, "train")
    path = tmp_path_factory.mktemp("own") / "own.nbr"
    network = nbr.NonexpansiveClassifier(1.0, widths=(32, 8), epochs=8, batch_size=32, random_state=0)
    network.fit(1 - X, np.array(["up", "flat"])[y]).save(path)
    return path


def test_own_pictures_are_taken_as_they_are(own: Path) -> None:
    loaded, (X, _) = nbr.load(own), bars(None, "test")
    with served(loaded, "own.nbr") as address, httpx.Client(base_url=address, timeout=60) as client:
        model = client.get("/api/model").json()
        assert (model["pictures"], model["preparation"]["kind"]) == (True, "none")
        for pixels in 1 - X[:5]:
            Image.fromarray((pixels * 255).astype(np.uint8)).save(own.parent / "a.png")
            content = base64.b64encode((own.parent / "a.png").read_bytes()).decode()
            told = client.post("/api/classify", json={"picture": content}).json()
            assert told["label"] == loaded.predict(pixels[None])[0]
            assert told["proved_of"] == "file"
            assert told["proved_radius"] == pytest.approx(float(loaded.certified_radius(pixels[None])[0]))
            assert told["image"] == (pixels * 255).round().astype(int).ravel().tolist()
        told = client.post("/api/certify", json={"numbers": pixels.ravel().tolist()}).json()
        assert told["proved_of"] == "prepared picture", "numbers are what a file would be made into"
        Image.new("L", (30, 28)).save(own.parent / "b.png")
        content = base64.b64encode((own.parent / "b.png").read_bytes()).decode()
        refused = client.post("/api/classify", json={"picture": content})
        assert (refused.status_code, "it has 30 x 28 pixels" in refused.json()["error"]) == (400, True)


def test_the_page_of_own_pictures(own: Path, browser: Any) -> None:
    with served(nbr.load(own), "own.nbr") as address:
        found = Seen(browser, address)
        page = found.open()
        page.get_by_text("Pictures: 28 x 28 pixels, unchanged, grey, black 0 to white 1").wait_for()
        X, _ = bars(None, "test")
        Image.fromarray(((1 - X[0]) * 255).astype(np.uint8)).save(own.parent / "c.png")
        page.get_by_label("Choose a picture").set_input_files(own.parent / "c.png")
        page.locator("#proof", has_text="Proved of the file, pixels from 0 to 1: no change of L2 length").wait_for()
        assert page.locator("#label").text_content() == nbr.load(own).predict(1 - X[:1])[0]
        draw_a_four(page)
        page.locator("#proof", has_text="Proved of the prepared 28 x 28 picture, not of the file").wait_for()
        found.close()
