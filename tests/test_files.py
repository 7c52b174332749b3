"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from replay_dd.errors.user import OutputError
from replay_dd.files import PRIVATE, check_writable, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "new folder" / "a.log"
    write_whole(target, b"one")
    write_whole(target, b"two")
    assert target.read_bytes() == b"two"
    assert os.listdir(target.parent) == ["a.log"]


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
