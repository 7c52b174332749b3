"""Known is what was made here, and nothing else, whatever became of the list."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from replay_dd.trust import known_logs
from replay_dd.trust.known_logs import digest_of, is_known, remember

ONE, OTHER = digest_of(b"one"), digest_of(b"other")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "replay-dd" / "known-logs"


def test_what_was_made_here_is_known(state: Path) -> None:
    assert not is_known(ONE)
    remember(ONE)
    assert is_known(ONE)
    assert not is_known(OTHER)
    assert not is_known(ONE[1:])
    assert not is_known("")
    remember(OTHER)
    assert is_known(ONE)
    assert is_known(OTHER)
    assert state.stat().st_mode & 0o777 == 0o600
    assert state.parent.stat().st_mode & 0o777 == 0o700


def test_a_relative_folder_for_the_state_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else a folder with a log could bring its own list."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.chdir(tmp_path)
    remember(ONE)
    assert is_known(ONE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_list_that_others_can_write_to_knows_nothing(mode: int, state: Path) -> None:
    remember(ONE)
    state.chmod(mode)
    assert not is_known(ONE)
    state.chmod(0o600)
    assert is_known(ONE)


def test_a_list_that_is_none(state: Path, tmp_path: Path) -> None:
    state.parent.mkdir()
    os.mkfifo(state)
    remember(ONE)
    assert not is_known(ONE)
    state.unlink()
    (tmp_path / "theirs").write_text(f"{ONE}\n")
    state.symlink_to(tmp_path / "theirs")
    remember(OTHER)
    assert not is_known(ONE)
    assert (tmp_path / "theirs").read_text() == f"{ONE}\n"


def test_a_state_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    remember(ONE)
    assert not is_known(ONE)


def test_the_list_forgets_the_oldest(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_logs, "MOST_BYTES", 65 * 10)
    digests = [digest_of(str(number).encode()) for number in range(100)]
    for digest in digests:
        remember(digest)
        assert is_known(digest)
    assert state.stat().st_size <= 65 * 10
    assert set(state.read_text().split()) <= set(digests)
    assert not is_known(digests[0])
    assert is_known(digests[-5])


def test_many_at_the_same_time(state: Path) -> None:
    digests = [digest_of(str(number).encode()) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(remember, digests))
    assert sorted(state.read_text().split()) == sorted(digests)
