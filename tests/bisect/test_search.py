"""The bisection on histories of real repositories, with verdicts that the test gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.bisect.history import open_history
from replay_dd.bisect.search import Bisection, bisect
from replay_dd.errors import ReplayDDError
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import UsageError, VersionError
from replay_dd.outcome import Outcome
from replay_dd.report.bisection import bisection_as_json, bisection_in_words
from replay_dd.schedules.experiments.fixed_schedules import Tried
from replay_dd.schedules.model import Log
from tests.bisect.repository import Repository

pytestmark = pytest.mark.once

PASS, FAIL, UNRESOLVED = Outcome.PASS, Outcome.FAIL, Outcome.UNRESOLVED


class Scripted:
    """Verdicts by commit; what is not named passes."""

    def __init__(
        self, *, bad: set[str], silent: frozenset[str] = frozenset(), shy: frozenset[str] = frozenset()
    ) -> None:
        self.logs: list[Log] = []
        self.asked: list[str] = []
        self._bad, self._silent, self._shy = bad, silent, shy  # the shy ones fail only under more schedules

    def test(self, commit: str, *, thorough: bool) -> Tried:
        self.asked.append(commit)
        if commit in self._silent:
            return Tried(UNRESOLVED, "not built (exit status 2)")
        fails = commit in self._bad or (thorough and commit in self._shy)
        return Tried(FAIL if fails else PASS, "it fails" if fails else "", "a schedule", 10)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository, in which the test is."""
    made = Repository(tmp_path / "repository")
    monkeypatch.chdir(made.folder)
    return made


def _line(repository: Repository, length: int) -> list[str]:
    return [repository.commit(f"Step {number}") for number in range(length)]


def _searched(commits: list[str], tester: Scripted) -> Bisection:
    return bisect(open_history(commits[0], commits[-1]), tester, good_name="OLD", bad_name="NEW")


@pytest.mark.parametrize("first_bad", [1, 2, 5, 8])
def test_the_first_bad_commit_is_found_and_the_one_before_it_tried_twice(
    repository: Repository, first_bad: int
) -> None:
    commits = _line(repository, 9)
    tester = Scripted(bad=set(commits[first_bad:]))
    found = _searched(commits, tester)
    assert found.guilty is not None
    assert (found.guilty.commit, found.guilty.subject) == (commits[first_bad], f"Step {first_bad}")
    assert found.guilty.author == "Ann"
    assert found.confirmed
    assert tester.asked[:2] == [commits[-1], commits[0]], "both ends come first"
    assert tester.asked[-1] == commits[first_bad - 1]
    assert len(tester.asked) <= 2 + 3 + 1


def test_a_pass_that_does_not_stand_moves_the_answer_back(repository: Repository) -> None:
    commits = _line(repository, 9)
    found = _searched(commits, Scripted(bad=set(commits[6:]), shy=frozenset(commits[4:6])))
    assert found.guilty is not None
    assert found.guilty.commit == commits[4]


def test_a_good_end_that_fails_under_more_schedules_is_told(repository: Repository) -> None:
    commits = _line(repository, 3)
    with pytest.raises(DoesNotPassError, match="OLD fails, too, under three times as many schedules"):
        _searched(commits, Scripted(bad=set(commits[1:]), shy=frozenset(commits)))


def test_commits_that_cannot_be_tested_stay_suspects(repository: Repository, tmp_path: Path) -> None:
    commits = _line(repository, 6)
    found = _searched(commits, Scripted(bad=set(commits[4:]), silent=frozenset(commits[2:4])))
    assert found.guilty is None
    assert [one.commit for one in found.suspects] == commits[2:5]
    assert found.confirmed
    assert (found.tested[-1].origin.commit, found.tested[-1].again) == (commits[1], True)
    told = list(bisection_in_words(found, tmp_path / "guilty.log"))
    assert told[0] == "the first bad commit is among these 3; all but the last cannot be tested"
    assert told[-1].startswith("The commit before them was tried twice")
    passed_over = _searched(commits, Scripted(bad=set(commits[4:]), silent=frozenset(commits[1:2])))
    assert passed_over.guilty is not None
    assert passed_over.guilty.commit == commits[4]


def test_a_pass_before_commits_that_cannot_be_tested_may_not_stand(repository: Repository) -> None:
    commits = _line(repository, 9)
    tester = Scripted(bad=set(commits[6:]), silent=frozenset(commits[4:6]), shy=frozenset(commits[2:4]))
    found = _searched(commits, tester)
    assert found.guilty is not None
    assert found.guilty.commit == commits[2]


def test_a_failure_that_came_in_on_a_branch_is_found_there(repository: Repository) -> None:
    start = repository.commit("Start")
    repository.git("checkout", "--quiet", "-b", "side")
    branch = [repository.commit(f"Branch {number}") for number in range(3)]
    repository.git("checkout", "--quiet", "main")
    main = repository.commit("Main")
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    found = _searched([start, merge], Scripted(bad={merge, branch[1], branch[2]}))
    assert found.guilty is not None
    assert found.guilty.commit == branch[1]
    beside = bisect(open_history(main, branch[2]), Scripted(bad=set(branch[1:])), good_name="main", bad_name="side")
    assert beside.guilty is not None
    assert beside.guilty.commit == branch[1], "the good end is no ancestor of the bad one: their fork point is"
    with pytest.raises(DoesNotPassError, match="the fork point of main"):
        bisect(open_history(main, branch[2]), Scripted(bad={start, *branch}), good_name="main", bad_name="side")


def test_each_parent_of_a_guilty_merge_is_tried_twice(repository: Repository, tmp_path: Path) -> None:
    start = repository.commit("Start")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Side")
    repository.git("checkout", "--quiet", "main")
    repository.commit("Main")
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    found = _searched([start, merge], Scripted(bad={merge}))
    assert found.guilty is not None
    assert found.guilty.commit == merge
    told = list(bisection_in_words(found, tmp_path / "guilty.log"))
    assert told[-1].startswith("Each of the 2 commits right before it was tried twice")


@pytest.mark.parametrize(
    ("good", "bad", "silent", "error", "said"),
    [
        (PASS, PASS, False, DoesNotFailError, "NEW passes: none of 10 schedules fails"),
        (FAIL, FAIL, False, DoesNotPassError, "OLD fails, too: it fails, with a schedule"),
        (PASS, FAIL, True, DoesNotPassError, "OLD cannot be tested: not built"),
    ],
)
def test_ends_that_are_not_as_claimed(
    repository: Repository, good: Outcome, bad: Outcome, silent: bool, error: type[ReplayDDError], said: str
) -> None:
    commits = _line(repository, 2)
    failing = {one for one, outcome in zip(commits, (good, bad), strict=True) if outcome is FAIL}
    with pytest.raises(error, match=said):
        _searched(commits, Scripted(bad=failing, silent=frozenset(commits[:1] if silent else ())))


def test_what_is_known_at_an_interrupt_is_told(repository: Repository) -> None:
    commits = _line(repository, 9)

    class Interrupted(Scripted):
        def test(self, commit: str, *, thorough: bool) -> Tried:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return super().test(commit, thorough=thorough)

    found = _searched(commits, Interrupted(bad=set(commits[7:])))
    assert found.ended_by == "interrupted"
    assert found.guilty is None
    assert 1 < len(found.suspects) < 8
    assert [one.commit for one in found.suspects] == commits[-len(found.suspects) :]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (0, "interrupted: if NEW fails and OLD passes, the first bad commit is among these 8"),
        (1, "interrupted: if OLD passes, the first bad commit is among these 8"),
        (2, "interrupted: the first bad commit is among these 8"),
        (5, "interrupted: the first bad commit is this one, if the one before it passes once more"),
    ],
)
def test_what_an_interrupted_search_leaves_open(repository: Repository, asked: int, said: str, tmp_path: Path) -> None:
    commits = _line(repository, 9)

    class Interrupted(Scripted):
        def test(self, commit: str, *, thorough: bool) -> Tried:
            if len(self.asked) == asked:
                raise KeyboardInterrupt
            return super().test(commit, thorough=thorough)

    found = _searched(commits, Interrupted(bad=set(commits[7:])))
    told = list(bisection_in_words(found, tmp_path / "guilty.log"))
    assert told[0] == said
    assert ("Step 7" in told[1]) == (asked == 5)
    assert bisection_as_json(found, tmp_path)["untested"] == ["NEW", "OLD"][asked:]


def test_no_more_commits_are_tested_once_the_time_is_over(repository: Repository) -> None:
    commits = _line(repository, 9)
    tester = Scripted(bad={commits[-1]})
    found = bisect(open_history(commits[0], commits[-1]), tester, good_name="OLD", bad_name="NEW", ends_at=0.0)
    assert found.ended_by == "out of time"
    assert len(tester.asked) == 2


# -- revisions that cannot be used -----------------------------------------------------------------------------------


def test_revisions_that_lead_nowhere(repository: Repository) -> None:
    first, second = _line(repository, 2)
    repository.git("checkout", "--quiet", "--orphan", "other")
    other = repository.commit("Another beginning")
    for good, bad, error, said in (
        ("nowhere", second, VersionError, "nowhere is not a revision of the git repository"),
        ("--help", second, VersionError, "--help is not a revision"),
        (first, first, UsageError, "are the same commit"),
        (second, first, UsageError, "comes after"),
        (first, other, UsageError, "No history leads from"),
    ):
        with pytest.raises(error, match=said):
            open_history(good, bad)


def test_a_shallow_clone_is_told(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = _line(repository, 3)
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", str(clone))
    monkeypatch.chdir(clone)
    with pytest.raises(VersionError, match="which is a shallow clone") as told:
        open_history(commits[0], "HEAD")
    assert "--unshallow" in told.value.hint


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(VersionError, match="There is no git repository here"):
        open_history("HEAD~1", "HEAD")
