"""``replay-dd replay`` of a GUI session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from replay_dd.cli.exit_status import EXIT_CANNOT_TELL
from replay_dd.cli.output import echo, echo_json, echo_text
from replay_dd.cli.progress import say
from replay_dd.cli.session_playback import conditions_of, say_what_differs, say_where
from replay_dd.errors.user import NothingRecordedError
from replay_dd.events.actions import actions_of
from replay_dd.events.failure_signature import outcome_of
from replay_dd.events.model import Ending, EndingKind, Pace, Session
from replay_dd.events.oracle import CANNOT_TELL as ORACLE_CANNOT_TELL
from replay_dd.events.run import Conditions, Run, run_session
from replay_dd.events.target import check_program, in_folders
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager, window_manager_like
from replay_dd.outcome import Outcome
from replay_dd.report.runs import replay_as_json

_EXITS = {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNRESOLVED: EXIT_CANNOT_TELL}


def replay_session(
    session: Session,
    path: Path,
    *,
    accept_changes: bool,
    pace: str | None,
    wm: str | None,
    player: str | None,
    settle: float | None,
    start_limit: float | None,
    hang_limit: float | None,
    here: bool,
    home: Path | None,
    exact_site: bool,
    as_json: bool,
    oracle: str | None,
) -> int:
    """Play a session again; returns the exit status as ``git bisect run`` takes it.

    Raises:
        ReplayDDError: it cannot be played.
    """
    session = in_folders(session, here=here, home=home)
    if not accept_changes:
        check_program(session)
    say_what_differs(session.program)
    wanted_pace = session.pace if pace is None else Pace(pace)
    conditions = conditions_of(player, settle, start_limit, hang_limit, wanted_pace, session.playback)
    run = play_session(session, replace(conditions, oracle=oracle), wm)
    if as_json:
        status = status_of(session.ending, run.ending, exact_site=exact_site, judged=oracle is not None)
        outcome = next((outcome for outcome, known in _EXITS.items() if known == status), Outcome.UNRESOLVED)
        left_out = len(actions_of(session)) - run.ending.actions
        echo_json(
            replay_as_json(
                "GUI session",
                outcome.value,
                run.ending.text,
                left_out=[f"the last {left_out} of its actions"] if left_out else [],
                output=run.ending.output,
            )
        )
        return status
    if run.ending.output:
        echo_text(run.ending.output)
    echo(f"played: {run.ending.actions} of {len(actions_of(session))} actions in {run.play_s:.2f} s")
    echo(f"outcome: {run.ending.text}")
    return status_of(session.ending, run.ending, exact_site=exact_site, judged=oracle is not None)


def play_session(
    session: Session,
    conditions: Conditions,
    wm: str | None = None,
    pictures: Path | None = None,
    *,
    want_targets: bool = False,
) -> Run:
    """Play a session once on a private display.

    Args:
        session: the session.
        conditions: how.
        wm: another window manager than the recorded one.
        pictures: a folder for a screenshot after each action.
        want_targets: ask the program what the actions are done to.

    Raises:
        ReplayDDError: it cannot be played.
    """
    actions = actions_of(session)
    if not actions:
        raise NothingRecordedError("The session holds no actions.")
    if session.program.here:
        say_where(session.program)
    manager = window_manager_like(session.window_manager) if wm is None else choose_window_manager(wm)
    if wm is None and manager != session.window_manager:
        say(
            f"the window manager {session.window_manager} is not installed; "
            f"windows may be placed differently under {manager}"
        )
    with PrivateDisplay(session.screen, manager) as display:
        return run_session(session, actions, display, conditions, pictures=pictures, want_targets=want_targets)


def status_of(recorded: Ending | None, ending: Ending, *, exact_site: bool = False, judged: bool = False) -> int:
    """The exit status of a replay, as ``git bisect run`` takes it.

    Args:
        recorded: the recorded ending; None if it is not known.
        ending: that of the replay.
        exact_site: crashes at neighbouring places of the program are different failures.
        judged: whether an oracle looked at the replay, unless that failed by itself.
    """
    if ending.kind is EndingKind.ORACLE:
        return EXIT_CANNOT_TELL if ending.signature == ORACLE_CANNOT_TELL else 1
    if recorded is not None and recorded.kind is EndingKind.ORACLE and not (judged or ending.failed):
        say("the recorded failure is the verdict of an oracle: give its command with `--oracle`")
        return EXIT_CANNOT_TELL
    if recorded is None or not recorded.failed:
        if ending.failed:
            return 1
        return 0 if recorded is None or recorded.kind is ending.kind else EXIT_CANNOT_TELL
    outcome = outcome_of(ending, recorded, exact_site=exact_site)
    if outcome is Outcome.PASS and recorded.actions and not ending.actions and ending.kind is EndingKind.EXIT:
        say("the program ended before anything could be done in it, so this says nothing about the recorded failure")
        return EXIT_CANNOT_TELL
    if outcome is Outcome.UNRESOLVED:
        say(f"this is not the recorded failure: {recorded.text}")
    return _EXITS[outcome]
