"""What a corpus knows of the program of one hunt, and what the hunt adds to it.

Rules of this module:

* Logs of failures are tried first. Of a log, only the schedule is used: what runs is the program that was given.
* What was tried counts for the very same program only: the same sources, and the same first run. After any edit all of
  it may be tried again. Orders of accesses seen before that edit only decide what comes first; nothing is claimed from
  them.
* Hunts may share a corpus at the same time. Each reads it at its start, and adds what it has learnt at its end.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from replay_dd.errors import ReplayDDError
from replay_dd.errors.user import LogError
from replay_dd.files import unwritable, write_whole
from replay_dd.outcome import Outcome
from replay_dd.schedules.anchors import PlaceAnchors, Source, named, read_source
from replay_dd.schedules.failures.signature import PASSED, Signature, signature_of
from replay_dd.schedules.hunting.likely_preemptions import Order, orders_of
from replay_dd.schedules.hunting.memory import (
    FAILS,
    LOST,
    PASSES,
    AnchoredOrder,
    KnownFailure,
    Memory,
    PlaceAnchor,
    read_memory,
    written,
)
from replay_dd.schedules.hunting.progress import Progress
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.model import Log, Place, Program, Settings
from replay_dd.schedules.replaying.anchored_replay import replay_by_anchors
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.program_files import changed_files
from replay_dd.schedules.running.target import Plan, TargetRun

_MEMORY = "hunts.jsonl"
_MOST_FAILURES = 20
_KNOWN = "known"


class Learnt(NamedTuple):
    """What a corpus knows after a hunt.

    Attributes:
        folder: where it keeps that.
        hunts: how many hunts there were of this program.
        runs: how many runs they made.
        orders_seen: how many orders of conflicting accesses they saw, in code that is still there.
        orders_known: as many, with their opposites, some of which may be impossible.
        new_orders: how many of those only this hunt has seen.
        changed: whether the program has changed since the last hunt.
        dropped: how many orders were dropped, as their code is no longer there.
        failures: those that hunts have found, as they are now.
        before: what they were when this hunt began, by their logs.
    """

    folder: Path
    hunts: int
    runs: int
    orders_seen: int
    orders_known: int
    new_orders: int
    changed: bool
    dropped: int
    failures: tuple[KnownFailure, ...]
    before: dict[str, str]


class Session:
    """What a corpus knows of the program of one hunt, and what the hunt adds to it; see :meth:`Corpus.session`.

    Attributes:
        progress: how far earlier hunts of the very same program came.
        is_new: whether no earlier hunt was one of the very same program.
        failures: what hunts found, with what this one saw of it.
        left: how many of their schedules are still to be tried.
    """

    def __init__(self, folder: Path, about: dict[str, Any], settings: Settings, first: TargetRun, failure: str):
        self._folder = folder
        self._about = about
        self._settings = settings
        self._first = first
        self._failure = failure
        self._same = _identity(first, settings)
        memory = self._read()
        self._changed = bool(memory.hunts) and memory.same != self._same
        self.progress = Progress(seed=memory.runs) if self._changed else memory.progress
        self.is_new = self._changed or not memory.hunts
        self._hunt = memory.hunts + 1
        self.failures = list(memory.failures)
        self.left = sum(failure in one.text for one in self.failures)
        self._before = {one.log: one.state for one in memory.failures}
        kept = _still_there(memory.orders, first.log.program) if self._changed else memory.orders
        self._dropped = len(memory.orders) - len(kept)
        self._kept = kept
        self._orders: set[Order] = set()
        self._places: dict[int, Place] = {}
        self._again: dict[str, Log] = {}
        self._anchors = PlaceAnchors(first.log.program)
        self._anchor_of: dict[int, PlaceAnchor] = {}

    # -- what the hunt gets ------------------------------------------------------------------------------------------

    def seen_before(self, run: TargetRun) -> set[Order]:
        """Which orders at the places of a run were seen before the program was edited."""
        if not self._changed:
            return set()
        keys: dict[PlaceAnchor, int] = {self._anchor(key, place): key for key, place in run.touched.items()}
        return {
            ((one, keys[at]), (other, keys[there]))
            for one, at, other, there in self._kept
            if at in keys and there in keys
        }

    def runs_of_failures(self, time_limit_s: float | None) -> Iterator[tuple[Plan, TargetRun]]:
        """Run the program under the schedules that failed in earlier hunts.

        Args:
            time_limit_s: seconds after which a run is killed; None for no limit.
        """
        for number, known in enumerate(self.failures):
            if self._failure not in known.text:
                continue
            self.left -= 1
            state, run = self._tried(known, time_limit_s)
            if state != known.state:
                self.failures[number] = known._replace(state=state, since=self._hunt)
            if run is not None:
                if state == FAILS:
                    self._again[known.log] = run.log
                yield Plan(_KNOWN, label=f"the schedule of {known.log}"), run

    def is_of_failure(self, plan: Plan) -> bool:
        """Whether a plan is one of :meth:`runs_of_failures`."""
        return plan.strategy == _KNOWN

    def is_known(self, signature: Signature) -> bool:
        """Whether a failure is one of those that a hunt has found before, and that failed again."""
        return any(signature_of(log.ending).same(signature) for log in self._again.values())

    def _tried(self, known: KnownFailure, time_limit_s: float | None) -> tuple[str, TargetRun | None]:
        try:
            log = read_log(self._folder / known.log)
        except LogError:
            return LOST, None
        ours = replace(
            log,
            program=replace(self._first.log.program, files=log.program.files, paths=log.program.paths),
            settings=replace(
                self._settings,
                start_ns=log.settings.start_ns,
                entropy_seed=log.settings.entropy_seed,
                library_key=log.settings.library_key,
            ),
        )
        try:
            if not changed_files(ours.program):
                exact = replay(ours, time_limit_s=time_limit_s)
                if exact.divergence is None:
                    return (FAILS if exact.outcome is Outcome.FAIL else PASSES), exact.run
            anchored = replay_by_anchors(ours, time_limit_s=time_limit_s)
        except ReplayDDError:
            return LOST, None
        if anchored.outcome is Outcome.FAIL:
            return FAILS, anchored.run
        passes = signature_of(anchored.run.log.ending).kind == PASSED and not anchored.missed
        return (PASSES if passes else LOST), anchored.run

    # -- what the hunt tells -----------------------------------------------------------------------------------------

    def take(self, run: TargetRun) -> None:
        """Take a run of the hunt, for what was seen in it."""
        self._orders |= orders_of(run.touches)
        self._places.update(run.touched)

    def save(self, found: Iterable[Log], runs: int, progress: Progress) -> Learnt:
        """Keep what the hunt has learnt.

        Args:
            found: the logs of failures that it found.
            runs: how many runs it made.
            progress: how far it came.

        Raises:
            OutputError: it cannot be kept.
        """
        seen = {self._anchored(order) for order in self._orders}
        with self._alone():
            now = self._read()  # other hunts may have ended since this one began
            merged = now.hunts != self._hunt - 1 and now.same == self._same
            now.progress = progress.with_another(now.progress) if merged else progress
            others = now.orders if now.hunts != self._hunt - 1 else set()
            now.orders = seen | self._kept | others
            now.current = seen | (now.current if now.same == self._same else set())
            new = len(seen - self._kept - others)
            now.keys = {anchor: key for key, anchor in self._anchor_of.items()} | (
                now.keys if now.same == self._same else {}
            )
            now.about, now.same = self._about, self._same
            now.hunts, now.runs = now.hunts + 1, now.runs + runs
            self._keep_failures(now, found)
            write_whole(self._folder / _MEMORY, written(now))
        return Learnt(
            *(self._folder, now.hunts, now.runs, len(now.orders), now.orders_known, new),
            *(self._changed, self._dropped, tuple(now.failures), self._before),
        )

    def _keep_failures(self, now: Memory, found: Iterable[Log]) -> None:
        states = {one.log: one for one in self.failures}
        now.failures = [states.get(one.log, one) for one in now.failures]
        known = {one.log: self._signature(one.log) for one in now.failures}
        for log in found:
            signature = signature_of(log.ending)
            name = next((name for name, one in known.items() if one and one.same_but_for_lines(signature)), "")
            if not name:
                numbers = {int(told[1]) for one in known if (told := re.fullmatch(r"fail-(\d+)\.log", one))}
                name = f"fail-{max(numbers, default=0) + 1}.log"
                known[name] = signature
                now.failures.append(KnownFailure(name, signature.text, now.hunts, FAILS, now.hunts))
            elif name not in self._again:  # found anew, although its old schedule did not fail
                number = next(number for number, one in enumerate(now.failures) if one.log == name)
                now.failures[number] = now.failures[number]._replace(state=FAILS, since=now.hunts)
            elif not changed_files(replace(log.program, files=self._files_of(name))):
                continue
            write_log(log, self._folder / name)
        while len(now.failures) > _MOST_FAILURES:
            oldest = min(now.failures, key=lambda one: (one.state == FAILS, one.since))
            now.failures.remove(oldest)
            with contextlib.suppress(OSError):
                (self._folder / oldest.log).unlink()

    def _signature(self, name: str) -> Signature | None:
        try:
            return signature_of(read_log(self._folder / name).ending)
        except LogError:
            return None

    def _files_of(self, name: str) -> dict[str, str]:
        with contextlib.suppress(LogError):
            return dict(read_log(self._folder / name).program.files)
        return {}

    # -- files -------------------------------------------------------------------------------------------------------

    def _read(self) -> Memory:
        path = self._folder / _MEMORY
        if os.path.lexists(path):
            return read_memory(path)
        # Whoever removes a damaged file keeps the logs.
        logs = sorted(one.name for one in self._folder.glob("fail-*.log"))
        signatures = {name: self._signature(name) for name in logs}
        failures = [KnownFailure(name, one.text, 0) for name, one in signatures.items() if one is not None]
        return Memory(self._about, failures=failures)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other hunt adds something meanwhile."""
        try:
            self._folder.mkdir(exist_ok=True)
            handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise unwritable(self._folder, error.strerror or str(error)) from error
        try:
            with contextlib.suppress(OSError):  # not all file systems have locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    # -- anchors -----------------------------------------------------------------------------------------------------

    def _anchored(self, order: Order) -> AnchoredOrder:
        (one, at), (other, there) = order
        return one, self._anchor(at, self._places[at]), other, self._anchor(there, self._places[there])

    def _anchor(self, key: int, place: Place) -> PlaceAnchor:
        if key not in self._anchor_of:
            whole = self._anchors.of(place)
            column = whole.column - whole.indentation if whole.column else 0
            self._anchor_of[key] = PlaceAnchor(
                *(whole.file, named(whole), whole.text, whole.repeat, column, whole.instruction)
            )
        return self._anchor_of[key]


def _identity(first: TargetRun, settings: Settings) -> str:
    """Tells whether two programs are the very same: the same sources, interpreter and first run."""
    program, ending = first.log.program, first.log.ending
    parts = [sorted(program.files.items()), program.python, settings.real_clock, ending.digest]
    return hashlib.sha256(json.dumps([*parts, sorted(ending.thread_times.items())]).encode()).hexdigest()[:16]


def _still_there(orders: set[AnchoredOrder], program: Program) -> set[AnchoredOrder]:
    """The orders both of whose places are still in the source."""
    sources: dict[str, Source | None] = {}

    def is_there(place: PlaceAnchor) -> bool:
        if place.file not in sources:
            path = program.paths.get(place.file, os.path.join(program.directory, place.file))
            sources[place.file] = read_source(path)
        source = sources[place.file]
        if source is None or not place.text:
            return False
        return any(source.function_of(line) == place.function for line in source.lines_with(place.text))

    places = {place: is_there(place) for place in {one for order in orders for one in (order[1], order[3])}}
    return {order for order in orders if places[order[1]] and places[order[3]]}
