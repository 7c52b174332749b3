"""Temporary files that have no room: said in one message, never told as the program's failure, nor as a bug."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.cli.exit_status import reported
from tests.cli.tool import RACE, Workshop

pytestmark = pytest.mark.once

# Tells the tool of more than fits into a file of that size, and fails where an output of its own does not fit.
BUSY = """
    import threading
    turns = [threading.Semaphore(1), threading.Semaphore(0)]
    def take_turns(mine):
        for _ in range(500):
            turns[mine].acquire()
            turns[1 - mine].release()
    threads = [threading.Thread(target=take_turns, args=(mine,)) for mine in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
SMALL_FILES = 'ulimit -f 16; "$0" "$@"'


@pytest.mark.parametrize("command", [("record", "-o", "a.log"), ("hunt", "-o", "found"), ("hunt", "--no-fork")])
def test_a_run_that_cannot_tell_all_it_did(command: tuple[str, ...], shop: Workshop) -> None:
    shop.write(BUSY)
    said = shop.run(*command, *shop.program(), shell=SMALL_FILES).refused(2, "no-room")
    assert str(shop.temporary) in said
    assert [path.name for path in shop.folder.iterdir()] == ["prog.py"]


def test_a_replay_that_cannot_is_no_verdict(shop: Workshop) -> None:
    shop.write(BUSY)
    assert shop.run("record", "-o", "a.log", *shop.program()).status == 0
    shop.run("replay", "a.log", shell=SMALL_FILES).refused(130, "no-room")


def test_a_program_is_not_disturbed(shop: Workshop) -> None:
    shop.write(f"{BUSY}\n    print('all there')\n")
    assert shop.run("record", "-o", "a.log", *shop.program(), shell=SMALL_FILES).stdout == "all there\n"


def test_a_run_that_cannot_begin(shop: Workshop) -> None:
    shop.write(RACE)
    for command in ("record", "hunt"):
        shop.run(command, "-o", "out", *shop.program(), shell='ulimit -f 0; "$0" "$@"').refused(2, "no-room")


@pytest.mark.parametrize(("verdict", "status"), [(False, 2), (True, 130)])
def test_a_full_disk_is_no_bug(verdict: bool, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end, reported(verdict=verdict), Path("/dev/full").open("w") as file:
        file.write("a file of ours")
    assert end.value.code == status
    said = capsys.readouterr().err
    assert "[no-room]" in said
    assert "Traceback" not in said
