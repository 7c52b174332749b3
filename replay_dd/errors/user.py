"""The user's input cannot be used: a command line, a file, or the arguments of a function."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_BASELINE, EXIT_INTERRUPTED, EXIT_LOG, ReplayDDError


class UserError(ReplayDDError):
    """Base of the errors that the user can fix by giving something else."""


class UsageError(UserError):
    """A command, an option or an argument is wrong."""

    slug = "usage"
    default_hint = "See `replay-dd --help`."  # the command line names the command, where there is one


class InterruptedCommandError(UserError):
    """Ctrl-C."""

    slug = "interrupted"
    exit_code: ClassVar[int] = EXIT_INTERRUPTED


class ProgramNotFoundError(UserError):
    """The command does not name a program that can be run."""

    slug = "program-not-found"
    default_hint = "Check the spelling, or give the path of the program after the `--`."


class FolderTooLargeError(UserError):
    """The working folder is too large to be copied for each run."""

    slug = "folder-too-large"
    default_hint = (
        "Run the command in a folder that holds only what the program needs, or let the program work in the folder "
        "itself with `--here`: it can then change or remove what is there."
    )


class NoSuchKeyError(UserError):
    """A key of a session cannot be pressed."""

    slug = "no-such-key"
    default_hint = "Use `--player xtest`: it knows all keys."


class OutputError(UserError):
    """An output file cannot be written."""

    slug = "output-unwritable"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = "Name another file or folder."


class LogError(UserError):
    """A log cannot be read."""

    slug = "log-unreadable"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = "Check the path, and that you may read the file."


class JournalError(UserError):
    """A journal cannot be used for this search."""

    slug = "journal-unusable"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = "Name another file."


class StrangersRecordingError(UserError):
    """The recording was not made here, and the user has not agreed to what it would run."""

    slug = "not-made-here"
    default_hint = (
        "If you trust it and what it would run, add `--yes`; for automatic runs, set the variable REPLAY_DD_YES to 1."
    )


class NotALogError(LogError):
    """The file is not a log."""

    slug = "not-a-log"
    default_hint = "Give a file that `replay-dd record` or `replay-dd hunt` wrote."


class LogEmptyError(LogError):
    """The file is empty."""

    slug = "log-empty"
    default_hint = "Record the run again with `replay-dd record`."


class LogVersionError(LogError):
    """The log was written by a newer replay-dd."""

    slug = "log-newer"
    default_hint = "Update replay-dd, or record the run again with this version."


class LogCutOffError(LogError):
    """The end of the log is missing."""

    slug = "log-cut-off"
    default_hint = "Copy the file again, or record the run again."


class LogUnfinishedError(LogError):
    """The log is still being written."""

    slug = "log-unfinished"
    default_hint = "End the recording first: close the program, or press Ctrl-C where `replay-dd` records it."


class LogEditedError(LogError):
    """The log does not match its checksum, or is malformed."""

    slug = "log-edited"
    default_hint = "Use the log as it was written, or record the run again."


class CorpusError(LogError):
    """A folder is no corpus of hunts, or what is in it is damaged."""

    slug = "corpus-unusable"
    default_hint = "Remove that file: the next hunt begins anew, and the logs of failures beside it stay."


class FlowStepError(LogError):
    """A step of a user flow violates the schema."""

    slug = "flow-step-invalid"
    default_hint = "Export the flow again, or fix this step."


class NothingRecordedError(UserError):
    """The recording contains nothing that could be left out."""

    slug = "nothing-recorded"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Record again, and do something in the program."


class TwoProgramsError(UserError):
    """The two recordings are of different programs."""

    slug = "two-programs"
    default_hint = (
        "Record both with the same command, settings and interpreter; `replay-dd hunt` writes such a pair of logs."
    )


class SwappedError(UserError):
    """The passing recording failed and the failing one passed."""

    slug = "swapped"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give the passing log first: `replay-dd schedules PASS FAIL`."


class NoDifferenceError(UserError):
    """What passes and what fails are the same."""

    slug = "no-difference"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = (
        "Their outcomes differ for another reason. Look for time, randomness or outside input that differs between "
        "the runs."
    )


class PassNotContainedError(UserError):
    """The passing case contains elements that the failing case lacks, or has them in another order."""

    slug = "pass-not-contained"
    default_hint = (
        "Delta debugging adds parts of the failing case to the passing one: the passing case must be contained, in the "
        "same order, in the failing one. The empty case always is. If neither contains the other, give their "
        "difference in place of both: `deltas_between(passing, failing)`."
    )


class NotAPartitionError(UserError):
    """A split function of the caller lost, duplicated or invented deltas."""

    slug = "not-a-partition"
    default_hint = (
        "A split function must return parts that are not empty, do not overlap, and together contain every delta it "
        "was given."
    )


class ArgumentError(UserError, TypeError):
    """A function of the Python interface got an argument that it cannot use."""

    slug = "argument"
    default_hint = "See docs/reference/python-api.md for what each function accepts."


class NotAnOutcomeError(UserError, TypeError):
    """A test function of the caller returned something other than an outcome."""

    slug = "not-an-outcome"
    default_hint = (
        "Return Outcome.FAIL for the failure you are after, Outcome.PASS if all is well, and Outcome.UNRESOLVED "
        "for anything else."
    )


class NotPicklableError(UserError):
    """A test, or a case that it should be called with, cannot be sent to another process."""

    slug = "not-picklable"
    default_hint = (
        "Define the test at the top level of an importable module (not a lambda, not inside a function), or run it on "
        "threads: leave out `executor=`."
    )


class ExecutorBrokenError(UserError):
    """The workers of the caller's executor are gone."""

    slug = "executor-broken"
    default_hint = (
        'Guard the main part of the script with `if __name__ == "__main__":`, which worker processes import; if it '
        "is guarded, a test ended its own process."
    )


class InputError(UserError):
    """The file with the program's input cannot be read, or has nothing that could be left out."""

    slug = "input-unusable"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = "Check the path, and that you may read the file."


class VersionError(UserError):
    """A version of a program cannot be found, unpacked or read."""

    slug = "version-unusable"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = (
        "A version is a folder, an archive (.zip, .tar.gz, .whl and the like), a revision of the git repository here, "
        "or a release from the package index, such as `pip:NAME==1.2`."
    )


class FunctionNotFoundError(UserError):
    """A function cannot be imported."""

    slug = "function-not-found"
    default_hint = "Name it as `module:function`, such as `json:loads`, in a folder where Python can import the module."
