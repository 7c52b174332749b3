"""Pipes: reading and writing descriptors, as ``os`` does it and as file objects do, and locks on files.

Rules of this module:

* Reading and writing regular files never waits, and is left alone.
* File objects over pipes read and write through the functions of this module, instead of in C with the baton in hand.
"""

from __future__ import annotations

import os
import stat
import sys

from ..baton.moments import INSIDE
from .descriptors import READING, WRITING, Descriptors

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_PIPE_BUF = 4096  # bytes that a pipe takes at once, or not at all (pipe(7))
WOULD_BLOCK = -1


class Pipes:
    """Managed functions of ``os`` that read and write descriptors.

    Args:
        descriptors: who knows of all descriptors.
    """

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self._moments = descriptors.moments
        self._real_read, self._real_write = os.read, os.write

    def replacements(self) -> dict[str, Any]:
        """The functions of ``os`` and ``posix`` to replace."""
        set_nature, give = self._descriptors.set_nature, self._descriptors.give_to_child

        def paired(real: Callable[..., tuple[int, int]]) -> Any:
            def pipe(*arguments: Any) -> tuple[int, int]:
                ends = real(*arguments)
                for end in ends:
                    set_nature(end, INSIDE)
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
            written = self.write(fd, b"".join(buffers), sys._getframe(1)) if self._blocks(fd) else None
            return real_writev(fd, buffers) if written is None else written

        def sendfile(out_fd: int, in_fd: int, offset: int | None, count: int) -> int:
            def send(position: int, size: int) -> int:
                return real_sendfile(out_fd, in_fd, None if offset is None else offset + position, size)

            if not self._blocks(out_fd):
                return real_sendfile(out_fd, in_fd, offset, count)
            return self._write_pieces(out_fd, count, send, sys._getframe(1))

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

    def _waits(self, descriptor: object) -> int:
        """The kind of a descriptor whose operations may have to wait; 0 for any other."""
        if not isinstance(descriptor, int) or not self._descriptors.has_baton():
            return 0
        try:
            kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        except OSError:
            return 0
        return kind if kind in (stat.S_IFIFO, stat.S_IFSOCK) else 0

    def _blocks(self, descriptor: object) -> bool:
        """Whether writing to a descriptor may have to wait."""
        return self._waits(descriptor) != 0 and os.get_blocking(descriptor)  # type: ignore[arg-type]  # a number, if it waits

    def read(self, descriptor: int, length: int, frame: Any) -> bytes | None:
        """What ``os.read`` answers; None where the call can be made as it is."""
        if length <= 0 or not self._waits(descriptor):
            return None
        pair = [(descriptor, READING)]
        wait = self._descriptors.make_wait(pair, f"data on descriptor {descriptor}")
        if not os.get_blocking(descriptor):
            self._descriptors.yield_point(frame)
            if wait.expected is not None and wait.expected.answer == WOULD_BLOCK:
                self._moments.answered(wait, WOULD_BLOCK)
                raise BlockingIOError(11, os.strerror(11))
            if wait.expected is not None:
                wait.wait_really()
        else:
            self._descriptors.wait(frame, wait, None)
            while not self._descriptors.poll(pair):
                self._moments.answered(wait, None)
                wait = self._descriptors.make_wait(pair, wait.what)
                self._descriptors.wait(frame, wait, None)
        wanted = length
        if wait.expected is not None and isinstance(wait.expected.answer, int) and wait.expected.answer > 0:
            wanted = min(length, wait.expected.answer)
        try:
            data = self._real_read(descriptor, wanted)
            while wait.expected is not None and 0 < len(data) < wanted < length and wait.wait_really():
                more = self._real_read(descriptor, wanted - len(data))
                if not more:
                    break
                data += more
        except BlockingIOError:
            self._moments.answered(wait, WOULD_BLOCK)
            raise
        self._moments.answered(wait, len(data))
        return data

    def write(self, descriptor: int, data: Any, frame: Any) -> int | None:
        """What ``os.write`` answers; None where the call can be made as it is."""
        if not self._blocks(descriptor):
            return None
        with memoryview(data) as view, view.cast("B") as octets:

            def write_piece(position: int, size: int) -> int:
                return self._real_write(descriptor, octets[position : position + size])

            return self._write_pieces(descriptor, len(octets), write_piece, frame)

    def _write_pieces(self, descriptor: int, size: int, write_piece: Callable[[int, int], int], frame: Any) -> int:
        """Write so many bytes in pieces that do not block, and tell how many there were.

        Args:
            descriptor: where to.
            size: how many bytes; fewer where there are no more.
            write_piece: writes up to so many bytes from a position on, and tells how many it wrote.
            frame: who calls.
        """
        written = 0
        most = size if _keeps_messages_whole(descriptor) else _PIPE_BUF
        while True:
            wait = self._descriptors.make_wait([(descriptor, WRITING)], f"room on descriptor {descriptor}")
            self._descriptors.wait(frame, wait, None)
            # There is room for so much: the call does not block, except perhaps for a long message.
            piece = write_piece(written, min(size - written, most))
            self._moments.answered(wait, 0)
            written += piece
            if written >= size or not piece:
                return written

    def adapt_fdopen(self) -> None:
        """Let ``os.fdopen`` and ``subprocess`` make file objects over pipes that wait under the scheduler."""
        import io

        self._io = io
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
                written = pipes.write(self.fileno(), data, sys._getframe(1)) if self.writable() else None
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
        """A file object over a pipe, as ``open`` makes it; None where it is no pipe."""
        binary = "b" in mode
        if not self._waits(descriptor) or "+" in mode or (buffering == 0 and not binary):
            return None
        io = self._io
        raw = self._pipe_class(descriptor, mode.replace("b", "").replace("t", "") or "r", closefd)
        line_buffering = buffering == 1
        if buffering == 0:
            return raw
        size = io.DEFAULT_BUFFER_SIZE if buffering < 2 else buffering
        buffer = io.BufferedReader(raw, size) if raw.readable() else io.BufferedWriter(raw, size)
        if binary:
            return buffer
        text = io.TextIOWrapper(buffer, io.text_encoding(encoding), errors, newline, line_buffering)
        text.mode = mode
        return text

    def adapt_subprocess(self, module: Any) -> None:
        """Let ``Popen`` open its pipes like this."""
        pipes, io = self, self._io

        class Files:
            """What ``subprocess`` uses of ``io``."""

            TextIOWrapper = io.TextIOWrapper

            @staticmethod
            def open(*arguments: Any) -> Any:
                made = pipes.open(*arguments)
                return io.open(*arguments) if made is None else made

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
            return real(*arguments)

        module.fork_exec = fork_exec


def _keeps_messages_whole(descriptor: int) -> bool:
    """Whether this is a socket, each writing to which is a message."""
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return False
    import _socket  # now, as most programs write to no socket in this way

    sock = _socket.socket(fileno=descriptor)
    try:
        return sock.type != _socket.SOCK_STREAM
    finally:
        sock.detach()
