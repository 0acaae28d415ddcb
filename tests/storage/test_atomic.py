"""Outputs are whole or not there, and go where a shell's redirection would send them."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from nbr import NbrError
from nbr.storage import atomic

CONTENT = os.urandom(200_000)  # more than a pipe holds


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    for content in (b"old and longer than the new one", b"new"):
        atomic.write(tmp_path / "a", content)
        assert (tmp_path / "a").read_bytes() == content
    assert os.listdir(tmp_path) == ["a"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(Path("far") / "file")
    (tmp_path / "chain").symlink_to("link")
    atomic.write(tmp_path / "chain", CONTENT)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "chain").is_symlink()
    assert (tmp_path / "far" / "file").read_bytes() == CONTENT
    assert os.listdir(tmp_path / "far") == ["file"]


def test_a_link_to_nothing_yet_makes_the_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("later")
    atomic.write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "later").read_bytes() == b"new"


def test_a_pipe_gets_the_bytes_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    atomic.write(tmp_path / "pipe", CONTENT)
    reader.join(10)
    assert got == [CONTENT]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_device_survives(tmp_path: Path) -> None:
    """By a link, so that a writer that replaces what it should write through cannot harm the machine."""
    (tmp_path / "sink").symlink_to("/dev/null")
    atomic.write(tmp_path / "sink", b"gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert (tmp_path / "sink").is_symlink()


def test_permissions_are_kept_and_new_files_follow_the_umask(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    atomic.write(tmp_path / "a", b"new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        atomic.write(tmp_path / "b", b"new")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o640


@pytest.mark.parametrize("broken", ["fsync", "replace", "chmod"])
def test_a_failing_write_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, broken, full)
    with pytest.raises(NbrError, match="cannot write .*a: No space left on device"):
        atomic.write(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_ctrl_c_while_writing_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        atomic.write(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NbrError, match="cannot write .*none/a: No such file or directory"):
        atomic.write(tmp_path / "none" / "a", b"new")
