"""Copies of folders: the same to a program, and nothing written to them reaches the original."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from replay_dd.errors.user import FolderTooLargeError
from replay_dd.experiment import working_copy
from replay_dd.experiment.process import private_folder
from replay_dd.experiment.working_copy import WorkingCopy, copy_folder, size_of_copy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / "data").mkdir(parents=True)
    (made / "notes.txt").write_text("one line\n")
    (made / "data" / "more").write_bytes(b"\0" * 3000)
    return made


def listing(folder: Path) -> dict[str, object]:
    """Everything below a folder, with contents, links, modes and times."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content: object = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = (content, status.st_mode, path.is_symlink() or status.st_mtime_ns)
    return found


def test_a_copy_is_the_same_and_independent(folder: Path, tmp_path: Path) -> None:
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    os.link(folder / "notes.txt", folder / "hard link")
    os.utime(folder / "data", ns=(10**18, 10**18))
    before = listing(folder)
    made = copy_folder(folder, tmp_path / "copy")
    assert listing(made.copy) == before
    for path in made.copy.rglob("*"):
        if path.is_file():
            with path.open("a") as file:
                file.write("changed")
    (made.copy / "data" / "more").unlink()
    assert listing(folder) == before


def test_links_within_lead_into_the_copy_and_others_to_where_they_led(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    for name, target in {
        "relative": "data/more",
        "absolute": str(folder / "notes.txt"),
        "leaving": "../outside",
        "absolute outside": str(tmp_path / "outside"),
        "broken": "nowhere",
    }.items():
        (folder / name).symlink_to(target)
    made = copy_folder(folder, tmp_path / "elsewhere" / "copy").copy
    assert os.readlink(made / "relative") == "data/more"
    assert os.readlink(made / "absolute") == str(made / "notes.txt")
    assert (made / "leaving").read_text() == (made / "absolute outside").read_text() == "outside"
    assert os.readlink(made / "broken") == "nowhere"


def test_what_no_program_can_use_is_left_out(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        made = copy_folder(folder, tmp_path / "copy").copy
    assert sorted(path.name for path in made.iterdir()) == ["data", "notes.txt"]


def test_a_folder_that_may_not_be_changed_is_copied(folder: Path, tmp_path: Path) -> None:
    (folder / "data").chmod(0o555)
    (folder / "notes.txt").chmod(0o444)
    made = copy_folder(folder, tmp_path / "copy").copy
    assert (made / "data" / "more").read_bytes() == b"\0" * 3000
    assert os.access(made / "data", os.W_OK)
    (folder / "data").chmod(0o755)


def test_a_folder_is_not_copied_into_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with private_folder() as private:
        made = copy_folder(folder, private.path / "work").copy
        assert sorted(path.name for path in made.iterdir()) == ["data", "notes.txt"]


def test_what_is_there_already_stays(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    target.mkdir()
    (target / "own").write_text("own")
    (target / "notes.txt").write_text("longer than before, and another text")
    copy_folder(folder, target)
    assert ((target / "own").read_text(), (target / "notes.txt").read_text()) == ("own", "one line\n")


def test_a_folder_that_is_too_large_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FolderTooLargeError, match="most of it in data") as caught:
        copy_folder(folder, tmp_path / "copy", most_bytes=2000)
    assert "--here" in str(caught.value.hint)
    with pytest.raises(FolderTooLargeError, match="more than 2 files"):
        copy_folder(folder, tmp_path / "copy", most_files=2)
    assert not (tmp_path / "copy").exists()
    copy_folder(folder, tmp_path / "copy", most_bytes=5000, most_files=3)


def test_a_full_disk_is_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(working_copy, "_copy_file", full)
    with pytest.raises(FolderTooLargeError, match="no room"):
        copy_folder(folder, tmp_path / "copy")


def test_paths_lead_into_the_copy(tmp_path: Path) -> None:
    original = tmp_path / "project"
    original.mkdir()
    (tmp_path / "shared.cfg").touch()
    copy = WorkingCopy(original, Path("/copy"))
    for before, after in {
        f"{original}": "/copy",
        f"{original}/a/b": "/copy/a/b",
        f"{original}-other": f"{original}-other",
        f"--file={original}/a": "--file=/copy/a",
        f"x={original}/a": f"x={original}/a",
        "notes.txt": "notes.txt",
        "../shared.cfg": f"{tmp_path}/shared.cfg",
        "--config=../shared.cfg": f"--config={tmp_path}/shared.cfg",
        "../project/a": "../project/a",
        "../missing": "../missing",
        "-v": "-v",
        "": "",
    }.items():
        assert copy.argument(before) == after
    assert copy.told("*/copy/notes.txt - Editor") == f"*{original}/notes.txt - Editor"
    moved = copy.environment({"PATH": f"/bin:{original}/bin", "PWD": str(original), "OLDPWD": "/x", "A": "b"})
    assert moved == {"PATH": "/bin:/copy/bin", "PWD": "/copy", "A": "b"}


def test_how_much_a_copy_takes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = size_of_copy(folder)
    assert (taken.size, taken.files, taken.largest, taken.is_slow) == (3009, 3, "data", False)
    monkeypatch.setattr(working_copy, "_SLOW_FILES", 2)
    assert taken.is_slow
    monkeypatch.setattr(working_copy, "_SLOW_FILES", 3)
    monkeypatch.setattr(working_copy, "_SLOW_BYTES", 3008)
    assert taken.is_slow
    nothing = size_of_copy(tmp_path / "nowhere")
    assert (nothing.size, nothing.files, nothing.largest) == (0, 0, "")
