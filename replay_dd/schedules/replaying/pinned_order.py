"""An order of threads that a test pins down by source lines, and what a program does under it.

Rules of this module:

* A test says everything itself: the command, where threads are switched, and how the program failed. It needs no log,
  and holds neither absolute paths nor the environment of whoever wrote it.
* A place is found by its function and the text of its line, as in :mod:`~replay_dd.schedules.anchors`.
* An order whose place is gone proves nothing if the program passes. If its function is still there, the switch is
  tried at every place of it (:mod:`~replay_dd.schedules.replaying.swept_function`); otherwise the verdict is ``gone``.
"""

from __future__ import annotations

import enum
import importlib.machinery
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from replay_dd.errors.program import ProgramChangedError
from replay_dd.experiment.interpreters import is_interpreter
from replay_dd.schedules import model
from replay_dd.schedules.anchors import Anchor, named
from replay_dd.schedules.failures.message import without_data
from replay_dd.schedules.failures.signature import EXIT, PASSED, signature_of
from replay_dd.schedules.model import Ending, Log, Place, Program, Settings
from replay_dd.schedules.replaying.anchored_replay import AnchoredReplay, replay_by_anchors
from replay_dd.schedules.replaying.swept_function import sweep
from replay_dd.schedules.running.target import describe_program

DEFAULT_TIME_LIMIT_S = 120.0
_LONGEST_SAID = 80  # characters of what an exit says
_EXIT_TOLD = re.compile(r"exit status (?P<status>-?\d+)(?: in (?P<function>[^:]+))?(?:: (?P<said>.+))?")
_LEFT_OUT = re.compile(r"PYTEST_(CURRENT_TEST|XDIST_.*|ADDOPTS|VERSION)|COV_CORE_.*")


class Switch(NamedTuple):
    """One switch of the order: where a thread gives way to another one.

    Attributes:
        threads: who gives way to whom, such as ``0.1 -> 0.2``: ``0`` is the main thread, ``0.2`` the second one that it
            started.
        file: relative to the folder of the program, or to that of the installed packages; empty if the thread gives
            way at its end, or in library code.
        function: its qualified name.
        line: the text of the line.
        before: the bytecode instruction that comes next.
        column: where that stands in the text, from 1; 0 if unknown.
        visit: at which visit of this place by this thread.
        repeat: how many earlier lines of the function have the same text.
        inside: whether it is inside a call that blocks, such as that of a lock.
        waits: where no place is known: after so many waits of the thread; 0 for its end.
    """

    threads: str
    file: str = ""
    function: str = ""
    line: str = ""
    before: str = ""
    column: int = 0
    visit: int = 1
    repeat: int = 0
    inside: bool = False
    waits: int = 0

    @property
    def thread(self) -> str:
        """Who gives way."""
        return self.threads.partition("->")[0].strip()

    @property
    def to(self) -> str:
        """Who runs on."""
        return self.threads.partition("->")[2].strip()


def pinned(log: Log) -> tuple[Switch, ...]:
    """The switches of a log's schedule that the default schedule does not make.

    Args:
        log: a log with the texts of its lines and with visits, as a verified one has when it was written.
    """
    return tuple(_pinned(switch) for switch in log.switches if not switch.by_default)


def _pinned(switch: model.Switch) -> Switch:
    place, threads = switch.place, f"{switch.thread} -> {switch.to}"
    if place is None:
        return Switch(threads, waits=0 if switch.ended else switch.time)
    return Switch(
        *(threads, place.file, place.function, place.text, place.instruction),
        column=max(1, place.column - place.indentation) if place.column else 0,
        visit=switch.visit,
        repeat=place.repeat,
        inside=place.operation,
    )


def failure_of(ending: Ending) -> str:
    """What a failure is known by, without numbers of lines and what varies: ``KeyError in Cache.get``.

    An exit also has what it says, without the data in it: ``exit status 1 in check: cannot open account #``.
    """
    signature = signature_of(ending)
    if signature.kind == "exception":
        name, *where = signature.functions
        return f"{name} in {where[-1]}" if where else str(name)
    if signature.kind != EXIT:
        return signature.text
    status, *where = signature.functions
    said = _kind_of(signature.said) or _kind_of("".join(ending.complaints[-1:]))
    return f"exit status {status}" + (f" in {where[-1]}" if where else "") + (f": {said}" if said else "")


def _kind_of(said: str) -> str:
    return without_data(said.strip().partition("\n")[0])[:_LONGEST_SAID].rstrip()


def _is_exit(held: str, ending: Ending) -> bool:
    """Whether a run exits as a failure does that a test holds; what is not known of either says nothing.

    Tests that were written before exits had a place hold the status alone.
    """
    found, wanted = _EXIT_TOLD.fullmatch(failure_of(ending)), _EXIT_TOLD.fullmatch(held)
    if found is None or wanted is None or found["status"] != wanted["status"]:
        return False
    if found["function"] and wanted["function"] and found["function"] != wanted["function"]:
        return False
    if not wanted["said"]:
        return True
    said = [found["said"], *map(_kind_of, ending.complaints)]
    return wanted["said"] in said or (ending.exit is None and not ending.complaints)


class Kind(enum.Enum):
    """What a program does under a pinned order."""

    PASSES = "passes"
    FAILS = "fails as recorded"
    FAILS_OTHERWISE = "fails in another way"
    GONE = "the order is gone"


class Verdict(NamedTuple):
    """What a program did under a pinned order.

    Attributes:
        kind: in one word.
        ending: how it ended, in words.
        why: what else is to be known, line by line: which places are gone, and what was tried instead.
        output: the last that the program printed.
        tried: how many other places a switch was tried at, because its own is gone.
    """

    kind: Kind
    ending: str
    why: tuple[str, ...] = ()
    output: str = ""
    tried: int = 0


@dataclass(frozen=True)
class PinnedOrder:
    """A program, an order of its threads, and the failure to which that leads.

    Attributes:
        command: the program and its arguments. An interpreter or test runner is taken from the environment that this
            process runs in.
        folder: the working directory.
        switches: where threads are switched.
        failure: as :func:`failure_of` tells it; empty for any.
        settings: what is counted and held fixed.
        standard_input: what the program can read.
        fresh_copy: run in a copy of the folder.
        process: which of the command's Python processes is meant, if it starts several.
        environment: variables that have other values than here.
        time_limit_s: seconds after which a run is killed.
    """

    command: Sequence[str]
    folder: Path
    switches: Sequence[Switch]
    failure: str = ""
    settings: Settings = field(default_factory=Settings)
    standard_input: bytes = b""
    fresh_copy: bool = False
    process: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    time_limit_s: float = DEFAULT_TIME_LIMIT_S

    def run(self) -> Verdict:
        """Run the program under this order.

        Raises:
            ReplayDDError: it cannot be run.
        """
        folder = self.folder.resolve()
        if not folder.is_dir():
            raise ProgramChangedError(f"There is no folder {folder}, in which the program is to run.")
        log = self._log(folder)
        replayed = replay_by_anchors(log, time_limit_s=self.time_limit_s)
        found = self._judged(replayed)
        if found.kind is not Kind.PASSES or not replayed.missed:
            return found
        return self._without_places(log, replayed, found)

    def _log(self, folder: Path) -> Log:
        """A log that has nothing but these switches; lines and times are those of now, so they are unknown."""
        program = describe_program(
            commanded(self.command, folder),
            standard_input=self.standard_input,
            fresh_copy=self.fresh_copy,
            directory=folder,
            process=self.process,
        )
        kept = {name: value for name, value in program.environment.items() if not _LEFT_OUT.fullmatch(name)}
        program = replace(program, environment={**kept, **self.environment})
        switches = tuple(_logged(switch, folder) for switch in self.switches)
        return Log(program, self.settings, "pinned", switches, Ending(None, complete=False))

    def _judged(self, replayed: AnchoredReplay) -> Verdict:
        ending = replayed.run.log.ending
        said = replayed.run.output.decode(errors="replace").strip().splitlines()
        return Verdict(
            self._kind(ending), signature_of(ending).text, tuple(map(_lost, replayed.missed)), said[-1] if said else ""
        )

    def _kind(self, ending: Ending) -> Kind:
        if signature_of(ending).kind == PASSED:
            return Kind.PASSES
        is_held = self.failure in ("", failure_of(ending)) or _is_exit(self.failure, ending)
        return Kind.FAILS if is_held else Kind.FAILS_OTHERWISE

    def _without_places(self, log: Log, replayed: AnchoredReplay, found: Verdict) -> Verdict:
        """The program passes, but some of the order is gone: try all places that could have taken its place."""
        gone = found._replace(kind=Kind.GONE)
        if len(replayed.missed) > 1:
            return gone
        switch = replayed.missed[0].switch
        if switch.place is None:
            return gone
        swept = sweep(log, replayed, switch, time_limit_s=self.time_limit_s)
        where = f"in {named(switch.place)}, thread {switch.thread}"
        if swept.failing is not None:
            kind = self._kind(swept.failing.ending)
            if kind is not Kind.PASSES:
                place = next((one.place for one in swept.failing.switches if one.trigger == swept.trigger), None)
                why = f"with the switch at {place} instead, it fails"
                text = signature_of(swept.failing.ending).text
                return found._replace(kind=kind, ending=text, why=(*found.why, why), tried=swept.tried)
        if not swept.tried:
            return gone._replace(why=(*gone.why, f"{where} passes no other place at which to switch"))
        why = f"tried instead: the switch at {swept.tried} of {swept.places} places {where}; none fails"
        return found._replace(why=(*found.why, why), tried=swept.tried)


def _lost(anchor: Anchor) -> str:
    switch = anchor.switch
    return f"thread {switch.thread} to {switch.to}: {anchor.why}"


def _logged(switch: Switch, folder: Path) -> model.Switch:
    place = None
    if switch.file:
        path = _path_of(switch.file, folder)
        place = Place(
            *(switch.file, path, 1, switch.column, switch.function, switch.before, False),
            operation=switch.inside,
            text=switch.line,
            repeat=switch.repeat,
        )
    ended = place is None and not switch.waits
    return model.Switch(
        *(switch.thread, switch.waits, switch.to, False, False, place, 0, 0),
        visit=switch.visit,
        ended=ended,
    )


def _path_of(file: str, folder: Path) -> str:
    """Where a file of the program, or of an installed package, is."""
    for root in (folder, *map(Path, sys.path)):
        if (root / file).is_file():
            return str(root / file)
    package = Path(file).parts[0]
    found = importlib.machinery.PathFinder.find_spec(package.removesuffix(".py"))
    if found is not None and found.origin is not None:  # an editable installation
        above = Path(found.origin).parents[1 if Path(file).parts[1:] else 0]
        return str(above / file)
    return str(folder / file)


def commanded(command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """A command with the interpreter, or the test runner, of the environment that this process runs in."""
    program, *arguments = command
    if os.sep not in program and is_interpreter(program):
        return (sys.executable, *arguments)
    if os.sep in program:
        return tuple(command)
    beside = Path(sys.executable).with_name(program)
    if beside.is_file():
        return (str(beside), *arguments)
    if shutil.which(program) is None and (folder / program).is_file():
        return (str(folder / program), *arguments)
    return tuple(command)


def start_of(date: str) -> int:
    """When the clock of a run on a date starts, in nanoseconds since 1970.

    Args:
        date: as ``2030-01-31``.
    """
    return int(time.mktime(time.strptime(date, "%Y-%m-%d"))) * 10**9


def portable(program: Program) -> tuple[str, ...]:
    """The command of a program without absolute paths into its folder, and without that of its interpreter."""
    folder = program.directory + os.sep
    words = [word.removeprefix(folder) if word.startswith(folder) else word for word in program.command]
    name = os.path.basename(words[0])
    if is_interpreter(name):
        name = "python"
    elif words[0] == program.command[0] and os.sep in words[0]:
        beside = os.path.dirname(words[0]) == os.path.dirname(program.executable)
        name = name if beside else words[0]
    else:
        name = words[0]
    return (name, *words[1:])
