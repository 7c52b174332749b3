"""The bisection: checks both ends, halves the commits between them, and looks at the answer twice.

Rules of this module:

* Both ends are tested first, with the very schedules that all commits get.
* A pass is no proof, so the answer is not taken from one: the commit before the guilty one, or before all that are
  left, is tried once more, with the schedule of the guilty one and with more hunted ones. If it fails then, the search
  goes on before it.
* Whatever ends the search, what is known so far is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from replay_dd.bisect.history import History
from replay_dd.changes.history import Origin
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.outcome import Outcome
from replay_dd.schedules.experiments.fixed_schedules import Tried
from replay_dd.schedules.model import Log


class Tester(Protocol):
    """Runs the schedules at commits; see :class:`~replay_dd.bisect.commits.Commits`."""

    logs: list[Log]

    def test(self, commit: str, *, thorough: bool) -> Tried:
        """Try the schedules at a commit."""


@dataclass(frozen=True)
class Tested:
    """A commit, and what came of it.

    Attributes:
        origin: the commit.
        tried: what came of the schedules.
        again: whether it was tried once more, with more schedules.
    """

    origin: Origin
    tried: Tried
    again: bool = False


@dataclass
class Bisection:
    """What a bisection found.

    Attributes:
        suspects: the commits that may be guilty, parents first; a single one if the search came to its end.
        tested: the commits that were tested, in order.
        failing: the log of a run of the last suspect that failed; None if there is none.
        confirmed: whether the commits before all suspects were tried once more, and passed.
        ended_by: why the search did not come to its end: ``interrupted``, ``out of time`` or empty.
        untested: the names of the ends that had not been tested by then.
    """

    suspects: list[Origin] = field(default_factory=list)
    tested: list[Tested] = field(default_factory=list)
    failing: Log | None = None
    confirmed: bool = False
    ended_by: str = ""
    untested: tuple[str, ...] = ()

    @property
    def guilty(self) -> Origin | None:
        """The commit that brought the failure; None if that is not certain."""
        return self.suspects[0] if len(self.suspects) == 1 and not self.ended_by else None


def bisect(
    history: History,
    tester: Tester,
    *,
    good_name: str,
    bad_name: str,
    ends_at: float | None = None,
    on_step: Callable[[str], None] = lambda text: None,
) -> Bisection:
    """Find the first commit that fails.

    Args:
        history: the commits.
        tester: tests them; it has the schedules already.
        good_name: what the user calls the good end.
        bad_name: what the user calls the bad end.
        ends_at: the time, as ``time.monotonic`` tells it, at which no further commit is tested; None for no limit.
        on_step: receives progress, in words.

    Raises:
        DoesNotFailError: the bad end does not fail under the schedules.
        DoesNotPassError: the good end fails, or cannot be tested.
    """
    found = Bisection()

    def test(commit: str, what: str, *, thorough: bool = False) -> Tried:
        on_step(what)
        tried = tester.test(commit, thorough=thorough)
        found.tested.append(Tested(history.origin(commit), tried, thorough))
        if tried.outcome is Outcome.FAIL and tried.failing is not None:
            found.failing = tried.failing
        return tried

    good = history.good[0]
    found.untested = (bad_name, good_name)
    name = f"the fork point of {good_name} ({good[:9]})" if history.shortcut else good_name
    try:
        _check_bad(test(history.bad, f"testing {bad_name}"), bad_name)
        found.untested = (good_name,)
        _check_good(test(good, f"testing {name}"), name, shortcut=history.shortcut)
        found.untested = ()
        while True:
            commit = history.next()
            if ends_at is not None and time.monotonic() >= ends_at:
                found.ended_by = "out of time"
                break
            if commit is not None:
                left = len(history.suspects())
                history.told(commit, test(commit, f"{left} commits left, testing {commit[:9]}").outcome)
                continue
            again = _failing_parent(history, test, tester, found)
            if again is None:
                found.confirmed = True
                break
            if again == good:
                raise DoesNotPassError(
                    f"{name} fails, too, under three times as many schedules: {found.tested[-1].tried.told}.",
                    "Name an older commit, or one that surely passes; `--runs` says how many schedules are hunted.",
                )
            history.reopened(again)
    except KeyboardInterrupt:
        found.ended_by = "interrupted"
    found.suspects = [history.origin(commit) for commit in history.in_order(history.suspects())]
    return found


def _failing_parent(history: History, test: Callable[..., Tried], tester: Tester, found: Bisection) -> str | None:
    """A commit before all suspects that fails under more schedules, and with that of the guilty one."""
    if found.failing is not None:
        tester.logs.append(found.failing)
    suspects = history.suspects()
    before = dict.fromkeys(parent for one in suspects for parent in history.parents(one) if parent not in suspects)
    for parent in before:
        if test(parent, f"trying {parent[:9]} once more", thorough=True).outcome is Outcome.FAIL:
            return parent
    return None


def _check_bad(tried: Tried, name: str) -> None:
    if tried.outcome is Outcome.PASS:
        raise DoesNotFailError(
            f"{name} passes: none of {tried.schedules} schedules fails there.",
            "Hunt with more runs (`--runs`), or name a commit that fails.",
        )
    if tried.outcome is Outcome.UNRESOLVED:
        raise DoesNotFailError(f"{name} cannot be tested: {tried.told}.")


def _check_good(tried: Tried, name: str, *, shortcut: bool) -> None:
    if tried.outcome is Outcome.FAIL:
        hint = "Name an older commit, which passes."
        if shortcut:
            hint = "The failure is older than the fork, and the good revision repairs it. " + hint
        raise DoesNotPassError(f"{name} fails, too: {tried.told}, with {tried.found_by}.", hint)
    if tried.outcome is Outcome.UNRESOLVED:
        raise DoesNotPassError(
            f"{name} cannot be tested: {tried.told}.",
            "Name a commit at which the program runs; `--build CMD` builds it, and `--failure TEXT` chooses one of "
            "several failures.",
        )
