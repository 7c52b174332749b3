"""Runs a script of the user's, noting its statements or following a trace: the main program of the traced process.

``python [OPTIONS] start.py DESCRIPTOR FOLDER SCRIPT|-m MODULE [ARGUMENTS]``, where DESCRIPTOR is a socket.

Rules of this module:

* The process waits before the first statement of the script, and does what it is told through the socket: each run is
  a fork of it. A run that is told to leaves another fork behind, which waits where it stood and serves in the same way,
  so that whatever has been executed by then is not executed again.
* A fork reads files from where it stood, and writes its output to files of its own.
* The user's own modules are those in FOLDER and beside the script; libraries are run as they are.
"""

from __future__ import annotations

import atexit
import builtins
import fcntl
import gc
import importlib.machinery
import importlib.util
import json
import os
import random
import socket
import stat
import sys
import types
from typing import Any

# As part of the house, for type checkers; in the program's process there is no house, only this folder.
_PACKAGE = "_replay_dd_trace"
_HIGH_DESCRIPTOR = 300
_STATUS_OF_AN_EXCEPTION = 1


def _load(name: str) -> Any:
    """A module of this folder, out of sight of the program's own imports."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"{_PACKAGE}_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Sources:
    """The rewritten modules: their numbers, and those of their statements and functions."""

    def __init__(self, folder: str, beside: str) -> None:
        self._instrument = _load("instrument").instrument
        self._root = os.path.join(os.path.realpath(folder), "")
        self._folders = tuple(os.path.join(os.path.realpath(one), "") for one in dict.fromkeys((folder, beside)))
        self.files: dict[str, dict[str, Any]] = {}
        self._numbers: dict[str, int] = {}
        self._ready: dict[str, types.CodeType] = {}

    def is_own(self, path: str) -> bool:
        """Whether a file is the user's own."""
        real = os.path.realpath(path)
        if not real.startswith(self._folders) or not real.endswith(".py"):
            return False
        parts = real.split(os.sep)
        if "site-packages" in parts or "dist-packages" in parts:
            return False
        homes = (os.path.join(os.path.realpath(home), "") for home in (sys.prefix, sys.base_prefix))
        return not any(real.startswith(home) and not self._folders[0].startswith(home) for home in homes)

    def code_of(self, path: str, source: bytes, name: str) -> types.CodeType:
        """A module, rewritten and compiled."""
        # The folder is another copy in each process; the names of its files are the same.
        path = os.path.realpath(path)
        own = path[len(self._root) :] if path.startswith(self._root) else path
        if path not in self._ready:
            number = self._numbers.setdefault(own, len(self._numbers))
            first = number << 32
            made = self._instrument(source, name, first, first)
            self.files[own] = {
                "number": number,
                "sites": made.sites,
                "codes": made.codes,
                "undivided": made.undivided,
                "name": name,
            }
            self._ready[path] = compile(made.tree, path, "exec", dont_inherit=True)
        return self._ready[path]

    def prepare(self, files: dict[str, Any]) -> None:
        """Rewrite the modules of a trace, under the numbers that they had."""
        self._ready.clear()
        self._numbers = {own: one["number"] for own, one in files.items()}
        for own, one in files.items():
            path = os.path.join(self._root, own)
            with open(path, "rb") as file:
                self.code_of(path, file.read(), one["name"])


class OwnLoader(importlib.machinery.SourceFileLoader):
    """Loads one of the user's modules, rewritten."""

    sources: Sources

    def get_code(self, fullname: str) -> types.CodeType:
        """The rewritten code; what is compiled elsewhere is neither read nor written."""
        return self.sources.code_of(self.path, self.get_data(self.path), fullname)


class OwnFinder:
    """Finds modules as ever, and loads the user's own ones rewritten."""

    def __init__(self, sources: Sources) -> None:
        OwnLoader.sources = sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As the import system asks it."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or spec.origin is None:
            return None
        if not OwnLoader.sources.is_own(spec.origin):
            return None
        spec.loader = OwnLoader(name, spec.origin)
        return spec


class Process:
    """The traced process, and its forks."""

    def __init__(self, channel: socket.socket, folder: str, command: list[str]) -> None:
        self.channel = channel
        self._command = command
        self._following = _load("following")
        self._values = _load("values")
        self.effects = _load("effects").Effects(self._refused)
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
            child = os.fork()
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
        _reopen_files(_positions())
        for descriptor, path in ((1, request["output"]), (2, request["errors"])):
            _continue_in(descriptor, path, self._written[descriptor])

    def start(self, request: dict[str, Any]) -> None:
        """Prepare the run that a request asks for, in a fork of the process that has executed nothing."""
        if request["do"] == "record":
            self.runtime = self._following.Recording(request["most_events"], self._too_many)
            return
        assert self._trace is not None
        files = self._trace["files"].values()
        ends = {}
        for file in files:
            first = file["number"] << 32
            ends.update({first + number: site[4] for number, site in enumerate(file["sites"]) if site[4]})
        generators = {(f["number"] << 32) + n for f in files for n, code in enumerate(f["codes"]) if code[1]}
        self.runtime = self._following.Following(self._trace, ends, generators, self._ended_early)
        self.runtime.on_pause = self._pause
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
        positions = _positions()
        written = {descriptor: os.fstat(descriptor).st_size for descriptor in (1, 2)}
        waiting = os.fork()
        if waiting == 0:
            _reopen_files(positions)
            high = fcntl.fcntl(ours.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR + 1)
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
        builtins.input = _input_without_prompt(builtins.input)
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
            import runpy

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
        told["variable"] = self._variable(main, exception)
        status = 0
        if exception is not None:
            name, message = self._following.described(exception)
            event = runtime.exception_event if exception is runtime.exception else -1
            told["exception"], told["event"] = [name, message], event
            status = _STATUS_OF_AN_EXCEPTION
            if isinstance(exception, SystemExit):
                code = exception.code
                status = 0 if code is None else code & 0xFF if isinstance(code, int) else _STATUS_OF_AN_EXCEPTION
                if code is not None and not isinstance(code, int):
                    print(code, file=sys.stderr)
            elif not isinstance(exception, self._following.StandIn):
                sys.excepthook(type(exception), exception, exception.__traceback__)
            told["stands_in"] = isinstance(exception, self._following.StandIn)
        told["status"] = status
        # What still runs at exit belongs to no trace.
        builtins.__replay_dd_runtime__ = self._following.Recording()  # type: ignore[attr-defined]
        try:
            atexit._run_exitfuncs()
        except BaseException:
            told["status"] = _STATUS_OF_AN_EXCEPTION
        self._end(told)

    def _variable(self, main: types.ModuleType, exception: BaseException | None) -> str | None:
        name = self._request.get("variable")
        if name is None:
            return None
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
                return str(self._values.text_of(scope[own]))
        return None

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


def _input_without_prompt(original: Any) -> Any:
    """``input`` whose prompt is no output of the program: it goes where messages go."""

    def input(prompt: object = "", /) -> Any:
        sys.stderr.write(str(prompt))
        sys.stderr.flush()
        return original()

    return input


def _positions() -> dict[int, int]:
    """Where the open files stand, other than the two streams that are written."""
    found: dict[int, int] = {}
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        names = ["0"]
    for name in names:
        descriptor = int(name)
        try:
            if descriptor not in (1, 2) and stat.S_ISREG(os.fstat(descriptor).st_mode):
                found[descriptor] = os.lseek(descriptor, 0, os.SEEK_CUR)
        except OSError:
            continue
    return found


def _reopen_files(positions: dict[int, int]) -> None:
    """Give this fork positions of its own in the files that are open: forks share them otherwise."""
    for descriptor, position in positions.items():
        try:
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_TRUNC | os.O_EXCL)
            again = os.open(f"/proc/self/fd/{descriptor}", flags)
            os.lseek(again, position, os.SEEK_SET)
            os.dup2(again, descriptor, os.get_inheritable(descriptor))
            os.close(again)
        except OSError:
            continue


def _continue_in(descriptor: int, path: str, written: int) -> None:
    """Let a stream go to a new file, which begins with what it had written so far, as many bytes."""
    new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    place = 0
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            while data := os.pread(descriptor, min(1 << 20, written - place), place):
                os.write(new, data)
                place += len(data)
    finally:
        os.dup2(new, descriptor)
        os.close(new)


def main() -> None:
    """Begin."""
    descriptor, folder = int(sys.argv[1]), sys.argv[2]
    command = sys.argv[3:]
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    os.close(descriptor)
    sys.dont_write_bytecode = True
    random.seed(0)
    process = Process(socket.socket(fileno=high), folder, command)
    sys.meta_path.insert(0, OwnFinder(process.sources))
    process.parse()
    request = process.serve()
    process.start(request)
    process.run()


if __name__ == "__main__":
    main()
