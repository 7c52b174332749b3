"""``replay-dd events`` of a GUI session."""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import replace
from pathlib import Path

from replay_dd.cli.options import displays
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress
from replay_dd.cli.session_playback import conditions_of, say_what_differs, say_where
from replay_dd.errors.user import UsageError
from replay_dd.events.isolate import ALGORITHMS, Plan, isolate_events
from replay_dd.events.log import write_session
from replay_dd.events.model import Pace, Session
from replay_dd.events.result import SessionIsolation
from replay_dd.events.target import check_program, in_folders
from replay_dd.events.x11.display import choose_window_manager, window_manager_like
from replay_dd.experiment.process import private_folder
from replay_dd.files import check_writable
from replay_dd.report.events import events_as_json, events_as_text, needed_actions
from replay_dd.report.events_strip import write_events_strip


def isolate_session(
    session: Session,
    path: Path,
    *,
    passing: Session | None,
    output: Path | None,
    pictures: Path | None,
    strip: Path | None,
    html: Path | None,
    jobs: int | None,
    algorithm: str | None,
    finer: bool,
    exact_site: bool,
    pace: str | None,
    repeats: int | None,
    max_tests: int | None,
    time_budget: float | None,
    wm: str | None,
    oracle: str | None,
    player: str | None,
    settle: float | None,
    here: bool,
    home: Path | None,
    start_limit: float | None,
    hang_limit: float | None,
    accept_changes: bool,
    as_json: bool,
) -> int:
    """Isolate the actions that make a program fail; returns the exit status.

    Raises:
        UsageError: the options contradict each other.
        ReplayDDError: the session cannot be played, or does not fail.
    """
    _check_options(passing, algorithm, finer)
    session = in_folders(session, here=here, home=home)
    if session.program.here:
        say_where(session.program)
    if passing is not None:
        passing = in_folders(passing, here=session.program.here, home=home)
    if not accept_changes:
        check_program(session)
    say_what_differs(session.program)
    conditions = conditions_of(player, settle, start_limit, hang_limit, recorded=session.playback)
    plan = Plan(
        jobs=displays(jobs),
        conditions=replace(conditions, oracle=oracle),
        pace=None if pace is None else Pace(pace),
        repeat=repeats,
        algorithm=algorithm or ALGORITHMS[0],
        max_tests=max_tests,
        time_budget_s=time_budget,
        pictures=pictures,
        window_manager=window_manager_like(session.window_manager) if wm is None else choose_window_manager(wm),
        finer=finer,
        exact_site=exact_site,
    )
    target = output or path.with_name("minimal.log")
    for written in (target, *([] if passing is None else [_passing_log(target)])):
        check_writable(written)
    with contextlib.ExitStack() as stack:
        if strip is not None and plan.pictures is None:
            plan = replace(plan, pictures=stack.enter_context(private_folder()).path / "pictures")
        found = _search(session, plan, passing)
        _write(found, target)
        if strip is not None:
            write_events_strip(found, strip)
    judging = f"--oracle {shlex.quote(oracle)} " if oracle is not None else ""
    options = judging + "--exact-site " * exact_site
    if html is not None:
        _write_page(found, target, html, options)
    return _tell(found, target, options, as_json=as_json)


def _check_options(passing: Session | None, algorithm: str | None, finer: bool) -> None:
    for option, given in (("--algorithm", algorithm is not None), ("--finer", finer)):
        if passing is not None and given:
            raise UsageError(
                f"`{option}` has no effect with `--passing`, which isolates the difference of two sessions with dd.",
                f"Leave out `{option}` or `--passing`.",
            )


def _search(session: Session, plan: Plan, passing: Session | None) -> SessionIsolation:
    progress = Progress()
    try:
        return isolate_events(session, plan, passing=passing, observer=progress.observer("action"))
    finally:
        progress.clear()


def _passing_log(target: Path) -> Path:
    return target.with_name(f"passing-{target.name}")


def _write(found: SessionIsolation, target: Path) -> None:
    write_session(found.minimal, target)
    if found.passing is not None:
        write_session(found.passing, _passing_log(target))


def _write_page(found: SessionIsolation, target: Path, html: Path, options: str) -> None:
    from replay_dd.report.page.answer import answer_page
    from replay_dd.report.page.frame import write_page

    passing_log = None if found.passing is None else _passing_log(target)
    page = answer_page(
        found.isolation,
        shlex.join(found.minimal.program.command),
        events_as_text(found, target, passing_log, options),
        told=[*needed_actions(found)],
        files={"minimal session": target} | ({} if passing_log is None else {"passing session": passing_log}),
        to_run=[("plays it", f"replay-dd replay {options}{shlex.quote(str(target))}")],
    )
    write_page(page, html)


def _tell(found: SessionIsolation, target: Path, options: str, *, as_json: bool) -> int:
    passing_log = None if found.passing is None else _passing_log(target)
    if as_json:
        echo_json(events_as_json(found, target, passing_log))
    else:
        echo_lines(events_as_text(found, target, passing_log, options))
    return found.exit_code
