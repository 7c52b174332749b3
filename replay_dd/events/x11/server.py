"""X servers without a screen (Xvfb), each with a cookie that a client must know.

Rules of this module:

* A server chooses its number itself (``-displayfd``): fixed numbers race with other displays.
* Its socket goes with it, whenever it is ended: also while it starts and has not told its number yet. So a server that
  starts is never just killed: it is halted first, to see which socket it has made.
* It is started from a thread in which no signal is handled, so that Ctrl-C cannot come between the start of the process
  and the note that it is there.
* Only a client with the cookie (MIT-MAGIC-COOKIE-1) may connect: other users of the machine must not see what is typed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from replay_dd.errors.machine import SoftwareMissingError
from replay_dd.events.model import Screen
from replay_dd.events.x11.connection import forget_cookie, know_cookie
from replay_dd.experiment.guard_process import LOCK, SERVER, SOCKET, halted_sockets, remove_lock, remove_socket
from replay_dd.experiment.process import LIVE, PrivateFolder, kill_group
from replay_dd.experiment.waiting import result_of

START_LIMIT_S = 60.0
_END_LIMIT_S = 5.0
_TICK_S = 0.1
_PROTOCOL = b"MIT-MAGIC-COOKIE-1"
_COOKIE_BYTES = 16
# Families of addresses in authority files (Xauth(7), X.h and Xauth.h): this host, by its name, and any.
_LOCAL, _WILD = 256, 65535


class Server:
    """An X server that runs.

    Args:
        screen: size and depth of its screen.
        folder: of the run; it is noted there.
        given_up: set when nobody wants it any more.

    Attributes:
        process: it.
        number: of its display.
        name: of its display, such as ``":99"``.
        authority: the file with its cookie, for the variable XAUTHORITY.

    Raises:
        SoftwareMissingError: it cannot be started.
    """

    def __init__(self, screen: Screen, folder: PrivateFolder, given_up: threading.Event | None = None) -> None:
        size = f"{screen.width_px}x{screen.height_px}x{screen.depth_bits}"
        cookie = secrets.token_bytes(_COOKIE_BYTES)
        self.authority = folder.path / "authority"
        _write_authority(self.authority, cookie, "")
        reading, writing = os.pipe()
        arguments = ["-auth", str(self.authority), "-r", "-noreset", "-screen", "0", size, "-nolisten", "tcp"]
        with tempfile.TemporaryFile() as complaints:
            try:
                self.process = subprocess.Popen(
                    ["Xvfb", "-displayfd", str(writing), *arguments],
                    # Also the end that we read: a server that cannot tell its number, as we have been killed, ends in
                    # disorder.
                    pass_fds=(reading, writing),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=complaints,
                    start_new_session=True,
                    cwd="/",
                    env={**os.environ, "TMPDIR": str(folder.temporary)},
                )
            except OSError as error:
                os.close(reading)
                raise SoftwareMissingError(
                    f"A private display needs Xvfb: {error.strerror}.", "Install it: `apt-get install xvfb`."
                ) from error
            finally:
                os.close(writing)
            folder.note(SERVER, self.process.pid)
            self._numbers: list[int] = []
            # Also where somebody drops it, or leaves without closing it.
            self._end = weakref.finalize(self, _end, self.process, self._numbers, os.getpid())
            try:
                told = _line_from(reading, given_up)
                if not told.isdigit():
                    complaints.seek(0)
                    raise _no_start(size, complaints.read())
            except BaseException:
                self.close()
                raise
        self.number = int(told)
        self._numbers.append(self.number)
        self.name = f":{self.number}"
        folder.note(LOCK, f"{self.process.pid} {_lock_of(self.number)}")
        folder.note(SOCKET, _socket_of(self.number))
        _write_authority(self.authority, cookie, str(self.number))
        know_cookie(self.name, _PROTOCOL, cookie)
        # Only now: whoever ends all live processes kills them at once.
        LIVE.add(self.process)

    def close(self) -> None:
        """End it, and remove its socket."""
        self._end()


def start_server(screen: Screen, folder: PrivateFolder, ending: contextlib.ExitStack) -> Server:
    """Start a server; where that is interrupted, it is ended before this raises.

    Args:
        screen: size and depth of its screen.
        folder: of the run.
        ending: is given the server to close.

    Raises:
        SoftwareMissingError: it cannot be started.
    """
    given_up = threading.Event()

    def start() -> Server:
        server = Server(screen, folder, given_up)
        ending.callback(server.close)
        return server

    with ThreadPoolExecutor(1, "replay-dd-server") as maker:
        future = maker.submit(start)
        try:
            return result_of(future)
        except BaseException:
            given_up.set()
            raise


def _end(process: subprocess.Popen[bytes], numbers: list[int], owner: int) -> None:
    """End a server. Without its number it is one that starts."""
    if os.getpid() != owner:
        return  # this is a forked copy of the process that it belongs to
    for number in numbers:  # once it has ended, its number may be that of another one, which has its own cookie
        forget_cookie(f":{number}")
    sockets = [_socket_of(number) for number in numbers] or halted_sockets(process.pid)
    # Asked to end, the server removes its lock and socket itself; killed, or asked before it can hear, it does not.
    for order in (signal.SIGTERM, signal.SIGCONT):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, order)
    try:
        process.wait(_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        kill_group(process)
        process.wait()
    LIVE.remove(process)
    for number in numbers:
        # A server that chooses its number itself makes no lock file, and takes over a socket that nobody answers.
        remove_lock(_lock_of(number), process.pid)
    for path in sockets:
        remove_socket(path)


def _no_start(size: str, complaints: bytes) -> SoftwareMissingError:
    said = complaints.decode(errors="replace").strip().splitlines()
    why = next((line.strip() for line in said if "rror" in line), said[-1].strip() if said else "no display number")
    return SoftwareMissingError(
        f"Xvfb does not start with a screen of {size}: {why}.", "See what `Xvfb -displayfd 1` prints."
    )


def _write_authority(path: Path, cookie: bytes, number: str) -> None:
    """Write the file that tells clients, and the server, the cookie of a display; without number of all displays."""
    entries = b"".join(
        struct.pack(">H", family)
        + b"".join(struct.pack(">H", len(part)) + part for part in (host, number.encode(), _PROTOCOL, cookie))
        for family, host in ((_LOCAL, socket.gethostname().encode()), (_WILD, b""))
    )
    temporary = path.with_name(f"{path.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(entries)
    temporary.replace(path)


def _lock_of(number: int) -> str:
    return f"/tmp/.X{number}-lock"


def _socket_of(number: int) -> str:
    return f"/tmp/.X11-unix/X{number}"


def _line_from(descriptor: int, given_up: threading.Event | None) -> str:
    """A line; shorter, or empty, where it does not come or nobody wants it any more."""
    data = b""
    until = time.monotonic() + START_LIMIT_S
    try:
        while not data.endswith(b"\n") and time.monotonic() < until:
            if LIVE.stopped or (given_up is not None and given_up.is_set()):
                break
            if select.select([descriptor], [], [], _TICK_S)[0]:
                piece = os.read(descriptor, 64)
                if not piece:
                    break
                data += piece
    finally:
        os.close(descriptor)
    return data.decode(errors="replace").strip() if data.endswith(b"\n") else ""
