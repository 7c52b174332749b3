"""The commits between a good and a bad one, and which of them to test next.

Rules of this module:

* Nothing here writes to the repository.
* All parents count, as for ``git bisect``: a failure may have come in on a branch that was merged.
* A commit that cannot be tested is passed over; it stays among those that may be guilty.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from replay_dd.changes.history import Origin, origin_of
from replay_dd.changes.sources import commit_named, git, is_shallow, repository_here
from replay_dd.errors.user import UsageError, VersionError
from replay_dd.outcome import Outcome

_WHOLE = "If it is older than what was fetched: `git fetch --unshallow`."


@dataclass
class History:
    """What is known of the commits.

    Attributes:
        repository: its folder.
        good: commits that pass; nothing that they contain is guilty.
        bad: the oldest commit known to fail.
        silent: commits that cannot be tested.
        shortcut: whether the good commit is the fork point of the one that the user named, which is no ancestor.
    """

    repository: Path
    good: list[str]
    bad: str
    silent: set[str] = field(default_factory=set)
    shortcut: bool = False

    def told(self, commit: str, outcome: Outcome) -> None:
        """Take the verdict on a commit."""
        if outcome is Outcome.FAIL:
            self.bad = commit
        elif outcome is Outcome.PASS:
            self.good.append(commit)
        else:
            self.silent.add(commit)

    def suspects(self) -> list[str]:
        """The commits that may be the first bad one; those that halve the rest best come first, the bad one last."""
        told = git(self.repository, "rev-list", "--bisect-all", self.bad, *(f"^{good}" for good in self.good)) or ""
        found = [line.split(maxsplit=1)[0] for line in told.splitlines() if line]
        return [commit for commit in found if commit != self.bad] + [self.bad]

    def in_order(self, commits: Collection[str]) -> list[str]:
        """Some of the suspects as they followed each other, the bad one last."""
        told = git(self.repository, "rev-list", "--topo-order", self.bad, *(f"^{good}" for good in self.good)) or ""
        return [commit for commit in reversed(told.split()) if commit in commits]

    def next(self) -> str | None:
        """The commit to test next; None if none is left."""
        return next((one for one in self.suspects() if one not in self.silent and one != self.bad), None)

    def reopened(self, commit: str) -> None:
        """A commit that passed fails under more schedules: neither it nor what it contains counts as good any more."""
        self.good = [one for one in self.good if one != commit and not self._contains(one, commit)]
        self.bad = commit

    def parents(self, commit: str) -> list[str]:
        """The parents of a commit that are not older than the good one."""
        told = (git(self.repository, "rev-parse", f"{commit}^@") or "").split()
        return [one for one in told if any(one == good or self._contains(one, good) for good in self.good)]

    def origin(self, commit: str) -> Origin:
        """Who wrote a commit, when, and what it is about."""
        return origin_of(self.repository, commit) or Origin(commit, "", "", "")

    def _contains(self, commit: str, ancestor: str) -> bool:
        return git(self.repository, "merge-base", "--is-ancestor", ancestor, commit) is not None


def open_history(good: str, bad: str) -> History:
    """The history between two revisions of the repository here.

    Args:
        good: a revision that passes.
        bad: one that fails.

    Raises:
        VersionError: there is no repository here, or a revision is not in it.
        UsageError: no history leads from the one to the other.
    """
    repository = repository_here()
    if repository is None:
        raise VersionError("There is no git repository here.", "Run the command inside the repository, or `git init`.")
    shallow = is_shallow(repository)
    commits = []
    for name in (good, bad):
        commit = commit_named(repository, name)
        if commit is None:
            raise VersionError(
                f"{name} is not a revision of the git repository {repository}"
                + (", which is a shallow clone." if shallow else "."),
                _WHOLE if shallow else "`git log --oneline` shows which there are.",
            )
        commits.append(commit)
    passes, fails = commits
    if passes == fails:
        raise UsageError(
            f"{good} and {bad} are the same commit.", "Name a commit that passes and a later one that fails."
        )
    base = (git(repository, "merge-base", passes, fails) or "").strip()
    if base == fails:
        raise UsageError(
            f"{good} comes after {bad}: a failure that is gone was repaired.",
            "Give the older revision, which passes, first.",
        )
    if not base:
        raise UsageError(
            f"No history leads from {good} to {bad}" + (": this is a shallow clone." if shallow else "."),
            "Fetch the rest: `git fetch --unshallow`." if shallow else "Name two revisions of one history.",
        )
    return History(repository, [base], fails, shortcut=base != passes)


def is_dirty(repository: Path) -> bool:
    """Whether tracked files of the work tree differ from the last commit."""
    return bool((git(repository, "status", "--porcelain", "--untracked-files=no") or "").strip())


def files_in(repository: Path, commit: str) -> frozenset[str]:
    """The names of the files in a commit, from the top of the repository."""
    told = git(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit) or ""
    return frozenset(filter(None, told.split("\0")))


def submodules(repository: Path, commit: str) -> dict[str, str]:
    """The paths of the submodules in a commit, from the top of the repository, and the commits that they stand at."""
    told = git(repository, "ls-tree", "-r", "-z", "--full-tree", commit) or ""
    lines = (line.partition("\t") for line in told.split("\0"))
    return {path: what.split()[2] for what, _, path in lines if what.startswith("160000 ")}
