"""Which errors that sanitizers and valgrind tell are the same failure."""

from __future__ import annotations

import pytest

from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.crash_reports import crash_report

UNDEFINED = """\
{function}.c:5:9: runtime error: {message}
    #0 0x55d5a8a7ba3f in {function} /src/{function}.c:5:9
    #1 0x55d5a8a7ba3f in main /src/main.c:7:1

SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior {function}.c:5:9 in {function}
"""
THREAD = """\
==7{digit}== Thread #2 was created
==7{digit}==    at 0x496EB3F: clone (clone.S:76)
==7{digit}==    by 0x1094C6: main (t.c:14)
==7{digit}==
"""
KILLED = """\
==7{digit}== Process terminating with default action of signal 11 (SIGSEGV)
==7{digit}==  Access not within mapped region at address 0x{digit}
==7{digit}==    at 0x109319: {function} (t.c:12)
==7{digit}==    by 0x10977E: main (t.c:31)
==7{digit}==  If you believe this happened as a result of a stack
"""
RACE = """\
==7{digit}== Possible data race during read of size 8 at 0x10C08{digit} by thread #3
==7{digit}== Locks held: none
==7{digit}==    at 0x1091CA: {function} (t.c:5)
==7{digit}==
==7{digit}== This conflicts with a previous write of size 8 by thread #2
==7{digit}== Locks held: none
==7{digit}==    at 0x1091D8: other{digit} (t.c:5)
"""
ORDER = """\
==7{digit}== Thread #3: lock order "0x10C0A{digit} before 0x10C0E0" violated
==7{digit}==
==7{digit}== Observed (incorrect) order is: acquisition of lock at 0x10C0E{digit}
==7{digit}==    at 0x484976E: ??? (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)
==7{digit}==    by 0x1092A7: {function} (t.c:8)
"""
CONFLICT = """\
==7{digit}== Thread 3:
==7{digit}== Conflicting load by thread 3 at 0x0010c08{digit} size 8
==7{digit}==    at 0x1091CA: {function} (t.c:5)
==7{digit}== Other segment start (thread 2)
==7{digit}==    (thread finished, call stack no longer available)
"""
BANNER = """\
==7{digit}== Memcheck, a memory error detector
==7{digit}== Command: ./t
==7{digit}==
==7{digit}== Invalid read of size 4
==7{digit}==    at 0x109319: {function} (t.c:12)
"""
RACE_IN_FREE = """\
WARNING: ThreadSanitizer: data race (pid={digit})
  Write of size 8 at 0x7b040000000{digit} by thread T2:
    #0 free <null> (t+0x501e4) (BuildId: d2a7)
    #1 {function} /src/t.c:10:3 (t+0xce{digit}) (BuildId: d2a7)

  Previous write of size 1 at 0x7b040000000{digit} by thread T1:
    #0 other{digit} /src/t.c:9:3 (t+0xcd4) (BuildId: d2a7)

SUMMARY: ThreadSanitizer: data race (t+0x501e4) (BuildId: d2a7) in free
"""


def report(output: str) -> Report:
    found = crash_report(output.encode())
    assert found is not None
    return found


@pytest.mark.parametrize("form", [KILLED, THREAD + RACE, THREAD + ORDER, CONFLICT, BANNER, RACE_IN_FREE])
def test_errors_of_valgrind_have_the_place_of_their_own_stack(form: str) -> None:
    one, same, other = (report(form.format(function=f, digit=d)) for f, d in (("f", 3), ("f", 4), ("g", 3)))
    assert one.signature == same.signature
    assert one.signature != other.signature
    assert "in f" in one.signature


def test_what_is_undefined_counts_also_where_a_summary_follows() -> None:
    said = ("load of misaligned address 0x7ffd5 for type 'int'", "load of null pointer of type 'int'")
    misaligned, null = (report(UNDEFINED.format(function="f", message=message)) for message in said)
    assert misaligned.signature != null.signature
    assert misaligned.words == f"f.c:5:9: runtime error: {said[0]}"
    assert null.signature != report(UNDEFINED.format(function="g", message=said[1])).signature


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.7e+31 is outside the range", "3e+30 is outside the range"), ("overflow: 9 + 1", "overflow: -9 + -17")],
)
def test_how_a_number_is_written_does_not_count(one: str, other: str) -> None:
    first, second = (report(UNDEFINED.format(function="f", message=message)) for message in (one, other))
    assert first.signature == second.signature
