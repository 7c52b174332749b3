"""``replay-dd events`` and ``replay-dd monkey``."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import click

from replay_dd.cli.gui_options import conditions_of, pace_option, play_options, screen_of, stage_options
from replay_dd.cli.options import FOLDER, LOG, displays_option
from replay_dd.cli.progress import Progress, say
from replay_dd.cli.recorders import recorder_named
from replay_dd.cli.web import flow_options, minimize_flow, settle_of_flow
from replay_dd.events.isolate import ALGORITHMS, Plan, isolate_events
from replay_dd.events.log import read_session, write_session
from replay_dd.events.model import Pace, Session
from replay_dd.events.target import check_program, describe_gui_program
from replay_dd.events.x11.display import choose_window_manager, window_manager_like
from replay_dd.experiment.process import LIVE, private_folder
from replay_dd.experiment.waiting import result_of
from replay_dd.report.events import events_as_json, events_as_text
from replay_dd.report.events_strip import write_events_strip
from replay_dd.web.flow import looks_like_a_flow

EXIT_NO_FAILURE = 1


@click.command("events")
@click.argument("log", type=LOG)
@click.option("--passing", metavar="LOG", type=LOG, help="A session that does not fail: isolate the difference (dd).")
@click.option("-o", "--output", metavar="LOG", type=LOG, help="Where to write it. [default: minimal.log beside LOG]")
@click.option(
    "--pictures", metavar="DIR", type=FOLDER, help="Write a picture of the screen before and after each action."
)
@click.option("--strip", metavar="HTML", type=LOG, help="Write a film strip of what is left to this file.")
@displays_option
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default=ALGORITHMS[0],
    show_default=True,
    help="How to search: one needed action after the other, or ddmin.",
)
@click.option(
    "--finer", is_flag=True, help="Also leave out single keys, clicks and moves inside the actions that are left."
)
@pace_option
@click.option("--repeat", metavar="N", type=click.IntRange(min=1), help="Tries of a configuration that does not fail.")
@click.option("--max-tests", metavar="N", type=click.IntRange(min=1), help="Stop after N tests with the best so far.")
@click.option("--wm", metavar="NAME", help="Another window manager than the session's, or `none`.")
@click.option(
    "--oracle", metavar="CMD", help="Shell command for the end of each run: 0 passes, 125 cannot tell, else fails."
)
@play_options
@click.option("--accept-changes", is_flag=True, help="Go on although the program was changed since.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@flow_options
def events_command(
    log: Path,
    passing: Path | None,
    output: Path | None,
    pictures: Path | None,
    strip: Path | None,
    jobs: int,
    algorithm: str,
    finer: bool,
    pace: str | None,
    repeat: int | None,
    max_tests: int | None,
    wm: str | None,
    oracle: str | None,
    player: str,
    settle: float | None,
    start_limit: float,
    hang_limit: float,
    accept_changes: bool,
    as_json: bool,
    text: str | None,
    browser: Path | None,
) -> int:
    """Isolate the user actions of LOG that make the program fail.

    LOG can also be a user flow of the Recorder in Chrome DevTools; see `replay-dd web`.

    Exit status: 0 isolated, 4 the answer does not fail in each replay.
    """
    if looks_like_a_flow(log):
        return minimize_flow(
            log,
            output=output,
            strip=strip,
            browser=browser,
            text=text,
            max_tests=max_tests,
            as_json=as_json,
            settle_s=settle_of_flow(settle),
            algorithm=algorithm,
        )
    session = read_session(log)
    other = None if passing is None else read_session(passing)
    if not accept_changes:
        check_program(session)
    manager = window_manager_like(session.window_manager) if wm is None else choose_window_manager(wm)
    plan = Plan(
        jobs=jobs,
        conditions=replace(conditions_of(player, settle, start_limit, hang_limit), oracle=oracle),
        pace=None if pace is None else Pace(pace),
        repeat=repeat,
        algorithm=algorithm,
        max_tests=max_tests,
        pictures=pictures,
        window_manager=manager,
        finer=finer,
    )
    progress = Progress()
    with contextlib.ExitStack() as stack:
        if strip is not None and pictures is None:
            plan = replace(plan, pictures=stack.enter_context(private_folder()).path / "pictures")
        try:
            found = isolate_events(
                session,
                plan,
                passing=other,
                observer=progress.observer("action"),
            )
        finally:
            progress.clear()
        if strip is not None:
            write_events_strip(found, strip)
    target = output or log.with_name("minimal.log")
    write_session(found.minimal, target)
    passing_log = None
    if found.passing is not None:
        passing_log = target.with_name(f"passing-{target.name}")
        write_session(found.passing, passing_log)
    if as_json:
        click.echo(json.dumps(events_as_json(found, target, passing_log), indent=2))
    else:
        for line in events_as_text(found, target, passing_log):
            click.echo(line)
    return found.isolation.exit_code


def _results(sessions: list[Future[Session]]) -> list[Session]:
    try:
        return [result_of(session) for session in sessions]
    except BaseException:
        LIVE.kill_all()  # else the others go on for as long as they like
        raise


@click.command("monkey")
@click.option("-o", "--output", metavar="LOG", type=LOG, required=True, help="Where to write the log.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="The first seed.")
@click.option(
    "--actions", metavar="N", type=click.IntRange(min=1), default=200, show_default=True, help="In each session."
)
@click.option(
    "--runs", metavar="N", type=click.IntRange(min=1), default=20, show_default=True, help="Sessions at most."
)
@displays_option
@stage_options
@play_options
@click.option("--no-verify", is_flag=True, help="Do not play a session that failed once more.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def monkey_command(
    output: Path,
    seed: int,
    actions: int,
    runs: int,
    jobs: int,
    screen: str,
    wm: str | None,
    player: str,
    settle: float | None,
    start_limit: float,
    hang_limit: float,
    no_verify: bool,
    command: tuple[str, ...],
) -> int:
    """Play at random to a program on a private display, until a session fails.

    Exit status: 0 a session failed and is in the log, 1 none did (the log has the last one).
    """
    session = Session(describe_gui_program(command), screen_of(screen), choose_window_manager(wm))
    conditions = conditions_of(player, settle, start_limit, hang_limit)
    recorder = recorder_named("monkey")
    progress = Progress()

    def one(number: int, path: Path) -> Session:
        run = recorder.record(session, path, seed=number, actions=actions, conditions=conditions, verify=not no_verify)
        made: Session = run.session
        return made

    played = 0
    seeds = list(range(seed, seed + runs))
    found: Session | None = None
    try:
        for first in range(0, runs, jobs):
            batch = seeds[first : first + jobs]
            progress.show(f"session {first + 1} of at most {runs}, {played} actions so far")
            paths = [output.with_name(f".{output.name}.{number}") for number in batch]
            try:
                with ThreadPoolExecutor(len(batch), "replay-dd-monkey") as pool:
                    made = _results([pool.submit(one, *each) for each in zip(batch, paths, strict=True)])
                chosen = next((place for place, item in enumerate(made) if item.ending and item.ending.failed), None)
                paths[-1 if chosen is None else chosen].replace(output)
            finally:
                for path in paths:
                    path.unlink(missing_ok=True)
            played += sum(len(item.actions) for item in made)
            if chosen is not None:
                found = made[chosen]
                break
    finally:
        progress.clear()
    if found is None or found.ending is None:
        click.echo(f"No failure in {runs} sessions with {played} actions. That is no proof: others were not tried.")
        return EXIT_NO_FAILURE
    click.echo(f"failure      {found.ending.text}")
    click.echo(f"session      seed {found.seed}, {len(found.actions)} actions")
    if found.verified is False:
        say("warning: played again, this session did not fail in the same way")
    click.echo(f"Next: replay-dd events {output}")
    return 0
