"""``replay-dd bisect``."""

from __future__ import annotations

import os
import shlex
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import click

from replay_dd.bisect.commits import Commits, Target
from replay_dd.bisect.history import History, files_in, is_dirty, open_history, submodules
from replay_dd.bisect.search import Bisection, bisect
from replay_dd.changes.sources import work_tree_here
from replay_dd.cli.command import Option, command
from replay_dd.cli.options import (
    LOG,
    OUTPUT,
    OUTPUT_FILE,
    SCHEDULING,
    SEARCH,
    count_option,
    fork_option,
    jobs_option,
    json_option,
    run_options,
    seed_option,
    time_budget_option,
)
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress, say
from replay_dd.cli.run_options import RunOptions, program_of, settings_of
from replay_dd.errors import EXIT_DONE, EXIT_INTERRUPTED
from replay_dd.errors.program import DoesNotFailError
from replay_dd.errors.user import InterruptedCommandError, UsageError
from replay_dd.files import check_writable
from replay_dd.report.bisection import bisection_as_json, bisection_in_words
from replay_dd.schedules.log import read_log, write_log

DEFAULT_LOG = "guilty.log"
EXIT_NOT_FOUND = 1


@command(
    "bisect",
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="LOG",
        type=OUTPUT_FILE,
        default=DEFAULT_LOG,
        show_default=True,
        help="Where to write the log of a run of the guilty commit that fails.",
    ),
    json_option(),
    Option(
        "--schedule",
        section=SEARCH,
        metavar="LOG",
        type=LOG,
        multiple=True,
        help="Try the schedule of this failing run at each commit, instead of one hunted at BAD. Repeatable.",
    ),
    count_option("--runs", "How many schedules to hunt at each commit.", default=200),
    Option(
        "--failure",
        section=SEARCH,
        metavar="TEXT",
        default="",
        help="Look for a failure whose description contains TEXT.",
    ),
    Option("--build", section=SEARCH, metavar="CMD", help="Run this shell command at each commit before CMD."),
    time_budget_option("Test no more commits after this time."),
    jobs_option(),
    fork_option(),
    seed_option("Random seed of the first hunted schedule; the others count up from it.", SCHEDULING),
    *run_options(),
    click.Argument(["words"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="GOOD BAD -- CMD..."),
)
def bisect_command(
    output: Path,
    as_json: bool,
    build: str | None,
    schedule: tuple[Path, ...],
    runs: int,
    failure: str,
    time_budget: float | None,
    jobs: int,
    no_fork: bool,
    seed: int | None,
    words: tuple[str, ...],
    **running: Unpack[RunOptions],
) -> int:
    """Find the commit that introduced a race or deadlock, with the same schedules at each commit.

    GOOD, where CMD passes, and BAD, where it fails, are revisions of the git repository here. Each commit is checked
    out into a temporary folder; the work tree stays as it is.

    Exit status:
      0  found
      1  narrowed down to several commits
      3  CMD fails at GOOD, or does not fail at BAD
    """
    good, bad, *arguments = words if len(words) > 2 else ("", "")
    if not arguments:
        raise UsageError(
            "Two revisions and a command are needed.",
            "For instance: `replay-dd bisect v1.2 HEAD -- python test.py`.",
        )
    check_writable(output)
    ends_at = None if time_budget is None else time.monotonic() + time_budget
    history = open_history(good, bad)
    if is_dirty(history.repository):
        say("the work tree has changes that are not committed; they are not tested")
    target = Target(
        program_of(tuple(arguments), running, is_here=False),
        settings_of(running),
        _top(history),
        build=build or "",
        runs=runs,
        seed=seed or 0,
        jobs=jobs,
        may_fork=not no_fork,
        time_limit_s=running["time_limit"],
        failure=failure,
    )
    target = _with_own_files(target, history)
    for submodule in submodules(history.repository, history.bad):
        if not (target.top / submodule / ".git").exists():
            say(f"the submodule {submodule} is empty, as it is here; `git submodule update --init` checks it out")
    progress = Progress()
    what = ""

    def on_step(text: str) -> None:
        nonlocal what
        what = text
        progress.show(text)

    commits = Commits(history.repository, target, lambda text: progress.show(f"{what}: {text}"))
    interrupted = False
    try:
        if schedule:
            for path in schedule:
                commits.take(read_log(path))
        else:
            on_step(f"hunting at {bad}")
            interrupted = _hunt(commits, history, bad, time_budget)
        if interrupted:
            suspects = [history.origin(commit) for commit in history.suspects()]
            found = Bisection(suspects, ended_by="interrupted", untested=(bad, good))
        else:
            found = bisect(history, commits, good_name=good, bad_name=bad, ends_at=ends_at, on_step=on_step)
    finally:
        progress.clear()
    if found.failing is None and not schedule:
        found.failing = commits.logs[0]  # of the hunt
    if found.failing is not None:
        write_log(found.failing, output)
    if as_json:
        echo_json(bisection_as_json(found, output))
    else:
        echo_lines(bisection_in_words(found, output))
    return _status(found)


def _hunt(commits: Commits, history: History, bad: str, time_budget_s: float | None) -> bool:
    """Hunt for the failure at the bad end; returns whether Ctrl-C ended that, with a failure.

    Raises:
        DoesNotFailError: there is none.
    """
    found, trouble = commits.hunt(history.bad, time_budget_s)
    if found is None:
        raise DoesNotFailError(f"{bad} cannot be tested: {trouble}.", "Correct the command after `--build`.")
    if found.interrupted and found.failing is None:
        raise InterruptedCommandError("Interrupted before a failure was found.")
    if found.one_schedule:
        said = found.output.decode(errors="replace").strip().splitlines()
        ending = "; ".join(one.text for one in (*found.failures, *found.passed_over, *found.others)) or "exit status 0"
        raise DoesNotFailError(
            f"At {bad}, the command starts no threads. It ends with {ending}"
            + (f", and its last output is: {said[-1][:200]}" if said else "."),
            "Check the command; what is not in the commits, such as generated files, is up to `--build CMD`. "
            "To find the commit of a failure without threads: `replay-dd changes GOOD..BAD -- CMD`.",
        )
    if found.failing is not None:
        return found.interrupted
    others = "; ".join(one.text for one in (*found.passed_over, *found.others))
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    end = ", and then time ran out" if found.out_of_time else ""
    more = "Give it more time (`--time-budget`)" if found.out_of_time else "Hunt with more runs (`--runs`)"
    raise DoesNotFailError(
        f"{bad} passes: no failure in {runs} of about {found.yield_points:,} yield points{end}"
        + (f", but {others}." if others else "."),
        f"{more}, name a commit that fails, or give the log of a failing run (`--schedule`).",
    )


def _top(history: History) -> Path:
    """The top of the work tree; the repository itself where there is none."""
    return work_tree_here() or history.repository


def _with_own_files(target: Target, history: History) -> Target:
    """The target with files of its command that not both ends have, and with absolute paths to what lies elsewhere."""
    here = Path(target.program.directory)
    files_of = {commit: files_in(history.repository, commit) for commit in (history.good[0], history.bad)}
    ends = files_of.values()
    files: dict[str, tuple[bytes, int]] = {}
    arguments = []
    for number, argument in enumerate(target.program.command):
        name, *rest = argument.split("::")
        path = Path(os.path.normpath(here / name))
        real = Path(os.path.realpath(path))
        if not path.is_relative_to(target.top) and real.is_relative_to(target.top):
            path = real  # a link leads there, and Python follows it
        if not _is_there(path, Path.is_file) or (number == 0 and os.sep not in name):
            _check_is_in_both(path, name, target.top, files_of)
            arguments.append(argument)
            continue
        if not path.is_relative_to(target.top):
            arguments.append("::".join([str(path), *rest]))
            continue
        below = path.relative_to(target.top).as_posix()
        if number == 0 and not all(below in end for end in ends):
            arguments.append(str(path))  # such as the interpreter of a virtual environment
            continue
        if not all(below in end for end in ends):
            files[below] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            say(f"{name} is not part of both ends; it is used at each commit as it is here")
        arguments.append("::".join([os.path.relpath(path, here), *rest]))
    return replace(target, program=replace(target.program, command=tuple(arguments)), files=files)


def _check_is_in_both(path: Path, name: str, top: Path, files_of: Mapping[str, frozenset[str]]) -> None:
    """Refuse a file of the command that only one end has, and the work tree has not.

    Raises:
        UsageError: it is one.
    """
    below = path.relative_to(top).as_posix() if path.is_relative_to(top) else ""
    having = [commit for commit, files in files_of.items() if below in files]
    is_word = os.sep not in name and not path.suffix  # such as the value of an option
    if is_word or len(having) != 1 or _is_there(path, Path.exists):
        return
    show = f"git show {shlex.quote(f'{having[0][:12]}:{below}')} > {shlex.quote(name)}"
    if not path.parent.is_dir():
        show = f"mkdir -p {shlex.quote(os.path.dirname(name))} && {show}"
    raise UsageError(
        f"Only {having[0][:12]} has the file {name}; the other end and the work tree have not.",
        f"Put it here, and it is used at each commit: `{show}`.",
    )


def _is_there(path: Path, kind: Callable[[Path], bool]) -> bool:
    """Whether something lies at what may be a path, such as any argument of a command."""
    try:
        return kind(path)
    except (OSError, RuntimeError):  # too long a name, or links in a circle
        return False


def _status(found: Bisection) -> int:
    """The exit status."""
    if found.ended_by == "interrupted":
        return EXIT_INTERRUPTED
    return EXIT_DONE if found.guilty is not None else EXIT_NOT_FOUND
