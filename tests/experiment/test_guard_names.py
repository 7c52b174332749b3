"""Names of run folders are used again, but never while something of that name is being removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.experiment import guard_process
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.guard_process import remove_tree
from replay_dd.experiment.process import private_folder


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
