"""The traced process: it waits, is forked for each run, and tells how the runs end.

Rules of this module:

* The process waits before the first statement of the script, and does what it is told through the socket: each run is
  a fork of it. A run that is told to leaves another fork behind, which waits where it stood and serves in the same way,
  so that whatever has been executed by then is not executed again.
"""

from __future__ import annotations

import atexit
import builtins
import fcntl
import gc
import importlib.util
import json
import os
import runpy
import socket
import sys
import types
from typing import Any

from . import values
from .effects import Effects
from .exceptions import StandIn, described
from .following import Following
from .loops import EndlessWaits, fork
from .recording import Recording
from .sources import FILE_SHIFT, Sources
from .streams import continue_in, input_without_prompt, positions, reopen_files

HIGH_DESCRIPTOR = 300
_STATUS_OF_AN_EXCEPTION = 1


class Process:
    """The traced process, and its forks."""

    def __init__(self, channel: socket.socket, folder: str, command: list[str]) -> None:
        self.channel = channel
        self._command = command
        self.effects = Effects(self._refused)
        self._script, beside = _script_of(command)
        self.sources = Sources(folder, beside)
        self._trace: dict[str, Any] | None = None
        self._code: Any = None
        self._request: dict[str, Any] = {}
        self._unread = b""
        self.runtime: Any = None
        self._written = {descriptor: os.fstat(descriptor).st_size for descriptor in (1, 2)}

    def serve(self) -> dict[str, Any]:
        """Do what we are told; returns in each new fork, with what it is to do."""
        while True:
            request = self._receive()
            if request["do"] == "load":
                with open(request["trace"], encoding="utf-8") as file:
                    self._trace = json.load(file)
                assert self._trace is not None
                self.sources.prepare(self._trace["files"])
                gc.collect()
                gc.freeze()
                self.tell({"loaded": True})
                continue
            # Whatever is in its buffers is written by the fork, to its own files.
            child = fork()
            if child == 0:
                self._begin(request)
                return request
            self.tell({"pid": child})
            _, status = os.waitpid(child, 0)
            self.tell({"status": status})

    def _receive(self) -> dict[str, Any]:
        while b"\n" not in self._unread:
            read = self.channel.recv(1 << 16)
            if not read:
                os._exit(0)
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def tell(self, message: dict[str, Any], descriptor: int | None = None) -> None:
        """Tell the tool something."""
        data = json.dumps(message).encode() + b"\n"
        if descriptor is None:
            self.channel.sendall(data)
        else:
            socket.send_fds(self.channel, [data], [descriptor])

    def _begin(self, request: dict[str, Any]) -> None:
        self._request = request
        reopen_files(positions())
        for descriptor, path in ((1, request["output"]), (2, request["errors"])):
            continue_in(descriptor, path, self._written[descriptor])

    def start(self, request: dict[str, Any]) -> None:
        """Prepare the run that a request asks for, in a fork of the process that has executed nothing."""
        if request["do"] == "record":
            self.runtime = Recording(request["most_events"], self._too_many)
            return
        assert self._trace is not None
        files = self._trace["files"].values()
        ends = {}
        for file in files:
            first = file["number"] << FILE_SHIFT
            ends.update({first + number: site[4] for number, site in enumerate(file["sites"]) if site[4]})
        generators = {(f["number"] << FILE_SHIFT) + n for f in files for n, code in enumerate(f["codes"]) if code[1]}
        self.runtime = Following(self._trace, ends, generators, self._ended_early)
        self.runtime.on_pause = self._pause
        self.effects.on_socket = EndlessWaits(self._waits).watch
        self._follow(request)

    def _follow(self, request: dict[str, Any]) -> None:
        self.runtime.keep(request["keep"])
        if request.get("pause_at") is not None:
            self.runtime.pause_at = request["pause_at"]

    def _pause(self, event: int) -> None:
        """Leave a fork behind that waits here."""
        if self.effects.any:
            return
        self.effects.watching = False
        ours, theirs = socket.socketpair()
        # This run reads and writes on in the same files.
        places = positions()
        written = {descriptor: os.fstat(descriptor).st_size for descriptor in (1, 2)}
        waiting = fork()
        if waiting == 0:
            reopen_files(places)
            high = fcntl.fcntl(ours.fileno(), fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR + 1)
            self.channel.close()
            ours.close()
            theirs.close()
            self.channel, self._unread, self._written = socket.socket(fileno=high), b"", written
            self._follow(self.serve())
        else:
            self.tell({"waiting": event, "process": waiting}, theirs.fileno())
            ours.close()
            theirs.close()
        self.effects.watching = True

    def run(self) -> None:
        """Run the program to its end, and tell how it ended."""
        sys.argv = self._command[1:] if self._command[0] == "-m" else self._command
        main = types.ModuleType("__main__")
        builtins.__replay_dd_runtime__ = self.runtime  # type: ignore[attr-defined]
        builtins.input = input_without_prompt(builtins.input)
        exception: BaseException | None = None
        self.effects.watching = True
        try:
            self._execute(main)
        except BaseException as error:
            exception = error
        self.effects.watching = False
        self._finish(main, exception)

    def _execute(self, main: types.ModuleType) -> None:
        if self._command[0] == "-m":
            sys.argv = [self._script, *self._command[2:]]
            if not self.sources.is_own(self._script):
                runpy.run_module(self._command[1], run_name="__main__", alter_sys=True)
                return
            found = importlib.util.find_spec(self._command[1])
            main.__spec__ = found
            main.__package__ = found.parent if found is not None else None
        main.__file__ = self._script
        main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = main
        exec(self._code, main.__dict__)

    def parse(self) -> None:
        """Read and rewrite the script; tells the tool if that fails."""
        if not self._script:
            self.tell({"unusable": f"there is no module `{self._command[1]}`"})
            os._exit(0)
        try:
            with open(self._script, "rb") as file:
                source = file.read()
            if self.sources.is_own(self._script) or self._command[0] != "-m":
                self._code = self.sources.code_of(self._script, source, "__main__")
        except SyntaxError as error:
            where = f" in line {error.lineno}" if error.lineno else ""
            self.tell({"unusable": f"it does not parse{where}: {error.msg}"})
            os._exit(0)
        except (OSError, ValueError, RecursionError) as error:
            self.tell({"unusable": f"it cannot be read: {error}"})
            os._exit(0)
        self.tell({"ready": list(sys.version_info[:3])})

    def _finish(self, main: types.ModuleType, exception: BaseException | None) -> None:
        runtime = self.runtime
        told: dict[str, Any] = {"exception": None, "event": -1}
        told["variable"], told["untold"] = self._variable(exception)
        status = 0
        if exception is not None:
            name, message = described(exception)
            event = runtime.exception_event if exception is runtime.exception else -1
            told["exception"], told["event"] = [name, message], event
            status = _STATUS_OF_AN_EXCEPTION
            if isinstance(exception, SystemExit):
                code = exception.code
                status = 0 if code is None else code & 0xFF if isinstance(code, int) else _STATUS_OF_AN_EXCEPTION
                if code is not None and not isinstance(code, int):
                    print(code, file=sys.stderr)
            elif not isinstance(exception, StandIn):
                sys.excepthook(type(exception), exception, exception.__traceback__)
            told["stands_in"] = isinstance(exception, StandIn)
        told["status"] = status
        # What still runs at exit belongs to no trace.
        builtins.__replay_dd_runtime__ = Recording()  # type: ignore[attr-defined]
        try:
            atexit._run_exitfuncs()
        except BaseException:
            told["status"] = _STATUS_OF_AN_EXCEPTION
        self._end(told)

    def _variable(self, exception: BaseException | None) -> tuple[str | None, str | None]:
        """(the value of the variable that is asked for, its type if the value cannot be told)."""
        name = self._request.get("variable")
        if name is None:
            return None, None
        place, _, own = name.rpartition(".")
        scopes: list[dict[str, Any]] = []
        if place:
            module = sys.modules.get(place)
            scopes += [] if module is None else [module.__dict__]
        else:
            traceback = None if exception is None else exception.__traceback__
            while traceback is not None:
                if self.sources.is_own(traceback.tb_frame.f_code.co_filename):
                    scopes.insert(0, dict(traceback.tb_frame.f_locals))
                traceback = traceback.tb_next
            scopes.append(sys.modules["__main__"].__dict__)
        for scope in scopes:
            if own in scope:
                text = values.text_of(scope[own])
                return text, type(scope[own]).__name__ if text is None else None
        return None, None

    def _end(self, told: dict[str, Any]) -> None:
        """Write what is to be known about this run, and end the process."""
        self.effects.watching = False
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                if stream is not None:
                    stream.flush()
            except (OSError, ValueError):
                pass
        told["effects"] = self.effects.any
        if self._request["do"] == "record" and hasattr(self.runtime, "owners"):
            told["trace"] = self._noted()
        path = self._request["result"]
        with open(f"{path}.new", "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(told, file)
        os.replace(f"{path}.new", path)
        os._exit(int(told.get("status", 0)))

    def _noted(self) -> dict[str, Any]:
        noted = self.runtime
        lists = ("sites", "owners", "decisions", "times", "codes", "parents")
        return {
            **{name: getattr(noted, name).tolist() for name in lists},
            "raised": noted.raised,
            "files": self.sources.files,
        }

    def _ended_early(self, why: dict[str, Any]) -> None:
        self._end({**why, "status": 0})

    def _waits(self) -> None:
        self._end({"waits": True})

    def _too_many(self) -> None:
        self._end({"too_many": True})

    def _refused(self, what: str) -> None:
        self._end({"refused": what, "event": self.runtime.current})


def _script_of(command: list[str]) -> tuple[str, str]:
    """The file to run, and the folder of the modules beside it, which becomes the first to be searched."""
    if command[0] != "-m":
        path = os.path.abspath(command[0])
        if os.path.isdir(path):
            path = os.path.join(path, "__main__.py")
        sys.path[0] = os.path.dirname(os.path.realpath(path))
        return path, sys.path[0]
    sys.path[0] = os.getcwd()
    try:
        found = importlib.util.find_spec(command[1])
        if found is not None and found.submodule_search_locations is not None:
            found = importlib.util.find_spec(f"{command[1]}.__main__")
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None:
        return "", sys.path[0]
    return found.origin, sys.path[0]
