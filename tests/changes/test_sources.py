"""Versions that a user may name; archives that want to do harm."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from replay_dd.changes.sources import commit_named, is_range, open_version, repository_here, work_tree_here
from replay_dd.errors.user import VersionError
from tests.bisect.repository import Repository
from tests.changes.versions import write

pytestmark = pytest.mark.once


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "place"
    path.mkdir()
    return path


def files(name: Path | str, place: Path) -> dict[str, bytes]:
    return {path: entry.read() for path, entry in open_version(str(name), place).tree.items()}


def zipped(path: Path, content: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path


def tarred(path: Path, content: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return path


def test_folders_and_archives(tmp_path: Path, place: Path) -> None:
    content = {"p/__init__.py": b"", "p/a.py": b"x"}
    assert files(write(tmp_path / "folder", content), place) == content
    for number, archive in enumerate((zipped(tmp_path / "p.whl", content), tarred(tmp_path / "p.tar.gz", content))):
        (place / str(number)).mkdir()
        assert files(archive, place / str(number)) == content


def test_the_one_folder_of_a_source_archive_is_not_a_part_of_it(tmp_path: Path, place: Path) -> None:
    archive = tarred(tmp_path / "p-1.0.tar.gz", {"p-1.0/setup.py": b"", "p-1.0/p/a.py": b"x"})
    assert files(archive, place) == {"setup.py": b"", "p/a.py": b"x"}


@pytest.mark.parametrize("name", ["../escaped", "a/../../escaped"])
@pytest.mark.parametrize("pack, kind", [(zipped, "zip"), (tarred, "tgz")])
def test_archives_that_leave_their_folder(
    name: str, pack: Callable[[Path, dict[str, bytes]], Path], kind: str, tmp_path: Path, place: Path
) -> None:
    archive = pack(tmp_path / f"a.{kind}", {name: b"x"})
    with pytest.raises(VersionError, match="outside its folder"):
        files(archive, place)
    assert not list(tmp_path.rglob("escaped"))


def test_absolute_paths_in_archives(tmp_path: Path, place: Path) -> None:
    target = tmp_path / "escaped"
    with pytest.raises(VersionError, match="outside its folder"):
        files(zipped(tmp_path / "a.zip", {str(target): b"x"}), place)
    (place / "tar").mkdir()
    assert list(files(tarred(tmp_path / "a.tgz", {str(target): b"x"}), place / "tar").values()) == [b"x"]
    assert not target.exists()


def test_a_bomb(tmp_path: Path, place: Path) -> None:
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("zeros", "w") as member:
        for _ in range(200):
            member.write(bytes(1_000_000))
    archive.write_bytes(archive.read_bytes())
    with pytest.raises(VersionError, match="would unpack to 200,000,000 bytes"):
        files(archive, place)


@pytest.mark.parametrize("name", ["broken.zip", "broken.tar.gz", "notes.txt"])
def test_what_is_no_archive(name: str, tmp_path: Path, place: Path) -> None:
    (tmp_path / name).write_bytes(b"not an archive")
    with pytest.raises(VersionError, match=name):
        files(tmp_path / name, place)


def test_what_is_nothing(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(VersionError, match="no git repository here"):
        open_version("v1.2", place)
    with pytest.raises(VersionError, match="not a release"):
        open_version("pip:--index-url=x", place)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("v1..v2", True),
        ("main..", True),
        ("v1", False),
        ("../a", False),
        ("..", False),
        ("a/../b", False),
        ("./..", False),
    ],
)
def test_ranges(text: str, expected: bool) -> None:
    assert is_range(text) is expected


def test_a_shallow_clone_is_told(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    name = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    for arguments in (
        ("init", "-q", str(origin)),
        *[("-C", str(origin), *name, "commit", "-q", "--allow-empty", "-m", str(number)) for number in range(2)],
        ("clone", "-q", "--depth", "1", origin.as_uri(), str(clone)),
    ):
        subprocess.run(["git", *arguments], check=True, timeout=60)
    monkeypatch.chdir(clone)
    with pytest.raises(VersionError, match=r"HEAD~1 .* a shallow clone") as raised:
        open_version("HEAD~1", place)
    assert "--unshallow" in (raised.value.hint or "")


def test_the_work_tree_is_found_from_a_folder_in_it_where_only_the_repository_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    repository = Repository(tmp_path / "top")
    (repository.folder / "sub").mkdir()
    commit = repository.commit("Begin", module="x = 1\n")
    assert work_tree_here() != repository.folder
    monkeypatch.chdir(repository.folder / "sub")
    for named in (None, str(repository.folder / ".git"), "../.git"):
        if named is not None:
            monkeypatch.setenv("GIT_DIR", named)
        assert work_tree_here() == repository_here() == repository.folder
        assert commit_named(repository.folder, "HEAD") == commit
    monkeypatch.setenv("GIT_WORK_TREE", ".")
    assert work_tree_here() == repository.folder / "sub"
    monkeypatch.delenv("GIT_WORK_TREE")
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(bare))
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.chdir(bare)
    assert (work_tree_here(), repository_here()) == (None, bare)
