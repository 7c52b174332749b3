"""The program under test does not do what a replay or a search needs."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_BASELINE, EXIT_FLAKY, ReplayDDError


class ProgramError(ReplayDDError):
    """Base of the errors caused by the program under test."""


class DoesNotFailError(ProgramError):
    """What should fail does not."""

    slug = "does-not-fail"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = (
        "Give something that fails every time; `replay-dd hunt` and `replay-dd monkey` search for failing runs."
    )


class DoesNotPassError(ProgramError):
    """What should pass does not."""

    slug = "does-not-pass"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = (
        "Give something that passes every time. If that fails too, the failure does not come from the difference "
        "between the two."
    )


class NotReproducedError(ProgramError):
    """A replay did not do what was recorded."""

    slug = "not-reproduced"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = (
        "Something other than the recording matters: outside input, files left by other runs (try `--fresh-copy`), "
        "real time, or the order of addresses."
    )


class NotDeterministicError(NotReproducedError):
    """Two replays of one log diverged."""

    slug = "not-deterministic"
    default_hint = (
        "Remove the cause if you can; or run `replay-dd schedules` with `--repeats N`: it then runs each schedule N "
        "times, and states a confidence."
    )


class ProgramChangedError(ProgramError):
    """The program is not the one that was recorded."""

    slug = "program-changed"
    default_hint = "Record again, or use the recording anyway with `--accept-changes`."


class NotControlledError(ProgramError):
    """The command ran, but not under the scheduler."""

    slug = "not-controlled"
    default_hint = (
        "Give a Python program: `python prog.py`, `python -m package`, `pytest ...` or a console script, with an "
        "interpreter of version 3.11 or newer, and without the options -I, -E and -S."
    )


class NotTraceableError(ProgramError):
    """The statements of the program cannot be noted, or not be left out one by one."""

    slug = "not-traceable"
    default_hint = (
        "Give a Python program with one thread and one process, as a script or a module; with an interpreter of "
        "version 3.11 or newer."
    )


class NoOutcomeError(ProgramError):
    """The program has no such outcome that its statements could be searched for."""

    slug = "no-outcome"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Name another one: `--output-line` for a line that it prints, `--variable` for a final value."


class SeveralProcessesError(NotControlledError):
    """The command starts several Python processes that start threads."""

    slug = "several-processes"
    default_hint = "Choose one with `--process N`, or with `--process NAME` by its script or module."


class UntestedInterpreterError(NotControlledError):
    """The program's interpreter is of a version that the runtime was never tested with."""

    slug = "untested-interpreter"
    default_hint = (
        "Use one of the tested versions, or another version of replay-dd. With `--untested`, `record` and `hunt` go on "
        "anyway; failures may then be missed, and replays may diverge."
    )


class TimeLimitError(ProgramError):
    """The run was still going at the time limit."""

    slug = "time-limit"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give more time with `--time-limit SECONDS`, or see with `replay-dd show` where the threads were."


class NoWindowError(ProgramError):
    """The program never opened a window."""

    slug = "no-window"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give it more time with `--start-limit SECONDS`, and check that it is a GUI program."


class PageUnreachableError(ProgramError):
    """The first page of a user flow cannot be loaded."""

    slug = "page-unreachable"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Start the server of the page first, or give its command with `--server`."


class ServerFailedError(ProgramError):
    """The server of a user flow did not start, or another one answers in its place."""

    slug = "server-failed"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = (
        "Check that the command, run in this folder, starts a server at the address of the flow's first page."
    )
