"""A suite of tests, loaded once: copied for each test, and the copy becomes the fork server of that test's runs.

Rules of this module:

* The suite starts no thread. What it did up to here is the same for all tests; a copy runs one of them, and stops where
  that starts its first thread. A test that cannot be copied there, say as it has an event loop by then, stops before it
  begins.
* Fixtures of sessions, modules and classes are stages on the way to a test: a copy that has reached one waits there,
  and is copied for all tests that need the same. One that holds what copies would share refuses that, and so does the
  loaded suite. It then ends as a suite without tests does, so it undoes what it did.
* Loading the suite may have written files, may have them open still, or may have started processes that have ended:
  tests share that in pytest as well.
* Tests are copied one after another, so that what copies share can be put back in between.
"""

from __future__ import annotations

import _socket
import marshal
import os
import sys

from ..channel import MARSHAL_VERSION
from ..observing import flush
from ..stdlib.entropy import begin_tests
from .copies import bare_fork
from .fork_server import (
    Directory,
    copies_of_streams,
    hang_up,
    hard_exit,
    has_children,
    keep_aside,
    learn_common_files,
    open_descriptors,
    real_waitpid,
    what_copies_share,
    why_not_to_copy,
)
from .server_signals import HeldSignals
from .unnamed_files import UnnamedFiles

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_present: list[Any] = []
_LOADED, _STAGES = "loaded", "stages"


def offer(parts: Any, take_run: Callable[[], None]) -> None:
    """Let the program ask for tests, if it is a suite.

    Args:
        parts: of this process.
        take_run: waits for runs, and goes on in copies of the process.
    """
    _present[:] = [parts, take_run]


def next_test(tests: list[str], stages_of: Callable[[str], list[str]]) -> tuple[str, int | None]:
    """Wait until the tool names a test; returns only in copies of this process.

    Args:
        tests: the names of all.
        stages_of: tells the keys of the stages on the way to a test. What is to be done for a stage is the same for all
            tests with its key.

    Returns:
        The name of a test, and the number of the stage that is to be reached for it before the tool is asked again;
        None if the test itself is to be run. The name is empty if no test is to be run: this process ends.
    """
    parts, take_run = _present
    parts.early.end()
    descriptor = parts.request["server"]
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        flush(stream)
    unnamed = UnnamedFiles([int(name) for name in open_descriptors()])
    own = parts.own_descriptors | {descriptor}
    shared = own | copies_of_streams(own).keys() | unnamed.numbers
    if parts.run is not None:
        return "", None  # it has started a thread on its way, and has told that
    if parts.process_number.is_copy:
        reason = (parts.effects or [""])[0] or why_not_to_copy(shared)
    else:
        if not has_children():
            parts.effects.clear()
        learn_common_files()
        reason = (parts.effects or [""])[0] or what_copies_share(shared)  # a copy has none of its other threads
    if reason:
        hang_up(descriptor, reason)
        return "", None
    begin_tests()  # before the first stage, as in a run of one test alone
    server = _socket.socket(fileno=descriptor)
    signals = HeldSignals()
    directory = Directory()
    server.send(marshal.dumps((_LOADED, ""), MARSHAL_VERSION))
    stages: set[int] = set()
    while True:
        data, ancillary, _, _ = server.recvmsg(65536, _socket.CMSG_SPACE(4))
        if not data:
            hard_exit(0)
        name, at_once, stage = marshal.loads(data)
        if not ancillary:
            server.send(marshal.dumps((_STAGES, stages_of(name) if name in tests else []), MARSHAL_VERSION))
            continue
        offered = int.from_bytes(ancillary[0][2], sys.byteorder)
        stages.difference_update([one for one in stages if real_waitpid(one, os.WNOHANG)[0]])
        _put_back(unnamed, parts.effects)  # other stages share them with this one
        pid = bare_fork() if name in tests else 0
        if pid == 0 and name in tests:
            server.close()
            _become_server(parts, descriptor, keep_aside(offered))
            directory.enter()
            signals.release()
            if at_once:
                take_run()
            return str(name), stage
        os.close(offered)
        server.send(marshal.dumps(("pid", pid), MARSHAL_VERSION))
        if stage is not None:
            stages.add(pid)
        elif pid:
            _, status = real_waitpid(pid, 0)
            _put_back(unnamed, parts.effects)
            server.send(marshal.dumps(("status", status), MARSHAL_VERSION))


def _put_back(unnamed: UnnamedFiles, effects: list[str]) -> None:
    """Put back what is in files; that is no effect of the suite's own."""
    before = effects[:]
    unnamed.put_back()
    effects[:] = before


def refuse(reason: str) -> None:
    """Tell the tool that the stage of this copy cannot be reached."""
    hang_up(_present[0].request["server"], reason)


def _become_server(parts: Any, before: int, descriptor: int) -> None:
    os.setsid()
    parts.own_descriptors.discard(before)
    parts.own_descriptors.add(descriptor)
    parts.request["server"] = descriptor
    parts.process_number.new_process()
