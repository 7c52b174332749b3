"""Whether two logs can be compared."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import SwappedError, TwoProgramsError
from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.model import Log, Settings
from replay_dd.schedules.replaying.replay import check_unchanged


def check_pair(passing: Log, failing: Log, *, accept_changes: bool) -> None:
    """Check that two logs are comparable.

    Raises:
        SwappedError, DoesNotPassError, DoesNotFailError: an outcome is not as claimed.
        TwoProgramsError: they are of different programs, arguments, interpreters or settings.
        ProgramChangedError: the program has changed since.
    """
    of_passing, of_failing = signature_of(passing.ending), signature_of(failing.ending)
    if of_passing.failed and of_failing.kind == PASSED:
        raise SwappedError("The first log is of a failing run and the second of a passing one.")
    if of_passing.kind != PASSED:
        raise DoesNotPassError(f"The run of the passing log did not pass: {of_passing.text}.")
    if not of_failing.failed:
        raise DoesNotFailError(f"The run of the failing log did not fail: {of_failing.text}.")
    if passing.program.command != failing.program.command:
        raise TwoProgramsError(
            f"The logs are of different commands: `{shlex.join(passing.program.command)}` and "
            f"`{shlex.join(failing.program.command)}`."
        )
    if accept_changes:
        return
    for what, one, other in (
        ("the Python version", passing.program.python, failing.program.python),
        ("what was counted", _lasting(passing.settings), _lasting(failing.settings)),
        ("the working directory", passing.program.directory, failing.program.directory),
        ("the standard input", passing.program.standard_input, failing.program.standard_input),
    ):
        if one != other:
            raise TwoProgramsError(f"The logs are not comparable: {what} differs.")
    common = passing.program.files.keys() & failing.program.files.keys()
    changed = sorted(name for name in common if passing.program.files[name] != failing.program.files[name])
    if changed:
        raise TwoProgramsError(f"The program changed between the two recordings: {', '.join(changed[:3])}.")
    check_unchanged(failing)
    check_unchanged(passing)


def _lasting(settings: Settings) -> Settings:
    """What all recordings of a program share: each one has its own date and its own key."""
    return replace(settings, start_ns=0, library_key="")


def time_limit_for(logs: Sequence[Log]) -> float:
    """The time limit of a run in seconds, derived from how long the recorded runs took."""
    return 10 + 20 * max(log.ending.seconds for log in logs)
