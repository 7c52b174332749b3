"""The life of a thread: it is created, comes up, runs when it has the baton, and ends."""

from __future__ import annotations

import _thread

from ..accelerator.library_entropy import seed_thread
from ..accelerator.own_memory import use_own
from ..observing import attribute, local_value
from .scheduler import Scheduler
from .strategy import Question, Strategy
from .thread import NEVER, ManagedThread

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

_ORIGIN = 24  # frames of the stack from which a thread was started
_TITLE = 60  # characters of its name


def create(parent: ManagedThread) -> ManagedThread:
    """A new thread, not running yet; ready as soon as it is added."""
    parent.children += 1
    child = ManagedThread((*parent.path, parent.children))
    child.due_ns = parent.due_ns
    return child


def note_origin(thread: ManagedThread, frame: FrameType | None) -> None:
    """Remember from where a thread is started, and what the program calls it."""
    before = use_own(True)
    _note_origin(thread, frame)  # what it has made and freed must not be found by the program
    use_own(before)


def _note_origin(thread: ManagedThread, frame: FrameType | None) -> None:
    lines: list[tuple[CodeType, int]] = []
    while frame is not None and len(lines) < _ORIGIN:
        if frame.f_code.co_qualname == "Thread.start":
            title = attribute(local_value(frame, "self"), "_name")
            thread.title = title[:_TITLE] if type(title) is str else ""
        lines.append((frame.f_code, frame.f_lineno or 0))
        frame = frame.f_back
    thread.origin = tuple(lines)


def add(scheduler: Scheduler, thread: ManagedThread) -> None:
    """Let a created thread take part in choices."""
    scheduler.threads.append(thread)
    scheduler.known[thread.name] = thread
    scheduler.threads.sort(key=lambda t: t.path)
    use_own(True)
    scheduler.strategy.created(scheduler, thread)
    use_own(False)


def run_until_up(scheduler: Scheduler, parent: ManagedThread, child: ManagedThread) -> None:
    """Let a new thread run up to the end of its own start, then come back."""
    scheduler.busy = True
    child.starter = parent
    child.ask_at = 0
    use_own(True)
    scheduler.switch_to(parent, child)
    use_own(False)


def come_up(scheduler: Scheduler) -> None:
    """A place where a new thread that has told that it is up gives the baton back to its creator."""
    thread = scheduler.current
    if thread.starting is not None and thread.starting() and thread.ident == _thread.get_ident():
        use_own(True)
        scheduler.choose_next(thread, None, forced=False)
        use_own(False)


def entered(scheduler: Scheduler, thread: ManagedThread) -> None:
    """Called by a new thread: waits for the baton for the first time."""
    scheduler.wait_for_baton(thread)
    seed_thread(thread.hash)
    thread.ident = thread.handle = _thread.get_ident()
    ask_now = thread.starter is not None
    scheduler.resumed(thread)
    if ask_now:
        thread.ask_at = 0
    elif scheduler.expect_stuck is not None:
        scheduler.expect_stuck(thread)
    use_own(False)


def ended(scheduler: Scheduler, thread: ManagedThread) -> None:
    """Called by a thread as its last act: gives the baton away for good."""
    if scheduler.over:
        return
    thread.ended = True
    scheduler.is_going(thread)
    thread.waiting = thread.deadline = None
    if scheduler.guard is not None:
        scheduler.guard.at_end(thread)
    if scheduler.counting:
        thread.place = None
        scheduler.pass_yield_point(thread)
    scheduler.busy = True
    use_own(True)
    _leave_to_others(scheduler, thread)
    use_own(False)  # what now goes with the thread is the program's
    scheduler.let_go(thread)


def _leave_to_others(scheduler: Scheduler, thread: ManagedThread) -> None:
    scheduler.remove(thread)
    starter = thread.starter
    if starter is not None:
        thread.starter = None
        scheduler.give(thread, starter)
        return
    ready, runnable = scheduler.who_can_run()
    default = scheduler.next_after(thread, ready or runnable)
    scheduler.hand_on(Question(thread, runnable, default, forced=True))


def start_anew(scheduler: Scheduler) -> None:
    """In the child of a fork: only the thread that forked is there, and it is the main one."""
    thread = scheduler.current
    thread.waiting = thread.deadline = thread.starter = None
    scheduler.main = thread
    scheduler.threads = [thread]
    scheduler.follow(Strategy())
    scheduler.guard = None
    scheduler.silence()
    scheduler.counting = False
    thread.ask_at = NEVER
