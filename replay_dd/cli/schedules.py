"""``replay-dd schedules`` and ``replay-dd minimize`` of schedule logs."""

from __future__ import annotations

import time
from pathlib import Path

from replay_dd.cli.order_tests import check_new, test_in_words, write_order_test
from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import Progress, can_draw, say
from replay_dd.cli.recorded_environment import with_environment
from replay_dd.cli.report_forms import check_forms
from replay_dd.cli.schedules_answer import Answer, tell_answer
from replay_dd.errors import EXIT_INTERRUPTED, ReplayDDError
from replay_dd.files import check_writable
from replay_dd.report.lanes import lanes
from replay_dd.report.schedules import minimum_as_text, schedules_as_text
from replay_dd.report.schedules_json import minimum_as_json
from replay_dd.report.story import story_as_text
from replay_dd.schedules.experiments.experiments import Budget, with_experiments
from replay_dd.schedules.failures.signature import check_failed
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.isolating.minimize import minimize
from replay_dd.schedules.isolating.needed_statements import NeededStatements, find_needed_statements
from replay_dd.schedules.log import write_log
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.replay import check_unchanged
from replay_dd.schedules.running.parallel_runs import usable_jobs, why_one_at_a_time
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.story.explain import Explanation, explain


def isolate_schedule(
    passing: Log,
    failing: Log,
    failing_path: Path,
    *,
    jobs: int,
    no_fork: bool,
    output: Path | None,
    short: bool,
    lanes: bool,
    html: Path | None,
    trace: Path | None,
    as_json: bool,
    markdown: Path | None,
    mermaid: Path | None,
    write_test: Path | None,
    time_limit: float | None,
    max_tests: int | None,
    time_budget: float | None,
    accept_changes: bool,
    env: tuple[str, ...],
    repeats: int,
    failure: str | None,
    range_number: int | None,
    experiments: int | None,
    slice_wanted: bool,
) -> int:
    """Isolate the difference of two schedules that makes a run fail; returns the exit status.

    Raises:
        ReplayDDError: the logs do not fit together, or do not replay.
    """
    check_forms(short=short, lanes=lanes, json=as_json, markdown=markdown, mermaid=mermaid)
    check_new(write_test)
    passing, failing = with_environment(passing, env), with_environment(failing, env)
    folder = output or failing_path.parent
    minimal_pass, minimal_fail = folder / "minimal-pass.log", folder / "minimal-fail.log"
    for path in (minimal_pass, minimal_fail):
        check_writable(path)
    jobs = _jobs(failing, jobs)
    progress = Progress()
    ends_at = None if time_budget is None else time.monotonic() + time_budget
    with Runner(failing.program, failing.settings, may_fork=not no_fork, on_fresh=progress.note) as runner:
        try:
            found = isolate(
                passing,
                failing,
                jobs=jobs,
                time_limit_s=time_limit,
                accept_changes=accept_changes,
                max_tests=max_tests,
                time_budget_s=time_budget,
                repeats=repeats,
                failure=failure,
                range_number=range_number,
                runner=runner,
                observer=progress.observer("unit delta", halves=True),
            )
        finally:
            progress.clear()
        write_log(found.passing, minimal_pass)
        write_log(found.failing, minimal_fail)
        explanation = explain(found, time_limit, runner, ends_at=ends_at)
        explanation = with_experiments(
            *(explanation, found),
            budget=_budget(experiments, ends_at),
            jobs=jobs,
            time_limit_s=time_limit,
            on_stage=progress.show,
            runner=runner,
        )
        progress.clear()
    needed = None
    if slice_wanted and not explanation.interrupted:
        needed = _needed_statements(found, jobs, time_limit, max_tests, time_budget)
    tested = False
    if write_test is not None and not explanation.interrupted:
        origin = "replay-dd schedules --write-test"
        tested = write_order_test(found.failing, explanation.story, write_test, origin, env, time_limit)
    try:
        _write_pictures(found, explanation, minimal_pass, minimal_fail, html, trace)
    finally:  # what was found is told, whatever comes of the pictures
        tell_answer(
            Answer(found, explanation, minimal_pass, minimal_fail, write_test if tested else None, needed),
            *(short, lanes, as_json, markdown, mermaid),
        )
    return EXIT_INTERRUPTED if explanation.interrupted else found.isolation.exit_code


def _budget(experiments: int | None, ends_at: float | None) -> Budget:
    """How much to try of what could prevent the failure: no longer than until the whole search is to end."""
    wanted = Budget() if experiments is None else Budget(experiments, None)
    if ends_at is None:
        return wanted
    left_s = max(ends_at - time.monotonic(), 0)
    time_s = left_s if wanted.time_s is None else min(left_s, wanted.time_s)
    return Budget(wanted.schedules, time_s, min(left_s, wanted.longest_s))


def _needed_statements(
    found: ScheduleIsolation, jobs: int, time_limit: float | None, max_tests: int | None, time_budget: float | None
) -> NeededStatements | None:
    """The statements that the answer needs; None if that cannot be told, which is said."""
    progress = Progress()
    try:
        return find_needed_statements(
            *(found.passing, found.failing),
            jobs=jobs,
            time_limit_s=time_limit,
            max_tests=max_tests,
            time_budget_s=time_budget,
            observer=progress.observer("statement"),
        )
    except ReplayDDError as error:
        progress.clear()
        say(f"no statements were left out: {error.message}")
        return None
    finally:
        progress.clear()


def _write_pictures(
    found: ScheduleIsolation,
    explanation: Explanation,
    passing: Path,
    failing: Path,
    html: Path | None,
    trace: Path | None,
) -> None:
    """Write the page and the trace, where they are wanted; most runs do not need what draws them."""
    if html is not None:
        from replay_dd.report.page.frame import write_page
        from replay_dd.report.page.schedules import schedules_page

        report = [
            *story_as_text(explanation, found.failing.program),
            "",
            *schedules_as_text(found, passing, failing),
        ]
        write_page(schedules_page(found, explanation, passing, failing, report), html)
    if trace is not None:
        from replay_dd.report.trace import twins_traced, write_trace

        write_trace(twins_traced(found, explanation), trace)


def _jobs(log: Log, jobs: int) -> int:
    usable = usable_jobs(log, jobs)
    if usable < jobs:
        say(f"running one at a time, because {why_one_at_a_time(log)}")
    return usable


def minimize_schedule(
    recorded: Log,
    path: Path,
    *,
    jobs: int,
    output: Path | None,
    html: Path | None,
    max_tests: int | None,
    time_budget: float | None,
    time_limit: float | None,
    accept_changes: bool,
    env: tuple[str, ...],
    failure: str | None,
    as_json: bool,
    write_test: Path | None,
) -> int:
    """Find the fewest choices with which a run still fails; returns the exit status.

    Raises:
        ReplayDDError: the run did not fail, or does not replay.
    """
    check_new(write_test)
    recorded = with_environment(recorded, env)
    check_failed(recorded, path)
    target = output or path.with_name("minimal.log")
    check_writable(target)
    if not accept_changes:
        check_unchanged(recorded)
    progress = Progress()
    try:
        found = minimize(
            recorded,
            jobs=_jobs(recorded, jobs),
            max_tests=max_tests,
            time_budget_s=time_budget,
            time_limit_s=time_limit,
            failure=failure,
            observer=progress.observer("choice"),
        )
    finally:
        progress.clear()
    write_log(found.log, target)
    tested = write_test is not None and write_order_test(
        found.log, None, write_test, "replay-dd minimize --write-test", env, time_limit
    )
    test = write_test if tested else None
    try:
        if html is not None:
            from replay_dd.report.page.frame import write_page
            from replay_dd.report.page.runs import minimum_page

            write_page(minimum_page(found, target, minimum_as_text(found, target)), html)
    finally:
        if as_json:
            echo_json(minimum_as_json(found, target, test))
        else:
            echo_lines(minimum_as_text(found, target))
            if test is not None:
                echo(test_in_words(test))
            echo()
            echo_lines(lanes(found.log, unicode=can_draw()))
    return found.isolation.exit_code
