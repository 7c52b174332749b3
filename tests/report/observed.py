"""Runs as an observation would tell them, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from replay_dd.schedules.model import Log, Place, Switch
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value
from tests.schedules.logs import PASSED, log_of

TOTAL = ("global", 1, "total")
LOCK = 9
UNKNOWN = Value("?", "", -1)


def value(text: str) -> Value:
    return Value(text, "int", -1)


def access(number: int, thread: str, does: str, text: str = "", **more: Any) -> Access:
    """One access to a global variable; the run has passed as many yield points as it has made accesses."""
    place = Place("prog.py", "prog.py", number, 1, "work", "LOAD_GLOBAL", True)
    plain = Access(
        *(number, thread, number, number, place, (StackFrame("prog.py", "prog.py", number, "work", True),)),
        *(does, TOTAL, "module", "total"),
        reads=does in ("reads", "checks"),
        writes=does == "stores",
        old=value(text) if does == "reads" else UNKNOWN,
        new=value(text) if does == "stores" else UNKNOWN,
        detail="",
        tested=False,
        held=(),
    )
    return plain._replace(**more)


def takes(number: int, thread: str, lock: int = LOCK, **more: Any) -> Access:
    """A thread gets a lock."""
    return access(number, thread, "acquires", thing=("lock", lock, ""), name="guard", **more)


def switch(thread: str, at: int, to: str, **more: Any) -> Switch:
    """A switch after so many yield points, which are thread times as well."""
    place = Place("prog.py", "prog.py", at, 1, "work", "LOAD_GLOBAL", True)
    return replace(Switch(thread, at, to, False, False, place, at, at), **more)


def run(switches: Sequence[Switch], accesses: Sequence[Access] = ()) -> tuple[Log, Observation]:
    """A run, and what was seen of it."""
    last = max([one.global_time for one in (*switches, *accesses)], default=0)
    threads = {name: last for one in switches for name in (one.thread, one.to)} | {"0": last}
    log = log_of(switches, replace(PASSED, thread_times=threads, global_time=last + 1))
    return log, Observation(tuple(accesses), {LOCK: "guard"})


LOST = run(
    [switch("0.1", 2, "0.2"), switch("0.2", 4, "0.1", forced=True, ended=True)],
    [
        access(1, "0.1", "reads", "0"),
        access(2, "0.2", "reads", "0"),
        access(3, "0.2", "stores", "4"),
        access(4, "0.1", "stores", "4"),
    ],
)
_, _READ, _STORED, _LAST = (one.place for one in LOST[1].accesses)
KEPT = run(
    [switch("0.1", 3, "0.2", forced=True, ended=True)],
    [
        access(1, "0.1", "reads", "0"),
        access(2, "0.1", "stores", "4", place=_LAST),
        access(3, "0.2", "reads", "4", place=_READ),
        access(4, "0.2", "stores", "8", place=_STORED),
    ],
)


class Elements(HTMLParser):
    """What a browser would make of a page: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self._within = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        (self.scripts if self._within == "script" else self.text).append(data)

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.elements}
