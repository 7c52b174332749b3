"""Makes calls in child processes; also a program that does so on request, in the environment of the function.

Rules of this module:

* It may be run by another interpreter than ours, where replay-dd is not installed, so it imports only the standard
  library, and runs under older versions of Python, too.
* Each call is made in a process of its own, forked when the function has been imported: a call that changes something,
  does not end, or takes its process down disturbs no other call.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import inspect
import itertools
import json
import os
import pickle
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import CodeType, TracebackType
from typing import Any

_LENGTH_BYTES = 8
_CHUNK_BYTES = 1 << 16
_END = b"\n"  # there is none inside JSON

RETURNED = "returned"
RAISED = "raised"
HUNG = "hung"
KILLED = "killed"
EXITED = "exited"
"""The ways in which a call can end; the last three only in a process of its own."""


def finish(result: object) -> None:
    """Run what a call has only begun: a generator to its end, a coroutine to its result."""
    if inspect.iscoroutine(result):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(result)
        else:  # as in a notebook
            with ThreadPoolExecutor(1) as pool:
                pool.submit(asyncio.run, result).result()
    elif inspect.isgenerator(result):
        for _ in result:
            pass


def attempt(call: Callable[[], object]) -> dict[str, Any]:
    """Make a call and tell how it ended. Ctrl-C is let through."""
    try:
        finish(call())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too, is how a function can fail
        return described(error)
    return {"end": RETURNED}


def described(error: BaseException) -> dict[str, Any]:
    """What an exception is: its types, its text, and where it was raised."""
    kind = type(error)
    try:
        text = str(error)
    except Exception:  # it is code of the program, which may do anything
        text = ""
    kinds = [type_name(one) for one in kind.__mro__]
    return {"end": RAISED, "types": kinds, "text": text, **place_of(error.__traceback__)}


def type_name(kind: type) -> str:
    """The name of a type, with its module unless everyone knows it."""
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


def place_of(traceback: TracebackType | None) -> dict[str, Any]:
    """The innermost place that is in a file: file, line, column (in bytes, from 0) and function."""
    innermost: TracebackType | None = None
    while traceback is not None:
        # Code that was made from a string is often made from the argument, and its lines mean nothing.
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<") and file != __file__:
            innermost = traceback
        traceback = traceback.tb_next
    if innermost is None:
        return {}
    code = innermost.tb_frame.f_code
    return {
        "file": code.co_filename,
        "line": innermost.tb_lineno,
        "column": _column_of(code, innermost.tb_lasti),
        "function": getattr(code, "co_qualname", code.co_name),
    }


@functools.lru_cache(maxsize=64)
def _column_of(code: CodeType, instruction: int) -> int:
    """The column of an instruction, at its byte offset; 0 before Python 3.11, which does not know it."""
    if not hasattr(code, "co_positions"):
        return 0
    return next(itertools.islice(code.co_positions(), instruction // 2, None))[2] or 0


def forked(call: Callable[[], object], limit_s: float | None) -> dict[str, Any]:
    """Make a call in a child process.

    Args:
        call: what to call.
        limit_s: seconds after which the child is killed; None for no limit.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns where other threads run. They are not in the child, which only makes this call.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(call, writing)
    os.close(writing)
    ended = False
    try:
        said = _read(reading, None if limit_s is None else time.monotonic() + limit_s)
        ended = said is not None
    finally:
        os.close(reading)
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if said is None:
        return {"end": HUNG, "limit_s": limit_s}
    if said:
        told: dict[str, Any] = json.loads(said)
        return told
    if os.WIFSIGNALED(status):
        return {"end": KILLED, "signal": os.WTERMSIG(status)}
    return {"end": EXITED, "status": os.waitstatus_to_exitcode(status)}


def _answer(call: Callable[[], object], writing: int) -> None:
    """Make the call, tell how it ended, and end this process."""
    try:
        said = json.dumps(attempt(call)).encode() + _END
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        while said:
            said = said[os.write(writing, said) :]
    finally:
        os._exit(0)


def _read(reading: int, until_s: float | None) -> bytes | None:
    """All that the child says; None if it says nothing in time. A grandchild that outlives it holds nobody up."""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    said = b""
    while True:
        left_ms = None if until_s is None else max(0.0, until_s - time.monotonic()) * 1000
        if not poll.poll(left_ms):
            return None
        piece = os.read(reading, _CHUNK_BYTES)
        said += piece
        if said.endswith(_END):
            return said
        if not piece:
            return b""


def receive(channel: socket.socket) -> bytes | None:
    """One message; None if the other end is gone."""
    head = _exactly(channel, _LENGTH_BYTES)
    return None if head is None else _exactly(channel, int.from_bytes(head, "big"))


def send(channel: socket.socket, message: bytes) -> None:
    """Send one message."""
    channel.sendall(len(message).to_bytes(_LENGTH_BYTES, "big") + message)


def _exactly(channel: socket.socket, amount: int) -> bytes | None:
    parts: list[bytes] = []
    while amount:
        part = channel.recv(min(amount, _CHUNK_BYTES))
        if not part:
            return None
        parts.append(part)
        amount -= len(part)
    return b"".join(parts)


def find(name: str) -> Callable[..., Any]:
    """The function ``module:function``; raises what importing the module raises, or ``LookupError``."""
    module_name, _, path = name.partition(":")
    found: Any = importlib.import_module(module_name)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise LookupError(f"{module_name} has no {path}") from None
    if not callable(found):
        raise LookupError(f"{path} of {module_name} is {type(found).__name__}, which cannot be called")
    function: Callable[..., Any] = found
    return function


def parameters_of(function: Callable[..., Any]) -> list[tuple[str, str, bool]] | None:
    """Name and kind of each parameter, and whether it has a default; None if they cannot be known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(one.name, one.kind.name, one.default is not one.empty) for one in parameters]


def main() -> None:
    """Import the function, then make one call for each request; the arguments are its name and a descriptor."""
    name, descriptor = sys.argv[1], int(sys.argv[2])
    # As for a script in the working directory, and not this file's folder.
    sys.path[0] = os.getcwd()
    sys.argv[:] = [name]
    channel = socket.socket(fileno=descriptor)
    channel.set_inheritable(False)
    try:
        function = find(name)
    except BaseException as error:
        send(channel, json.dumps({"ready": False, **described(error)}).encode())
        return
    # What the function prints is of no use to anyone, and there may be much of it.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    send(channel, json.dumps({"ready": True, "parameters": parameters_of(function)}).encode())
    while (request := receive(channel)) is not None:
        positional, keywords, limit_s = pickle.loads(request)
        told = forked(functools.partial(function, *positional, **keywords), limit_s)
        send(channel, json.dumps(told).encode())


if __name__ == "__main__":
    main()
