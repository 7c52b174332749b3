"""Which commit of a repository is guilty, and what in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from replay_dd.changes.history import first_failing, origins, origins_of_needed
from replay_dd.changes.isolate import isolate_changes, narrow_history
from replay_dd.changes.sources import Version, open_version
from replay_dd.changes.tree import read_tree
from replay_dd.outcome import Outcome
from replay_dd.report.changes import changes_as_json, changes_as_text
from tests.changes.versions import NEW, OLD, TEST, Files, patch, python, write

pytestmark = pytest.mark.once


@pytest.mark.parametrize("guilty", range(9))
def test_the_first_failing_commit(guilty: int) -> None:
    asked: list[int] = []

    def run(number: int) -> Outcome:
        asked.append(number)
        return Outcome.FAIL if number >= guilty else Outcome.PASS

    assert first_failing(9, run) == (guilty - 1, guilty)
    assert len(asked) <= 4


@pytest.mark.parametrize(
    "silent, expected",
    [({3}, (4, 5)), ({4}, (3, 5)), ({2, 3, 4}, (1, 5)), (set(range(8)), (-1, 8))],
)
def test_commits_that_say_nothing(silent: set[int], expected: tuple[int, int]) -> None:
    def run(number: int) -> Outcome:
        return Outcome.UNRESOLVED if number in silent else Outcome.FAIL if number >= 5 else Outcome.PASS

    assert first_failing(9, run) == expected


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Files], None]:
    """Makes commits in a repository that is the working directory."""
    root = tmp_path / "repository"
    root.mkdir()
    monkeypatch.chdir(root)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    who = {"NAME": "Ada", "EMAIL": "ada@example.org"}
    for role in ("AUTHOR", "COMMITTER"):
        for what, value in who.items():
            monkeypatch.setenv(f"GIT_{role}_{what}", value)
    (tmp_path / "gitconfig").touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))

    def git(*arguments: str) -> None:
        done = subprocess.run(["git", *arguments], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()

    git("init", "-q")

    def make(subject: str, files: Files) -> None:
        write(root, files)
        git("add", "-A")
        git("commit", "-q", "-m", subject)

    return make


def test_the_commit_and_what_is_guilty_in_it(tmp_path: Path, commit: Callable[[str, Files], None]) -> None:
    commit("Begin", {"prices.py": OLD})
    for number in range(5):
        commit(f"Harmless {number}", {"other.py": f"x = {number}\n"})
    commit("Simplify", {"prices.py": NEW, "other.py": "x = 'simple'\n"})
    for number in range(5):
        commit(f"Harmless, too {number}", {"other.py": f"y = {number}\n"})
    (tmp_path / "repository" / "prices.py").write_text("a dirty work tree")
    places = [tmp_path / name for name in ("a", "b", "between")]
    for place in places:
        place.mkdir()
    old, new = open_version("HEAD~11", places[0]), open_version("HEAD", places[1])
    target = python("-c", TEST)
    narrowed = narrow_history(old, new, target, places[2])
    assert narrowed is not None
    assert (narrowed.commits, narrowed.tests <= 6) == (11, True)
    found = isolate_changes(narrowed.old.tree, narrowed.new.tree, target)
    assert patch(found) == ["-    if not prices:", "-        return 0"]
    (origin,) = origins(found.difference, found.guilty, narrowed.old, narrowed.new)
    assert (origin.author, origin.subject) == ("Ada", "Simplify")
    assert (tmp_path / "repository" / "prices.py").read_text() == "a dirty work tree"
    whole = isolate_changes(old.tree, new.tree, target)
    assert [one.subject for one in origins(whole.difference, whole.guilty, old, new)] == ["Simplify"]


def test_the_commits_of_all_that_is_needed(tmp_path: Path, commit: Callable[[str, Files], None]) -> None:
    """Two commits that fail only together, and harmless ones: one is guilty, and the other one is needed."""
    commit("Begin", {"a.py": "x = 1\n", "b.py": "y = 1\n", "other.py": "z = 1\n"})
    commit("Double", {"a.py": "x = 2\n"})
    commit("Harmless", {"other.py": "z = 2\n"})
    commit("Triple", {"b.py": "y = 3\n"})
    places = [tmp_path / name for name in ("a", "b")]
    for place in places:
        place.mkdir()
    old, new = open_version("HEAD~3", places[0]), open_version("HEAD", places[1])
    found = isolate_changes(old.tree, new.tree, python("-c", "import a, b; assert a.x * b.y < 6"))
    guilty = origins(found.difference, found.guilty, old, new)
    needed = origins_of_needed(found, guilty, old, new)
    assert (len(guilty), len(needed)) == (1, 1)
    assert {one.subject for one in (*guilty, *needed)} == {"Double", "Triple"}
    assert any(
        f"of {needed[0].commit[:12]} " in line
        for line in changes_as_text(found, guilty, None, {}, needed_origins=needed)
    )
    assert (
        changes_as_json(found, guilty, None, {}, needed_origins=needed)["answer"]["needed_commits"][0]["author"]
        == "Ada"
    )


def test_a_repository_without_a_work_tree(
    tmp_path: Path, commit: Callable[[str, Files], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit("Begin", {"prices.py": OLD, "sub/a": "x"})
    subprocess.run(["git", "clone", "-q", "--bare", ".", str(tmp_path / "bare")], check=True)
    monkeypatch.chdir(tmp_path / "bare")
    place = tmp_path / "place"
    place.mkdir()
    version = open_version("HEAD", place)
    assert {path: entry.read() for path, entry in version.tree.items()} == {"prices.py": OLD.encode(), "sub/a": b"x"}


def test_no_history_between_other_versions(tmp_path: Path) -> None:
    old = open_version(str(write(tmp_path / "old", {"a": "1"})), tmp_path)
    assert narrow_history(old, old, python("-c", ""), tmp_path) is None
    assert list(read_tree(tmp_path / "old")) == ["a"]


FAILS_EVERY_OTHER_TIME = """
import pathlib, risks
count = pathlib.Path({count!r})
if risks.taken:
    count.write_text(count.read_text() + ".")
    assert len(count.read_text()) % 2 == {odd}, "unlucky"
"""


def twelve_commits(folder: Path, commit: Callable[[str, Files], None], guilty: int) -> tuple[Version, Version, Path]:
    """The first and the last version, of which one commit makes the difference, and a folder for those in between."""
    (folder / "count").write_text("")
    for number in range(12):
        commit(f"Commit {number}", {"risks.py": f"taken = {number >= guilty}\n", "other.py": f"x = {number}\n"})
    places = [folder / name for name in ("a", "b", "between")]
    for place in places:
        place.mkdir()
    return open_version("HEAD~11", places[0]), open_version("HEAD", places[1]), places[2]


@pytest.mark.parametrize("odd", [0, 1])
def test_the_commit_of_a_failure_that_shows_every_other_time(
    odd: int, tmp_path: Path, commit: Callable[[str, Files], None]
) -> None:
    old, new, between = twelve_commits(tmp_path, commit, 8)
    target = python("-c", FAILS_EVERY_OTHER_TIME.format(count=str(tmp_path / "count"), odd=odd))
    narrowed = narrow_history(old, new, target, between)
    assert narrowed is not None
    assert narrowed.times > 1
    found = isolate_changes(narrowed.old.tree, narrowed.new.tree, target)
    assert patch(found) == ["-taken = False", "+taken = True"]
    assert any(
        line.startswith("history ") and "since they vary" in line for line in changes_as_text(found, (), narrowed, {})
    )
    told = changes_as_json(found, (), narrowed, {})["answer"]
    assert told["history"] == {"commits": narrowed.commits, "tests": narrowed.tests, "runs_per_test": narrowed.times}


def test_the_commit_of_a_failure_that_varies_in_what_it_says(
    tmp_path: Path, commit: Callable[[str, Files], None]
) -> None:
    """Only one of the first runs fails, so they do not show what the failures have in common."""
    old, new, between = twelve_commits(tmp_path, commit, 5)
    counts = FAILS_EVERY_OTHER_TIME.replace('"unlucky"', "len(count.read_text())")
    target = python("-c", counts.format(count=str(tmp_path / "count"), odd=1))
    narrowed = narrow_history(old, new, target, between)
    assert narrowed is not None
    assert Outcome.UNRESOLVED not in dict(narrowed.tried).values()
    assert (narrowed.new.tree["risks.py"].read(), narrowed.old.tree["risks.py"].read()) == (
        b"taken = True\n",
        b"taken = False\n",
    )


def test_a_commit_that_passes_by_luck_is_noticed(tmp_path: Path, commit: Callable[[str, Files], None]) -> None:
    """Both runs of the new version fail, and so does no run of the first guilty commit that is tried."""
    old, new, between = twelve_commits(tmp_path, commit, 3)
    lucky = FAILS_EVERY_OTHER_TIME.replace("% 2 == {odd}", "in (3, 4)")
    narrowed = narrow_history(old, new, python("-c", lucky.format(count=str(tmp_path / "count"))), between)
    assert narrowed is not None
    assert narrowed.times > 1
    assert (narrowed.new.tree["risks.py"].read(), narrowed.old.tree["risks.py"].read()) == (
        b"taken = True\n",
        b"taken = False\n",
    )
