"""``--write-test``: the isolated order as a pytest test."""

from __future__ import annotations

import os
from pathlib import Path

from replay_dd.cli.progress import say
from replay_dd.errors.user import OutputError
from replay_dd.files import write_whole
from replay_dd.report.order_test import order_test
from replay_dd.schedules.anchors import find_anchors, with_anchors
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.comparable import time_limit_for
from replay_dd.schedules.replaying.pinned_order import Kind, PinnedOrder, failure_of, pinned, portable
from replay_dd.schedules.replaying.record import verify_log
from replay_dd.schedules.story.story import Story

MOST_SWITCHES = 40


def check_new(path: Path | None) -> None:
    """Check that a test does not take the place of another file: tests are edited by hand.

    Raises:
        OutputError: there is a file already.
    """
    if path is not None and os.path.lexists(path):
        raise OutputError(
            f"The file {path} exists already, and `--write-test` does not overwrite tests.",
            "Name another file, or remove this one first.",
        )


def write_order_test(
    failing: Log,
    story: Story | None,
    path: Path,
    origin: str,
    environment: tuple[str, ...],
    time_limit_s: float | None,
) -> bool:
    """Write a test, after it was seen to fail; says why if there is none.

    Args:
        failing: of the isolated failing run.
        story: what its threads do to each other.
        path: where to write the test.
        origin: the command that writes it.
        environment: variables whose recorded values the program needs, as given with ``--env``.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded run.
    """
    limit_s = time_limit_for((failing,)) if time_limit_s is None else time_limit_s
    names = tuple(dict.fromkeys(text.partition("=")[0] for text in environment))
    why, log = _why_not(failing, names, limit_s)
    if why:
        say(f"no test was written: {why}")
        return False
    write_whole(path, order_test(log, story, path, origin, names).encode())
    return True


def test_in_words(path: Path) -> str:
    """The line that tells about a test."""
    return f"test         {path}: fails here, as it must; `replay-dd verify-test` checks the other way"


def _why_not(failing: Log, environment: tuple[str, ...], time_limit_s: float) -> tuple[str, Log]:
    """Why there can be no test, or an empty text; and the log with all that a test needs."""
    log = with_anchors(verify_log(failing, time_limit_s))
    switches = pinned(log)
    if not log.verified:
        return "the failing run does not replay exactly", log
    if not switches:
        return "the failing run is the default schedule, so any test of the program fails as well", log
    if len(switches) > MOST_SWITCHES:
        return f"it would need {len(switches)} switches; `replay-dd minimize` may find fewer", log
    lost = [anchor for anchor in find_anchors(log) if anchor.line is None]
    if lost:
        return f"a switch cannot be found by its source line: {lost[0].why}", log
    program = log.program
    verdict = PinnedOrder(
        portable(program),
        Path(program.directory),
        switches,
        failure_of(log.ending),
        log.settings,
        program.standard_input,
        program.fresh_copy,
        program.process,
        {name: program.environment[name] for name in environment if name in program.environment},
        time_limit_s,
    ).run()
    if verdict.kind is not Kind.FAILS:
        return f"switched by source lines, the program does not fail like that ({verdict.ending})", log
    return "", log
