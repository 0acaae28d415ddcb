"""Somebody's own pictures in three made classes: do command line, API, page and Python say the same of files?

python benchmarks/own_pictures.py [-o docs/results/own-pictures.json] [--count 300]

Rings, crosses and stripes, half of them light on dark and half dark on light, as PNG files: of 28 x 28 pixels for a
classifier that takes files as they are, of 280 x 280 for one that scales them. Labels and proofs of each file come from
`nbr classify --json`, from `POST /api/classify`, from the page in a real browser in which the file is chosen, and from
`predict(read(...))`. Then every corner of every file with a proof is made grey, white or black, one pixel, wherever
the proof says that this changes nothing. Last, the same is done to digits for `mnist-4-9`, 280 x 280, which are cut
out: there the attack does change labels, and no proof may say that it is of the file.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

import nbr

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
KINDS = ("cross", "ring", "stripes")
SIDE = 28
SHADES = (60, 255, 0)


def main(count: int, output: Path | None) -> None:
    report = {"pictures": count}
    with tempfile.TemporaryDirectory() as place:
        for preparation, factor in (("none", 1), ("scale", 10)):
            report[preparation] = one(preparation, factor, count, Path(place, preparation))
            print(json.dumps({preparation: report[preparation]}, indent=1), flush=True)
        report["mnist-4-9"] = digits(count // 3, Path(place, "digits"))
        print(json.dumps({"mnist-4-9": report["mnist-4-9"]}, indent=1), flush=True)
    if output is not None:
        output.write_text(json.dumps(report, indent=1) + "\n")


def one(preparation: str, factor: int, count: int, place: Path) -> dict:
    place.mkdir()
    X, y = made(600, seed=0)
    start = time.perf_counter()
    settings = {"networks": 3, "width": 128, "depth": 2, "head": 32, "epochs": 40, "random_state": 0}
    trained = nbr.RobustClassifier("auto", box=(0, 1), preparation=preparation, **settings).fit(X, y)
    seconds = time.perf_counter() - start
    trained.save(place / "own.nbr")
    classifier = nbr.load(place / "own.nbr")
    Z, z = made(count, seed=1)
    paths = []
    for number, pixels in enumerate(Z):
        paths.append(place / f"{number:03d}.png")
        save(np.kron(pixels, np.ones((factor, factor))), paths[-1])
    arrays = classifier.predict(Z)  # what a scientist has, without any file
    seen = classifier.read(*paths)
    python = [
        {"label": str(label), "prepared_radius": float(radius)}
        for label, radius in zip(classifier.predict(seen), classifier.certified_radius(seen), strict=True)
    ]
    roads = {
        "python": python,
        "command line": command_line(str(place / "own.nbr"), paths),
        **served_roads(classifier, paths),
    }
    told = roads["command line"]
    alike = {
        name: sum(a["label"] == b["label"] and close(a, b) for a, b in zip(told, road, strict=True))
        for name, road in roads.items()
    }
    return {
        "seconds of training": round(seconds, 1),
        "right, arrays in Python": float(np.mean(arrays == z)),
        "right, files": float(np.mean([each["label"] for each in told] == z)),
        "labels and radii as the command line": alike,
        "proved_of": dict(Counter(each["proved_of"] for each in told)),
        "proved radius, median": float(np.median([each["proved_radius"] for each in told])),
        "corner pixel": corners(classifier, paths, told),
    }


def digits(count: int, place: Path) -> dict:
    place.mkdir()
    paths = []
    for number, pixels in enumerate(nbr.datasets.mnist((4, 9), "test")[0][:count]):
        paths.append(place / f"{number:03d}.png")
        save(np.pad(np.kron(pixels, np.ones((4, 4))), 84), paths[-1])  # as somebody writes on a large sheet
    told = command_line("mnist-4-9", paths)
    return {
        "pictures": count,
        "proved_of": dict(Counter(each["proved_of"] for each in told)),
        "corner pixel": corners(nbr.load("mnist-4-9"), paths, told),
    }


def close(first: dict, second: dict) -> bool:
    """Radii of what the classifier saw, and of the file where that is told, up to rounding."""
    shared = [name for name in ("prepared_radius", "proved_radius") if name in first and name in second]
    return bool(shared) and all(abs(first[name] - second[name]) <= 1e-9 for name in shared)


def made(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures with pixels of whole 255ths, so that a file holds exactly what the array does."""
    dice = np.random.default_rng(seed)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    pictures, labels = [], np.array(KINDS)[np.arange(count) % 3]
    for number, kind in enumerate(labels):
        down, across = dice.uniform(11, 16, 2)
        far = np.hypot(rows - down, columns - across)
        if kind == "ring":
            drawn = np.abs(far - dice.uniform(6, 9)) < 1.6
        elif kind == "cross":
            drawn = ((np.abs(rows - down) < 1.8) | (np.abs(columns - across) < 1.8)) & (far < dice.uniform(8, 11))
        else:
            drawn = ((columns + dice.uniform(0, 6)) % 7 < 3) & (np.abs(rows - down) < dice.uniform(7, 10))
        light = np.clip(0.1 + 0.8 * drawn + dice.normal(0, 0.05, (SIDE, SIDE)), 0, 1)
        light = light if (number // 3) % 2 else 1 - light
        pictures.append(np.round(255 * light) / 255)
    return np.stack(pictures), labels


def save(pixels: np.ndarray, path: Path) -> None:
    Image.fromarray(np.round(255 * pixels).astype(np.uint8)).save(path)


def command_line(model: str, paths: list[Path]) -> list[dict]:
    words = [sys.executable, "-m", "nbr", "classify", *map(str, paths), "--model", model, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["pictures"]


def served_roads(classifier: nbr.RobustClassifier, paths: list[Path]) -> dict[str, list[dict]]:
    """The API as a program asks it, and as the page asks it when a file is chosen there."""
    from browsing import chromium
    from served import served

    with served(classifier, "own.nbr") as address:
        api = []
        for path in paths:
            body = json.dumps({"picture": base64.b64encode(path.read_bytes()).decode()}).encode()
            asked = urllib.request.Request(f"{address}/api/classify", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(asked) as answer:
                api.append(json.load(answer))
        with chromium() as browser:
            page, shown = browser.new_page(), []
            page.goto(address)
            for path in paths:
                with page.expect_response("**/api/classify") as answer:
                    page.get_by_label("Choose a picture").set_input_files(path)
                told = answer.value.json()
                page.locator("#label", has_text=told["label"]).wait_for()
                shown.append({**told, "label": page.locator("#label").text_content()})
    return {"API": api, "page": shown}


def corners(classifier: nbr.RobustClassifier, paths: list[Path], told: list[dict]) -> dict:
    """One pixel in a corner, of files with a proof: how many changes were within it, and how many changed the label."""
    within = Counter()
    place = paths[0].parent / "changed.png"
    for path, report in zip(paths, told, strict=True):
        pixels = np.asarray(Image.open(path))
        for down, across, shade in [(d, a, s) for d in (0, -1) for a in (0, -1) for s in SHADES]:
            changed = pixels.copy()
            changed[down, across] = shade
            length = float(np.linalg.norm((changed.astype(float) - pixels) / 255))
            if not 0 < length <= report["proved_radius"]:
                continue
            Image.fromarray(changed).save(place)
            lost = bool(classifier.predict(classifier.read(place))[0] != report["label"])
            within[report["proved_of"]] += 1
            within[f"{report['proved_of']}, label lost"] += lost
    return dict(within)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--count", type=int, default=300)
    chosen = parser.parse_args()
    main(chosen.count, chosen.output)
