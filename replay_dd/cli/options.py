"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from replay_dd.cli.command import OneOf, Option, Output, Seconds

LOG = click.Path(path_type=Path, dir_okay=False)
OUTPUT_FILE = Output()
OUTPUT_FOLDER = Output(folder=True)
OUTPUT_FILE_OR_FOLDER = Output(either=True)
PRINTED = Path("-")
OUTPUT_FILE_OR_PRINTED = Output(or_printed=True)

# Titles in `--help`.
OUTPUT = "Output"
PROGRAM = "Program"
SCHEDULING = "Scheduling"
SEARCH = "Search"
YIELD_POINTS = "Yield points"
_LONGEST_DELAY_S = 1e6


def strategies() -> Sequence[str]:
    """The scheduling strategies."""
    from replay_dd.schedules.replaying.record import STRATEGIES

    return STRATEGIES


def _granularities() -> Sequence[str]:
    from replay_dd.schedules.replaying.record import GRANULARITIES

    return GRANULARITIES


def _algorithms() -> Sequence[str]:
    from replay_dd.web.flow import ALGORITHMS  # `events` has the same, but is slower to import

    return ALGORITHMS


def _default_algorithm() -> str:
    return _algorithms()[0]


def _default_time_limit_s() -> float:
    from replay_dd.schedules.replaying.record import DEFAULT_TIME_LIMIT_S

    return DEFAULT_TIME_LIMIT_S


def _default_max_delay_s() -> float:
    from replay_dd.schedules.replaying.record import DEFAULT_MAX_DELAY_S

    return DEFAULT_MAX_DELAY_S


def program_argument() -> click.Argument:
    """The command after the ``--``."""
    return click.Argument(["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")


def run_options() -> tuple[Option, ...]:
    """How a program with threads is run; see :class:`~replay_dd.cli.run_options.RunOptions`."""
    return (max_delay_option(), *_yield_point_options(), *_program_options())


def _yield_point_options() -> tuple[Option, ...]:
    """``--granularity``, ``--trace-include``, ``--trace-exclude``: where threads may be switched."""
    return (
        Option(
            "--granularity",
            section=YIELD_POINTS,
            type=OneOf(_granularities),
            default="access",
            show_default=True,
            help="Where threads may be switched.",
        ),
        Option(
            "--trace-include",
            section=YIELD_POINTS,
            metavar="PKG",
            multiple=True,
            help="Also count this package of the standard library or of a test runner. Repeatable.",
        ),
        Option(
            "--trace-exclude",
            section=YIELD_POINTS,
            metavar="PKG",
            multiple=True,
            help="Do not count this package. Repeatable.",
        ),
    )


def _program_options() -> tuple[Option, ...]:
    """How the program is run, and how much of the outside world it sees."""
    return (
        Option(
            "--stdin", section=PROGRAM, metavar="FILE", help="Standard input of the program; - for that of replay-dd."
        ),
        Option(
            "--fresh-copy",
            section=PROGRAM,
            is_flag=True,
            help="Run in a fresh copy of the working directory.",
        ),
        Option(
            "--preload",
            section=PROGRAM,
            metavar="MODULE",
            multiple=True,
            help="Import this installed module before the program's own code, so that forked runs share it. "
            "Repeatable.",
        ),
        Option(
            "--process",
            section=PROGRAM,
            metavar="N|NAME",
            default="",
            help="Which Python process to control if the command starts several: its number in the order of their "
            "start, or its script or module.",
            shown_default="the only one that starts threads",
        ),
        Option("--real-clock", section=PROGRAM, is_flag=True, help="Use the real clock: sleeps take real time."),
        Option("--real-entropy", section=PROGRAM, is_flag=True, help="Use the system's entropy."),
        Option(
            "--untested",
            section=PROGRAM,
            is_flag=True,
            help="Accept a version of Python that replay-dd was not tested with; the log notes it.",
        ),
        time_limit_option(lambda: f"{_default_time_limit_s():g}", default=_default_time_limit_s),
    )


def replay_time_limit_option(section: str) -> Option:
    """``--time-limit`` for runs whose recorded time is known."""
    return time_limit_option("20 times the recorded run, and 10 s", section=section)


def time_limit_option(
    shown_default: str | Callable[[], str],
    help_text: str = "Kill a run after this time.",
    *,
    section: str = PROGRAM,
    default: Callable[[], float] | None = None,
) -> Option:
    """``--time-limit``.

    Args:
        shown_default: what help says of the limit where none is given.
        help_text: what it means.
        section: of the help.
        default: the limit where none is given; None if it follows from the first runs.
    """
    return Option(
        "--time-limit",
        section=section,
        metavar="SECONDS",
        type=Seconds(min=0, min_open=True),
        default=default,
        shown_default=shown_default,
        help=help_text,
    )


def environment_option(section: str) -> Option:
    """``--env``."""
    return Option(
        "--env",
        section=section,
        metavar="NAME[=VALUE]",
        multiple=True,
        help="Set a variable in the environment of the program, in place of the recorded value; without a value, take "
        "that of this shell. Repeatable.",
    )


def accept_changes_option(section: str) -> Option:
    """``--accept-changes``."""
    return Option(
        "--accept-changes",
        section=section,
        is_flag=True,
        help="Go on even if the program has changed since it was recorded.",
    )


def max_delay_option(*, of_log: bool = False) -> Option:
    """``--max-delay``: how late a thread may be; None for what the log was recorded with, if ``of_log``."""
    return Option(
        "--max-delay",
        section=SEARCH if of_log else SCHEDULING,
        metavar="SECONDS",
        type=Seconds(min=0, max=_LONGEST_DELAY_S),
        default=None if of_log else _default_max_delay_s,
        shown_default="that of LOG" if of_log else lambda: f"{_default_max_delay_s():g}",
        help="How late a busy machine may make a thread: sleeps and time-outs may end before it goes on if that makes "
        "it no later.",
    )


def seed_option(help_text: str, section: str) -> Option:
    """``--seed``; None for the default, which is 0."""
    return Option("--seed", section=section, metavar="N", type=int, shown_default=lambda: 0, help=help_text)


def count_option(
    name: str,
    help_text: str,
    *,
    default: int | None = None,
    section: str = SEARCH,
    metavar: str = "N",
    least: int = 1,
) -> Option:
    """An option that says how many; the help shows the default, if there is one."""
    return Option(
        name,
        section=section,
        metavar=metavar,
        type=click.IntRange(min=least),
        default=default,
        show_default=default is not None,
        help=help_text,
    )


def budget_options() -> tuple[Option, ...]:
    """``--max-tests`` and ``--time-budget``: when a search stops with the best result so far."""
    return (
        count_option("--max-tests", "Stop after N tests with the best result so far."),
        time_budget_option("Stop after this time with the best result so far."),
    )


def journal_option() -> Option:
    """``--journal``; :class:`~replay_dd.cli.command.Command` opens it, and keeps it from the command."""
    return Option(
        "--journal",
        section=OUTPUT,
        metavar="FILE",
        type=OUTPUT_FILE,
        help="Keep in FILE what each run of the search has shown. If the search is killed, the same command goes on "
        "from there.",
    )


def time_budget_option(text: str) -> Option:
    """``--time-budget``, with this help."""
    return Option("--time-budget", section=SEARCH, metavar="SECONDS", type=Seconds(min=0, min_open=True), help=text)


def algorithm_option() -> Option:
    """``--algorithm``; None for the default."""
    return Option(
        "--algorithm",
        section=SEARCH,
        type=OneOf(_algorithms),
        shown_default=_default_algorithm,
        help="Find the needed actions or steps one by one by bisection, or use ddmin.",
    )


def repeats_option() -> Option:
    """``--repeats``; None to derive it."""
    return Option(
        "--repeats",
        section=SEARCH,
        metavar="N",
        type=click.IntRange(min=1),
        help="How often to try a configuration that does not fail.",
        shown_default="by the measured failure rate",
        old_name="--repeat",
    )


def log_option() -> Option:
    """``--output`` for what is recorded."""
    return Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="LOG",
        type=OUTPUT_FILE,
        required=True,
        help="Where to write the log.",
    )


def output_option() -> Option:
    """``--output`` for the result of a search."""
    return Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="FILE",
        type=OUTPUT_FILE,
        help="Where to write the minimal recording.",
        shown_default="next to the recording",
    )


def strip_option() -> Option:
    """``--strip``."""
    return Option(
        "--strip", section=OUTPUT, metavar="HTML", type=OUTPUT_FILE, help="Write a film strip of the minimal recording."
    )


def page_option(help_text: str = "Write the result as an HTML page, which needs no network.") -> Option:
    """``--html``."""
    return Option("--html", section=OUTPUT, metavar="HTML", type=OUTPUT_FILE, help=help_text)


def trace_option() -> Option:
    """``--trace``."""
    return Option(
        "--trace",
        section=OUTPUT,
        metavar="FILE",
        type=OUTPUT_FILE,
        help="Write threads, switches, locks and values for Perfetto or chrome://tracing.",
    )


def json_option() -> Option:
    """``--json``."""
    return Option("--json", "as_json", section=OUTPUT, is_flag=True, help="Print one JSON object.")


def jobs_option(runs: str = "runs") -> Option:
    """``--jobs``.

    Args:
        runs: a noun in the plural for what is done at the same time.
    """
    return _jobs(processors, f"Number of {runs} at the same time.", "one per processor")


def displays_option() -> Option:
    """``--jobs`` for GUI sessions; see :func:`displays`."""
    return _jobs(None, "Number of displays at the same time.", "one per two processors")


def displays(jobs: int | None) -> int:
    """How many displays: an X server, its window manager, program and player keep two processors busy.

    Args:
        jobs: how many the user wants, if that was said.
    """
    return jobs or max(1, processors() // 2)


def browsers_option() -> Option:
    """``--jobs`` for user flows: one by default, as flows that are played at the same time share their server."""
    return _jobs(None, "Number of browsers at the same time; they share the server.", "1")


def _jobs(default: Callable[[], int] | None, help_text: str, shown_default: str) -> Option:
    return Option(
        "--jobs",
        section=SEARCH,
        metavar="N",
        type=click.IntRange(min=1),
        default=default,
        shown_default=shown_default,
        help=help_text,
    )


def fork_option(what: str = "the program where it starts its first thread") -> Option:
    """``--no-fork``.

    Args:
        what: what is forked without this option, and where.
    """
    return Option(
        "--no-fork",
        section=SEARCH,
        is_flag=True,
        help=f"Start a new process for each run instead of forking {what}.",
    )


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
