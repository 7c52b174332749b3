"""A trace: the statements that a program executed, in order, and where they stand in the source."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from replay_dd.dd import IntervalSet

_FILE_SHIFT = 32
NOTHING = -1
_WITHOUT_EFFECT = frozenset({"pass", "break", "continue"})


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in the source, or the head of a compound one.

    Attributes:
        file: its file, as :attr:`Trace.files` has it.
        line: its first line, from 1.
        end_line: its last line.
        kind: what it is: ``assign``, ``if``, ``for``, ``except`` and so on.
        function: the qualified name of the function or class that it is in; empty for that of a module.
    """

    file: str
    line: int
    end_line: int
    kind: str
    function: str


@dataclass(frozen=True)
class Trace:
    """The executed statements of a run; event ``n`` is the n-th one that began, from 0.

    Attributes:
        path: the file that the traced process reads.
        sites: the number of each event's statement.
        parents: the event that called the function which each event belongs to; :data:`NOTHING` for none.
        times_ns: when each event began.
        raised: the events that ended by an exception.
        statements: by their numbers.
        files: paths of the sources, relative to the working folder where they are in it.
        undivided: what cannot be left out statement by statement: file, line, and what it is.
        generators: events that belong to a generator, whose body may begin in another event.
    """

    path: Path
    sites: Sequence[int]
    parents: Sequence[int]
    times_ns: Sequence[int]
    raised: frozenset[int]
    statements: Mapping[int, Statement]
    files: tuple[str, ...]
    undivided: tuple[tuple[str, int, str], ...]
    generators: frozenset[int] = field(default=frozenset())

    def __len__(self) -> int:
        return len(self.sites)

    @property
    def all(self) -> IntervalSet:
        """All events."""
        return IntervalSet.range(0, len(self.sites))

    def statement(self, event: int) -> Statement:
        """The statement of an event."""
        return self.statements[self.sites[event]]

    @cached_property
    def digest(self) -> str:
        """Equal for the same events of the same statements, in any process."""
        statements = sorted(self.statements.items())
        text = repr((self.files, statements, list(self.sites), list(self.parents), sorted(self.raised)))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

    @cached_property
    def occurrences(self) -> Sequence[int]:
        """For each event, which execution of its statement it is, from 1."""
        counts: Counter[int] = Counter()
        found = []
        for site in self.sites:
            counts[site] += 1
            found.append(counts[site])
        return found

    def words(self, event: int) -> str:
        """An event in words: the place, and which time."""
        place = self.statement(event)
        where = f"{place.file}:{place.line}"
        times = self.counts[self.sites[event]]
        return where if times == 1 else f"{where}, time {self.occurrences[event]:,} of {times:,}"

    @cached_property
    def counts(self) -> Counter[int]:
        """How many times each statement was executed."""
        return Counter(self.sites)

    def reached(self, kept: IntervalSet) -> IntervalSet:
        """Those of some events that can be executed: their callers are, and they do something."""
        executed = bytearray(len(self.sites))
        starts: list[tuple[int, int]] = []
        for event in kept:
            parent = self.parents[event]
            if parent != NOTHING and event not in self.generators and not executed[parent]:
                continue
            executed[event] = 1
            if self.statement(event).kind in _WITHOUT_EFFECT and event not in self.raised:
                continue
            if starts and starts[-1][1] == event:
                starts[-1] = (starts[-1][0], event + 1)
            else:
                starts.append((event, event + 1))
        return IntervalSet.from_intervals(starts)

    def same_course(self, other: Trace) -> bool:
        """Whether both runs executed the same statements in the same order."""
        return list(self.sites) == list(other.sites)


def trace_from(told: Mapping[str, Any], path: Path) -> Trace:
    """A trace as the traced process noted it; writes it to ``path``.

    Args:
        told: what it noted.
        path: where to write it.
    """
    path.write_text(json.dumps(told), encoding="utf-8")
    statements: dict[int, Statement] = {}
    undivided: list[tuple[str, int, str]] = []
    generator_codes: set[int] = set()
    for name, one in told["files"].items():
        first = one["number"] << _FILE_SHIFT
        for number, (line, end_line, kind, function, _) in enumerate(one["sites"]):
            statements[first + number] = Statement(name, line, max(line, end_line), kind, function)
        undivided += [(name, line, what) for line, what in one["undivided"]]
        generator_codes |= {first + number for number, (_, is_generator) in enumerate(one["codes"]) if is_generator}
    owners, codes, begun = told["owners"], told["codes"], told["parents"]
    return Trace(
        path,
        told["sites"],
        [begun[owner] for owner in owners],
        told["times"],
        frozenset(int(event) for event in told["raised"]),
        statements,
        tuple(told["files"]),
        tuple(undivided),
        frozenset(event for event, owner in enumerate(owners) if codes[owner] in generator_codes),
    )
