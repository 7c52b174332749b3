"""A program on a private display: started, watched, and ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.events import failure_signature
from replay_dd.events.model import Ending, EndingKind, GuiProgram, Window
from replay_dd.events.x11.accessibility.bus import AccessibilityBus
from replay_dd.events.x11.display import Display
from replay_dd.events.x11.pictures import fingerprint
from replay_dd.events.x11.processes import ProcessTree, with_variable
from replay_dd.events.x11.windows import describe, top_windows
from replay_dd.experiment.crash_places import Tracer
from replay_dd.experiment.guard_process import remove_tree
from replay_dd.experiment.process import LIVE, Command, kill_group, start_process
from replay_dd.experiment.working_copy import MOST_BYTES, MOST_FILES, WorkingCopy, copy_folder

# Titles of the windows in which Tk reports an error that nobody caught (library/bgerror.tcl).
ERROR_TITLES = ("Application Error", "Error in Tcl Script")
_END_LIMIT_S = 5.0
_MOST_OUTPUT_BYTES = 1 << 20


class RunningProgram:
    """A program that was started on a private display.

    All methods must be called from the thread that started it.

    Args:
        program: what to run.
        display: where.
        want_backtrace: ask gdb about a crash.
        bus: where its toolkit tells of its widgets; None for nowhere.

    Attributes:
        windows: what windows there were when these were last looked at; their numbers mean nothing.
        copy: its working folder and the copy of it in which it runs; None if it runs in the folder itself.

    Raises:
        ProgramNotFoundError: there is no such program.
        FolderTooLargeError: its working folder cannot be copied.
    """

    def __init__(
        self,
        program: GuiProgram,
        display: Display,
        *,
        want_backtrace: bool = False,
        bus: AccessibilityBus | None = None,
    ) -> None:
        self._display = display
        self._output = display.folder.path / "output"
        self._seen_bytes = 0
        self._ending: Ending | None = None
        self.has_had_window = False
        self.windows: tuple[Window, ...] = ()
        self._forked_away = False
        self.copy: WorkingCopy | None = None
        command = self._command(program)
        if bus is not None:
            command = replace(command, environment=bus.environment(command.environment))
        with self._output.open("wb") as output, open(os.devnull, "rb") as nothing:
            self._process: subprocess.Popen[bytes] = start_process(
                command, command.directory, display.folder, nothing.fileno(), output.fileno()
            )
        LIVE.add(self._process)
        self._tracer = Tracer(self._process.pid, want_backtrace=want_backtrace)
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (0, 0))
        self.tree = ProcessTree(self._process.pid)
        self.started = time.monotonic()

    def _command(self, program: GuiProgram) -> Command:
        """What to run, with a working folder and a HOME of its own."""
        environment = self._display.environment_for(program.environment)
        if program.home:
            home = Path(program.home)
            if not home.is_dir():
                raise ProgramNotFoundError(f"The folder {home} for HOME does not exist.", "Name another with `--home`.")
            copy_folder(home, Path(environment["HOME"]), most_bytes=MOST_BYTES, most_files=MOST_FILES)
        folder = Path(program.directory)
        if program.here or not folder.is_dir():
            return Command(program.command, folder, environment)
        target = self._display.folder.path / "work"
        remove_tree(target)
        self.copy = copy_folder(folder, target, most_bytes=MOST_BYTES, most_files=MOST_FILES)
        self._display.connection.original_path = self.copy.told
        arguments = tuple(self.copy.argument(argument) for argument in program.command)
        # The folder for temporary files may lie in the working folder; what was made there is not in the copy.
        own = str(self._display.folder.path)
        ours = {name: value for name, value in environment.items() if value.startswith(own)}
        return Command(arguments, target, {**self.copy.environment(environment), **ours})

    @property
    def output(self) -> str:
        """What it has written so far (at most the last megabyte)."""
        with contextlib.suppress(OSError), self._output.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _MOST_OUTPUT_BYTES, 0))
            return file.read().decode(errors="replace")
        return ""

    def ending(self) -> Ending | None:
        """How it ended; None while it runs and nothing is wrong with it. Cheap: to be asked often."""
        if self._ending is None:
            status = self._tracer.poll()
            if status is not None and not self._follows_children(status):
                self._ending = self._of_status(status)
            elif self._has_written():
                self._ending = failure_signature.exception_in(self.output)
        return self._ending

    def over(self) -> bool:
        """Whether there is an ending."""
        return self.ending() is not None

    def look_at_windows(self) -> Ending | None:
        """Look whether a window reports an error; to be asked when windows have appeared."""
        found: list[Window] = []
        for window in top_windows(self._display.connection):
            with contextlib.suppress(*self._display.connection.bad_resource):
                self.has_had_window = True
                seen = describe(self._display.connection, window)
                found.append(seen)
                if seen.title in ERROR_TITLES and self._ending is None:
                    picture = fingerprint(self._display.connection, seen.area)
                    self._ending = failure_signature.of_dialog(seen.title, picture, self.output)
        self.windows = tuple(found)
        return self._ending

    def hangs(self, seconds: float) -> Ending:
        """It does not answer: that is its ending."""
        self._ending = failure_signature.of_hang(seconds, self.output)
        return self._ending

    def wait_for_end(self, limit_s: float) -> Ending | None:
        """Wait until it has ended, or the limit comes."""
        until = time.monotonic() + limit_s
        while (ending := self.ending()) is None and time.monotonic() < until:
            time.sleep(0.002)
        return ending

    def close(self) -> None:
        """End it, with everything that it started."""
        kill_group(self._process)
        until = time.monotonic() + _END_LIMIT_S
        while time.monotonic() < until:
            left = self._others()
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            ended = self._tracer.poll() is not None
            if ended and not left:
                break
            time.sleep(0.001)
        self._process.returncode = self._process.returncode if self._process.returncode is not None else -signal.SIGKILL
        LIVE.remove(self._process)

    def _others(self) -> list[int]:
        """All processes on the display but the display's own."""
        ours = {process.pid for process in (self._display.manager, self._display.server) if process is not None}
        home = f"HOME={self._display.environment['HOME']}"
        return [process for process in with_variable(home) if process not in ours]

    def _follows_children(self, status: int) -> bool:
        """Whether the program went on in another process, before it had a window."""
        if self._forked_away:
            return bool(self.tree.members())
        if self.has_had_window or not os.WIFEXITED(status) or os.WEXITSTATUS(status) != 0:
            return False
        for process in self._others():
            self.tree.adopt(process)
            with contextlib.suppress(OSError):
                os.waitpid(process, os.WNOHANG)  # where it has become our child
        self._forked_away = bool(self.tree.members())
        return self._forked_away

    def _has_written(self) -> bool:
        try:
            size = self._output.stat().st_size
        except OSError:
            return False
        changed, self._seen_bytes = size != self._seen_bytes, size
        return changed

    def _of_status(self, status: int) -> Ending:
        crash = self._tracer.crash
        if os.WIFSIGNALED(status) or crash is not None:
            number = crash.signal if crash is not None else os.WTERMSIG(status)
            frames = (crash.backtrace or crash.frames) if crash is not None else ()
            ending = failure_signature.of_signal(number, crash.place if crash is not None else "", frames, self.output)
        else:
            ending = failure_signature.of_exit(os.WEXITSTATUS(status), self.output)
        if not self._display.alive and ending.failed:
            # Its display went first.
            return Ending(EndingKind.EXIT, "lost its display", "", ending.status, ending.signal)
        return ending
