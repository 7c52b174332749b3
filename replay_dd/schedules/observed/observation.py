"""What an observed run told: each access to something that threads may share.

Rules of this module:

* Plain, frozen data, made from the records of the channel. Nothing is concluded here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from replay_dd.schedules.model import Place, Switch
from replay_dd.schedules.observed.access_order import resumed_at
from replay_dd.schedules.runtime import channel

OBSERVED = (
    *(channel.OBSERVING, channel.ACCESS, channel.AFTER, channel.STACK, channel.SWITCH_STACK),
    *(channel.STARTED, channel.LOCK_NAME),
)


class Value(NamedTuple):
    """A value as it was seen.

    Attributes:
        text: for a value of a built-in type, in short; empty for others; ``nothing`` if there was none, ``?`` if it
            could not be told.
        type: the name of its type.
        number: of the object within the run; -1 for plain values.
    """

    text: str
    type: str
    number: int

    @property
    def is_missing(self) -> bool:
        """Whether there was no value."""
        return self.text == "nothing" and not self.type

    @property
    def is_known(self) -> bool:
        """Whether it could be told."""
        return self.text != "?" or bool(self.type)

    def same(self, other: Value) -> bool:
        """Whether both are the same value."""
        return (self.text, self.type, self.number) == (other.text, other.type, other.number)


_MANGLED = re.compile(r"\._[A-Za-z]\w*?__(?=[A-Za-z])(?!\w*__\b)")
_PACKAGES = ("/site-packages/", "/dist-packages/")


def is_installed(path: str) -> bool:
    """Whether a file is one of an installed package, and not of the program's own code."""
    return any(folder in path for folder in _PACKAGES)


class StackFrame(NamedTuple):
    """A frame of the stack at an access; ``counted`` tells program code from library code."""

    file: str
    path: str
    line: int
    function: str
    counted: bool

    @property
    def is_installed(self) -> bool:
        """Whether it is in an installed package, and not in the program's own code."""
        return is_installed(self.path)


TAKES = ("pop", "popleft", "popitem", "remove", "discard")  # methods of containers that take one item out
_REFERENCE = "ReferenceType"
_WEAK = ("WeakValueDictionary", _REFERENCE)

Thing = tuple[str, int, str]
"""What was accessed: sort, number of the object that holds it, key."""


class Access(NamedTuple):
    """One access of one thread.

    Attributes:
        number: counts the accesses of the run.
        thread: who.
        time: its thread time.
        global_time: yield points passed by all threads.
        place: where in the source.
        stack: the frames, the innermost first.
        does: reads, stores, deletes, checks, calls, iterates, acquires; for a file, the name of the operation.
        thing: what it accesses.
        holder_type: the type of the object that holds it; for a global variable, the file of its module if it is known.
        name: what a person would call it.
        reads: whether it depends on the value.
        writes: whether it may change it.
        old: the value before.
        new: the value after, for one that writes.
        detail: the method, with its arguments.
        tested: whether a decision depends on what it found.
        held: the locks that the thread held, by number.
        task: the number of the task that an event loop ran in it; 0 if it ran none.
        asked: the thread that asked an event loop to do it, and its thread time then; None if none did.
    """

    number: int
    thread: str
    time: int
    global_time: int
    place: Place
    stack: tuple[StackFrame, ...]
    does: str
    thing: Thing
    holder_type: str
    name: str
    reads: bool
    writes: bool
    old: Value
    new: Value
    detail: str
    tested: bool
    held: tuple[int, ...]
    task: int = 0
    asked: tuple[str, int] | None = None

    def conflicts(self, other: Access) -> bool:
        """Whether the order of these two accesses of one run can matter: both touch a thing, and one may change it."""
        if not self.touches(other):
            return False
        earlier, later = (self, other) if self.number < other.number else (other, self)
        if later.asked == (earlier.thread, earlier.time):
            return False  # whatever is asked for comes after that by itself
        # What the later one did not find, it might find and take away before the earlier one; not the other way round.
        return earlier.changes or later.changes or (later.in_vain and not earlier.in_vain)

    @property
    def changes(self) -> bool:
        """Whether it may change the thing, and does not do so in vain."""
        return self.writes and not self.in_vain

    @property
    def is_done_by_loop(self) -> bool:
        """Whether an event loop does it for a thread that has asked for it: no code of the program runs there."""
        return self.asked is not None

    @property
    def in_vain(self) -> bool:
        """Whether it would take away what is not there; a list is the same before and after that.

        Of a class that is derived from a container, only the object is told, and that stays the same.
        """
        takes = self.does == "deletes" or (self.does == "calls" and self.detail.partition("(")[0] in TAKES)
        content_told = self.old.is_known and bool(self.old.text)
        unchanged = self.thing[0] == "whole" and content_told and self.old.same(self.new)
        return takes and (self.old.is_missing or unchanged)

    @property
    def is_weak(self) -> bool:
        """Whether it is to an object that is gone as soon as nobody else refers to it."""
        return self.thing[0] == "item" and self.holder_type in _WEAK

    @property
    def is_of_memoised(self) -> bool:
        """Whether it is to a result that a memoised function keeps, which is named like a call of it."""
        return self.thing[0] == "item" and self.holder_type == "dict" and self.name.endswith(")")

    @property
    def found(self) -> Value:
        """The object that it found; a check for an item finds that item."""
        return self.new if self.does == "checks" or (self.is_weak and not self.writes) else self.old

    def _lets_go_of(self, other: Access) -> bool:
        """Whether it puts another value where the object was that the other one knows only weakly."""
        return other.is_weak and self.writes and 0 <= self.old.number == other.found.number

    def touches(self, other: Access) -> bool:
        """Whether both access the same thing, or one of them all of the container that holds it."""
        (sort, holder, _), (other_sort, other_holder, _) = self.thing, other.thing
        if self.thing == other.thing or self._lets_go_of(other) or other._lets_go_of(self):
            return True
        if holder != other_holder or {sort, other_sort} != {"item", "whole"}:
            return False
        whole, one = (self, other) if sort == "whole" else (other, self)
        # What changes an item that is there leaves the size and the order of its container as they are.
        changes_size = one.old.is_missing or one.new.is_missing or not one.old.is_known
        return whole.writes or (one.writes and (changes_size or whole.does != "calls" or "len" not in whole.detail))


@dataclass(frozen=True)
class Observation:
    """All accesses of a run, in order, and the names of its locks by number.

    Attributes:
        exact: whether operands were read from the stack; otherwise the names in the code were evaluated once more.
        switch_stacks: the stack of a thread at its switch, by thread and thread time.
        started: the stack from which a thread was started, by thread.
        resumed: when a thread that gave way goes on, in yield points passed by all, by thread and thread time.
    """

    accesses: tuple[Access, ...]
    locks: Mapping[int, str]
    exact: bool = True
    switch_stacks: Mapping[tuple[str, int], tuple[StackFrame, ...]] = field(default_factory=dict)
    started: Mapping[str, tuple[StackFrame, ...]] = field(default_factory=dict)
    resumed: Mapping[tuple[str, int], int] = field(default_factory=dict)

    def apart(self, who: Callable[[Access], str]) -> Observation:
        """The same, in which some that run within a thread have names of their own, such as ``0.1 (task 2)``.

        Args:
            who: what makes an access; empty for the thread itself.
        """
        told = ((one, who(one)) for one in self.accesses)
        named = tuple(one._replace(thread=f"{one.thread} ({name})") if name else one for one, name in told)
        return replace(self, accesses=named)


NOTHING_OBSERVED = Observation((), {})


def _as_written(name: str) -> str:
    """A name as the source has it: ``Cache._Cache__data`` is ``__data`` there, in the class ``Cache``."""
    return _MANGLED.sub(".__", name)


def observation_of(
    records: Sequence[tuple[Any, ...]], places: Mapping[int, Place], switches: Sequence[Switch] = ()
) -> Observation:
    """The observation that these records of a run tell, and its switches."""
    stacks: dict[int, tuple[StackFrame, ...]] = {}
    locks: dict[int, str] = {}
    found: dict[int, Access] = {}
    switch_stacks: dict[tuple[str, int], tuple[StackFrame, ...]] = {}
    started: dict[str, tuple[StackFrame, ...]] = {}
    exact = True
    for kind, *told in records:
        if kind == channel.STACK:
            stacks[told[0]] = tuple(StackFrame(*frame) for frame in told[1])
        elif kind == channel.SWITCH_STACK:
            switch_stacks.setdefault((told[0], told[1]), stacks[told[2]])
        elif kind == channel.STARTED:
            started[told[0]] = stacks[told[1]]
        elif kind == channel.LOCK_NAME:
            locks[told[0]] = told[1]
        elif kind == channel.OBSERVING:
            exact = told[0]
        elif kind == channel.AFTER:
            access = found.get(told[0])
            if access is not None:
                found[told[0]] = access._replace(new=Value(*told[1]), writes=access.writes or told[2])
        elif told[4] in places:
            number, thread, time, global_time, place, stack, does, sort, holder, holder_type, key, *others = told
            if sort == "local":  # each thread has its own
                key = f"{key} of thread {thread}"
            name, reads, writes, old, new, detail, tested, held, task, asked = others
            when: tuple[Any, ...] = (number, thread, time, global_time, places[place], stacks[stack])
            what: tuple[Any, ...] = (does, (sort, holder, key), holder_type, _as_written(name), reads, writes)
            values: tuple[Any, ...] = (Value(*old), Value(*new), detail, tested, tuple(held), task, asked)
            found[number] = Access(*when, *what, *values)
    return Observation(_with_weak_names(found.values()), locks, exact, switch_stacks, started, resumed_at(switches))


def _with_weak_names(accesses: Iterable[Access]) -> tuple[Access, ...]:
    """Accesses in which weak references that die are called as where they are used; without those that nobody uses."""
    accesses = [*accesses]
    names = {one.thing: one.name for one in accesses if one.is_weak and one.reads}
    return tuple(
        one._replace(name=names.get(one.thing, one.name)) if one.is_weak else one
        for one in accesses
        if one.thing in names or one.holder_type != _REFERENCE
    )
