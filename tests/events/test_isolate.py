"""What an isolation makes of its film; isolating itself is in tests/x11."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.events.failure_signature import of_signal
from replay_dd.events.isolate import with_backtrace

CRASH = of_signal(11, "program+0x10", ["program+0x10"], "")


def test_the_film_gives_the_names_in_a_backtrace() -> None:
    named = replace(CRASH, frames=("#0 save () at save.c:7",))
    assert with_backtrace(CRASH, named).frames == named.frames
    assert with_backtrace(named, replace(CRASH, frames=())).frames == named.frames


def test_a_neighbouring_crash_in_the_film_has_another_backtrace() -> None:
    other = of_signal(6, "libc.so.6+0x20", ["#0 abort () at abort.c:1"], "")
    assert with_backtrace(CRASH, other) == CRASH
