"""Which Ctrl-C ends what."""

from __future__ import annotations

import signal

import pytest

from replay_dd.cli.interrupts import Interrupts


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
