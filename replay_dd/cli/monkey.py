"""``replay-dd monkey``."""

from __future__ import annotations

import shlex
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from replay_dd.cli.command import Option, command
from replay_dd.cli.options import (
    OUTPUT,
    SEARCH,
    count_option,
    displays,
    displays_option,
    json_option,
    log_option,
    program_argument,
    seed_option,
)
from replay_dd.cli.output import echo, echo_json
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import Progress, say
from replay_dd.cli.recorders import recorder_named
from replay_dd.cli.session_options import DISPLAY, FOLDERS, PLAYBACK, folder_options, play_options, stage_options
from replay_dd.cli.session_playback import conditions_of, say_where, screen_of
from replay_dd.errors import EXIT_DONE
from replay_dd.errors.program import DoesNotPassError
from replay_dd.events.failure_signature import told_with_output
from replay_dd.events.model import Session
from replay_dd.events.target import describe_gui_program
from replay_dd.events.x11.display import choose_window_manager
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.report.events import monkey_as_json

EXIT_NO_FAILURE = 1


def _results(sessions: list[Future[Session]]) -> list[Session]:
    try:
        return [result_of(session) for session in sessions]
    except BaseException:
        LIVE.kill_all()  # otherwise the other sessions run on
        raise


@command(
    "monkey",
    log_option(),
    Option("--no-verify", section=OUTPUT, is_flag=True, help="Do not replay the failing session once to check it."),
    count_option("--runs", "Maximum number of sessions.", default=20),
    count_option("--actions", "Actions per session.", default=200),
    seed_option("Random seed of the first session; the others count up from it.", SEARCH),
    displays_option(),
    json_option(),
    *stage_options(DISPLAY),
    *play_options(PLAYBACK),
    *folder_options(FOLDERS),
    program_argument(),
)
def monkey_command(
    output: Path,
    seed: int | None,
    actions: int,
    runs: int,
    jobs: int | None,
    screen: str | None,
    wm: str | None,
    player: str | None,
    settle: float | None,
    start_limit: float | None,
    hang_limit: float | None,
    here: bool,
    home: Path | None,
    no_verify: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Send random input to a program on a private display until a session fails.

    Exit status:
      0  a session failed; the log holds it
      1  none failed; the log holds the last one
      3  the program fails before any input
    """
    check_script(command)
    program = describe_gui_program(command, here=here, home=home)
    session = Session(program, screen_of(screen), choose_window_manager(wm))
    if here:
        say_where(program)
    conditions = conditions_of(player, settle, start_limit, hang_limit)
    recorder = recorder_named("monkey")
    progress = Progress()

    def one(number: int, path: Path) -> Session:
        run = recorder.record(session, path, seed=number, actions=actions, conditions=conditions, verify=not no_verify)
        made: Session = run.session
        return made

    played, beside = 0, displays(jobs)
    place = output.absolute()  # the program may remove the folder that we are in
    seeds = list(range(seed or 0, (seed or 0) + runs))
    found: Session | None = None
    try:
        for first in range(0, runs, beside):
            batch = seeds[first : first + beside]
            progress.show(f"session {first + 1} of at most {runs}, {played} actions so far")
            paths = [place.with_name(f".{place.name}.{number}") for number in batch]
            try:
                with ThreadPoolExecutor(len(batch), "replay-dd-monkey") as pool:
                    made = _results([pool.submit(one, *each) for each in zip(batch, paths, strict=True)])
                chosen = next((place for place, item in enumerate(made) if item.ending and item.ending.failed), None)
                paths[-1 if chosen is None else chosen].replace(place)
            finally:
                for path in paths:
                    path.unlink(missing_ok=True)
            played += sum(len(item.actions) for item in made)
            if chosen is not None:
                found = made[chosen]
                break
    finally:
        progress.clear()
    if found is not None and found.ending is not None and not found.actions:
        raise DoesNotPassError(
            f"The program fails before any input: {told_with_output(found.ending)}.",
            "Give a program that waits for input, and what it needs to start: its files, its settings (`--home`).",
        )
    if as_json:
        echo_json(
            monkey_as_json(found, output, sessions=len(seeds) if found is None else first + len(batch), actions=played)
        )
        return EXIT_NO_FAILURE if found is None else EXIT_DONE
    if found is None or found.ending is None:
        echo(
            f"No failure in {_count(runs, 'session')} with {_count(played, 'action')}. This is not a proof: "
            "other input was not tried."
        )
        return EXIT_NO_FAILURE
    echo(f"failure      {found.ending.text}")
    echo(f"session      seed {found.seed}, {len(found.actions)} actions")
    if found.verified is False:
        say("warning: when replayed, this session did not fail in the same way")
    echo(f"Next: replay-dd events {shlex.quote(str(output))}")
    return 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
