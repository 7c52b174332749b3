"""Versions that are large, strange or cannot be written."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from replay_dd.changes import copies
from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import Kind
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.line_changes import _Hunks, line_changes
from replay_dd.changes.sources import open_version
from replay_dd.changes.tree import read_tree
from replay_dd.changes.workshop import Trial, Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.machine import WorkingCopyError
from replay_dd.experiment.driver import isolate_cause
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.outcome import Outcome
from tests.changes.versions import difference, python, tree, write

pytestmark = pytest.mark.once


class Simulated:
    """A workshop in which one delta is guilty."""

    def __init__(self, guilty: int) -> None:
        self.guilty = guilty

    def trial(self, deltas: IntervalSet, *, clean: bool = False) -> Trial:
        if self.guilty in deltas:
            return Trial(Ending(Outcome.FAIL, "guilty", "it fails", is_report=True))
        return Trial(Ending(Outcome.PASS, "", "it passes"))


def test_thousands_of_changes(tmp_path: Path) -> None:
    old = {f"d{number % 20}/f{number}": "".join(f"{line}\n\n" for line in range(50)) for number in range(300)}
    new = {name: text.replace("\n\n", " new\n\n") for name, text in old.items()}
    found = difference(tmp_path, old, new)
    assert found.all.count == 15_000
    isolation = isolate_cause(
        CodeChanges(found, Simulated(12_345), ["folder", "file", "hunk"]),  # type: ignore[arg-type]
        proof_runs=0,
    )
    final = isolation.circumstance
    assert isinstance(final, CodeChanges)
    assert isolation.failing.configuration - isolation.passing.configuration == IntervalSet.of([12_345])
    flat = isolate_cause(CodeChanges(found, Simulated(12_345), ["line"]), proof_runs=0)  # type: ignore[arg-type]
    assert flat.difference == IntervalSet.of([12_345])
    assert flat.tests <= 17, "a binary search"


def test_lines_of_long_hunks_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where a blank line is all that two versions have in common."""
    compared: list[int] = []
    monkeypatch.setattr(_Hunks, "_likeness", lambda hunks, old, new: compared.append(old) or 0.0)
    versions = [[b"%s %d\n" % (word, n) for n in range(100)] for word in (b"red", b"blue", b"green", b"gray")]
    changes = list(line_changes("a", [*versions[0], b"\n", *versions[1]], [*versions[2], b"\n", *versions[3]]))
    assert (len(changes), len(compared)) == (200, 0)


def test_names_are_looked_for_in_long_lines() -> None:
    """Quickly enough: to begin at each letter of the text anew would take hours."""
    text = b'static const char text[] = "%s";\n'
    old, new = text % (b"a" * 300_000), text % (b"b" * 300_000)
    changes = list(line_changes("a.c", [old, b"int a;\n"], [b"// Long.\n", new, b"int b;\n"]))
    assert {change.new for change in changes if change.new_stop > change.new} == {0, 1, 2}


def test_a_large_file_is_one_change_and_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = write(tmp_path / "old", {"p.py": "x = 1\n"}), write(tmp_path / "new", {"p.py": "x = 2\n"})
    for root, byte in ((left, b"1"), (right, b"2")):
        with (root / "large").open("wb") as file:
            file.truncate(100_000_000)
            file.seek(0)
            file.write(byte)
    found = Difference(read_tree(left), read_tree(right))
    assert [found.kind(delta) for delta in found.all] == [Kind.REPLACE, Kind.LINE]
    program = "import p; from pathlib import Path; assert open('large').read(1) == '1' or p.x == 1"
    with Workshop(found, python("-c", program), Oracle()) as workshop:
        assert [workshop.run(one).verdict.name for one in (EMPTY, found.all)] == ["PASS", "FAIL"]


def test_no_room_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    found = difference(tmp_path, {"a": "1\n"}, {"a": "2\n"})
    monkeypatch.setattr(copies.shutil, "copyfile", full)
    with (
        Workshop(found, python("-c", ""), Oracle()) as workshop,
        pytest.raises(WorkingCopyError, match="No space") as raised,
    ):
        workshop.run(EMPTY)
    assert "TMPDIR" in (raised.value.hint or "")


def test_a_link_out_of_the_version_is_never_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine\n")
    left, right = (
        write(tmp_path / "old", {"p.py": "x = 1\n"}),
        write(tmp_path / "new", {"p.py": "x = 2\n", "data": "y\n"}),
    )
    (left / "data").symlink_to(outside)
    target = python("-c", "import p, os; assert p.x == 1; os.path.islink('data') or open('data', 'a').write('z')")
    found = isolate_changes(read_tree(left), read_tree(right), target)
    assert found.isolation.verified
    assert outside.read_text() == "mine\n"
    assert (right / "data").read_text() == "y\n"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_and_encodings_stay(end: str, tmp_path: Path) -> None:
    lines = ["# coding: latin-1", "x = 'é'", "y = 1", "assert y == 1"]
    old = end.join([*lines, ""]).encode("latin-1")
    found = isolate_changes(
        *(tree(tmp_path / "old", {"p.py": old}), tree(tmp_path / "new", {"p.py": old.replace(b"y = 1", b"y = 2")})),
        python("p.py"),
    )
    assert found.isolation.verified
    (path,) = {found.difference.files[found.difference.file_of(delta)].path for delta in found.guilty}
    assert path == "p.py"


def test_a_dirty_work_tree_is_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    repository = tmp_path / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    for number in (1, 2):
        write(repository, {"p.py": f"x = {number}\n", "kept": "k\n"})
        git("add", "-A")
        git("commit", "-q", "-m", f"Step {number}")
    (repository / "p.py").write_text("x = 'mine'\n")
    (repository / "kept").unlink()
    (repository / "staged").write_text("s\n")
    git("add", "staged")
    before = git("status", "--porcelain"), git("stash", "list"), git("rev-parse", "HEAD")
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
    versions = [open_version(name, place) for name, place in zip(("HEAD~1", "HEAD"), places, strict=True)]
    found = isolate_changes(versions[0].tree, versions[1].tree, python("-c", "import p; assert p.x == 1"))
    assert found.isolation.verified
    assert (git("status", "--porcelain"), git("stash", "list"), git("rev-parse", "HEAD")) == before
    assert (repository / "p.py").read_text() == "x = 'mine'\n"
