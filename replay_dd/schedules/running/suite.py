"""A test suite that is loaded once under the runtime, and copied for each test whose schedules are varied.

See ``runtime/process/suite.py`` for the other side.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import socket
from pathlib import Path
from types import TracebackType

from replay_dd.experiment.forked import CannotForkError, descriptor_of_end, go_on, message_to_go_on, received
from replay_dd.experiment.process import PrivateFolder
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.early_stop import EarlyStop
from replay_dd.schedules.running.first_thread import Start, Started, start_on_its_way, why_it_refuses
from replay_dd.schedules.running.target import Plan, request_of
from replay_dd.schedules.running.temporary_files import TemporaryFiles
from replay_dd.schedules.runtime.channel import MARSHAL_VERSION

_LOAD_LIMIT_S = 300.0  # large suites take minutes to be collected
_FIRST_THREAD_LIMIT_S = 60.0  # a test that takes longer up to there is copied before it begins
_END_LIMIT_S = 60.0  # for what it takes a copy that is refused to undo what it did
_LAST_LINES = 5
_MOST_STAGES = 8  # at a time


class Suite:
    """A loaded suite; one of its tests can be had at a time.

    Args:
        program: runs the suite, and asks the runtime for tests.
        settings: what to count and hold fixed.

    Raises:
        CannotForkError: it starts a thread, or ends, before it asks for a test.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self._context = contextlib.ExitStack()
        self._at_once: set[str] = set()
        self._made_anew: dict[str, str] = {}
        try:
            channel, self._folder, process = start_on_its_way(program, settings, self._context)
            to_go_on = message_to_go_on(request_of(settings, Plan(), self._folder))
            self._loaded = _Stage(
                *(channel, self._folder, to_go_on, "it starts a thread while it is loaded", _LOAD_LIMIT_S),
                process.fileno(),
            )
        except BaseException:
            self.close()
            raise
        self._last = self._loaded

    def __enter__(self) -> Suite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the suite."""
        self._context.close()

    def start_test(self, name: str) -> Start:
        """What starts a test in a copy of the suite, or of the furthest stage on its way.

        The copy goes on to its first thread, and stops there. If it cannot be copied again there, the next one stops
        before the test begins.
        """

        def start(program: Program, settings: Settings, context: contextlib.ExitStack, stop: EarlyStop) -> Started:
            stage = self._furthest(name)
            at_once = name in self._at_once
            ours, pid = stage.copy(name, at_once)
            context.enter_context(ours)
            copy = _Copy(stage, pid)
            context.callback(copy.end)
            refusal = why_it_refuses(ours)
            if refusal and at_once:
                raise CannotForkError(refusal)
            if refusal:
                self._at_once.add(name)
            return Started(ours, self._folder, copy, refusal, is_copy=True)

        return start

    def made_anew(self, name: str) -> str:
        """Why fixtures of its session, module or class are made anew for this test; empty if they are not."""
        return self._made_anew.get(name, "")

    def _furthest(self, name: str) -> _Stage:
        stage = self._loaded
        for number, key in enumerate(stage.keys(name)):
            if key not in stage.next and self._loaded.count() > _MOST_STAGES:
                stage.forget(self._loaded)
            further = stage.next.get(key)
            if further is None:
                self._put_back(stage)
                further = stage.next[key] = stage.go_on(name, number)
                self._last = stage if isinstance(further, str) else further
            if isinstance(further, str):
                self._made_anew[name] = further
                break
            stage = further
        self._put_back(stage)
        return stage

    def _put_back(self, stage: _Stage) -> None:
        if stage is not self._last:
            stage.temporary.put_back()
            self._last = stage


class _Copy:
    """A copy of the suite that was made for a test.

    Args:
        stage: that it was copied from.
        process_id: its number.
    """

    def __init__(self, stage: _Stage, process_id: int) -> None:
        self.process_id = process_id
        self._stage = stage
        self._code: int | None = None

    def fileno(self) -> int:
        """A descriptor that can be read from when it has ended."""
        return self._stage.fileno()

    def kill(self) -> None:
        """Kill it, without waiting for its end."""
        _kill(self.process_id)

    def end(self) -> int:
        """End it, with what it has left in its group; returns its return code."""
        if self._code is None:
            self._code = self._stage.end_test(self.process_id)
        return self._code


class _Stage:
    """A copy of the suite that waits at some point on the way to its tests.

    Args:
        channel: to it.
        folder: the private folder of the suite.
        to_go_on: the message that lets it go on if it waits at a thread.
        on_thread: why it cannot be copied if it starts a thread on its way.
        limit_s: seconds that its way there may take.
        end: a descriptor that can be read from when it has ended; -1 if there is none.
        before: the stage that it was copied from, and its process id.

    Attributes:
        temporary: the temporary files that it has made.
        next: stages that were copied from it, by their keys, or why they cannot be had.

    Raises:
        CannotForkError: it did not come there, or must not be copied there.
    """

    def __init__(
        self,
        channel: socket.socket,
        folder: PrivateFolder,
        to_go_on: bytes,
        on_thread: str,
        limit_s: float,
        end: int,
        before: tuple[_Stage, int] | None = None,
    ) -> None:
        self.next: dict[str, _Stage | str] = {}
        self._channel = channel
        self._folder = folder
        self._to_go_on = to_go_on
        self._before = before
        kind, told = received(channel, limit_s) or ("", "it was not loaded in time, or ended")
        if kind != "loaded" or told:
            if kind and end >= 0:  # whatever it has done so far, it undoes at its end
                go_on(channel, to_go_on, [], end, _END_LIMIT_S)
            raise CannotForkError(f"{told or on_thread}{'' if before or kind else _last_words(folder.path)}")
        name = f"temporary-of-{before[1] if before else 'suite'}"
        try:
            self.temporary = TemporaryFiles(folder.temporary, folder.path / name)
        except OSError as error:
            raise CannotForkError(f"its temporary files cannot be kept: {error}") from error

    def keys(self, name: str) -> list[str]:
        """The keys of the stages on the way to a test."""
        try:
            self._channel.send(marshal.dumps((name, False, None), MARSHAL_VERSION))
            _, keys = received(self._channel, None) or ("stages", [])
        except OSError:
            keys = []
        return list(keys)

    def go_on(self, name: str, number: int) -> _Stage | str:
        """The next stage on the way to a test, or why it cannot be had.

        Args:
            name: the test.
            number: that of the stage.
        """
        channel, pid = self.copy(name, at_once=False, number=number)
        end = descriptor_of_end(pid)
        try:
            return _Stage(
                *(channel, self._folder, self._to_go_on, "they start a thread", _FIRST_THREAD_LIMIT_S, end, (self, pid))
            )
        except CannotForkError as error:
            channel.close()
            _kill(pid)
            self.temporary.put_back()
            return str(error)
        finally:
            if end >= 0:
                os.close(end)

    def copy(self, name: str, at_once: bool, number: int | None = None) -> tuple[socket.socket, int]:
        """A copy on its way to a test, or to another stage: what to talk with it through, and its process id."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        message = marshal.dumps((name, at_once, number), MARSHAL_VERSION)
        with theirs:
            try:
                socket.send_fds(self._channel, [message], [theirs.fileno()])
                _, pid = received(self._channel, None) or ("pid", 0)
            except OSError:
                pid = 0
        if not pid:
            ours.close()
            raise CannotForkError("the suite that was loaded has ended, or has no such test")
        return ours, pid

    def fileno(self) -> int:
        """A descriptor that can be read from when a copy that was made for a test has ended."""
        return self._channel.fileno()

    def end_test(self, pid: int) -> int:
        """End a copy that was made for a test; returns its return code."""
        _kill(pid)
        try:
            _, status = received(self._channel, None) or ("status", signal.SIGKILL)
        finally:
            self.temporary.put_back()
        return os.waitstatus_to_exitcode(status)

    def count(self) -> int:
        """How many stages were copied from this one, and from those."""
        return sum(1 + one.count() for one in self.next.values() if isinstance(one, _Stage))

    def forget(self, loaded: _Stage) -> None:
        """End all stages but those from which this one was copied, and this one.

        Args:
            loaded: the first of them.
        """
        kept = {id(self)}
        stage = self
        while stage._before is not None:
            stage = stage._before[0]
            kept.add(id(stage))
        loaded._end_all_but(kept)

    def _end_all_but(self, kept: set[int]) -> None:
        for key, stage in list(self.next.items()):
            if isinstance(stage, str):
                continue
            stage._end_all_but(kept)
            if id(stage) not in kept:
                stage._end()
                del self.next[key]

    def _end(self) -> None:
        assert self._before is not None
        self._channel.close()
        _kill(self._before[1])
        self.temporary.forget()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / "output").read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return "; its last output: " + " / ".join(lines[-_LAST_LINES:]) if lines else ""
