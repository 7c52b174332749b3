"""What log files of every format have in common: which files are read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replay_dd.errors.user import LogError
from replay_dd.events.log import read_session
from replay_dd.logfile import LARGEST_LOG_BYTES, format_of, read_regular
from replay_dd.schedules.log import read_log
from replay_dd.web.flow import looks_like_a_flow, read_flow

READERS = [read_log, read_session, read_flow]


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_only_regular_files_are_read(read: Callable[[Path], Any], tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, Path("/dev/zero")):
        with pytest.raises(LogError, match="not a regular file"):
            read(path)
        assert format_of(path) == ""
        assert not looks_like_a_flow(path)


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_files_beyond_the_limit_are_not_read(read: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(LARGEST_LOG_BYTES + 1)  # takes no room
    with pytest.raises(LogError, match=r"1,073,741,825 bytes; files of more than [\d,]+ are not read"):
        read(path)


def test_a_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_regular(path) == b"0123456789"
    assert read_regular(path, first=4) == b"0123"
    assert read_regular(path, 10) == b"0123456789"
    with pytest.raises(LogError):
        read_regular(path, 9)
