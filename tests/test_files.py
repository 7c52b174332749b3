"""Files are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from replay_dd.errors.user import OutputError
from replay_dd.files import PRIVATE, check_writable, digest_of_regular, read_to_end, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "new folder" / "a.log"
    write_whole(target, b"one")
    write_whole(target, b"two")
    assert target.read_bytes() == b"two"
    assert os.listdir(target.parent) == ["a.log"]


def test_the_digest_of_a_regular_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    assert digest_of_regular(path, 3_000_000) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest_of_regular(path, 2_999_999) is None


@pytest.mark.parametrize(
    "name", ["gone", "folder", "pipe", "/dev/zero", "/proc/kmsg", "/proc/kcore", "a\0b", "a" * 5000]
)
def test_what_is_no_regular_file_has_no_digest_and_never_hangs(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert digest_of_regular(tmp_path / name, 2**30) in (None, hashlib.sha256().hexdigest())


def test_a_recording_belongs_to_its_user_alone(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.log", b"", mode=PRIVATE)
    write_whole(tmp_path / "a.html", b"")
    assert stat.S_IMODE((tmp_path / "a.log").stat().st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a.html").stat().st_mode) == 0o666 & ~mask


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.log"
    target.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.log"]


def test_places_that_cannot_be_written_are_told_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path, tmp_path / "file" / "a.log"):
        with pytest.raises(OutputError):
            check_writable(place)
        with pytest.raises(OutputError):
            write_whole(place, b"")
    check_writable(tmp_path / "later" / "a.log")
    assert not (tmp_path / "later").exists()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_devices_without_an_end_are_not_read(device: str) -> None:
    with pytest.raises(OSError, match="which may have no end"):
        read_to_end(Path(device))


def test_what_ends_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one")
    assert read_to_end(tmp_path / "file") == b"one"
    assert read_to_end(Path("/dev/null")) == b""
    reads, writes = os.pipe()
    os.write(writes, b"two")
    os.close(writes)
    assert read_to_end(Path(f"/dev/fd/{reads}")) == b"two"
    os.close(reads)
