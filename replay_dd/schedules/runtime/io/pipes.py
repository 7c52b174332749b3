"""Pipes and terminals: reading and writing descriptors, through ``os`` and through file objects.

Rules of this module:

* Reading and writing regular files never blocks, and is left alone. So are the standard streams that the process was
  started with: one run may write to a file, and the next one to a pipe or a terminal.
* File objects over pipes read and write through this module, instead of in C while holding the baton.
* A call that does not block is an operation as well; how much it took or found no room for is its answer.
* Pipes that a run follows a log through are larger than usual. A pipe holds a number of pieces rather than of bytes,
  and the pieces come as chance has it: what the recorded run wrote at once has to find room here, too.
"""

from __future__ import annotations

import io
import os
import stat
import sys

from ..accelerator import accelerator
from ..baton.moments import OutsideWait
from ..baton.patience import INSIDE
from .descriptors import READING, WRITING, Descriptors
from .open_files import kind_of
from .pieces import give, joined, refuse_as_recorded, take

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_PIPE_BUF = 4096  # so many bytes a pipe takes as a whole or not at all (pipe(7))
_LARGE_PIPE = 1 << 18  # four times the usual size, and a quarter of what an ordinary user may ask for
_LARGE_PIPES = 64  # so many at most, as all pipes of a user share one limit
_PIPE_LIKE = (stat.S_IFIFO, stat.S_IFSOCK, 0)  # 0: inotify(7), eventfd(2) and their like


class Pipes:
    """Managed functions of ``os`` that read and write descriptors.

    Args:
        descriptors: who knows of all descriptors.
    """

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self._moments = descriptors.moments
        self._real_read, self._real_write = os.read, os.write
        self._large_pipes = 0

    def replacements(self) -> dict[str, Any]:
        """The functions of ``os`` and ``posix`` to replace."""
        set_nature, give = self._descriptors.set_nature, self._descriptors.give_to_child

        def paired(real: Callable[..., tuple[int, int]]) -> Any:
            def pipe(*arguments: Any) -> tuple[int, int]:
                self._descriptors.before_opening()
                ends = real(*arguments)
                for end in ends:
                    set_nature(end, INSIDE)
                self._enlarge(ends[1])
                return ends

            return pipe

        def read(fd: int, length: int, /) -> bytes:
            data = self.read(fd, length, sys._getframe(1))
            return self._real_read(fd, length) if data is None else data

        def write(fd: int, data: Any, /) -> int:
            written = self.write(fd, data, sys._getframe(1))
            return self._real_write(fd, data) if written is None else written

        def readv(fd: int, buffers: Any, /) -> int:
            views = [memoryview(buffer).cast("B") for buffer in buffers]
            data = self.read(fd, sum(map(len, views)), sys._getframe(1))
            if data is None:
                return real_readv(fd, buffers)
            position = 0
            for view in views:
                piece = data[position : position + len(view)]
                view[: len(piece)] = piece
                position += len(piece)
            return len(data)

        def writev(fd: int, buffers: Any, /) -> int:
            written = self.write(fd, b"".join(buffers), sys._getframe(1)) if self._waits(fd) else None
            return real_writev(fd, buffers) if written is None else written

        def sendfile(out_fd: int, in_fd: int, offset: int | None, count: int) -> int:
            def send(position: int, size: int) -> int:
                return real_sendfile(out_fd, in_fd, None if offset is None else offset + position, size)

            if not self._waits(out_fd):
                return real_sendfile(out_fd, in_fd, offset, count)
            return self._write_as_asked(out_fd, count, send, sys._getframe(1))

        def spawning(real: Callable[..., int]) -> Any:
            def spawn(*arguments: Any, **named: Any) -> int:
                actions = list(named.get("file_actions") or ())
                for action in actions:
                    if action[0] == os.POSIX_SPAWN_DUP2:
                        give(action[1])
                return real(*arguments, **named)

            return spawn

        real_readv, real_writev, real_sendfile = os.readv, os.writev, os.sendfile
        pipes = {"pipe": paired(os.pipe), "pipe2": paired(os.pipe2), "read": read, "write": write}
        more = {"readv": readv, "writev": writev, "sendfile": sendfile}
        return {**pipes, **more, **{name: spawning(getattr(os, name)) for name in ("posix_spawn", "posix_spawnp")}}

    def _waits(self, descriptor: object) -> bool:
        """Whether operations on a descriptor may block, or find nothing, depending on what others do."""
        if not isinstance(descriptor, int) or not self._descriptors.has_baton():
            return False
        kind = kind_of(descriptor)
        if kind not in _PIPE_LIKE and not (kind == stat.S_IFCHR and os.isatty(descriptor)):
            return False
        return not self._descriptors.is_standard_stream(descriptor)

    def _enlarge(self, descriptor: int) -> None:
        """Make a pipe larger than in the run that this one follows."""
        if not self._moments.following or self._large_pipes == _LARGE_PIPES:
            return
        if accelerator is not None:
            self._large_pipes += accelerator.enlarge_pipe(descriptor, _LARGE_PIPE)

    def read(self, descriptor: int, length: int, frame: Any) -> bytes | None:
        """What ``os.read`` returns; None if the call can be made unchanged."""
        if length <= 0 or not self._waits(descriptor):
            return None
        pair = [(descriptor, READING)]
        wait = self._descriptors.make_wait(pair, f"data on descriptor {descriptor}")
        if not os.get_blocking(descriptor):
            self._descriptors.yield_point(frame)
            refuse_as_recorded(wait, self._moments)
        else:
            self._descriptors.wait(frame, wait, None)
            while not self._descriptors.poll(pair):
                self._moments.answered(wait, None)
                wait = self._descriptors.make_wait(pair, wait.what)
                self._descriptors.wait(frame, wait, None)
        pieces: list[bytes] = []

        def attempt(position: int, size: int) -> int:
            pieces.append(self._real_read(descriptor, size))
            return len(pieces[-1])

        take(wait, self._moments, length, attempt)
        return joined(pieces)

    def write(self, descriptor: int, data: Any, frame: Any) -> int | None:
        """What ``os.write`` returns; None if the call can be made unchanged."""
        if not self._waits(descriptor):
            return None
        with memoryview(data) as view, view.cast("B") as octets:

            def write_piece(position: int, size: int) -> int:
                return self._real_write(descriptor, octets[position : position + size])

            return self._write_as_asked(descriptor, len(octets), write_piece, frame)

    def _write_as_asked(self, descriptor: int, size: int, write_piece: Callable[[int, int], int], frame: Any) -> int:
        """Write bytes, all of them where the call blocks until they are written, and return how many were written.

        Args:
            descriptor: where to.
            size: how many bytes; fewer if there are no more.
            write_piece: writes at most so many bytes from a position, and returns how many it wrote.
            frame: who calls.
        """
        wait = self._room(descriptor)
        if not os.get_blocking(descriptor):
            self._descriptors.yield_point(frame)
            refuse_as_recorded(wait, self._moments)
            return self._give(wait, descriptor, size, write_piece)
        written = 0
        most = size if _keeps_messages_whole(descriptor) else _PIPE_BUF
        while True:
            self._descriptors.wait(frame, wait, None)
            # There is room for this much: the call does not block, except perhaps for a long message.
            position = written
            attempt = lambda start, size: write_piece(position + start, size)  # noqa: B023, E731  called before the next
            piece = self._give(wait, descriptor, min(size - written, most), attempt)
            written += piece
            if written >= size or not piece:
                return written
            wait = self._room(descriptor)

    def _room(self, descriptor: int) -> OutsideWait:
        return self._descriptors.make_wait([(descriptor, WRITING)], f"room on descriptor {descriptor}")

    def _give(self, wait: OutsideWait, descriptor: int, size: int, attempt: Callable[[int, int], int]) -> int:
        return give(wait, self._moments, size, attempt, lambda: self._descriptors.is_broken(descriptor))

    def adapt_fdopen(self) -> None:
        """Let ``os.fdopen`` and ``subprocess`` make file objects over pipes that wait under the scheduler."""
        self._real_open = io.open
        real_fdopen = os.fdopen
        pipes = self

        class PipeIO(io.FileIO):
            """A pipe as a raw file."""

            def readinto(self, buffer: Any) -> Any:
                with memoryview(buffer) as view, view.cast("B") as octets:
                    data = self._some(len(octets))
                    if data is not None:
                        octets[: len(data)] = data
                return None if data is None else len(data)

            def read(self, size: int | None = -1) -> Any:
                return self.readall() if size is None or size < 0 else self._some(size)

            def readall(self) -> Any:
                pieces = []
                while data := self._some(65536):
                    pieces.append(data)
                return None if data is None and not pieces else b"".join(pieces)

            def _some(self, size: int) -> bytes | None:
                if not self.readable():
                    return super().read(size)
                try:
                    data = pipes.read(self.fileno(), size, sys._getframe(1))
                except BlockingIOError:
                    return None
                return super().read(size) if data is None else data

            def write(self, data: Any) -> Any:
                try:
                    written = pipes.write(self.fileno(), data, sys._getframe(1)) if self.writable() else None
                except BlockingIOError:
                    return None
                return super().write(data) if written is None else written

        PipeIO.__name__ = PipeIO.__qualname__ = "FileIO"
        PipeIO.__module__ = "_io"
        self._pipe_class = PipeIO

        def fdopen(fd: int, mode: str = "r", buffering: int = -1, *arguments: Any, **named: Any) -> Any:
            made = pipes.open(fd, mode, buffering, *arguments, **named)
            return real_fdopen(fd, mode, buffering, *arguments, **named) if made is None else made

        os.fdopen = fdopen

    def open(
        self,
        descriptor: int,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
    ) -> Any:
        """A file object over a pipe, as ``open`` makes it; None for anything else."""
        binary = "b" in mode
        if not self._waits(descriptor) or "+" in mode or (buffering == 0 and not binary):
            return None
        raw = self._pipe_class(descriptor, mode.replace("b", "").replace("t", "") or "r", closefd)
        line_buffering = buffering == 1
        if buffering == 0:
            return raw
        size = io.DEFAULT_BUFFER_SIZE if buffering < 2 else buffering
        buffer = io.BufferedReader(raw, size) if raw.readable() else io.BufferedWriter(raw, size)
        if binary:
            return buffer
        text: Any = io.TextIOWrapper(buffer, io.text_encoding(encoding), errors, newline, line_buffering)
        text.mode = mode
        return text

    def adapt_subprocess(self, module: Any) -> None:
        """Let ``Popen`` open its pipes like this."""
        pipes = self

        class Files:
            """What ``subprocess`` uses of ``io``."""

            TextIOWrapper = io.TextIOWrapper

            @staticmethod
            def open(*arguments: Any) -> Any:
                made = pipes.open(*arguments)
                return pipes._real_open(*arguments) if made is None else made

        module.io = Files

    def adapt_fork_exec(self, module: Any) -> None:
        """Know which descriptors a child process gets (module ``_posixsubprocess``)."""
        real = module.fork_exec

        def fork_exec(*arguments: Any) -> Any:
            closes, kept, ends = arguments[2], arguments[3], arguments[6:14]
            if not closes:
                self._descriptors.share_with_children()
            for number in (*kept, *ends):
                if isinstance(number, int) and number >= 0:
                    self._descriptors.give_to_child(number)
            self._moments.patience.starts_processes = True
            return real(*arguments)

        module.fork_exec = fork_exec


def _keeps_messages_whole(descriptor: int) -> bool:
    """Whether this is a socket on which each write is one message."""
    if kind_of(descriptor) != stat.S_IFSOCK:
        return False
    import _socket  # only now: most programs never write to a socket this way

    sock = _socket.socket(fileno=descriptor)
    try:
        return sock.type != _socket.SOCK_STREAM
    finally:
        sock.detach()
