"""The picture of a log."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log
from replay_dd.report.mermaid import log_as_mermaid
from replay_dd.report.source import source_line
from replay_dd.schedules.model import Frame, Log, Place, Switch, Waiter
from tests.schedules.logs import FAILED, PASSED, log_of, vouching_for

SOURCE = "import threading\n\n    first = 1\n    second = 2\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    path = tmp_path / "prog.py"
    path.write_text(SOURCE)
    return Place("prog.py", str(path), 3, 5, "work", "STORE_NAME", False)


@pytest.fixture
def log(place: Place) -> Log:
    switches = [
        Switch("0", 12, "0.1", True, True, place, 12, 1),
        Switch("0.1", 8, "0.2", False, False, replace(place, line=4), 20, 2),
        Switch("0.2", 70, "0.1", True, True, None, 90, 3, ended=True),
        Switch("0.1", 60, "0", True, True, None, 142, 4, ended=True),
    ]
    return vouching_for(place, log_of(switches, replace(PASSED, global_time=180, digest=0xAB)))


def test_lanes(log: Log) -> None:
    assert list(lanes(log, unicode=True)) == [
        "          0       0.1     0.2",
        "      12  0-12    │       │       blocked -> 0.1  prog.py:3  first = 1",
        "      20 ●│       0-8     │       preempted -> 0.2  prog.py:4  second = 2",
        "      90  │       │       0-70    ended -> 0.1",
        "     142  │       8-60    │       ended -> 0",
        "     180  12-50   │       │       the end",
    ]


def test_a_garbage_collection_is_called_so_in_every_picture(log: Log, place: Place) -> None:
    collection = Switch("0.1", 8, "0.1", False, False, replace(place, line=4), 20, 2, collects=True)
    collecting = replace(log, switches=(log.switches[0], collection, log.switches[3]))
    assert list(lanes(collecting, unicode=True))[2] == (
        "      20 ●│       0-8     │       collects garbage  prog.py:4  second = 2"
    )
    assert "    T1->>T1: collects garbage at prog.py:4<br/>second = 2" in list(log_as_mermaid(collecting))


def test_a_thread_without_a_place_has_not_ended_for_that(log: Log) -> None:
    """None of its code may be counted, as with ``Thread(target=queue.get)``; not even at its last switch."""
    first, second, third, last = log.switches
    blocked = [first, second, replace(third, ended=False), replace(last, forced=False, ended=False)]
    assert list(lanes(replace(log, switches=tuple(blocked))))[3:5] == [
        "      90  │       │       0-70    blocked -> 0.1",
        "     142  │       8-60    │       preempted -> 0",
    ]


def test_lanes_in_ascii(log: Log) -> None:
    picture = "\n".join(lanes(log, unicode=False))
    assert picture.isascii()
    assert "      20 *|       0-8     |       preempted -> 0.2" in picture


def test_lanes_of_a_run_that_was_killed(log: Log) -> None:
    killed = replace(log, ending=replace(log.ending, thread_times={}, complete=False))
    picture = list(lanes(killed))
    assert picture[0].split() == ["0", "0.1", "0.2"]
    assert "12-?" in picture[-1]


def lanes_of_many(amount: int, *switches: Switch) -> list[str]:
    times = {"0": 999_999, **{f"0.{number}": 999_999 for number in range(1, amount)}}
    return list(lanes(log_of(list(switches), replace(PASSED, thread_times=times))))


@pytest.mark.parametrize("amount", [2, 5, 6, 7, 8, 9, 10, 11, 12, 24, 60, 64])
def test_the_names_of_many_threads_stand_over_their_lanes(amount: int) -> None:
    """Complete, separated, and each above its lane, on whichever line."""
    *header, row = lanes_of_many(amount)
    names = [(found.start(), found.group()) for line in header for found in re.finditer(r"\S+", line)]
    beginnings = [found.start() for found in re.finditer(r"0-999999|[│┃]", row)][:amount]
    assert sorted(names) == list(zip(beginnings, ["0", *(f"0.{number}" for number in range(1, amount))], strict=True))


def test_lanes_of_many_threads_stay_narrow_and_tell_all_numbers() -> None:
    switch = Switch("0", 123_456, "0.59", True, True, None, 123_456, 1, ended=True)
    picture = lanes_of_many(60, switch)
    assert max(map(len, picture)) < 170
    first, second = picture[-2:]
    assert (first[10], first.split()[-6:]) == ("┃", ["│", "0", "0-123456", "ended", "->", "0.59"])
    assert second.split()[-5:] == ["┃", "0.59", "0-999999", "the", "end"]


def test_lanes_without_switches() -> None:
    assert list(lanes(log_of([], replace(PASSED, thread_times={"0": 0})))) == [
        "          0",
        "       0  0-0     the end",
    ]


def test_source_lines(place: Place, log: Log) -> None:
    program = log.program
    assert source_line(place, program) == "first = 1"
    assert source_line(replace(place, line=99), program) == ""
    assert source_line(replace(place, file="gone.py"), program) == ""


def test_what_a_log_is_of(log: Log) -> None:
    text = list(describe_log(log))
    assert text[0] == "command      python prog.py"
    assert "outcome      exit status 0" in text
    assert "size         180 yield points, 3 threads" in text
    assert "schedule     4 switches, 1 of them not by default" in text
    assert "digest       00000000000000ab" in text
    assert "reproduced   yes" in text
    assert "reproduced   not tried" in list(describe_log(replace(log, verified=None)))
    assert any("NO" in line for line in describe_log(replace(log, verified=False)))
    assert "outcome      ValueError: no (prog.py:9 in work)" in list(describe_log(replace(log, ending=FAILED)))


def test_a_deadlock_is_described_with_who_waits_where(log: Log) -> None:
    waiter = Waiter("0.1", "waits for the Lock made at prog.py:2", (Frame("prog.py", 9, "work", True),))
    ending = replace(log.ending, status=125, deadlock=(waiter,), notes=("a note",))
    text = "\n".join(describe_log(replace(log, ending=ending)))
    assert "thread 0.1 waits for the Lock made at prog.py:2" in text
    assert "at prog.py:9 in work" in text
    assert "a note" in text


def test_lanes_end_where_a_terminal_breaks_their_lines() -> None:
    assert max(map(len, lanes_of_many(64))) < 180
    assert [line.split() for line in lanes_of_many(65)[1:]] == [["0", "0", "0-999999", "the", "end"]]


def test_very_many_threads_have_no_lanes() -> None:
    """A picture of 200,000 lanes would take as long as it is wide."""
    threads = {"0": 9, **{f"0.{number}": 1 for number in range(1, 200_000)}}
    switches = [Switch("0", 3, "0.7", False, False, None, 3, 1), Switch("0.7", 1, "0", True, True, None, 4, 1)]
    drawn = list(lanes(log_of(switches, replace(PASSED, thread_times=threads))))
    assert drawn[0].startswith("200,000 threads")
    assert [line.split()[-3:] for line in drawn[1:]] == [
        ["preempted", "->", "0.7"],
        ["blocked", "->", "0"],
        ["3-9", "the", "end"],
    ]
    assert max(map(len, drawn)) < 200
