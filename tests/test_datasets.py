"""Collections: only the right content counts, wherever it comes from."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import struct
import threading
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
    assert not list(home.iterdir())


class Shop(http.server.BaseHTTPRequestHandler):
    """Serves the toy files, breaks off the first answer half way, and notes what was asked for."""

    asked: list[tuple[str, str | None]]
    broken: bool

    def do_GET(self) -> None:
        content = gzip.compress(CONTENT[Path(self.path).stem], mtime=0)
        kind, span = type(self), self.headers.get("Range")
        kind.asked.append((self.path, span))
        start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
        self.send_response(206 if span else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        whole, kind.broken = kind.broken is False, False
        self.wfile.write(content[start:] if whole else content[start : len(content) // 2])

    def log_message(self, *_: object) -> None:
        pass


def test_a_broken_download_goes_on_where_it_stopped(home: Path) -> None:
    Shop.asked, Shop.broken = [], True
    with http.server.HTTPServer(("127.0.0.1", 0), Shop) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        toy = replace(TOY, mirrors=(f"http://127.0.0.1:{server.server_port}/",))
        with pytest.raises(NbrError, match="cannot get toy"):
            datasets.locate(toy)
        assert set(datasets.locate(toy).origin.values()) == set(toy.mirrors)
        server.shutdown()
    half = len(gzip.compress(CONTENT["one"], mtime=0)) // 2
    assert Shop.asked == [("/one.gz", None), ("/one.gz", f"bytes={half}-"), ("/two.gz", None)]
    assert sorted(path.name for path in home.iterdir()) == ["one", "two"]


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
