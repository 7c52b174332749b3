"""Options and environment variables as deltas."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.input.settings import Settings, isolate_settings, options_of
from replay_dd.input.target import Target

pytestmark = pytest.mark.once

NEEDS_B_AND_D = Target(("sh", "-c", 'case "$*" in *-b*-d\\ 4*) exit 3; esac', "sh", "{options}", "last"), "input")


def applied(isolation: object) -> tuple[object, object]:
    settings = isolation.circumstance  # type: ignore[attr-defined]
    assert isinstance(settings, Settings)
    return settings.applied(isolation.failing.configuration)  # type: ignore[attr-defined]


def test_words_belong_to_the_option_before_them() -> None:
    assert options_of(["first", "-a", "1", "2", "--b", "-c=3"]) == (("first",), ("-a", "1", "2"), ("--b",), ("-c=3",))


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("algorithm", ["bisection", "ddmin"])
def test_which_a_failure_needs(jobs: int, algorithm: str) -> None:
    options = options_of(["-a", "-b", "-c", "-d", "4", "-e", "-f"])
    found = isolate_settings(b"", NEEDS_B_AND_D, options=options, jobs=jobs, algorithm=algorithm)
    assert applied(found) == ((("-b",), ("-d", "4")), {})
    assert found.verified
    assert [found.circumstance.words(delta) for delta in found.difference] == ["-b", "-d 4"]


def test_runs_that_want_the_same_folder_are_made_one_at_a_time(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    script = f'mkdir {lock} || exit 1; sleep 0.3; rmdir {lock}; case "$*" in *-b*) echo error: b; exit 1; esac; exit 0'
    options = options_of(["-a", "-b", "-c"])
    found = isolate_settings(b"", Target(("sh", "-c", script, "sh"), "input"), options=options, jobs=3)
    assert applied(found) == ((("-b",),), {})
    assert "File exists" in found.baseline.disturbed


def test_which_prevent_it() -> None:
    fails_unless = Target(("sh", "-c", 'case "$*" in *-b*-d*) exit 0;; esac; exit 3', "sh"), "input")
    found = isolate_settings(b"", fails_unless, options=options_of(["-a", "-b", "-c", "-d"]), prevents=True)
    assert applied(found) == ((("-b",), ("-d",)), {})
    assert found.failure.words == "prevented: exit status 0"


def test_variables_that_are_not_tried_stay() -> None:
    target = Target(
        ("sh", "-c", 'test "$ONE$TWO$THREE" != 12'), "input", environment={"ONE": "1", "TWO": "2", "THREE": ""}
    )
    found = isolate_settings(b"", target, variables={"TWO": "2", "THREE": ""})
    assert applied(found) == ((), {"TWO": "2"})


def test_a_setting_that_fixes_what_is_chance_otherwise(tmp_path: Path) -> None:
    """Without it, the first run fails and the others do not."""
    runs = tmp_path / "runs"
    script = f'case "$*" in *-s*) exit 3; esac; echo >> {runs}; [ $(wc -l < {runs}) != 1 ] || exit 3'
    with pytest.raises(DoesNotPassError, match="fails in 1 of 6 runs"):
        isolate_settings(b"", Target(("sh", "-c", script, "sh"), "input"), options=options_of(["-r", "-s"]))


def test_settings_that_do_not_do_what_they_should() -> None:
    options = options_of(["-a"])
    with pytest.raises(DoesNotFailError):
        isolate_settings(b"", Target(("true",), "input"), options=options)
    with pytest.raises(DoesNotPassError, match="without any option"):
        isolate_settings(b"", Target(("false",), "input"), options=options)
    with pytest.raises(DoesNotPassError, match="With all options"):
        isolate_settings(b"", Target(("false",), "input"), options=options, prevents=True)
    with pytest.raises(DoesNotFailError, match="Without any option"):
        isolate_settings(b"", Target(("true",), "input"), options=options, prevents=True)
