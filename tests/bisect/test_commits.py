"""What stands in the folder in which a commit is tried."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.bisect.commits import Commits, Target
from replay_dd.outcome import Outcome
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import describe_program
from tests.bisect.repository import Repository

pytestmark = pytest.mark.once


@pytest.fixture
def commits(tmp_path: Path) -> tuple[Commits, Repository, list[str]]:
    """Two commits with different versions of a submodule; the program prints which it finds."""
    library = Repository(tmp_path / "library")
    library.commit("One", version="number = 1\n")
    made = Repository(tmp_path / "whole")
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder), "library")
    names = [made.commit("With one", check="from library import version\nprint(version.number)\n")]
    inner = Repository(made.folder / "library")
    inner.commit("Two", version="number = 2\n")
    names.append(made.commit("With two"))
    program = describe_program(("python", "check.py"), directory=made.folder)
    return Commits(made.folder, Target(program, Settings(), made.folder, runs=1)), made, names


def output_at(commits: Commits, commit: str) -> bytes:
    found, trouble = commits.hunt(commit)
    assert found is not None, trouble
    return found.output


def test_submodules_are_as_the_commit_has_them(commits: tuple[Commits, Repository, list[str]]) -> None:
    tried, _, names = commits
    assert [output_at(tried, name) for name in names] == [b"1\n", b"2\n"]


def test_a_submodule_that_lacks_the_commit_leaves_that_one_untested(
    commits: tuple[Commits, Repository, list[str]], tmp_path: Path
) -> None:
    tried, made, names = commits
    shutil.rmtree(made.folder / "library")
    shutil.copytree(tmp_path / "library", made.folder / "library")  # a clone that never got the second version
    assert output_at(tried, names[0]) == b"1\n"
    untested = tried.test(names[1], thorough=False)
    assert untested.outcome is Outcome.UNRESOLVED
    assert "The submodule library lacks the commit" in untested.told


def test_only_what_lies_in_the_repository_is_taken_from_the_commit(tmp_path: Path) -> None:
    made = Repository(tmp_path / "whole")
    (made.folder / "lib").mkdir()
    (made.folder / "lib" / "kept").write_text("", encoding="utf-8")
    commit = made.commit("One", check="import os\nprint(os.environ['PYTHONPATH'])\n")
    (tmp_path / "other").mkdir()
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.symlink_to(made.folder / "lib")
    outside.symlink_to(tmp_path / "other")
    program = describe_program(("python", "check.py"), directory=made.folder)
    path = os.pathsep.join([str(inside), str(outside), "../other"])
    program = replace(program, environment={**program.environment, "PYTHONPATH": path})
    told = output_at(Commits(made.folder, Target(program, Settings(), made.folder, runs=1)), commit)
    parts = told.decode().strip().split(os.pathsep)
    assert parts[-2:] == [str(outside), str(tmp_path / "other")]
    assert parts[-3].endswith("/files/lib")
