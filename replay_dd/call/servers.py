"""Programs that make the calls of one function, in the interpreter and folder of the user.

Rules of this module:

* A program imports the function once, and forks for each call (:mod:`replay_dd.call.in_child`). It makes one call at a
  time; calls at the same time have a program each.
* Only builtin data is sent to it, and only JSON is taken from it: what it says cannot make us run anything.
* A program that ends by itself is started anew, once.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from replay_dd.call import in_child
from replay_dd.call.failure import Ending, said
from replay_dd.errors.program import TimeLimitError
from replay_dd.errors.user import FunctionNotFoundError
from replay_dd.experiment.process import LIVE, Command, find_program, kill_group, private_folder, start_process

IMPORT_LIMIT_S = 60.0
_MORE_S = 30.0  # for everything but the call itself
_PICKLE_PROTOCOL = 4


class Lost(Exception):
    """The program has ended, or does not answer.

    Attributes:
        silent: whether it may still be running.
    """

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__()
        self.silent = silent


class Server:
    """One program.

    Args:
        function: ``module:function``.
        python: its interpreter.

    Attributes:
        parameters: name and kind of each of the function's parameters, and whether it has a default; None if the
            function does not tell.

    Raises:
        FunctionNotFoundError: the function cannot be imported.
        ProgramNotFoundError: there is no such interpreter.
    """

    def __init__(self, function: str, python: str) -> None:
        self._context = contextlib.ExitStack()
        try:
            self._start(function, python)
        except BaseException:
            self.close()
            raise

    def _start(self, function: str, python: str) -> None:
        folder = self._context.enter_context(private_folder())
        self._channel, theirs = socket.socketpair()
        self._context.enter_context(self._channel)
        # The order of sets of strings is the same in all calls.
        environment = {"PYTHONHASHSEED": "0", **os.environ}
        arguments = (python, in_child.__file__, function, str(theirs.fileno()))
        command = Command(arguments, Path.cwd(), environment)
        output = folder.path / "output"
        with theirs, open(os.devnull, "rb") as stdin, output.open("wb") as stream:
            process = start_process(
                command, command.directory, folder, stdin.fileno(), stream.fileno(), theirs.fileno()
            )
        LIVE.add(process)
        self._context.callback(LIVE.remove, process)
        self._context.callback(process.wait)
        self._context.callback(kill_group, process)
        try:
            told = self._receive(IMPORT_LIMIT_S)
        except Lost as lost:
            if lost.silent:
                raise TimeLimitError(
                    f"Importing {function} has not ended after {IMPORT_LIMIT_S:g} s.",
                    "Check that the module does nothing but define things when it is imported.",
                ) from None
            lines = output.read_text("utf-8", "replace").strip().splitlines()
            process.wait()  # so that all it has written is there
            raise FunctionNotFoundError(
                f"Importing {function} ended {python}{': ' + lines[-1] if lines else ''}.",
            ) from None
        if not told["ready"]:
            raise _not_found(function, python, told)
        self.parameters: list[tuple[str, str, bool]] | None = told["parameters"]

    def call(self, positional: Sequence[Any], keywords: Mapping[str, Any], limit_s: float) -> Ending:
        """Make a call.

        Raises:
            Lost: the program has ended.
        """
        try:
            request = pickle.dumps((list(positional), dict(keywords), limit_s), _PICKLE_PROTOCOL)
            self._channel.settimeout(limit_s + _MORE_S)
            in_child.send(self._channel, request)
        except OSError as error:
            raise Lost() from error
        return Ending.of(self._receive(limit_s + _MORE_S))

    def _receive(self, limit_s: float) -> dict[str, Any]:
        self._channel.settimeout(limit_s)
        try:
            message = in_child.receive(self._channel)
        except OSError as error:
            raise Lost(silent=isinstance(error, TimeoutError)) from error
        if message is None:
            raise Lost()
        told: dict[str, Any] = json.loads(message)
        return told

    def close(self) -> None:
        """End the program."""
        self._context.close()


class Servers:
    """As many programs as there are calls at the same time.

    Args:
        function: ``module:function``.
        python: the interpreter; by default the ``python`` that a shell would find.

    Attributes:
        name: the function's name.
    """

    def __init__(self, function: str, python: str | None = None) -> None:
        self.function = function
        self.name = function.rpartition(":")[2]
        self._python = python or (find_program("python", os.environ.get("PATH")) and "python") or sys.executable
        self._lock = threading.Lock()
        self._idle: list[Server] = []
        self._all: list[Server] = []

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._all:
            server.close()

    def parameters(self) -> list[tuple[str, str, bool]] | None:
        """The function's parameters, see :class:`Server`; errors are those, too."""
        server = self._take()
        self._idle.append(server)
        return server.parameters

    def call(self, positional: Sequence[Any], keywords: Mapping[str, Any], limit_s: float) -> Ending:
        """Make a call; errors are those of :class:`Server`."""
        for _ in range(2):
            server = self._take()
            try:
                ending = server.call(positional, keywords, limit_s)
            except Lost:
                server.close()
                if LIVE.stopped:
                    break
                continue
            with self._lock:
                self._idle.append(server)
            return ending
        return Ending(in_child.KILLED, "something outside")

    def _take(self) -> Server:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        server = Server(self.function, self._python)
        with self._lock:
            self._all.append(server)
        return server


def _not_found(function: str, python: str, told: Mapping[str, Any]) -> FunctionNotFoundError:
    kind, text = told["types"][0], told["text"]
    module = function.partition(":")[0]
    if kind == "LookupError":
        return FunctionNotFoundError(f"There is no function {function}: {text}.")
    if kind == "ModuleNotFoundError":
        return FunctionNotFoundError(
            f"{module} cannot be imported by {python}: {text}.",
            "Run the command in the folder that holds the module, or name the interpreter that has it with `--python`.",
        )
    where = f" ({told['file']}:{told['line']})" if "file" in told else ""
    return FunctionNotFoundError(
        f"Importing {module} fails: {said(kind, text)}{where}.",
        "It must succeed before a call. If the module needs another interpreter, name that with `--python`.",
    )
