"""Disks that are full, nearly full, or do not tell."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay_dd.errors.machine import NoRoomError
from replay_dd.experiment.process import Command, private_folder, run
from replay_dd.experiment.room import check_room


@pytest.mark.parametrize(
    ("blocks", "free", "available", "user", "full"),
    [
        (100, 0, 0, 0, True),
        (100, 0, 0, 1000, True),
        (100, 5, 0, 1000, True),
        (100, 5, 0, 0, False),
        (100, 50, 45, 1000, False),
        (0, 0, 0, 1000, False),
    ],
)
def test_room(
    blocks: int, free: int, available: int, user: int, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_blocks=blocks, f_bfree=free, f_bavail=available)
    monkeypatch.setattr(os, "statvfs", lambda path: disk)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if full:
        with pytest.raises(NoRoomError):
            check_room(tmp_path)
    else:
        check_room(tmp_path)


def test_what_a_run_on_a_full_disk_did_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = Command((sys.executable, "-c", "print(1)"), tmp_path, dict(os.environ))
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_blocks=1, f_bfree=0, f_bavail=0))
    with private_folder() as folder, pytest.raises(NoRoomError):
        run(command, folder, time_limit_s=60, show_output=False)
