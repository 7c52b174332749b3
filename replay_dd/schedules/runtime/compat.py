"""What differs between interpreters: which are known, what each of them has, and its instructions.

Rules of this module:

* Nobody else asks for the version of the interpreter or tries whether it has something private. Others ask for a fact
  of this module; its name says what holds, not since when.
* It is the first thing that is loaded into a target, by whatever Python 3 that has. So it must run in old ones, down
  to 3.6, and nothing is imported that costs time.
* What is not known is a yield point. A yield point too many costs time; one too few hides failures.
"""

import sys
from opcode import HAVE_ARGUMENT as HAVE_ARGUMENT  # used by others
from opcode import cmp_op as cmp_op  # likewise
from opcode import hasjrel, opmap, opname

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

# -- which interpreters ----------------------------------------------------------------------------------------------

# The test suite passes under these. tools/test_all_pythons.py and the classifiers in pyproject.toml name the same.
TESTED = ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
# And under these where they are built without the GIL.
TESTED_WITHOUT_GIL = ((3, 13), (3, 14))
VERSION = tuple(sys.version_info[:3])
# Built without the GIL. Such an interpreter can be told to have one (PYTHON_GIL=1), and is the same otherwise.
FREE_THREADED = "t" in getattr(sys, "abiflags", "")
NAME = "{}.{}".format(*VERSION) + ("t" if FREE_THREADED else "")
FULL_NAME = "{}.{}.{}".format(*VERSION) + ("t" if FREE_THREADED else "")
TESTED_NAMES = ["{}.{}".format(*version) for version in TESTED]

_MINOR = VERSION[:2]


# What is to be said of an interpreter that was not tested; empty of one that was.
UNTESTED = ""
if _MINOR not in TESTED or (FREE_THREADED and _MINOR not in TESTED_WITHOUT_GIL):
    _TESTED = TESTED_NAMES + (["{}.{}t".format(*version) for version in TESTED_WITHOUT_GIL] if FREE_THREADED else [])
    UNTESTED = f"Python {NAME} was not tested with this version of replay-dd (tested: {', '.join(_TESTED)})"


def why_not_controlled() -> str:
    """Why programs of this interpreter cannot be controlled; empty if they can."""
    if min(TESTED) > _MINOR:
        return f"Python {NAME}, too old: replay-dd controls programs of Python {TESTED_NAMES[0]} and newer"
    return ""


# -- what is on or off -----------------------------------------------------------------------------------------------

# sys.monitoring tells of instructions; before, only a trace function does.
HAS_MONITORING = _MINOR >= (3, 12)
# The event of an instruction with EXTENDED_ARG comes at the first prefix; later it comes at the instruction itself.
EVENT_AT_PREFIX = not HAS_MONITORING
# Who raises an exception in C makes the object at once. Before, only what catches or traces it does, and `sys.exit(3)`
# that nobody catches remains a type and a number.
EXCEPTIONS_ARE_OBJECTS = HAS_MONITORING
# What a callback of sys.monitoring answers to switch its place off.
DISABLE = getattr(getattr(sys, "monitoring", None), "DISABLE", None)
# _thread has start_joinable_thread, _ThreadHandle, _shutdown and the type `lock`. Before, a thread is joined through
# the lock that _set_sentinel makes, and `threading.Lock` is a function and not that type.
HAS_JOINABLE_THREADS = _MINOR >= (3, 13)
# RLock has `locked`, which `threading.Condition` takes over.
RLOCK_HAS_LOCKED = _MINOR >= (3, 14)
RLOCK_TAKES_NOTHING = _MINOR >= (3, 15)
# What threads that were started without `threading` say of an exception names their function in the message.
UNRAISABLE_NAMES_FUNCTION = _MINOR >= (3, 13)
NEGATIVE_TIMEOUT = "timeout value must be " + ("a non-negative number" if _MINOR >= (3, 13) else "positive")
LONG_TIMEOUT = "timestamp out of range for " + ("C PyTime_t" if _MINOR >= (3, 14) else "platform time_t")

# -- private names ---------------------------------------------------------------------------------------------------

# What the runtime reads or replaces, by module: name to the versions that have it, from the first to the last.
_ALWAYS, _UNTIL_3_12, _SINCE_3_13 = ((3, 0), (9, 0)), ((3, 0), (3, 12)), ((3, 13), (9, 0))
PRIVATE_NAMES = {
    "sys": {"_getframe": _ALWAYS, "_current_frames": _ALWAYS},
    "_frozen_importlib": {"_find_and_load": _ALWAYS},
    "_imp": {"acquire_lock": _ALWAYS, "release_lock": _ALWAYS, "lock_held": _ALWAYS},
    "_thread": {
        "RLock": _ALWAYS,
        "LockType": _ALWAYS,
        "_set_sentinel": _UNTIL_3_12,
        "lock": _SINCE_3_13,
        "start_joinable_thread": _SINCE_3_13,
        "_ThreadHandle": _SINCE_3_13,
        "_shutdown": _SINCE_3_13,
    },
    "threading": {
        "_active_limbo_lock": _ALWAYS,
        "_dangling": _ALWAYS,
        "_shutdown_locks_lock": _UNTIL_3_12,
        "_make_invoke_excepthook": _ALWAYS,
        "Thread._bootstrap": _ALWAYS,
    },
    "_queue": {"SimpleQueue": _ALWAYS, "Empty": _ALWAYS},
    "_posixsubprocess": {"fork_exec": _ALWAYS},
    "concurrent.futures._base": {"_AcquireFutures": _ALWAYS},
    "multiprocessing.synchronize": {"SemLock._rand": _ALWAYS, "SemLock._make_methods": _ALWAYS},
    "multiprocessing.shared_memory": {
        "_make_filename": _ALWAYS,
        "_SHM_NAME_PREFIX": _ALWAYS,
        "_SHM_SAFE_NAME_LENGTH": _ALWAYS,
    },
    "multiprocessing.resource_tracker": {"ResourceTracker._send": _ALWAYS, "_resource_tracker": _ALWAYS},
    "random": {"_inst": _ALWAYS, "_urandom": _ALWAYS},
    "ctypes": {"_dlopen": _ALWAYS},
    "uuid": {"_generate_time_safe": _ALWAYS},
    "socket": {"_socket": _ALWAYS, "socket._accept": _ALWAYS},
    "ssl": {"SSLContext._wrap_socket": _ALWAYS, "_ssl": _ALWAYS},
}


class _Example:
    def method(self):
        # type: () -> None
        pass


def has_private(module: str, name: str) -> bool:
    """Whether this interpreter has a private name, by the table."""
    first, last = PRIVATE_NAMES[module][name]
    return first <= _MINOR <= last


def uncontended_locks() -> "list[str]":
    """The locks of `threading` that guard its own lists."""
    names = ("_active_limbo_lock", "_shutdown_locks_lock")
    return [name for name in names if has_private("threading", name)]


CONDITION_LOCK = "_lock"  # the attribute of a `threading.Condition` that is its lock
_METHOD = type(_Example().method)  # type: Any
_FUNCTION = type(_Example.method)  # type: Any


def is_being_imported(spec: "Any") -> bool:
    """Whether the module with this `__spec__` is not complete yet."""
    return bool(getattr(spec, "_initializing", False))


def start_event_of(function: "Any") -> "Any":
    """What a `threading.Thread` whose bootstrap this is sets when it is up; None for any other function."""
    # Asking any other object for its name might run code of the program.
    if type(function) is not _METHOD or type(function.__func__) is not _FUNCTION:
        return None
    if function.__func__.__name__ != "_bootstrap" or function.__func__.__module__ != "threading":
        return None
    return object.__getattribute__(function.__self__, "_started")


# -- instructions ----------------------------------------------------------------------------------------------------

_PRIVATE = sys.modules["opcode"]
_BINARY_OP, _CALL, _LOAD_SPECIAL = opmap.get("BINARY_OP", -1), opmap.get("CALL", -1), opmap.get("LOAD_SPECIAL", -1)
# Two instructions of which the argument tells what they do have numbers of their own here, and the names that they have
# before 3.14: BINARY_OP that reads an item, and CALL of the method __enter__ that has just been loaded.
_READS_ITEM_NUMBER, _ENTERS_NUMBER = 256, 257
_READS_ITEM = {name: number for number, (name, _) in enumerate(getattr(_PRIVATE, "_nb_ops", ()))}.get("NB_SUBSCR")
_SPECIAL_METHODS = {name: number for number, name in enumerate(getattr(_PRIVATE, "_special_method_names", ()))}
_ENTER = _SPECIAL_METHODS.get("__enter__")
_COMMON_CONSTANTS = tuple(getattr(_PRIVATE, "_common_constants", ()))
AMBIGUOUS = frozenset(
    number for number, argument in ((_BINARY_OP, _READS_ITEM), (_CALL, _ENTER)) if argument is not None
)


def operation_at(units: bytes, offset: int) -> int:
    """The number that an instruction has here, which may be another one for those of :data:`AMBIGUOUS`.

    Args:
        units: the bytecode.
        offset: of the instruction in bytes, after its prefixes.
    """
    operation = units[offset]
    if operation not in AMBIGUOUS:
        return operation
    argument = units[offset + 1]
    if operation == _BINARY_OP:
        return _READS_ITEM_NUMBER if argument == _READS_ITEM else operation
    enters = argument == 0 and offset >= 2 and units[offset - 2] == _LOAD_SPECIAL and units[offset - 1] == _ENTER
    return _ENTERS_NUMBER if enters else operation


def number_of_interpreter(operation: int) -> int:
    """The number that the interpreter itself has for an instruction."""
    return {_READS_ITEM_NUMBER: _BINARY_OP, _ENTERS_NUMBER: _CALL}.get(operation, operation)


def constant_of(name: str, argument: int, constants: "tuple[Any, ...]") -> "Any":
    """What an instruction of :data:`CONSTANT_LOADS` loads.

    Args:
        name: of the instruction.
        argument: of the instruction.
        constants: of its code object.
    """
    if name == "LOAD_SMALL_INT":
        return argument
    return (_COMMON_CONSTANTS if name == "LOAD_COMMON_CONSTANT" else constants)[argument]


def _names(text: str) -> "frozenset[str]":
    return frozenset(text.split())


CALLS = frozenset(["CALL", "CALL_KW", "CALL_FUNCTION_EX"])
# What touches state that other threads may see, by name: what it does. Interpreters name the same access differently.
KINDS = {
    "CALL": "call",
    "CALL_KW": "call",
    "CALL_FUNCTION_EX": "call",
    "PRECALL": "call",  # also in QUIET: the yield point stands at CALL
    "BEFORE_WITH": "BEFORE_WITH",
    "LOAD_ATTR": "attribute",
    "LOAD_METHOD": "attribute",
    "LOAD_SUPER_ATTR": "attribute",
    "STORE_ATTR": "STORE_ATTR",
    "DELETE_ATTR": "DELETE_ATTR",
    "LOAD_GLOBAL": "name",
    "LOAD_NAME": "name",
    "LOAD_FROM_DICT_OR_GLOBALS": "name",
    "STORE_GLOBAL": "set name",
    "STORE_NAME": "set name",
    "DELETE_GLOBAL": "DELETE_GLOBAL",
    "DELETE_NAME": "DELETE_NAME",
    "LOAD_DEREF": "cell",
    "LOAD_CLASSDEREF": "cell",
    "LOAD_FROM_DICT_OR_DEREF": "cell",
    "STORE_DEREF": "STORE_DEREF",
    "DELETE_DEREF": "DELETE_DEREF",
    "BINARY_SUBSCR": "item",
    "BINARY_SLICE": "item",
    "STORE_SUBSCR": "set item",
    "STORE_SLICE": "set item",
    "DELETE_SUBSCR": "DELETE_SUBSCR",
    "CONTAINS_OP": "CONTAINS_OP",
    "FOR_ITER": "FOR_ITER",
}
# Known to be no yield points: they touch only what one thread has, or objects in a way that is not looked at (the
# operands of arithmetic, what is unpacked). Whatever stands neither above nor here is a yield point.
QUIET = _names(
    # the stack, locals, constants, jumps
    "CACHE COPY EXTENDED_ARG NOP NOT_TAKEN POP_ITER POP_TOP PUSH_NULL RESERVED SWAP "
    "COPY_FREE_VARS DELETE_FAST LOAD_CLOSURE LOAD_FAST LOAD_FAST_AND_CLEAR LOAD_FAST_BORROW "
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_LOCALS MAKE_CELL STORE_FAST "
    "STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST "
    "KW_NAMES LOAD_ASSERTION_ERROR LOAD_BUILD_CLASS LOAD_COMMON_CONSTANT LOAD_CONST LOAD_SMALL_INT "
    "JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP "
    "POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_TRUE "
    "POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_FORWARD_IF_TRUE "
    "POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_IF_TRUE "
    # values are computed and made
    "BINARY_OP COMPARE_OP IS_OP TO_BOOL UNARY_INVERT UNARY_NEGATIVE UNARY_NOT UNARY_POSITIVE "
    "BUILD_CONST_KEY_MAP BUILD_INTERPOLATION BUILD_LIST BUILD_MAP BUILD_SET BUILD_SLICE BUILD_STRING BUILD_TEMPLATE "
    "BUILD_TUPLE CONVERT_VALUE DICT_MERGE DICT_UPDATE FORMAT_SIMPLE FORMAT_VALUE FORMAT_WITH_SPEC GET_LEN LIST_APPEND "
    "LIST_EXTEND LIST_TO_TUPLE MAKE_FUNCTION MAP_ADD PRINT_EXPR SET_ADD SET_FUNCTION_ATTRIBUTE SET_UPDATE "
    "UNPACK_EX UNPACK_SEQUENCE MATCH_CLASS MATCH_KEYS MATCH_MAPPING MATCH_SEQUENCE SETUP_ANNOTATIONS "
    "CALL_INTRINSIC_1 CALL_INTRINSIC_2 PRECALL "
    # functions, iterators, coroutines; special methods are read from types
    "ASYNC_GEN_WRAP BEFORE_ASYNC_WITH CLEANUP_THROW END_ASYNC_FOR END_FOR END_SEND EXIT_INIT_CHECK GET_AITER "
    "GET_ANEXT GET_AWAITABLE GET_ITER GET_YIELD_FROM_ITER INTERPRETER_EXIT LOAD_SPECIAL RESUME RETURN_CONST "
    "RETURN_GENERATOR RETURN_VALUE SEND YIELD_VALUE ENTER_EXECUTOR TRACE_RECORD "
    # exceptions and imports
    "CHECK_EG_MATCH CHECK_EXC_MATCH POP_EXCEPT PREP_RERAISE_STAR PUSH_EXC_INFO RAISE_VARARGS RERAISE "
    "WITH_EXCEPT_START IMPORT_FROM IMPORT_NAME IMPORT_STAR"
)
# What later versions do like an instruction that was there before.
_EARLIER_NAMES = {
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "LOAD_FAST_LOAD_FAST",
}


def unclassified() -> "list[str]":
    """The instructions of this interpreter that are not classified here; of a tested one, none.

    Those that stand only between the passes of the compiler, or where monitoring has put them, are left out: nobody
    who asks for bytecode sees them.
    """
    known = set(KINDS) | QUIET
    return sorted(
        name
        for name, number in opmap.items()
        if name not in known and number < 256 and not name.startswith("INSTRUMENTED_")
    )


_CACHES = getattr(_PRIVATE, "_inline_cache_entries", {})  # by name since 3.13, before by number
if isinstance(_CACHES, list):
    _CACHES = {name: _CACHES[number] for number, name in enumerate(opname[:256])}
# Bytes of each instruction, with its cache.
SIZES = [2 + 2 * _CACHES.get(name, 0) for name in opname[:256]]
# The name of each number.
NAMES = [_EARLIER_NAMES.get(name, name) for name in opname[:256]] + ["BINARY_SUBSCR", "BEFORE_WITH"]
UNKNOWN = frozenset(number for number, name in enumerate(opname[:256]) if name not in KINDS and name not in QUIET)
ACCESSES = UNKNOWN | frozenset(number for number, name in enumerate(NAMES) if name in KINDS and name not in QUIET)
CACHE, EXTENDED_ARG, RESUME, YIELD, RETURN = (
    opmap.get(name, -1) for name in ("CACHE", "EXTENDED_ARG", "RESUME", "YIELD_VALUE", "RETURN_VALUE")
)
# RESUME looks too, but not where a generator resumes within `yield from` or `await`: the lowest bits of its argument.
RESUME_LOOKS_BELOW, RESUME_BITS = 2, (7 if _MINOR >= (3, 15) else 3)
# CALL_FUNCTION_EX runs a function in Python without leaving the interpreter loop, and so does not look afterwards.
STAR_CALLS_STAY = _MINOR >= (3, 12)
# So does CALL of a class whose __init__ is in Python, once the instruction is specialised.
CLASS_CALLS_STAY = _MINOR >= (3, 13)
# So does `list.append`, then; before, only where nobody uses what it gives.
USED_APPENDS_STAY = _MINOR >= (3, 15)
# Where the interpreter looks whether another thread wants to run: after calls of functions in C, after jumps backwards
# (but for JUMP_BACKWARD_NO_INTERRUPT), and at RESUME.
CHECKS_AFTER_CALL = frozenset([opmap[name] for name in CALLS if name in opmap] + [_ENTERS_NUMBER])
CHECKED_JUMPS = frozenset(
    number for name, number in opmap.items() if name == "JUMP_BACKWARD" or name.startswith("POP_JUMP_BACKWARD")
)
JUMPS = frozenset(number for number in hasjrel if number < 256)  # the others stand only inside of the compiler
# What follows one of these in the bytecode does not come after it.
LEAVES = frozenset(
    opmap.get(name, -1)
    for name in _names(
        "JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT RETURN_VALUE RETURN_CONST RAISE_VARARGS RERAISE"
    )
)
# After these comes never what stands behind them.
UNCONDITIONAL = _names(
    "INTERPRETER_EXIT JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT JUMP_FORWARD RAISE_VARARGS RERAISE RETURN_CONST "
    "RETURN_VALUE"
)
# What asks an object whether it is true.
TRUTH_TESTS = frozenset(
    ["TO_BOOL"]
    if "TO_BOOL" in opmap
    else [name for name in opmap if name == "UNARY_NOT" or name.endswith(("IF_TRUE", "IF_FALSE"))]
    + ["JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"]
)
BACKWARD_JUMPS = frozenset(number for name, number in opmap.items() if "BACKWARD" in name)

# -- what instructions do to the stack -------------------------------------------------------------------------------

# Where COMPARE_OP has the comparison in its argument, above flags.
COMPARE_SHIFT = 5 if _MINOR >= (3, 13) else 4 if _MINOR >= (3, 12) else 0
# LOAD_ATTR has a flag in its lowest bit, and loads methods, too.
ATTR_HAS_METHOD_BIT = _MINOR >= (3, 12)
# Where LOAD_GLOBAL loads what will be called: whether the place that CALL needs is above the callable, or below.
NULL_ABOVE_GLOBAL = _MINOR >= (3, 13)
PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
LOCAL_LOADS = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_CLOSURE")
# CALL_FUNCTION_EX says in its argument whether there are keywords; later there always are, or NULL in their place.
STAR_CALL_HAS_FLAG = _MINOR < (3, 14)
CONSTANT_LOADS = ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT")
# What entering a context takes from the stack (the manager, or its method and the manager) and puts there.
ENTER_EFFECT = (1, 2) if _ENTER is None else (2, 1)
# An iterator may have two places on the stack, so that a sequence is iterated without an object for it.
ITERATOR_PLACES = 2 if _MINOR >= (3, 15) else 1
# What they take from the stack and put there, where it is always the same and their argument says nothing.
EFFECTS = {
    "LOAD_CONST": (0, 1),
    "LOAD_SMALL_INT": (0, 1),
    "LOAD_COMMON_CONSTANT": (0, 1),
    "PUSH_NULL": (0, 1),
    "LOAD_FAST_AND_CLEAR": (0, 1),
    "POP_TOP": (1, 0),
    "STORE_FAST": (1, 0),
    "STORE_DEREF": (1, 0),
    "STORE_GLOBAL": (1, 0),
    "STORE_NAME": (1, 0),
    "BINARY_OP": (2, 1),
    "COMPARE_OP": (2, 1),
    "IS_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "BINARY_SUBSCR": (2, 1),
    "UNARY_NOT": (1, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "TO_BOOL": (1, 1),
    "GET_ITER": (1, ITERATOR_PLACES),
    "POP_ITER": (ITERATOR_PLACES, 0),
    "LOAD_SPECIAL": (1, 2),
    "NOP": (0, 0),
    "NOT_TAKEN": (0, 0),
    "RESUME": (0, 0),
    "PRECALL": (0, 0),
    "KW_NAMES": (0, 0),
    "CACHE": (0, 0),
    "SETUP_ANNOTATIONS": (0, 0),
    "STORE_ATTR": (2, 0),
    "DELETE_SUBSCR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "STORE_SUBSCR": (3, 0),
    "BINARY_SLICE": (3, 1),
    "STORE_SLICE": (4, 0),
    "BEFORE_WITH": ENTER_EFFECT,
}
# What gives the filters of the module `warnings` where they depend on the context, and the attribute of a
# `threading.Thread` that is the context of its `run`, once it has started.
FILTERS_OF_CONTEXT, CONTEXT_OF_THREAD = "_get_filters", "_context"
