"""Which Ctrl-C ends what."""

from __future__ import annotations

import signal
import sys
import threading
import weakref
from collections.abc import Callable

import pytest

from replay_dd.cli.interrupts import DroppedSignals, Interrupts


def test_only_the_second_one_is_no_exception(capfd: pytest.CaptureFixture[str]) -> None:
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        interrupts(signal.SIGINT, None)
    assert capfd.readouterr().err == ""
    interrupts(signal.SIGINT, None)
    assert "Ctrl-C once more leaves without it" in capfd.readouterr().err
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupts(signal.SIGINT, None)


def test_a_command_in_the_background_goes_on_ignoring_it() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Interrupts().take_over()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


class Thing:
    """Something that a weak reference can be made to."""


def sent_while_a_weak_reference_dies(number: int, handler: Callable[..., object]) -> None:
    """Have a signal come where Python drops exceptions, and wait for what comes of it."""
    before, thing = signal.signal(number, handler), Thing()
    reference = weakref.ref(thing, lambda dead: signal.raise_signal(number))
    try:
        del thing
        threading.Event().wait(60)
    finally:
        signal.signal(number, before)
    assert reference() is None


def test_a_signal_whose_exception_is_dropped_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupts = Interrupts()

    def stop(number: int, frame: object) -> None:
        sys.exit(128 + number)  # the tool's own would keep this process from running any program after it

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    DroppedSignals(interrupts).take_over()
    with pytest.raises(SystemExit) as end:
        sent_while_a_weak_reference_dies(signal.SIGTERM, stop)
    assert end.value.code == 128 + signal.SIGTERM
    with pytest.raises(KeyboardInterrupt):
        sent_while_a_weak_reference_dies(signal.SIGINT, interrupts)
    assert interrupts.count == 1


def test_a_dropped_signal_waits_until_python_has_left_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """There, its exception would be dropped for good, as where a busy machine starts the sending thread slowly."""
    start = threading.Thread.start

    def slowly(thread: threading.Thread) -> None:
        start(thread)
        threading.Event().wait(0.3)

    interrupts = Interrupts()
    monkeypatch.setattr(threading.Thread, "start", slowly)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    DroppedSignals(interrupts).take_over()
    with pytest.raises(KeyboardInterrupt):
        sent_while_a_weak_reference_dies(signal.SIGINT, interrupts)
    assert interrupts.count == 1


def test_other_exceptions_that_are_dropped_are_told_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    DroppedSignals(Interrupts()).take_over()
    thing = Thing()
    reference = weakref.ref(thing, lambda dead: sys.exit(3))
    del thing
    assert (len(told), reference()) == (1, None)
