"""Names of run folders are used again, but never while something of that name is being removed."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.experiment import guard, guard_process
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.guard_process import MARKER, MARKER_TEXT, remove_tree
from replay_dd.experiment.process import private_folder
from tests.experiment.test_guard import wait_until_empty


def test_the_name_of_a_folder_is_free_again_only_when_it_has_been_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made: list[Path] = []

    def remove_slowly(folder: Path) -> None:
        remove_tree(folder)
        if not made:
            made.append(GUARD.make_folder())
        remove_tree(folder)  # as for a folder that a program made read-only

    monkeypatch.setattr("replay_dd.experiment.guard.remove_tree", remove_slowly)
    first = GUARD.make_folder()
    GUARD.remove_folder(first)
    assert made[0].is_dir()
    assert made[0] != first
    with private_folder() as again:
        assert again.path == first
    GUARD.remove_folder(made[0])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_another_process_with_the_same_name_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed, other = tmp_path / "0000", tmp_path / "0000" / "other"
    removed.mkdir()
    remove = guard_process.shutil.rmtree

    def remove_and_make_again(path: Path, *, ignore_errors: bool) -> None:
        remove(path, ignore_errors=ignore_errors)
        if not other.exists():
            other.mkdir(parents=True)

    monkeypatch.setattr(guard_process.shutil, "rmtree", remove_and_make_again)
    other_made = removed.stat()
    remove_tree(removed)
    assert other.is_dir()
    assert removed.stat().st_ino != other_made.st_ino


def lock_anew(folder: Path, *, instead_of: int | None = None) -> int:
    """What another process does: removes its workplace, and makes one of the same name for its next command."""
    if instead_of is not None:
        os.close(instead_of)
    remove_tree(folder)
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (folder / MARKER).write_text(MARKER_TEXT)
    return descriptor


def test_a_workplace_that_is_made_anew_while_we_look_whether_it_is_abandoned_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    other = tmp_path / "replay-dd-0000"
    locked = [lock_anew(other)]

    class Fcntl:
        def __getattr__(self, name: str) -> object:
            return getattr(fcntl, name)

        def flock(self, descriptor: int, operation: int) -> None:
            if len(locked) == 1:
                locked.append(lock_anew(other, instead_of=locked[0]))
            fcntl.flock(descriptor, operation)

    monkeypatch.setattr(guard, "fcntl", Fcntl())
    with private_folder() as mine:
        assert (other / MARKER).exists()
        assert mine.path.parent != other
    os.close(locked[-1])


def test_a_workplace_under_the_name_of_ours_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with private_folder() as first:
        descriptor = lock_anew(first.path.parent)
        with private_folder() as second:
            assert second.path.parent != first.path.parent
    assert (first.path.parent / MARKER).exists()
    os.close(descriptor)


def test_a_guard_that_has_not_cleaned_up_yet_keeps_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "import sys\nfrom replay_dd.experiment.guard import GUARD\n"
        "folder = GUARD.make_folder()\nprint(*GUARD.processes(), flush=True)\nsys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, "-c", text], env={**os.environ, "TMPDIR": str(tmp_path)}, **pipes
    ) as process:
        assert process.stdout is not None
        slow = int(process.stdout.readline())
        os.kill(slow, signal.SIGSTOP)
        process.kill()
    try:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        with private_folder() as mine:
            assert mine.path.parent.name == "replay-dd-0001"
    finally:
        os.kill(slow, signal.SIGCONT)
    wait_until_empty(tmp_path)
