"""Waiting for descriptors: what ``select``, sockets and pipes have in common.

Rules of this module:

* A thread that waits for descriptors gives up the baton until one is ready; moments.py knows what a log says about it.
* When nobody can run, the process waits in real time for the descriptors of all threads, but no longer than to the next
  deadline of the virtual clock, so that no timeout expires before what is waited for could arrive.
* Nor does it wait for a pipe whose other end only processes have that wait for ever themselves.
* It does not wait for what only this process can make ready: then the clock jumps at once. A thread that listens on a
  socket gets a short grace period, since its clients are usually threads of this process. Bytes that are in flight are
  waited for.
"""

from __future__ import annotations

import _thread
import os
import stat

from ..accelerator.own_memory import use_own
from ..baton.clock import real_clock_ns
from ..baton.moments import TIMED_OUT, OutsideWait
from ..baton.patience import GRACE_S, INSIDE, LISTENING, NEAR, OUTSIDE, PATIENCE_S
from ..baton.thread import meet
from ..channel import NOTE
from .open_files import CLOSED, inode_of, is_one_of, kind_of
from .tcp_in_flight import are_in_flight

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

_STEP_S = 0.002  # between two checks for what no descriptor shows
_SHORT_S = 0.02  # between two checks whether a signal came
_GLANCE_S = 0.25  # between two checks whether the tool asks
_get_ident = _thread.get_ident
_fstat = os.fstat  # before the runtime puts its own in place: the program has asked nothing
READING, URGENT, WRITING = 1, 2, 4  # POLLIN, POLLPRI and POLLOUT of poll(2)


class Descriptors:
    """Knows the descriptors of this process, and waits for them.

    Attributes:
        moments: when things arrive from outside the process.
        wait: a yield point that lasts until a wait is over; as ``Scheduler.wait_for_outside``.
        real_poll: ``select.poll`` as it was; set when the program imports ``select``.
        children_run: whether a child process is still running.
        stuck_for_ever: what other processes do that could end waits for pipes, if none of them will; else None.
        stop: ends a run that cannot be the recorded one any more, where nobody can run.
        ahead: those from which TLS may already have read, in a replay, what is only to come; they count as ready
            whenever they were in the recorded run.
        standard_streams: (device, inode) of the files that this process was started with.
        forked: whether a child process shares memory with this one, or may.
        before_opening: called when a socket pair, a pipe or the like is about to be made.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.moments = scheduler.moments
        self.wait = scheduler.wait_for_outside
        self.moments.bytes_in_flight = are_in_flight
        self._natures: dict[int, int] = {}  # by inode, unless OUTSIDE
        self._partners: dict[int, int] = {}  # for each end of a socket pair, the inode of the other end
        self._told: set[str] = set()
        self._listeners: dict[int, Any] = {}  # by inode: their ports or paths
        self._handed_listeners: set[Any] = set()  # the ports or paths of those that another process has, too
        self._servers: dict[int, str] = {}  # by inode of the socket that is connected to one
        self.stop: Callable[[], None] = lambda: None
        self.moments.in_words = self.in_words
        self.real_poll: Any = None
        self.children_run: Callable[[], bool] = lambda: False
        self.stuck_for_ever: Callable[[list[int]], object] = lambda descriptors: None
        scheduler.wait_outside = self.wait_outside
        self.ahead: set[int] = set()
        self.standard_streams: set[tuple[int, int]] = set()
        self.forked = False
        self.before_opening: Callable[[], None] = lambda: None
        self.learn_standard_streams(_statuses(0, 1, 2))

    # -- what a descriptor is ----------------------------------------------------------------------------------------

    def learn_standard_streams(self, statuses: list[os.stat_result]) -> None:
        """Remember the files that this process was started with."""
        self.standard_streams.clear()
        self.standard_streams.update((status.st_dev, status.st_ino) for status in statuses)

    def is_standard_stream(self, descriptor: int) -> bool:
        """Whether a descriptor is one of them, under whatever number."""
        return is_one_of(descriptor, self.standard_streams)

    def set_nature(self, descriptor: int, nature: int) -> None:
        """Remember where the other end of a descriptor is."""
        self.set_nature_of_inode(inode_of(descriptor), nature)

    def set_nature_of_inode(self, inode: int, nature: int) -> None:
        """Do so for a descriptor that may have another number by now."""
        if inode != CLOSED:
            self._natures[inode] = nature

    def pair(self, one: int, other: int) -> None:
        """Remember that two sockets are the ends of one connection inside this process."""
        for descriptor, partner in ((one, other), (other, one)):
            self.set_nature(descriptor, INSIDE)
            self._partners[inode_of(descriptor)] = inode_of(partner)

    def listens(self, descriptor: int, name: Any) -> None:
        """Remember that a socket of this process listens at a port or path."""
        self._listeners[inode_of(descriptor)] = name
        self.set_nature(descriptor, LISTENING)

    def accepts_alone(self, name: Any) -> bool:
        """Whether a thread of this process, and nobody else, accepts the connections to a port or path."""
        return name in self._listeners.values()

    def accepts(self, name: Any) -> bool:
        """Whether a thread of this process, or a child that was given its socket, accepts these connections."""
        return self.accepts_alone(name) or name in self._handed_listeners

    def give_to_child(self, descriptor: int) -> None:
        """Another process gets a descriptor: data may now reach the other end from there."""
        inode = inode_of(descriptor)
        if self._natures.get(inode, OUTSIDE) != INSIDE:
            # For a connection through the network stack the other end is not known.
            self._natures = {other: nature for other, nature in self._natures.items() if nature == INSIDE}
        if inode in self._listeners:
            self._handed_listeners.add(self._listeners.pop(inode))
        self._natures.pop(inode, None)
        self._natures.pop(self._partners.get(inode, 0), None)

    def nature(self, descriptor: int) -> int:
        """INSIDE, NEAR, LISTENING or OUTSIDE."""
        inode = inode_of(descriptor)
        return INSIDE if inode == CLOSED else self._natures.get(inode, OUTSIDE)  # nothing will arrive at a closed one

    def are_pair(self, one: int, other: int) -> bool:
        """Whether two descriptors are the ends of one connection inside this process."""
        return self._partners.get(inode_of(one), CLOSED) == inode_of(other) != CLOSED

    def share_with_children(self) -> None:
        """The process forked: every other end may be in the child now."""
        self._natures.clear()
        self._handed_listeners.update(self._listeners.values())
        self._listeners.clear()
        for thread in self._scheduler.threads:
            if isinstance(thread.waiting, OutsideWait):
                thread.waiting.nature = OUTSIDE

    def connected_to(self, descriptor: int, server: str) -> None:
        """Remember to which server, in words, a socket is connected."""
        self._servers[inode_of(descriptor)] = server

    def in_words(self, descriptor: int) -> str:
        """What a descriptor is, for people."""
        server = self._servers.get(inode_of(descriptor))
        if server is not None:
            return f"the connection to {server}"
        kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a terminal"}
        return f"{kinds.get(kind_of(descriptor), 'a file')} (descriptor {descriptor})"

    # -- waiting -----------------------------------------------------------------------------------------------------

    def note(self, kind: str, text: str) -> None:
        """Tell the tool what else should be known, each once."""
        if text not in self._told:
            self._told.add(text)
            before = use_own(True)
            self._scheduler.send(NOTE, kind, text)
            use_own(before)

    def has_baton(self) -> bool:
        """Whether the calling thread is under control; calls of any other are left alone."""
        scheduler = self._scheduler
        if scheduler.over:
            return False
        if scheduler.current.ident == _get_ident():
            if scheduler.busy:
                return False
        elif not scheduler.come_back():  # even if the scheduler is busy: a thread that was away waits until it is done
            return False
        thread = scheduler.current
        meet(thread)
        if scheduler.expect_stuck is not None:
            scheduler.expect_stuck(thread)
        return True

    def yield_point(self, frame: Any) -> None:
        """A yield point before a call that never blocks."""
        self._scheduler.operation(frame)

    def poll(self, descriptors: list[tuple[int, int]], milliseconds: float | None = 0) -> bool:
        """Whether any of these is ready (or closed, or in error) within a real time."""
        if self.real_poll is None:
            import select  # noqa: F401  adapted as soon as it is there

        poll = self.real_poll()
        wanted: dict[int, int] = {}
        for number, events in descriptors:
            wanted[number] = wanted.get(number, 0) | events
        for number, events in wanted.items():
            try:
                poll.register(number, events)
            except (OverflowError, ValueError):
                return True  # closed: the call itself will raise
        return bool(poll.poll(milliseconds))

    def is_broken(self, descriptor: int) -> bool:
        """Whether nobody will read what is written to a descriptor."""
        return self.poll([(descriptor, 0)])  # which tells of nothing but errors

    def make_wait(
        self, descriptors: list[tuple[int, int]], what: str = "", through: list[tuple[int, int]] | None = None
    ) -> OutsideWait:
        """A wait of the running thread until one of some descriptors is ready.

        Args:
            descriptors: what is waited for.
            what: the same in words.
            through: what to poll instead (one epoll descriptor stands for many).
        """
        natures = [(self.nature(number), number) for number, _ in descriptors]
        nature = max(natures, default=(INSIDE, 0))[0]
        if not what:
            what = f"the descriptors {sorted(number for number, _ in descriptors)}"
        polled = descriptors if through is None else through
        wait = OutsideWait(self.moments, self._scheduler.current, lambda: self.poll(polled), polled, nature, what)
        wait.near = [number for own, number in natures if own == NEAR]
        wait.concerns = [number for number, _ in descriptors]
        return wait

    def make_other_wait(self, is_there: Callable[[], object], what: str) -> OutsideWait:
        """A wait of the running thread for something outside that no descriptor shows."""
        return OutsideWait(self.moments, self._scheduler.current, is_there, [], OUTSIDE, what)

    def wait_outside(self, threads: list[ManagedThread], wait_ns: int | None) -> bool:
        """Nobody can run: wait in real time until something arrives that a thread waits for.

        Args:
            threads: all of them.
            wait_ns: until the next deadline, in nanoseconds; None if there is none.

        Returns:
            False if nothing arrived in time, or nothing can arrive.
        """
        waits = [thread.waiting for thread in threads if isinstance(thread.waiting, OutsideWait)]
        known = [wait for wait in waits if wait.expected is not None]
        # The recorded path leads nowhere from here: these threads have left it.
        strayed = known if wait_ns is None else self.moments.without_a_moment(known)
        for wait in strayed:
            if wait.expected is not None and wait.expected.by != TIMED_OUT:
                self.moments.lose(f"got {wait.in_words()} at a moment that does not come")
            wait.leave()
        if any(self.moments.look(wait) for wait in strayed):
            return True  # it had come, and was held back until that moment
        if wait_ns is not None:
            waits = [wait for wait in waits if wait.expected is None]
        limit_s = self._limit_s(waits, wait_ns, bool(self.moments.expected))
        if self.moments.patience.lost:
            rest_s = self.moments.patience.rest_s
            if self._wait_for(waits, rest_s if limit_s is None else min(limit_s, rest_s)):
                return True
            if wait_ns is None and waits:
                self.stop()
            self.moments.patience.rest_s = GRACE_S
            return False
        if limit_s is None:
            return self._wait_for(waits, None)
        if limit_s > 0 and self._wait_for(waits, limit_s):
            return True
        last_s = PATIENCE_S if wait_ns is None else min(PATIENCE_S, wait_ns / 1e9)
        while limit_s < last_s and self.moments.are_in_flight(waits):
            if self._wait_for(waits, min(GRACE_S, last_s - limit_s)):
                return True
            limit_s += GRACE_S
        return False

    def _wait_for(self, waits: list[OutsideWait], limit_s: float | None) -> bool:
        """Wait in real time for one of these, at most this many seconds."""
        silent = [wait for wait in waits if not wait.descriptors]
        # A thread that is away in C may keep filling or draining what is INSIDE.
        pollable = [pair for wait in waits for pair in wait.descriptors if wait.nature > INSIDE or silent]
        self._scheduler.counter.idle = True
        try:
            step_s = _STEP_S if silent else _SHORT_S
            # Not where a replay expects something: that came, so it will come.
            endless = not silent and limit_s is None and all(wait.expected is None for wait in waits)
            others_do: object = None
            began_ns = glance_at_ns = real_clock_ns()
            while limit_s is None or (waited_s := (real_clock_ns() - began_ns) / 1e9) < limit_s:
                if real_clock_ns() >= glance_at_ns:
                    glance_at_ns += int(_GLANCE_S * 1e9)
                    self._scheduler.when_asked()
                    before, others_do = others_do, self._others_do(pollable) if endless else None
                    if before is not None and before == others_do:
                        return False
                if self.moments.happenings.signal_came:
                    return True
                rest_s = step_s if limit_s is None else min(step_s, limit_s - waited_s)
                if self.poll(pollable, rest_s * 1000) or any(self.moments.look(wait) for wait in silent):
                    return True
            return False
        finally:
            self._scheduler.counter.idle = False

    def _others_do(self, pollable: list[tuple[int, int]]) -> object:
        """What all others do that could make one of these ready, if they wait for ever; else None."""
        scheduler = self._scheduler
        before, own_before = (scheduler.busy, scheduler.outside), use_own(True)
        scheduler.busy = True
        try:
            return self.stuck_for_ever([number for number, _ in pollable])
        finally:
            scheduler.busy, scheduler.outside = before
            use_own(own_before)

    def _limit_s(self, waits: list[OutsideWait], wait_ns: int | None, replaying: bool) -> float | None:
        """How long to wait for the most promising of these; None: forever."""
        whole_s = None if wait_ns is None else wait_ns / 1e9
        real = self.moments.real_time or (not replaying and wait_ns is not None and self.children_run())
        nature = max((wait.nature for wait in waits), default=INSIDE)
        if nature == OUTSIDE or (real and wait_ns is not None):
            return whole_s
        if nature == LISTENING:
            return whole_s if whole_s is None else min(whole_s, GRACE_S)
        if nature == NEAR:
            return GRACE_S if whole_s is None else min(whole_s, GRACE_S)
        return 0


def _statuses(*descriptors: int) -> list[os.stat_result]:
    found = []
    for descriptor in descriptors:
        try:
            found.append(_fstat(descriptor))
        except OSError:
            continue  # closed
    return found
