"""The commits between two versions: which one brought the failure, and which one changed a line.

Rules of this module:

* Commits build on each other, so only whole prefixes of a history are run: a binary search (ESEC/FSE 1999, section 6).
  What goes on inside the commit found is for :mod:`replay_dd.changes.isolate`.
* A commit that is not built, or fails in another way, says nothing: its neighbours are asked instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from replay_dd.changes.difference import Difference
from replay_dd.changes.sources import Version, git
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.outcome import Outcome

if TYPE_CHECKING:
    from replay_dd.changes.isolate import ChangesIsolation

_MOST_ASKED = 200  # lines: git takes some milliseconds for each
_FORMAT = "--format=%H%x00%an%x00%as%x00%s"


@dataclass(frozen=True, slots=True)
class Origin:
    """A commit.

    Attributes:
        commit: its full name.
        author: who wrote it.
        date: when, as in ``2026-01-31``.
        subject: the first line of its message.
    """

    commit: str
    author: str
    date: str
    subject: str


def commits_between(repository: Path, old: str, new: str) -> tuple[str, ...]:
    """The commits after one that lead to another, along first parents; empty if they do not."""
    if git(repository, "merge-base", "--is-ancestor", old, new) is None:
        return ()
    told = git(repository, "rev-list", "--first-parent", "--reverse", f"{old}..{new}")
    return tuple((told or "").split())


def first_failing(commits: int, test: Callable[[int], Outcome]) -> tuple[int, int]:
    """Search for two neighbouring commits of which only the later one fails.

    Args:
        commits: how many there are; the one before them passes, and the last one fails.
        test: what happens at the commit with this number, from 0.

    Returns:
        The numbers of the passing one (-1: that before them) and of the failing one. Between them are only commits that
        say nothing.
    """
    passing, failing = -1, commits - 1
    silent: set[int] = set()
    while untold := [number for number in range(passing + 1, failing) if number not in silent]:
        middle = (passing + failing) / 2
        number = min(untold, key=lambda one: abs(one - middle))
        outcome = test(number)
        if outcome is Outcome.FAIL:
            failing = number
        elif outcome is Outcome.PASS:
            passing = number
        else:
            silent.add(number)
    return passing, failing


def origins(difference: Difference, deltas: IntervalSet, old: Version, new: Version) -> tuple[Origin, ...]:
    """The commits that made these changes, as far as the history of the new version tells."""
    if new.repository is None:
        return ()
    found: dict[str, None] = {}
    for delta in deltas:
        for commit in _commits_of(difference, delta, old, new):
            found.setdefault(commit)
    return tuple(origin for commit in found if (origin := origin_of(new.repository, commit)) is not None)


def origins_of_needed(
    found: ChangesIsolation, guilty: tuple[Origin, ...], old: Version, new: Version
) -> tuple[Origin, ...]:
    """The commits that made what the guilty change needs; none if that is too much to ask git about each line.

    Args:
        found: the result.
        guilty: the commits that made the guilty change.
        old: the version that passes.
        new: the version that fails.
    """
    needed = EMPTY if found.needed is None else found.needed - found.guilty
    if needed.count > _MOST_ASKED:
        return ()
    return tuple(origin for origin in origins(found.difference, needed, old, new) if origin not in guilty)


def _commits_of(difference: Difference, delta: int, old: Version, new: Version) -> Iterator[str]:
    assert new.repository is not None
    file = difference.files[difference.file_of(delta)]
    change = difference.line_change(delta)
    if change is not None and change.new < change.new_stop:
        lines = f"-L{change.new + 1},{change.new_stop}"
        told = git(new.repository, "blame", "--porcelain", lines, new.revision, "--", file.path)
        if told:
            yield told.split(maxsplit=1)[0]
        return
    since = f"{old.revision}..{new.revision}" if old.repository == new.repository else new.revision
    what = []
    if change is not None:
        what = [f"-S{b''.join(file.before[change.old : change.old_stop]).decode('utf-8', 'replace').strip()}"]
    told = git(new.repository, "log", "-1", "--format=%H", *what, since, "--", file.old_path or file.path)
    if told:
        yield told.strip()


def origin_of(repository: Path, commit: str) -> Origin | None:
    """Who wrote a commit, when, and what it is about; None if git cannot tell."""
    told = git(repository, "log", "-1", _FORMAT, commit)
    parts = (told or "").strip().split("\0")
    return Origin(*parts) if len(parts) == 4 else None
