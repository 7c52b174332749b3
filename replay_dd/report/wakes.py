"""Sleeps and time-outs whose end makes the difference between two runs, as text.

A switch to a thread that sleeps ends its sleep. Where only one of two runs does that, or where they end two sleeps in
another order, this is the difference; not that the thread that ran before gives way.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.report.source import source_line
from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Log, Place, Switch


def is_about_sleeping(guilty: GuiltySwitch) -> bool:
    """Whether one of the two runs ends a sleep or time-out there, and the other goes on with somebody else."""
    failing, passing = guilty.failing, guilty.passing
    if failing.wake is not None and (failing.wake.early_ns or (passing is not None and passing.wake is not None)):
        return passing is None or (failing.to, failing.thread, failing.time) != (
            passing.to,
            passing.thread,
            passing.time,
        )
    return passing is not None and passing.wake is not None and passing.wake.early_ns > 0


def wakes_as_text(guilty: GuiltySwitch, failing: Log, passing: Log) -> Iterator[str]:
    """Which sleep ends before what, with both lines, and how the passing run differs."""
    switch, other = guilty.failing, guilty.passing
    if switch.wake is not None:
        yield from _told("The run FAILS if", switch, _who_runs(other, switch), failing, passing)
        yield from _instead("It PASSES if", other, switch, passing)
    elif other is not None:
        yield from _told("The run PASSES if", other, _who_runs(switch, other), passing, failing)
        yield from _instead("It FAILS if", switch, other, failing)


def wake_in_words(switch: Switch) -> str:
    """Which sleep a switch ends, and how much too early."""
    wake = switch.wake
    when = f"{_duration(wake.early_ns)} early" if wake is not None and wake.early_ns else "first"
    return f"{_what_ends(switch)} ends {when}"


def ends_early(switch: Switch) -> bool:
    """Whether a switch ends a sleep or time-out although another thread could go on."""
    return switch.wake is not None and switch.wake.early_ns > 0


def wakes_from(switch: Switch) -> str:
    """What a switch ends, and how long before its end."""
    wake = switch.wake
    assert wake is not None
    return f"{'time-out' if wake.time_out else 'sleep'} ends {_duration(wake.early_ns)}"


def further_delays(failing: Log, isolated: Switch | None) -> Iterator[str]:
    """The sleeps that end early in a run beside the isolated switch: without them, it might not fail either."""
    early = [switch for switch in failing.switches if ends_early(switch) and switch != isolated]
    if early:
        longest = max(early, key=lambda switch: switch.wake.early_ns if switch.wake else 0)
        others = f" (as do {len(early) - 1} more)" if len(early) > 1 else ""
        yield f"In the failing run, {wake_in_words(longest)}{others}:"
        yield "on a busy machine, the other threads may be that late (`--max-delay`)."


def _told(verdict: str, switch: Switch, rival: str, log: Log, other: Log) -> Iterator[str]:
    """One run: whose sleep ends, before whom it ends, and why it may."""
    wake = switch.wake
    assert wake is not None
    yield f"{verdict} {_what_ends(switch)} ends"
    yield from _line(wake.place, log)
    instead = next((one for one in other.switches if _moment(one) == _moment(switch)), None)
    if instead is not None and instead.wake is not None and instead.to == rival:
        yield f"before {_what_ends(instead)}"
        yield from _line(instead.wake.place, log)
    else:
        place = switch.place if rival == switch.thread else _last_place(log, rival, switch)
        yield f"before thread {rival} goes on{_at(place)}"
        yield from _line(place, log)
    if wake.early_ns:
        yield (
            f"    It ends {_duration(wake.early_ns)} early: on a busy machine, the other may be that late "
            "(`--max-delay`)."
        )
    else:
        yield "    Both end at the same time, so either may be first."
    yield f"    Thread {switch.thread} runs until then (its yield point {switch.time})."


def _instead(verdict: str, switch: Switch | None, rival: Switch, log: Log) -> Iterator[str]:
    """What the other run does."""
    if switch is None:
        yield f"{verdict} thread {rival.thread} runs on to the end."
    elif _moment(switch) != _moment(rival):
        until = f"until it has {'ended' if switch.ended else 'to wait in library code'}"
        if switch.place is not None:
            until = f"until {switch.place}"
        yield f"{verdict} thread {switch.thread} first runs on {until} (its yield point {switch.time})."
        yield from _line(switch.place, log)
    elif switch.wake is not None:
        yield f"{verdict} {_what_ends(switch)} ends first."
    else:
        yield f"{verdict} thread {switch.to} goes on first."


def _who_runs(switch: Switch | None, rival: Switch) -> str:
    """The thread that goes on in the other run where this one ends a sleep."""
    if switch is None or _moment(switch) != _moment(rival):
        return rival.thread
    return switch.to


def _what_ends(switch: Switch) -> str:
    wake = switch.wake
    assert wake is not None
    what = "time-out" if wake.time_out else "sleep"
    return f"the {what} of thread {switch.to}{_at(wake.place)}"


def _last_place(log: Log, thread: str, until: Switch) -> Place | None:
    """Where a thread stood when it last gave way, up to a switch of the log."""
    place = None
    for switch in log.switches:
        if switch.thread == thread:
            place = switch.place
        if _moment(switch) == _moment(until):
            break
    return place


def _moment(switch: Switch) -> tuple[str, int]:
    return switch.thread, switch.time


def _at(place: Place | None) -> str:
    return "" if place is None else f" at {place} in {place.function}"


def _line(place: Place | None, log: Log) -> Iterator[str]:
    if place is not None:
        yield f"    {place.line:>6}  {source_line(place, log.program)}"


def _duration(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.3g} ms" if nanoseconds < 1_000_000_000 else f"{nanoseconds / 1e9:.3g} s"
