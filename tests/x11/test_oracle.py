"""The user's oracle in replays; isolating with one is in test_isolate."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.cli.replay_session import status_of
from replay_dd.events.failure_signature import of_exit, of_signal
from replay_dd.events.log import write_session
from replay_dd.events.model import Ending, EndingKind
from replay_dd.events.oracle import CANNOT_TELL
from tests.cli.tool import Workshop, make_workshop
from tests.x11.acts import key
from tests.x11.conftest import session_of

pytestmark = pytest.mark.once

SAYS_NO = Ending(EndingKind.ORACLE, "the oracle says no (status 1)", "oracle")
CANNOT = Ending(EndingKind.ORACLE, "the oracle cannot tell", CANNOT_TELL)
WELL = Ending(EndingKind.OPEN, "still running", "")
CRASH = of_signal(11, "program+0x10", (), "")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    made = make_workshop(tmp_path / "shop")
    yield made
    made.check_clean()


@pytest.mark.parametrize(
    "recorded, ending, judged, status",
    [
        (SAYS_NO, SAYS_NO, True, 1),
        (SAYS_NO, WELL, True, 0),
        (SAYS_NO, WELL, False, 125),
        (SAYS_NO, CRASH, False, 125),
        (SAYS_NO, CRASH, True, 125),
        (CRASH, SAYS_NO, True, 1),
        (WELL, SAYS_NO, True, 1),
        (None, SAYS_NO, True, 1),
        (None, CANNOT, True, 125),
        (SAYS_NO, CANNOT, True, 125),
        (CRASH, CRASH, True, 1),
        (WELL, of_exit(0, ""), True, 125),
        (None, WELL, True, 0),
        (replace(CRASH, actions=3), of_exit(0, ""), False, 125),
        (replace(CRASH, actions=3), replace(of_exit(0, ""), actions=1), False, 0),
        (replace(CRASH, actions=0), of_exit(0, ""), False, 0),
    ],
)
def test_what_a_replay_says_to_git_bisect(recorded: Ending | None, ending: Ending, judged: bool, status: int) -> None:
    assert status_of(recorded, ending, judged=judged) == status


def test_a_replay_asks_the_oracle(shop: Workshop) -> None:
    session = replace(session_of("", actions=(key("b"),)), ending=SAYS_NO)
    write_session(session, shop.folder / "session.log")
    seen = 'grep -q "^key:b" "$REPLAY_DD_OUTPUT" && exit 1; exit 0'
    failed = shop.run("replay", "--oracle", seen, "session.log")
    assert (failed.status, failed.stdout.splitlines()[-1]) == (1, "outcome: the oracle says no (status 1)")
    assert shop.run("replay", "--oracle", "exit 0", "session.log").status == 0
    told = shop.run("replay", "session.log")
    assert told.status == 125
    assert "--oracle" in told.stderr


def test_the_answer_says_how_to_replay_with_the_oracle(shop: Workshop) -> None:
    write_session(session_of("", actions=(key("a"), key("b"))), shop.folder / "session.log")
    seen = 'grep -q "^key:b" "$REPLAY_DD_OUTPUT" && exit 1; exit 0'
    done = shop.run("events", "--oracle", seen, "session.log")
    assert done.status == 0, done.stderr
    told = next(line for line in done.stdout.splitlines() if line.startswith("fails "))
    assert shop.run(*shlex.split(told)[2:]).status == 1
