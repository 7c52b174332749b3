"""Reports every instruction that counted code executes, for explanations: not only the yield points.

Rules of this module:

* It only observes. The same yield points count, and the digest is that of any other run of the schedule; where it is
  not, the tool does not use the report.
* What was called is told by its type. No code of the program is run for that.
"""

from __future__ import annotations

from ..accelerator.own_memory import use_own
from ..channel import CALLED, EXECUTED
from ..compat import (
    ACCESSES,
    CHECKED_JUMPS,
    CHECKS_AFTER_CALL,
    CLASS_CALLS_STAY,
    NAMES,
    RESUME,
    RESUME_BITS,
    RESUME_LOOKS_BELOW,
    STAR_CALLS_STAY,
    USED_APPENDS_STAY,
)
from ..points.bytecode import instructions
from ..points.frames import RUNTIME
from ..points.place import Place

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

    # Which instruction it is (counted from 0), how it checks, whether it touches what other threads see.
    Known = tuple[int, str, bool]

# How an instruction looks whether another thread wants to run: just before it, as a function begins or resumes there;
# if it jumps back; when what it calls is over, depending on what that is; an operation during which others can run.
NOT, ENTRY, JUMP, CALL, STAR_CALL, LETS_RUN = "", "entry", "jump", "call", "star call", "operation"
# Whether it looks after a call: never; always; only as long as the instruction is not specialised; or not even when
# the function begins, as that is a generator, which begins later.
NEVER, ALWAYS, AT_FIRST, NOT_BEGUN = "never", "always", "at first", "not begun"
_BEGINS_LATER = 0x20 | 0x80 | 0x200  # flags of the code of generators, coroutines and asynchronous generators

_FunctionType, _MethodType = type(instructions), type(Place.mark.fget.__get__(0))  # type: ignore[attr-defined]
_BOUND_APPEND = list[object]().append
_APPEND = list.__dict__["append"]
_mro = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__


class ExecutedTrace:
    """Reports instructions to the tool.

    ``wants_callees`` says whether it is told what is called, too.

    Args:
        scheduler: knows who runs.
        first: the global time from which instructions are reported.
        most: how many of them.

    Attributes:
        begun: whether that time has come.
        over: whether that many have been reported.
        waits: whether the running thread has to wait for the operation that it is about to do.
    """

    wants_callees = True

    def __init__(self, scheduler: Scheduler, first: int, most: int) -> None:
        self._scheduler = scheduler
        self._first = first
        self._left = most
        self._known: dict[int, tuple[CodeType, dict[int, Known]]] = {}
        self._times: dict[str, int] = {}
        self.begun = first == 0
        self.over = False
        self.waits = False

    def begins(self) -> bool:
        """Whether the time has come from which instructions are reported; remembers it."""
        scheduler = self._scheduler
        if not self.begun and scheduler.global_time() >= self._first:
            self.begun = True
            self._times = {thread.name: thread.time for thread in scheduler.threads}
        return self.begun

    def instruction(self, code: CodeType, offset: int, frame: FrameType) -> None:
        """The running thread executes this instruction now."""
        if self.over:
            return
        before = use_own(True)
        scheduler = self._scheduler
        thread = scheduler.current
        counted = self._passed(thread)
        self.over = self._left <= 0
        if not self.over:
            self._left -= 1
            index, check, access = self._of(code).get(offset, (-1, NOT, False))
            number = scheduler.log.place_number(Place(code, offset))
            when = (thread.name, thread.time, scheduler.global_time())
            scheduler.send(EXECUTED, *when, number, id(frame), index, check, access, counted)
        use_own(before)

    def operation(self, thread: ManagedThread, caller: FrameType) -> None:
        """The running thread does an operation now; called in the runtime's turn.

        Args:
            thread: the running thread.
            caller: the function of the runtime that asked for the operation.
        """
        place, scheduler = thread.place, self._scheduler
        if not self.begins() or not self._passed(thread) or place is None or self._left <= 0:
            return
        self._left -= 1
        room, _, module = caller.f_globals["__name__"].rpartition(".")
        outside = room.endswith(".io") or module in ("audit_events", "time_functions", "signals")
        when = (thread.name, thread.time, scheduler.global_time())
        check = LETS_RUN if outside or self.waits else NOT
        scheduler.send(EXECUTED, *when, scheduler.log.place_number(place), 0, -1, check, True, True)

    def called(self, code: CodeType, offset: int, frame: FrameType, callee: object) -> None:
        """The instruction at this offset calls this."""
        before = use_own(True)
        if self._left > 0:
            self._scheduler.send(CALLED, self._scheduler.current.name, id(frame), _looks_after(code, offset, callee))
        use_own(before)

    def end(self) -> None:
        """The run ends."""

    def _passed(self, thread: ManagedThread) -> bool:
        """Whether the thread has passed a yield point since it was last asked for."""
        before, self._times[thread.name] = self._times.get(thread.name, 0), thread.time
        return thread.time > before

    def _of(self, code: CodeType) -> dict[int, Known]:
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = (code, _table(code))
        return known[1]


def _table(code: CodeType) -> dict[int, Known]:
    """What is known of each instruction, by its offset. RESUME itself is not always reported, but what follows is."""
    table: dict[int, Known] = {}
    resumed = False
    for index, (start, operation, argument, _) in enumerate(instructions(code)):
        check = _check_of(operation, argument)
        table[start] = (index, ENTRY if resumed and check == NOT else check, operation in ACCESSES)
        resumed = check == ENTRY
    return table


def _check_of(operation: int, argument: int) -> str:
    if operation == RESUME:
        return ENTRY if argument & RESUME_BITS < RESUME_LOOKS_BELOW else NOT
    if operation in CHECKED_JUMPS:
        return JUMP
    if operation in CHECKS_AFTER_CALL:
        return STAR_CALL if NAMES[operation] == "CALL_FUNCTION_EX" and not STAR_CALLS_STAY else CALL
    return NOT


def _looks_after(code: CodeType, offset: int, callee: Any) -> str:
    """Whether the interpreter looks after a call of this, which it does by what the instruction is specialised for.

    Seen in CPython's ``bytecodes.c`` (3.11: ``ceval.c``), and tried with real threads on 3.11 to 3.15.
    """
    listing = instructions(code)
    at = next((number for number, one in enumerate(listing) if one[0] == offset), -1)
    if at < 0:
        return ALWAYS
    name, argument = NAMES[listing[at][1]], listing[at][2]
    kind = type(callee)
    if kind is _MethodType:
        callee = callee.__func__
        kind = type(callee)
    if kind is _FunctionType:
        if callee.__code__.co_filename.startswith(RUNTIME):
            return ALWAYS  # what stands there otherwise is in C
        if callee.__code__.co_flags & _BEGINS_LATER:
            return NOT_BEGUN
        return ALWAYS if name == "CALL_FUNCTION_EX" and not STAR_CALLS_STAY else NEVER
    if name != "CALL":
        return ALWAYS
    if callee is len or callee is isinstance or (callee is type and argument == 1):
        return AT_FIRST
    if callee == _APPEND if kind is type(_APPEND) else kind is type(_BOUND_APPEND) and _appends(callee):
        following = NAMES[listing[at + 1][1]] if at + 1 < len(listing) else ""
        return AT_FIRST if USED_APPENDS_STAY or following == "POP_TOP" else ALWAYS
    return AT_FIRST if CLASS_CALLS_STAY and kind is type and _has_plain_init(callee) else ALWAYS


def _appends(callee: Any) -> bool:
    return callee.__name__ == "append" and type(callee.__self__) is list


def _has_plain_init(callee: type) -> bool:
    """Whether a class is created as usual and then initialized by a function in Python."""
    made = initialized = None
    for base in _mro(callee):
        names = _dict_of(base)
        made = names.get("__new__") if made is None else made
        initialized = names.get("__init__") if initialized is None else initialized
    return made is object.__dict__["__new__"] and type(initialized) is _FunctionType
