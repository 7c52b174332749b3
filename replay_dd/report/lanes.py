"""The switches of a log as lanes: one column for each thread, time going down."""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.report.source import source_line
from replay_dd.schedules.model import Log, Switch

_WIDEST = 96


def lanes(log: Log, *, unicode: bool = True, source: bool = True) -> Iterator[str]:
    """The lines of the picture.

    Each line is one stretch of time in which one thread ran: its lane shows the thread times from and to; behind the
    lanes stand the place at which it gave way and the reason. A star marks choices that are not the default ones: these
    are the schedule.

    Args:
        log: the log.
        unicode: draw with line characters outside ASCII.
        source: show the source lines as they are now; pass False where the program was changed since.
    """
    threads = sorted(log.ending.thread_times, key=_path) or _threads_of(log.switches)
    bar, star = ("│", "●") if unicode else ("|", "*")
    stretches = list(_stretches(log))
    width = max([len(text) for _, text, _ in stretches] + [len(thread) + 2 for thread in threads] + [7])
    if width * len(threads) > _WIDEST:
        width = max(3, _WIDEST // len(threads))
    yield " " * 10 + "".join(f"{thread:<{width + 1}}" for thread in threads).rstrip()
    for running, text, switch in stretches:
        cells = []
        for thread in threads:
            cell = text[:width] if thread == running else bar
            cells.append(f"{cell:<{width + 1}}")
        mark = star if switch is not None and not switch.by_default else " "
        start = f"{switch.global_time:>8}" if switch is not None else f"{log.ending.global_time:>8}"
        yield f"{start} {mark}" + "".join(cells) + _reason(switch, source)


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


def _reason(switch: Switch | None, source: bool) -> str:
    if switch is None:
        return "the end"
    why = "ended" if switch.place is None else "blocked" if switch.forced else "preempted"
    text = f"{why} -> {switch.to}"
    if switch.place is None:
        return text
    return f"{text}  {switch.place}  {source_line(switch.place) if source else ''}".rstrip()


def _threads_of(switches: tuple[Switch, ...]) -> list[str]:
    names = {name for switch in switches for name in (switch.thread, switch.to)} | {"0"}
    return sorted(names, key=_path)


def _path(thread: str) -> tuple[int, ...]:
    return tuple(int(part) for part in thread.split("."))
