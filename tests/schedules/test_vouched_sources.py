"""A log gets at the files of its program, as they were when it was recorded, and at no others."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.report.lanes import lanes
from replay_dd.schedules.anchors import with_anchors
from replay_dd.schedules.model import Log, Place, Switch
from replay_dd.schedules.vouched_sources import LARGEST_SOURCE_BYTES
from tests.schedules.logs import log_of

SECRET = "root:secret\n"


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def log_with(folder: Path, file: str, path: str, recorded: str, paths: dict[str, str] | None = None) -> Log:
    switch = Switch("0", 3, "0.1", False, False, Place(file, path, 1, 1, "work", "LOAD_ATTR", True), 3, 9)
    log = log_of([switch])
    files = {file: recorded}
    return replace(log, program=replace(log.program, directory=str(folder), files=files, paths=paths or {}))


def given_away(log: Log) -> str:
    """All that a log can show, or get written to another log, of the files that it names."""
    anchored = with_anchors(log).switches[0].place
    assert anchored is not None
    return "\n".join(lanes(log)) + anchored.text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shadow").write_text(SECRET)
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_source_below_the_recorded_folder(folder: Path) -> None:
    (folder / "count.py").write_text("total = 0\n")
    log = log_with(folder, "count.py", str(folder / "count.py"), hash_of(folder / "count.py"))
    assert given_away(log).count("total = 0") == 2
    (folder / "changed.py").write_text("total = 1\n")
    changed = log_with(folder, "changed.py", str(folder / "changed.py"), log.program.files["count.py"])
    assert "total" not in given_away(changed)


def test_a_source_of_an_installed_package(tmp_path: Path, folder: Path) -> None:
    package = tmp_path / "lib" / "site-packages" / "package" / "data.txt"
    package.parent.mkdir(parents=True)
    package.write_text("total = 0\n")
    paths = {"package/data.txt": str(package)}
    assert "total = 0" in given_away(log_with(folder, "package/data.txt", "", hash_of(package), paths))


@pytest.mark.parametrize("recorded", ["", "00" * 16])
def test_another_file_than_it_should_be(recorded: str, folder: Path) -> None:
    secret = str(folder.parent / "shadow")
    assert "secret" not in given_away(log_with(folder, "count.py", secret, recorded))
    assert "secret" not in given_away(log_with(folder, "count.py", secret, recorded, {"count.py": secret}))
    assert "secret" not in given_away(log_with(folder, "../shadow", secret, recorded))
    os.symlink(secret, folder / "link.py")
    assert "secret" not in given_away(log_with(folder, "link.py", secret, recorded))


def test_not_even_with_its_hash(folder: Path) -> None:
    """Whoever knows the hash may not know the text: hashes of secrets are published, too."""
    secret = folder.parent / "shadow"
    os.symlink(secret, folder / "link.py")
    for file, paths in (("../shadow", {}), ("count.py", {"count.py": str(secret)}), ("link.py", {})):
        assert "secret" not in given_away(log_with(folder, file, str(secret), hash_of(secret), paths))
    assert "secret" not in given_away(log_with(Path("/"), "count.py", str(secret), ""))


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, LARGEST_SOURCE_BYTES + 1)


def make_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_pipe, make_huge, make_zeros, lambda path: path.mkdir()])
def test_what_never_ends(make: Callable[[Path], object], folder: Path) -> None:
    make(folder / "count.py")
    for recorded in ("", "00" * 16):
        assert "prog" not in given_away(log_with(folder, "count.py", str(folder / "count.py"), recorded))
    shutil.rmtree(folder)
