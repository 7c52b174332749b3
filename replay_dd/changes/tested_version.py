"""Runs a test in versions of a program: in the files here, in another version, or with a commit reverted.

Rules of this module:

* Nothing that a user has is changed: no stash, no index, no work tree. Other versions are copies in a private folder,
  and the test is put into the copy as it is here.
* A copy comes first on ``PYTHONPATH``, with its ``src`` folder: an installed version of the program must not be tested
  in its place.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.changes.sources import commit_named, git, open_version, repository_here, work_tree_here
from replay_dd.changes.tree import Tree, read_tree
from replay_dd.errors.user import UsageError, VersionError
from replay_dd.experiment.process import Command, private_folder, run
from replay_dd.order_variables import INSIDE, VERDICTS

HERE = "the files here"
_NO_SUCH_TEST = (4, 5)  # exit statuses of pytest: a wrong command line, no tests
_PASSED, _FAILED = 0, 1


@dataclass(frozen=True)
class Place:
    """Where a version of the program is.

    Attributes:
        name: what people call it.
        root: its folder.
        directory: the folder in it in which tests are run.
        is_copy: whether it is a private copy.
    """

    name: str
    root: Path
    directory: Path
    is_copy: bool


@dataclass(frozen=True)
class TestRun:
    """What came of one run of the test.

    Attributes:
        status: the exit status of pytest; None if it was killed.
        verdicts: those of the orders in it, as :mod:`replay_dd.testing` notes them.
        said: the last line of its output that tells why.
    """

    __test__ = False

    status: int | None
    verdicts: tuple[Mapping[str, object], ...]
    said: str

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its verdicts."""
        return frozenset(str(verdict.get("kind")) for verdict in self.verdicts)

    @property
    def ending(self) -> str:
        """How the program ended under the last of its orders, in words."""
        return str(self.verdicts[-1].get("ending")) if self.verdicts else self.said

    @property
    def passed(self) -> bool:
        """Whether the test passed, and is a test of an order."""
        return self.status == _PASSED and bool(self.verdicts)

    @property
    def failed_as_recorded(self) -> bool:
        """Whether it failed with the failure that it is about."""
        return self.status == _FAILED and "FAILS" in self.kinds


@dataclass(frozen=True)
class Project:
    """The project of a test.

    Attributes:
        root: its folder: the top of the git repository, or the folder that we are in.
        test: the file of the test, relative to the root.
        directory: the folder that we are in, relative to the root; empty outside of it.
        selected: what follows the name of the file, such as ``::test_name``.
    """

    root: Path
    test: str
    directory: str
    selected: str

    def here(self) -> Place:
        """The files as they are."""
        return Place(HERE, self.root, self.root / self.directory, is_copy=False)

    def version(self, name: str, folder: Path) -> Place:
        """A copy of a version.

        Args:
            name: as :func:`~replay_dd.changes.sources.open_version` takes it.
            folder: an empty folder.

        Raises:
            VersionError: it cannot be found, unpacked or read.
        """
        return self._copy(name, open_version(name, folder).tree, folder)

    def without(self, commit: str, folder: Path) -> Place:
        """A copy of the files here, with a commit reverted.

        Args:
            commit: the commit.
            folder: an empty folder.

        Raises:
            VersionError: there is no such commit, or later changes do not let it be reverted.
        """
        repository = repository_here()
        revision = None if repository is None else commit_named(repository, commit)
        if repository is None or revision is None:
            raise VersionError(f"`--revert {commit}` names no commit of a git repository here.")
        listed = git(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name") or ""
        tree = read_tree(self.root)
        place = self._copy(
            f"the files here, without {commit}",
            {path: tree[path] for path in listed.split("\0") if path in tree},
            folder,
        )
        patch = folder / "commit.patch"
        git(repository, "diff-tree", "--patch", "--binary", "--no-color", "--root", f"--output={patch}", revision)
        git(place.root, "init", "--quiet")  # otherwise a repository above the private folder would be meant
        exclude = f"--exclude={self.test}"  # the test may have come with the repair
        undo = ("apply", "--reverse", "--whitespace=nowarn", exclude, str(patch))
        if git(place.root, "-c", "core.autocrlf=false", *undo) is None:
            raise VersionError(
                f"The commit {commit} cannot be reverted: later changes touch the same lines.",
                "Name a version without the repair with `--old`, such as the commit before it.",
            )
        return place

    def _copy(self, name: str, tree: Tree, folder: Path) -> Place:
        root = folder / "copy"
        root.mkdir()
        for path, entry in tree.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if entry.link is not None:
                place.symlink_to(entry.link)
            else:
                place.write_bytes(entry.read())
                place.chmod(entry.mode | 0o200)
        target = root / self.test
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / self.test, target)
        directory = root / self.directory
        return Place(name, root, directory if directory.is_dir() else root, is_copy=True)

    def run(self, place: Place, *, time_limit_s: float | None) -> TestRun:
        """Run the test once.

        Args:
            place: in which version.
            time_limit_s: seconds after which it is killed.

        Raises:
            UsageError: there is no such test.
        """
        test = os.path.relpath(place.root / self.test, place.directory) + self.selected
        with private_folder() as folder:
            verdicts = folder.path / "verdicts"
            command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
            environment = {**_environment(place), VERDICTS: str(verdicts)}
            finished = run(
                Command(command, place.directory, environment), folder, time_limit_s=time_limit_s, show_output=False
            )
            lines = verdicts.read_text(encoding="utf-8").splitlines() if verdicts.exists() else []
        output = finished.output.decode(errors="replace")
        if "No module named pytest" in output:
            raise UsageError(
                f"There is no pytest in the environment of replay-dd ({sys.executable}).",
                "Install it there: the test imports replay_dd, so it needs both in one environment.",
            )
        if not lines and finished.status in _NO_SUCH_TEST:
            raise UsageError(f"pytest finds no test {self.test}{self.selected} in {place.name}: {_reason(output)}")
        said = f"still running after {time_limit_s:g} s" if finished.timed_out else _reason(output)
        return TestRun(finished.status, tuple(json.loads(line) for line in lines), said)


def project_of(test: str) -> Project:
    """The project of a test.

    Args:
        test: the path of its file; a name in it may follow, as in ``test_race.py::test_name``.

    Raises:
        UsageError: there is no such file, or it is of another project.
    """
    name, colons, selected = test.partition("::")
    path = Path(name).resolve()
    if not path.is_file():
        raise UsageError(f"There is no test {name}.", "Write one with `replay-dd schedules --write-test FILE`.")
    here = Path.cwd()
    root = work_tree_here() or here
    if not path.is_relative_to(root):
        raise UsageError(
            f"The test {name} is not in {root}.", "Run this in the folder of the project that the test belongs to."
        )
    inside = "" if here == root or not here.is_relative_to(root) else str(here.relative_to(root))
    return Project(root, str(path.relative_to(root)), inside, colons + selected)


def has_uncommitted_changes(project: Project) -> bool:
    """Whether files of the project, other than the test, differ from those of its last commit."""
    told = git(project.root, "diff", "--name-only", "-z", "HEAD")
    return any(name and name != project.test for name in (told or "").split("\0"))


def _environment(place: Place) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in (INSIDE, "PYTEST_ADDOPTS")}
    if not place.is_copy:
        return kept
    first = [str(place.root), *([str(place.root / "src")] if (place.root / "src").is_dir() else [])]
    given = kept.get("PYTHONPATH")
    kept["PYTHONPATH"] = os.pathsep.join([*first, *filter(None, [given])])
    # A compiled file is taken for current by the time of its source in seconds, and its size.
    kept["PYTHONDONTWRITEBYTECODE"] = "1"
    return kept


def _reason(output: str) -> str:
    """The line of pytest's output that tells why a test failed."""
    lines: Sequence[str] = [line for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
    return (errors or [line for line in lines if "rror" in line] or [*lines[-1:], "it printed nothing"])[0][:200]
