"""From a folder of somebody's own pictures to a classifier with a proof that is served: three commands, how long?

python benchmarks/folder.py [-o docs/results/folder.json] [--count 150] [--side 40] [--size 32]

Rings, crosses and stripes in any colours on any others, so many of each, written as PNG files. `nbr train`,
`nbr classify` and `nbr serve` are run as a user would; fresh pictures are then asked about on the command line, by the
API and in Python, which have to agree, and attacked within their proofs. Last, what is said of folders with a broken
file, one class, two sizes and an alpha channel.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
from PIL import Image

import nbr
from own_pictures import KINDS, close, command_line

FRESH = 60
Array = np.ndarray


def main(count: int, side: int, size: int, output: Path | None) -> None:
    with tempfile.TemporaryDirectory() as place:
        report = {"of each class": count, "pixels": f"{side} x {side} x 3", **whole(Path(place), count, side, size)}
        report["lines"] = broken(Path(place))
    print(json.dumps(report, indent=1))
    if output is not None:
        output.write_text(json.dumps(report, indent=1) + "\n")


def whole(place: Path, count: int, side: int, size: int) -> dict:
    write(place / "pictures", count, side, 0)
    start, before = time.perf_counter(), spent()
    train = ["train", "pictures", "-o", "mine.nbr", "--json", "--size", str(size)]
    told = json.loads(nbr_does(place, *train).stdout)
    trained, seconds = time.perf_counter() - start, spent() - before
    paths, truth = write(place / "fresh", FRESH // 3, side, 1)
    asked = command_line(str(place / "mine.nbr"), paths)
    api = served(place, paths)
    classifier = nbr.load(place / "mine.nbr")
    seen = classifier.read(*paths)
    python = [
        {"label": str(label), "prepared_radius": float(radius)}
        for label, radius in zip(classifier.predict(seen), classifier.certified_radius(seen), strict=True)
    ]
    alike = {
        name: sum(a["label"] == b["label"] and close(a, b) for a, b in zip(asked, road, strict=True))
        for name, road in (("API", api), ("Python", python))
    }
    return {
        "seconds": round(trained),
        "processor seconds": round(seconds),
        **{name: told[name] for name in ("held_out", "right", "length", "proved", "proved_of", "made_of", "compared")},
        "fresh pictures": FRESH,
        "fresh ones right": float(np.mean([each["label"] for each in asked] == truth)),
        "their proved radius, median": float(np.median([each["proved_radius"] for each in asked])),
        "as the command line": alike,
        "attacked": attacked(place),
    }


def attacked(place: Path) -> dict:
    words = ("attack", "mine.nbr", "--data", "fresh", "-o", "run", "--epsilon", "1", "--only", "DDN", "--json")
    told = json.loads(nbr_does(place, *words).stdout)
    return {name: told[name] for name in ("images", "broken_within_their_proved_radius")}


def served(place: Path, paths: list[Path]) -> list[dict]:
    """The third command, asked for all pictures in one request."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "nbr", "serve", "mine.nbr", "--port", str(port)]
    process = subprocess.Popen(words, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    line = b"--next"
    parts = [
        line + b'\r\nContent-Disposition: form-data; name="pictures"; filename="%s"\r\n' % path.name.encode()
        + b"Content-Type: image/png\r\n\r\n" + path.read_bytes() + b"\r\n"
        for path in paths
    ]  # fmt: skip
    kind = {"Content-Type": "multipart/form-data; boundary=next"}
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/classify-files", b"".join(parts) + line + b"--\r\n", kind
    )
    try:
        for _ in range(120):
            try:
                with urllib.request.urlopen(asked) as answer:
                    return json.load(answer)["pictures"]
            except urllib.error.HTTPError as error:
                raise SystemExit(error.read().decode()) from None
            except urllib.error.URLError:
                time.sleep(0.5)
        raise SystemExit("the server did not answer")
    finally:
        process.terminate()
        process.wait()


def broken(place: Path) -> dict[str, str]:
    """What is said of folders that are not as they should be; those that can be learned from go on, and say so."""
    said = {}
    for name in ("a broken file", "one class", "two sizes", "an alpha channel"):
        folder = place / name.replace(" ", "-")
        write(folder, 10, 40, 2)
        first = next((folder / "ring").iterdir())
        if name == "a broken file":
            first.write_bytes(first.read_bytes()[:100])
        elif name == "one class":
            shutil.rmtree(folder / "cross")
            shutil.rmtree(folder / "stripes")
        elif name == "two sizes":
            Image.open(first).resize((60, 50)).save(first)
        else:
            clear = Image.open(first).convert("RGBA")
            clear.putalpha(100)
            clear.save(first)
        done = nbr_does(place, "train", folder.name, "-o", "x.nbr", "--force", "--epochs", "1", check=False)
        lines = [each for each in done.stderr.splitlines() if " left" not in each]
        about = [each for each in lines if any(word in each for word in ("size", "transparent", "label", first.name))]
        said[name] = f"exit {done.returncode}: {' | '.join(about)}"
    return said


def nbr_does(place: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess:
    done = subprocess.run([sys.executable, "-m", "nbr", *words], cwd=place, capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(done.stderr)
    return done


def write(folder: Path, count: int, side: int, seed: int) -> tuple[list[Path], Array]:
    """Files in class folders, and the label of each."""
    paths, labels = [], []
    dice = np.random.default_rng(seed)
    for kind in KINDS:
        (folder / kind).mkdir(parents=True)
        for number in range(count):
            paths.append(folder / kind / f"{number:03d}.png")
            labels.append(kind)
            Image.fromarray(made(kind, side, dice)).save(paths[-1])
    return paths, np.array(labels)


def made(kind: str, side: int, dice: np.random.Generator) -> Array:
    """A figure of any colour on a ground of any other, that is at least half as far away as black is from white."""
    rows, columns = np.mgrid[:side, :side] / side
    down, across = dice.uniform(0.4, 0.6, 2)
    far = np.hypot(rows - down, columns - across)
    if kind == "ring":
        drawn = np.abs(far - dice.uniform(0.2, 0.32)) < 0.06
    elif kind == "cross":
        arms = (np.abs(rows - down) < 0.06) | (np.abs(columns - across) < 0.06)
        drawn = arms & (far < dice.uniform(0.28, 0.4))
    else:
        drawn = ((columns + dice.uniform(0, 1)) % 0.25 < 0.11) & (np.abs(rows - down) < dice.uniform(0.25, 0.35))
    while True:
        ground, figure = dice.uniform(0.1, 0.9, (2, 3))
        if np.linalg.norm(figure - ground) > np.sqrt(3) / 2 * 0.8:
            break
    light = np.where(drawn[..., None], figure, ground) + dice.normal(0, 0.05, (side, side, 3))
    return np.round(255 * light.clip(0, 1)).astype(np.uint8)


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--side", type=int, default=40)
    parser.add_argument("--size", type=int, default=32)
    chosen = parser.parse_args()
    main(chosen.count, chosen.side, chosen.size, chosen.output)
