"""``replay-dd hunt``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

from replay_dd.cli.command import OneOf, Option, command
from replay_dd.cli.options import (
    OUTPUT,
    OUTPUT_FOLDER,
    SCHEDULING,
    SEARCH,
    count_option,
    fork_option,
    jobs_option,
    json_option,
    page_option,
    program_argument,
    run_options,
    seed_option,
    strategies,
    time_budget_option,
)
from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import Progress, say
from replay_dd.cli.recorded_environment import tell_withheld
from replay_dd.cli.run_options import RunOptions, check_seed, program_of, settings_of
from replay_dd.errors import EXIT_BASELINE, EXIT_DONE, EXIT_INTERRUPTED
from replay_dd.errors.user import UsageError
from replay_dd.files import check_writable
from replay_dd.report.corpus import corpus_as_json, corpus_in_words
from replay_dd.report.delays import delay_hint
from replay_dd.report.hangs import hang_as_json, hang_in_short
from replay_dd.report.isolation import counted
from replay_dd.report.log import describe_notes, notes_of
from replay_dd.report.runs import hunt_as_json
from replay_dd.schedules.failures.signature import Signature, signature_of
from replay_dd.schedules.hunting.corpus import Corpus
from replay_dd.schedules.hunting.hunt import Hunt, hunt
from replay_dd.schedules.hunting.only_where import WITH_GIL, WITHOUT_GIL, check_only
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.hunting.plans import Coverage
from replay_dd.schedules.isolating.same_schedule import HINT, outside_decides
from replay_dd.schedules.log import write_log
from replay_dd.schedules.running.parallel_runs import why_one_at_a_time
from replay_dd.schedules.running.runner import NO_FORK
from replay_dd.schedules.running.target import Plan

EXIT_NO_FAILURE = 1
_SHOWN = 5  # other failures
_ONLY_THREADS = (
    "only threads are varied: not the order in which tasks of an event loop go on, nor random values or data from "
    "outside."
)


@command(
    "hunt",
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="DIR",
        type=OUTPUT_FOLDER,
        default=".",
        show_default=True,
        help="Where to write pass.log and fail.log.",
    ),
    page_option(),
    count_option("--runs", "Maximum number of runs.", default=1000),
    time_budget_option("Start no more runs after this time."),
    Option(
        "--keep-going",
        section=SEARCH,
        is_flag=True,
        help="Do not stop at the first failure: keep one log of each, fail.log, fail-2.log and so on.",
    ),
    Option(
        "--corpus",
        section=SEARCH,
        metavar="DIR",
        type=OUTPUT_FOLDER,
        help="Keep what hunts learn in this folder, and go on from there.",
    ),
    Option(
        "--failure",
        section=SEARCH,
        metavar="TEXT",
        default="",
        help="Look for a failure whose description contains TEXT.",
    ),
    json_option(),
    Option("--no-simplify", section=SEARCH, is_flag=True, help="Keep the schedules as they were found."),
    jobs_option(),
    fork_option(),
    Option(
        "--strategy", section=SCHEDULING, type=OneOf(strategies), help="Scheduling strategy.", shown_default="a mixture"
    ),
    seed_option("Random seed of the first schedule drawn; the others count up from it.", SCHEDULING),
    Option(
        "--gil-only",
        section=SCHEDULING,
        is_flag=True,
        help="Preempt only where an interpreter with a GIL can switch threads.",
    ),
    Option(
        "--free-threaded-only",
        section=SCHEDULING,
        is_flag=True,
        help="Preempt only where nothing but an interpreter without a GIL can.",
    ),
    *run_options(),
    program_argument(),
)
def hunt_command(
    output: Path,
    html: Path | None,
    runs: int,
    time_budget: float | None,
    seed: int | None,
    strategy: str | None,
    jobs: int,
    no_fork: bool,
    gil_only: bool,
    free_threaded_only: bool,
    failure: str,
    keep_going: bool,
    corpus: Path | None,
    no_simplify: bool,
    as_json: bool,
    command: tuple[str, ...],
    **running: Unpack[RunOptions],
) -> int:
    """Vary the schedule until one run fails and one passes; write the logs of both.

    Exit status:
      0  both found
      1  no failure found
      3  no run passed
    """
    if gil_only and free_threaded_only:
        raise UsageError("`--gil-only` and `--free-threaded-only` leave nothing.", "Give one of them.")
    only = WITH_GIL if gil_only else WITHOUT_GIL if free_threaded_only else ""
    check_only(only, running["granularity"])
    check_seed(strategy, seed)
    progress = Progress()

    failed = 0

    def on_run(number: int, plan: Plan, signature: Signature) -> None:
        nonlocal failed
        failed += signature.failed
        pace = progress.pace(number, runs - number)
        progress.show(f"run {number} of {runs}, {failed} failed, {pace}; {plan}: {signature.text}")

    def on_simplify(number: int) -> None:
        progress.show(f"simplifying the schedules, run {number}")

    for name in ("pass.log", "fail.log"):
        check_writable(output / name)
    try:
        found = hunt(
            program_of(command, running),
            settings_of(running),
            HuntOptions(
                runs=runs,
                seed=seed or 0,
                strategy=strategy,
                jobs=jobs,
                time_limit_s=running["time_limit"],
                simplify=not no_simplify,
                may_fork=not no_fork,
                failure=failure,
                time_budget_s=time_budget,
                keep_going=keep_going,
                only=only,
            ),
            corpus=None if corpus is None else Corpus(corpus),
            listener=HuntListener(on_run=on_run, on_simplify=on_simplify, on_fresh=progress.note),
        )
    finally:
        progress.clear()
    log = found.failing or found.passing
    if found.jobs < jobs and log is not None and (why := why_one_at_a_time(log)):
        say(f"running one at a time, because {why}")
    if found.instead_of:
        say(
            f"with the virtual clock, the first run ended with {found.instead_of}. Without replay-dd, and with the "
            "real clock, it passes. So this hunt used `--real-clock`."
        )
        for reason in found.because:
            say(f"why: {reason}")
    for kept, name in ((found.passing, "pass.log"), (found.failing, "fail.log")):
        if kept is not None and not found.one_schedule:
            write_log(kept, output / name)
        elif (output / name).exists():
            say(f"{shlex.quote(str(output / name))} is not of this hunt: it was there before")
    for number, kept in enumerate(found.further):
        write_log(kept, _path_of(output, number))
    if log is not None:
        tell_withheld(log.program)
    if html is not None:
        from replay_dd.report.page.frame import write_page
        from replay_dd.report.page.runs import hunt_page

        write_page(hunt_page(found, output / "pass.log", output / "fail.log"), html)
    if as_json:
        echo_json(_as_json(found, output, running["max_delay"]))
        return _status_of(found)
    return _tell(found, output, failure, running["max_delay"])


def _as_json(found: Hunt, output: Path, max_delay_s: float) -> dict[str, Any]:
    logs = {"passing": (found.passing, "pass.log"), "failing": (found.failing, "fail.log")}
    failures, others, no_verdict = (
        [{"text": met.text, "runs": met.runs, "messages": met.messages} for met in endings]
        for endings in (found.failures, found.passed_over + found.elsewhere, found.others)
    )
    return hunt_as_json(
        failures=failures,
        others=others,
        no_verdict=no_verdict,
        runs=found.runs,
        simplifying_runs=found.simplifying_runs,
        not_reproduced=found.not_reproduced,
        yield_points=found.yield_points,
        one_schedule=found.one_schedule,
        interrupted=found.interrupted,
        out_of_time=found.out_of_time,
        files={role: output / name for role, (log, name) in logs.items() if log is not None and not found.one_schedule},
        further=[
            {"text": signature_of(log.ending).text, "log": str(_path_of(output, number))}
            for number, log in enumerate(found.further)
        ],
        hang=None if found.failing is None else hang_as_json(found.failing.ending, found.failing.program),
        notes=notes_of(found.passing, found.failing),
        coverage=None if found.coverage is None else found.coverage._asdict(),
        failure=None if found.failing is None else signature_of(found.failing.ending).text,
        corpus=None if found.learnt is None else corpus_as_json(found.learnt),
        hints=() if found.failing is not None else (*_hints(found, max_delay_s), *_why_slow(found)),
    )


def _path_of(output: Path, number: int) -> Path:
    """Where the log of a further failure is; they count from 0."""
    return output / f"fail-{number + 2}.log"


def _why_slow(found: Hunt) -> Iterator[str]:
    """The same as a terminal was told during the hunt."""
    if found.why_fresh and found.why_fresh != NO_FORK and not found.one_schedule:
        yield f"each run was a fresh process, which takes longer than a forked one: {found.why_fresh}."


def _status_of(found: Hunt) -> int:
    """The exit status."""
    if found.interrupted:
        return EXIT_INTERRUPTED
    if found.one_schedule:
        return EXIT_NO_FAILURE if found.failing is None else EXIT_BASELINE
    if found.failing is None:
        return EXIT_NO_FAILURE
    return EXIT_BASELINE if found.passing is None else EXIT_DONE


def _tell(found: Hunt, output: Path, failure: str, max_delay: float) -> int:
    """Tell what a hunt found; returns the exit status."""
    _tell_endings(found)
    _tell_logs(found, output)
    echo_lines(describe_notes(found.passing, found.failing))
    if found.learnt is not None:
        seen_is_told = found.failing is None and found.coverage is not None and not found.interrupted
        echo_lines(corpus_in_words(found.learnt, seen_is_told=seen_is_told))
    if found.failing is not None:
        echo_lines(hang_in_short(found.failing.ending))
    covered = f"{found.runs} {'run' if found.runs == 1 else 'runs'} of about {found.yield_points:,} yield points"
    if found.interrupted:
        say(f"interrupted after {covered}")
    elif found.one_schedule:
        _tell_of_one_schedule(found)
    elif found.failing is None:
        _tell_of_no_failure(found, covered, failure, max_delay)
    elif found.passing is None:
        end = " before time ran out" if found.out_of_time else ""
        echo(f"No run passed in {covered}{end}, so there is nothing to compare the failure with.")
    else:
        more = f", and {found.simplifying_runs} more to simplify them" if found.simplifying_runs else ""
        which = f"{1 + len(found.further)} failures" if found.further else "Both"
        passing, failing = _quoted_paths(output)
        outside = outside_decides(found.passing, found.failing)
        then = (
            f"They have the same schedule. {outside}" if outside else f"Next: replay-dd schedules {passing} {failing}"
        )
        echo(f"{which} found in {covered}{more}. {then}")
        echo_lines([f"  hint: {HINT}"] if outside else [])
    return _status_of(found)


def _quoted_paths(output: Path) -> tuple[str, str]:
    """The logs of the passing and the failing run, for a shell."""
    return shlex.quote(str(output / "pass.log")), shlex.quote(str(output / "fail.log"))


def _tell_endings(found: Hunt) -> None:
    """How the runs ended, each ending once."""
    for label, endings in (
        ("failure", found.failures),
        ("other", found.passed_over),
        ("elsewhere", found.elsewhere),
        ("no verdict", found.others),
    ):
        for met in endings:
            messages = f", {met.messages} messages" if met.messages > 1 else ""
            echo(f"{label:<12} {met.text} ({met.runs} of {found.runs} runs{messages})")
    if found.not_reproduced:
        one = found.not_reproduced == 1
        say(f"{found.not_reproduced} run{'' if one else 's'} skipped: {'its' if one else 'their'} replay diverged")


def _tell_logs(found: Hunt, output: Path) -> None:
    """How to replay what was found."""
    passing, failing = _quoted_paths(output)
    if found.passing is not None and not found.one_schedule:
        echo(f"passes       replay-dd replay {passing}")
    if found.failing is not None and not found.one_schedule:
        echo(f"fails        replay-dd replay {failing}")
        text = signature_of(found.failing.ending).text
        if text not in {met.text for met in found.failures}:
            echo(f"               {text}, which is simpler")
    for number, log in enumerate(found.further):
        echo(f"             replay-dd replay {shlex.quote(str(_path_of(output, number)))}")
        echo(f"               {signature_of(log.ending).text}")


def _tell_of_one_schedule(found: Hunt) -> None:
    said = found.output.decode(errors="replace").strip().splitlines()
    if (found.failing is not None or found.passed_over) and said:
        echo(f"last output  {said[-1]}")
    echo("The program started no threads, so it has only one schedule: there is nothing to vary.")
    echo(f"  hint: {_ONLY_THREADS}")


def _tell_of_no_failure(found: Hunt, covered: str, failure: str, max_delay: float) -> None:
    which = f"failure with `{failure}`" if failure else "failure"
    end = ", and then time ran out" if found.out_of_time else ""
    echo(f"No {which} in {covered}{end}. This is not a proof: other schedules were not tried.")
    if found.coverage is not None and found.coverage.orders_known:
        echo(_covered(found.coverage))
    if found.coverage is not None and found.coverage.collecting:
        echo(f"Garbage was collected in {counted(found.coverage.collecting, 'run')}, since finalizers run then.")
    for hint in _hints(found, max_delay):
        echo(f"  hint: {hint}")


def _covered(coverage: Coverage) -> str:
    """Which schedules a hunt without a failure tried."""
    seen = f"Seen: {coverage.orders_seen} of at most {coverage.orders_known} orders of conflicting accesses"
    if coverage.all_orders:
        seen += f"; all {coverage.all_orders} sequences of these accesses were tried"
    more = coverage.tried - coverage.exhaustive
    if not coverage.exhausted:
        were = "was" if coverage.tried == 1 else "were"
        return f"{seen}; {counted(coverage.tried, 'choice')} of preemptions next to such accesses {were} tried."
    which = "single preemptions" if coverage.exhausted == 1 else f"choices of at most {coverage.exhausted} preemptions"
    rounds = ", of accesses in loops only at some rounds" if coverage.sampled else ""
    others = f", and {more} of more preemptions" if more else ""
    return f"{seen}; all {coverage.exhaustive} {which} next to such accesses were tried{rounds}{others}."


def _hints(found: Hunt, max_delay_s: float) -> Iterator[str]:
    """What to try after a hunt that found no failure."""
    if found.passed_over:
        texts = [met.text for met in found.passed_over]
        more = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
        yield f"other failures: {'; '.join(texts[:_SHOWN])}{more}. `--failure` takes part of one, as written here."
    elif found.one_schedule:
        yield _ONLY_THREADS
    elif found.threads_meet is False:
        yield (
            "in the first run, no thread changed anything in counted code that another thread touched. If the threads "
            "share state in the standard library, count that package too: `--trace-include PACKAGE`."
        )
    if found.asleep_s:
        yield delay_hint(found.asleep_s, max_delay_s)
