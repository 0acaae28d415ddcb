"""Collections: only the right content counts, wherever it comes from."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nbr import NbrError, datasets
from nbr.datasets import sources
from nbr.datasets.idx import read

CONTENT = {name: f"content of {name}".encode() * 1000 for name in ("one", "two")}
TOY = sources.Collection(
    "toy",
    {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()},
    (),
    ("a package", ("no-such-program",), ()),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NBR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "toy"


def test_a_local_folder_plain_or_compressed_then_the_cache(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "one").write_bytes(CONTENT["one"])
    (folder / "two.gz").write_bytes(gzip.compress(CONTENT["two"]))
    assert datasets.locate(TOY, folder).origin == {"one": str(folder), "two": str(folder)}
    assert (home / "two").read_bytes() == CONTENT["two"]
    assert datasets.locate(TOY).origin == {"one": "cache", "two": "cache"}
    (home / "one").unlink()
    (home / "one.gz").write_bytes(gzip.compress(CONTENT["one"]))  # put there by hand, as the error message says
    assert datasets.locate(TOY).origin == {"one": "cache", "two": "cache"}


def test_wrong_content_is_not_taken_and_the_error_says_what_to_do(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "one").write_bytes(b"something else")
    with pytest.raises(NbrError, match="no-such-program is not installed.*Put these files.*one, two") as caught:
        datasets.locate(TOY, folder)
    assert str(home) in str(caught.value)
    assert not home.exists()


class Shop(http.server.BaseHTTPRequestHandler):
    """Serves the toy files, spoils the first answers, and notes what was asked for."""

    asked: list[str]
    spoilt: list[str]  # how, one for each of the first answers

    def do_GET(self) -> None:
        kind, content = type(self), gzip.compress(CONTENT[Path(self.path).stem], mtime=0)
        kind.asked.append(self.path)
        how = kind.spoilt.pop(0) if kind.spoilt else ""
        sent = {"half": content[: len(content) // 2], "wrong": gzip.compress(b"something else")}.get(how, content)
        self.send_response(503 if how == "busy" else 200)
        self.send_header("Content-Length", str(len(sent) if how == "wrong" else len(content)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[sources.Collection]:
    Shop.asked, Shop.spoilt = [], []
    with http.server.HTTPServer(("127.0.0.1", 0), Shop) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield replace(TOY, mirrors=(f"http://127.0.0.1:{server.server_port}/",))
        server.shutdown()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)


@pytest.mark.parametrize("how", ["half", "wrong", "busy"])
def test_a_download_that_fails_is_tried_again(how: str, shop: sources.Collection, home: Path) -> None:
    Shop.spoilt = [how]
    assert set(datasets.locate(shop).origin.values()) == set(shop.mirrors)
    assert Shop.asked == ["/one.gz", "/one.gz", "/two.gz"]
    assert {path.name: path.read_bytes() for path in home.iterdir()} == CONTENT


@pytest.mark.parametrize("how", ["half", "wrong", "busy"])
def test_what_keeps_failing_leaves_nothing_and_is_said(how: str, shop: sources.Collection, home: Path) -> None:
    Shop.spoilt = [how] * (sources.RETRIES + 1)
    with pytest.raises(NbrError, match="cannot get toy .*127.0.0.1.*no-such-program is not installed"):
        datasets.locate(shop)
    assert len(Shop.asked) == sources.RETRIES + 1
    assert list(home.iterdir()) == []


def test_the_next_mirror_and_only_what_is_missing(shop: sources.Collection, home: Path, tmp_path: Path) -> None:
    """The folder comes first, then the cache, then mirrors in their order; each file tells which it was."""
    mirror = shop.mirrors[0]
    home.mkdir(parents=True)
    (home / "one").write_bytes(CONTENT["one"])
    said: list[str] = []
    dead = replace(shop, mirrors=("http://127.0.0.1:1/", mirror))
    assert datasets.locate(dead, tmp_path / "none", said.append).origin == {"one": "cache", "two": mirror}
    assert said == ["toy: http://127.0.0.1:1/", f"toy: {mirror}"]
    assert Shop.asked == ["/two.gz"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "one").write_bytes(CONTENT["one"])
    assert datasets.locate(shop, tmp_path / "mine").origin == {"one": str(tmp_path / "mine"), "two": "cache"}


def test_idx(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    path = tmp_path / "x"
    path.write_bytes(b"\x00\x00\x08\x03" + struct.pack(">3I", 2, 3, 4) + values.tobytes())
    np.testing.assert_array_equal(read(path), values)
    for wrong in (b"", b"\x00\x00\x08\x03\x00", path.read_bytes()[:-1], b"PNG" + path.read_bytes()):
        path.write_bytes(wrong)
        with pytest.raises(NbrError, match="x: "):
            read(path)


def test_the_part_is_named() -> None:
    with pytest.raises(NbrError, match="'train' or 'test'"):
        datasets.mnist(part="valid")


def test_photographs_are_rows_of_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row of a file is a picture of 32 x 32 in colour, the labels lie beside."""
    from PIL import Image

    levels = np.random.default_rng(0).integers(0, 256, (5, 1024, 3)).astype(np.uint8)
    real, files = datasets.COLLECTIONS["cifar-10"], {}
    for name in real.files:
        if name.endswith(".png"):
            Image.fromarray(levels).save(tmp_path / name)
        else:
            (tmp_path / name).write_text("[3, 8, 0, 3, 9]" if name.startswith("test") else str([0, 1, 2, 3, 4] * 5))
        files[name] = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    monkeypatch.setitem(datasets.COLLECTIONS, "cifar-10", replace(real, files=files))
    X, y = datasets.cifar10(part="test", folder=tmp_path)
    np.testing.assert_array_equal(X, levels.reshape(5, 32, 32, 3) / 255)
    assert y.tolist() == [3, 8, 0, 3, 9]
    X, y = datasets.cifar10((3, 9), "test", tmp_path)
    np.testing.assert_array_equal(X, levels.reshape(5, 32, 32, 3)[[0, 3, 4]] / 255)
    assert y.tolist() == [3, 3, 9]
    assert len(datasets.cifar10(folder=tmp_path)[0]) == 25
    with pytest.raises(NbrError, match="part is 'train' or 'test', not 'valid'"):
        datasets.cifar10(part="valid", folder=tmp_path)
