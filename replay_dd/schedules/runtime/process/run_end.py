"""How a run ends, and what the tool learns about it: exceptions, exit, deadlock."""

from __future__ import annotations

import _thread
import os
import sys

from ..accelerator.library_entropy import library_that_drew
from ..baton.garbage import give_back
from ..channel import DEADLOCK, END, EXCEPTION, EXIT, NOTE, STOPPED
from ..observing import flush, full_type_name, is_a, message_of
from ..points.frames import RUNTIME
from ..points.places import COUNTED
from ..stdlib.deadlock_text import explain
from .copies import tell_pages
from .exit_watch import ExitWatch, in_words, kept_of, told_of
from .expected_exceptions import pytest_ignores_exceptions
from .fast_exit import leave_at_once, leave_to_the_system
from .stacks import TOLD, answer, is_asked

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Any

    from ..backends.base import Backend
    from ..baton.scheduler import Scheduler
    from ..channel import Channel
    from ..hangs.history import History
    from ..stdlib.process_number import ProcessNumber

_stat = os.stat  # before the program may replace it

DEADLOCK_STATUS = 125
_FOLDER_LINKS = 2  # of any folder; that of its threads has one more for each, which to list them takes longer to tell
_LONGEST_TEXT = 2000  # of an exception
_LAST_POINTS = 4000  # yield points told after that: enough to see a loop come round
_BEFORE_RUN = "Thread._bootstrap"  # below the frames of every thread's own work


class RunEnd:
    """Writes the last records of a run.

    Args:
        channel: to the tool.
        number: of this process.
    """

    def __init__(self, channel: Channel, number: ProcessNumber) -> None:
        self._channel = channel
        self._number = number
        self._is_copy = False
        self._at_end_without_threads: Callable[[], None] | None = None
        self._failed_test: tuple[Any, ...] | None = None
        self._real_exit: Callable[[int], Any] = os._exit
        self.exits = ExitWatch(self._frames_of)
        self.history: History | None = None
        self._hangs = False
        self.scheduler: Scheduler
        self.backend: Backend

    def is_own_process(self) -> bool:
        """Whether this is the process whose run it is, not one that the program forked."""
        return self._number.is_own()

    def exception(self, where: str, error_type: Any, error: Any, trace: TracebackType | None) -> None:
        """An exception that nobody caught."""
        self._channel.send(EXCEPTION, where, *self._told(error_type, error, trace))

    def _told(self, error_type: Any, error: Any, trace: TracebackType | None) -> tuple[Any, ...]:
        text = message_of(error)
        told = None if text is None else text[:_LONGEST_TEXT]
        return full_type_name(error_type), told, self._frames_of(trace)

    def _frames_of(self, trace: TracebackType | None) -> tuple[tuple[str, str, int, str, bool], ...]:
        """(short file, file, line, function, counted) of the frames of a traceback, the innermost last."""
        places = self.scheduler.places
        frames = []
        while trace is not None:
            code = trace.tb_frame.f_code
            counted = places.kind(code.co_filename) == COUNTED
            frames.append(
                (places.short(code.co_filename), code.co_filename, trace.tb_lineno, code.co_qualname, counted)
            )
            trace = trace.tb_next
        return tuple(frames[-50:])

    def exception_in_thread(self, error_type: Any, error: Any, trace: TracebackType | None) -> None:
        """An exception that a thread did not catch."""
        self.exception(self.scheduler.present().name, error_type, error, trace)

    def adapt_threading(self, module: Any) -> None:
        """Report the exceptions that ``threading.Thread`` hands to ``threading.excepthook``."""
        make = module._make_invoke_excepthook

        def _make_invoke_excepthook() -> Callable[[Any], None]:
            invoke = make()

            def invoke_excepthook(thread: Any) -> None:
                error_type, error, trace = sys.exc_info()
                if error_type is SystemExit:
                    self._tell_exit_of_thread(error, trace)
                elif not pytest_ignores_exceptions(thread):
                    self.exception_in_thread(error_type, error, trace)
                invoke(thread)

            return invoke_excepthook

        module._make_invoke_excepthook = _make_invoke_excepthook

    def _tell_exit_of_thread(self, error: Any, trace: TracebackType | None) -> None:
        """Who calls ``sys.exit("message")`` in a thread may think that it ends the program; nobody sees the message."""
        message = told_of(error)
        if not message:
            return
        frames = [frame for frame in self._frames_of(trace) if frame[4]]
        where = f" ({frames[-1][0]}:{frames[-1][2]} in {frames[-1][3]})" if frames else ""
        text = f"a SystemExit ended thread {self.scheduler.present().name}, and not the program{where}: {message}"
        self._channel.send(NOTE, "exit of a thread", text[:_LONGEST_TEXT])

    def adapt_results(self, tests: type) -> None:
        """Note the exceptions that ``unittest`` hands to those who collect the results of tests."""
        for name in ("addFailure", "addError", "addSubTest"):
            if hasattr(tests, name):
                setattr(tests, name, self._noting(getattr(tests, name)))

    def _noting(self, real: Callable[..., None]) -> Callable[..., None]:
        def add(result: Any, test: Any, *rest: Any) -> None:
            error = rest[-1]  # after the part of the test, if it is one of a part
            if isinstance(error, tuple) and len(error) == 3:
                self._failed_test = self._told(*error)
            real(result, test, *rest)

        add.__name__, add.__qualname__, add.__wrapped__ = real.__name__, real.__qualname__, real  # type: ignore[attr-defined]
        return add

    def adapt_reports(self, module: Any) -> None:
        """Note the exceptions that pytest reports, also those of parts of a test (``_pytest.runner``)."""
        real = module.pytest_runtest_makereport

        def pytest_runtest_makereport(item: Any, call: Any) -> Any:
            report = real(item, call)
            if report.outcome == "failed" and call.excinfo is not None:
                self._failed_test = self._told(call.excinfo.type, call.excinfo.value, call.excinfo.tb)
            return report

        module.pytest_runtest_makereport = pytest_runtest_makereport

    def at_exit(self) -> None:
        """The interpreter ends: called after all that the program does at exit."""
        if not self.is_own_process() or self.scheduler.over:
            return
        if self._at_end_without_threads is not None:
            self._at_end_without_threads()
        seen = self.exits.sees_all()
        self.backend.end()
        error = getattr(sys, "last_value", None)
        if error is not None and not is_a(error, SystemExit):
            self.exception("main", type(error), error, getattr(sys, "last_traceback", None))
        elif self._failed_test is not None:
            self._channel.send(EXCEPTION, "main", *self._failed_test)
        self._tell_exit()
        self._end()
        give_back()
        # Finalization would cost a copy more than its whole run. Only a program with outside effects may need it, to
        # flush what is left in file buffers.
        if self._is_copy:
            tell_pages(self._channel.send)
            if not self.scheduler.has_effects and leave_at_once(self.exits, seen):
                leave_to_the_system()

    def _tell_exit(self) -> None:
        told, number = self.exits.told, self.exits.number
        if told is not None:
            name, message, frames = told
            self._channel.send(EXIT, "main", name, message[:_LONGEST_TEXT], frames)
        if number is not None:
            self._tell_number(number)

    def _tell_number(self, number: int) -> None:
        kept = kept_of(number)
        if kept != number:
            text = f"the program exits with the number {in_words(number)}, and the system keeps its last 8 bits: {kept}"
            self._channel.send(NOTE, "exit number", text)

    def _end(self) -> None:
        scheduler = self.scheduler
        scheduler.moments.at_end()
        if scheduler.executed is not None:
            scheduler.executed.end()
        scheduler.over = True
        if self.history is not None and not self._hangs:
            self._tell_hang("")
        self._tell_uncontrolled()
        self._tell_repeated_keys()
        self._tell_replaced_threads()
        for name in scheduler.places.unknown_packages():
            text = f"--trace-include or --trace-exclude {name}: the run met no such module, and none can be found"
            self._channel.send(NOTE, "package", text)
        if scheduler.least_asleep_ns:
            self._channel.send(NOTE, "asleep", str(scheduler.least_asleep_ns))
        files = tuple(scheduler.places.counted_files())
        self._channel.send(END, scheduler.global_time(), scheduler.counter.digest, tuple(scheduler.times()), files)

    def _tell_uncontrolled(self) -> None:
        """Tell of libraries that have threads of their own."""
        alive = [thread.ident for thread in self.scheduler.threads]
        try:
            if _FOLDER_LINKS < _stat("/proc/self/task").st_nlink <= _FOLDER_LINKS + max(1, len(alive)):
                return
        except OSError:
            return
        from .native_threads import uncontrolled_libraries  # only now: few programs need it

        clock = "" if self.scheduler.moments.real_time else ", on the real clock"
        for name in uncontrolled_libraries(set(alive), self.scheduler.moments.pause):
            self._channel.send(NOTE, "native", f"threads of {name} ran outside replay-dd's control{clock}")

    def _tell_replaced_threads(self) -> None:
        """Tell of a library, such as gevent, that makes something else where the program starts threads."""
        if len(self.scheduler.known) > 1:
            return  # what stands there starts threads all the same, as a debugger does
        package = str(getattr(_thread.start_new_thread, "__module__", "")).partition(".")[0]
        if package not in ("", "_thread", __name__.partition(".")[0]):
            text = f"{package} puts tasks of its own in the place of threads, and replay-dd does not switch those"
            self._channel.send(NOTE, "replaced", text)

    def _tell_repeated_keys(self) -> None:
        path = library_that_drew()
        if path:
            library = path.rpartition("/site-packages/")[2].partition("/")[0] if "/site-packages/" in path else path
            self._channel.send(
                NOTE,
                "keys",
                f"{library} drew random numbers from a key in the log: keep no keys that this run made, or use "
                "`--real-entropy`",
            )

    def without_threads(self, hang_up: Callable[[], None]) -> None:
        """Call this function at the end of a program that starts no thread."""
        self._at_end_without_threads = hang_up

    def begins(self, *, is_copy: bool) -> None:
        """This process has been given a run, as a copy made by the fork server or as the server itself."""
        self._is_copy = is_copy
        self._at_end_without_threads = None

    def exit_now(self, status: int) -> None:
        """Stands in for ``os._exit``."""
        if self.is_own_process() and not self.scheduler.over:
            self._channel.send(NOTE, "os._exit", "the program called os._exit")
            thread = self.scheduler.present()
            where = "main" if thread is self.scheduler.main else thread.name
            self._channel.send(EXIT, where, "os._exit", "", tuple(reversed(self._frames(sys._getframe(1)))))
            if is_a(status, int):
                self._tell_number(int.__index__(status))
            self._end()
        self._real_exit(status)

    def deadlock(self) -> None:
        """All threads wait for each other: explain, and end the process."""
        self._end_hung("deadlock")

    def endless(self) -> None:
        """Some threads go round in a circle and the others wait: explain, and end the process."""
        self._end_hung("no progress")

    def _end_hung(self, why: str) -> None:
        scheduler = self.scheduler
        frames = sys._current_frames()
        if self.is_own_process():
            self._tell_hang(why)
        rows = []
        for thread in scheduler.threads:
            waiting = thread.waiting
            frame: FrameType | None = frames.get(thread.ident)
            explanation = "can run" if waiting is None else explain(waiting, frame)
            rows.append((thread.name, explanation, tuple(self._frames(frame))))
        if self.is_own_process():
            self._channel.send(DEADLOCK, tuple(rows))
            self._end()
        self._leave()

    def when_asked(self) -> None:
        """Called now and then while the program runs or waits: the tool may want to know, at the time limit."""
        if self._hangs or not self.is_own_process() or not is_asked():
            return
        self._tell_hang("time limit")
        self.scheduler.traced_left = _LAST_POINTS
        answer(TOLD)

    def stop(self) -> None:
        """This run cannot be the recorded one any more, and would wait for ever: end the process."""
        if self.is_own_process():
            self._channel.send(NOTE, STOPPED, "")
            self._end()
        self._leave()

    def _leave(self) -> None:
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                flush(stream)
            except Exception:
                pass
        self._real_exit(DEADLOCK_STATUS)

    def _tell_hang(self, why: str) -> None:
        """Tell what is known of a hang; that this could fail must not hide the deadlock itself."""
        self._hangs = bool(why)
        from ..hangs.telling import tell  # only now: few runs hang

        try:
            tell(self.scheduler, why, self.history)
        except Exception as error:
            self._channel.send(NOTE, "hang", f"the hang could not be told ({type(error).__name__}: {error})")

    def _frames(self, frame: FrameType | None) -> list[tuple[str, str, int, str, bool]]:
        """(short file, file, line, function, counted) of the counted frames, the innermost first.

        Where there are none, the others tell where the thread is.
        """
        places = self.scheduler.places
        found = []
        while frame is not None:
            code = frame.f_code
            file, function = code.co_filename, code.co_qualname
            if not file.startswith(RUNTIME) and not function.startswith(_BEFORE_RUN):
                found.append((places.short(file), file, frame.f_lineno, function, places.kind(file) == COUNTED))
            frame = frame.f_back
        return [told for told in found if told[4]] or found
