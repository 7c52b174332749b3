"""The switches of a log as lanes: one column for each thread, time going down."""

from __future__ import annotations

import math
from collections.abc import Iterator

from replay_dd.report.source import source_line
from replay_dd.schedules.model import Log, Program, Switch

_WIDEST = 96  # columns for all lanes together; beyond that, lanes are drawn without their times
_MOST_LANES = 64  # of more, terminals break each line, and nobody can follow a lane


def lanes(log: Log, *, unicode: bool = True, source: bool = True) -> Iterator[str]:
    """The lines of the picture.

    Each line is a stretch in which one thread ran: its lane shows the range of thread times, followed to the right of
    the lanes by the place where it yielded and the reason. A star marks non-default choices: these are the schedule. If
    there are too many threads for that, lanes only show a mark, with the name and times to their right, and the names
    at the top are spread over several lines. Of very many threads, the turns are listed without lanes.

    Args:
        log: the log.
        unicode: draw with line characters outside ASCII.
        source: show the current source lines; pass False if the program has changed since.
    """
    threads = sorted(log.ending.thread_times, key=_path) or _threads_of(log.switches)
    crowded = len(threads) > _MOST_LANES
    if crowded:
        yield f"{len(threads):,} threads are too many for a lane each; their turns are listed without lanes."
        threads = []
    bar, star, ran = ("│", "●", "┃") if unicode else ("|", "*", "#")
    stretches = list(_stretches(log))
    longest = max([len(text) for _, text, _ in stretches] + [7])
    name = max(len(thread) for thread in threads or [running for running, _, _ in stretches]) + 2
    width = max(longest, name) + 1
    narrow = crowded or width * len(threads) > _WIDEST
    if narrow:
        width = max(2, _WIDEST // max(1, len(threads)))
    for line in _names(threads, width, name):
        yield " " * 10 + line
    for running, text, switch in stretches:
        cell = ran if narrow else text
        row = "".join(f"{cell if thread == running else bar:<{width}}" for thread in threads)
        aside = f"{running:<{min(name, _WIDEST)}}{text:<{longest}} " if narrow else ""
        mark = star if switch is not None and not switch.by_default else " "
        start = f"{switch.global_time:>8}" if switch is not None else f"{log.ending.global_time:>8}"
        yield f"{start} {mark}{row}{aside}" + _reason(switch, log.program if source else None)


def _names(threads: list[str], width: int, name: int) -> Iterator[str]:
    """The names above their lanes, in as many lines as needed for them not to overlap."""
    turns = min(len(threads), max(1, math.ceil((name - 1) / width)))
    for turn in range(turns):
        line = ""
        for lane in range(turn, len(threads), turns):
            line = line.ljust(lane * width) + threads[lane]
        yield line


def _stretches(log: Log) -> Iterator[tuple[str, str, Switch | None]]:
    """(thread, its times, the switch that ended the stretch) of each stretch in which one thread ran."""
    times: dict[str, int] = {}
    running = "0"
    for switch in log.switches:
        running = switch.thread
        yield running, f"{times.get(running, 0)}-{switch.time}", switch
        times[running] = switch.time
        running = switch.to
    last = log.ending.thread_times.get(running)
    yield running, f"{times.get(running, 0)}-{'?' if last is None else last}", None


def _reason(switch: Switch | None, program: Program | None) -> str:
    if switch is None:
        return "the end"
    why = "ended" if switch.ended else "blocked" if switch.forced else "preempted"
    text = "collects garbage" if switch.collects else f"{why} -> {switch.to}"
    if switch.wake is not None and switch.wake.early_ns:
        text += (
            f" (its {'time-out' if switch.wake.time_out else 'sleep'} ends {switch.wake.early_ns / 1e6:.3g} ms early)"
        )
    if switch.place is None:
        return text
    return f"{text}  {switch.place}  {source_line(switch.place, program) if program else ''}".rstrip()


def _threads_of(switches: tuple[Switch, ...]) -> list[str]:
    names = {name for switch in switches for name in (switch.thread, switch.to)} | {"0"}
    return sorted(names, key=_path)


def _path(thread: str) -> tuple[int, ...]:
    return tuple(int(part) for part in thread.split("."))
