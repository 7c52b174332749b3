"""Which instructions of a code object are yield points, at each granularity.

``access``: every instruction that can touch state another thread sees: attribute, item, global, closure cell, name,
call, iteration, containment. Locals never count; but a generator counts as running where it yields, if it touched
nothing else since it was resumed: another thread may ask it for an item, too. ``__iter__`` counts where it returns:
``list(it)`` or ``x in it`` goes through what it has returned without any instruction. ``line``: the first instruction
of each line. ``gil``: only where this interpreter looks whether another thread wants to run. ``sync``: none; operations
on locks, queues, files and sleeps are yield points of their own, at every granularity.

A yield point is *before* its instruction. Which instruction is of which kind, and what differs between interpreters,
stands in ``compat.py``.
"""

from __future__ import annotations

from ..accelerator.own_memory import use_own
from ..compat import (
    ACCESSES,
    AMBIGUOUS,
    BACKWARD_JUMPS,
    CACHE,
    CHECKED_JUMPS,
    CHECKS_AFTER_CALL,
    EVENT_AT_PREFIX,
    EXTENDED_ARG,
    JUMPS,
    KINDS,
    LEAVES,
    NAMES,
    RESUME,
    RETURN,
    SIZES,
    UNKNOWN,
    YIELD,
    operation_at,
)

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    # Event offset in bytes, number (an index of compat.NAMES), argument, offset of what follows it.
    Instruction = tuple[int, int, int, int]

    _Known = dict[int, tuple[CodeType, tuple[Any, ...]]]  # by the identity of the code

_CO_GENERATOR = 0x20  # as in module `inspect`, which is slow to import
_GIVES_ITERATOR = "__iter__"
SYNC, GIL, LINE, ACCESS = "sync", "gil", "line", "access"
_MOST_KNOWN = 1_000  # code objects that something is remembered of
# By the number that an instruction has in the bytecode: not 0 where it is an access, or may be one.
_IS_ACCESS = bytes(number in ACCESSES or number in AMBIGUOUS for number in range(256))


def instructions(code: CodeType) -> list[Instruction]:
    """The instructions of a code object, prefixes and caches left out."""
    units = code.co_code
    result: list[Instruction] = []
    add = result.append
    end = len(units)
    offset = 0
    while offset < end:
        start, operation, argument = offset, units[offset], units[offset + 1]
        if operation == EXTENDED_ARG:
            while operation == EXTENDED_ARG:
                offset += 2
                operation, argument = units[offset], argument << 8 | units[offset + 1]
            if not EVENT_AT_PREFIX:
                start = offset
        following = offset + SIZES[operation]
        if operation in AMBIGUOUS:
            operation = operation_at(units, offset)
        add((start, operation, argument, following))
        offset = following
    return result


def points(code: CodeType, granularity: str) -> list[int]:
    """The event offsets of the yield points of a code object, at granularity ``access`` or ``gil``."""
    if granularity != ACCESS:
        return sorted(gil_points(code))
    # Each run does this for all code that it comes to, so what can be done without a loop in Python is. A cache has the
    # number of CACHE, whatever is in it.
    units = code.co_code
    numbers = units[::2]
    found = [2 * index for index, is_access in enumerate(numbers.translate(_IS_ACCESS)) if is_access]
    if AMBIGUOUS:
        found = [
            offset for offset in found if units[offset] not in AMBIGUOUS or operation_at(units, offset) in ACCESSES
        ]
    if EVENT_AT_PREFIX and EXTENDED_ARG in numbers:
        found = [_first_prefix(units, offset) for offset in found]
    if code.co_flags & _CO_GENERATOR and YIELD in numbers:
        found = sorted({*found, *_lone_yields(instructions(code))})
    elif code.co_name == _GIVES_ITERATOR:
        found = sorted({*found, *(2 * index for index, number in enumerate(numbers) if number == RETURN)})
    return found


def _first_prefix(units: bytes, offset: int) -> int:
    while offset > 0 and units[offset - 2] == EXTENDED_ARG:
        offset -= 2
    return offset


def gil_points(code: CodeType) -> set[int]:
    """Where the interpreter may hand the GIL over: at function entry, at backward jumps, and after calls."""
    always, after_calls = _gil_checks(code, instructions(code))
    return always | after_calls


def _gil_checks(code: CodeType, listing: list[Instruction]) -> tuple[set[int], set[int]]:
    """Where the interpreter looks whether another thread wants to run: (always, if what was called is written in C).

    From a function in Python it returns without looking: that call is no call of the interpreter itself.
    """
    always, after_calls = set(), set()
    units = code.co_code
    after_call = False
    for start, operation, argument, end in listing:
        if operation == RESUME or operation in UNKNOWN:
            always.add(start)
        if after_call:
            after_calls.add(start)
        if operation in CHECKED_JUMPS:
            target = end - 2 * argument
            while not EVENT_AT_PREFIX and units[target] == EXTENDED_ARG:
                target += 2
            # The interpreter looks after the jump is taken; nothing shared is touched between the two.
            always.update((start, target))
        after_call = operation in CHECKS_AFTER_CALL
    return always, after_calls - always


def reachable_under_gil(code: CodeType, offset: int) -> tuple[bool, bool]:
    """Whether a switch before this instruction is possible under the GIL of this interpreter.

    It is, if between a place where the interpreter looks for switches and this instruction no other access stands, on
    some way that the control flow can take: a switch there has the same effect. Which way a thread took, only a run
    can tell. What handles an exception comes after an instruction that raised it, without a look.

    Returns:
        (possible, only if the call before it was of a function in C).
    """
    listing, at, before, always, after_calls = _ways_of(code)
    index = at.get(offset, -1)
    if index < 0:
        return True, False
    waiting, seen = [index], {index}
    after_call = False
    while waiting:
        index = waiting.pop()
        start = listing[index][0]
        if start in always:
            return True, False
        if start in after_calls:
            after_call = True
            continue
        if index == 0:
            return True, False
        for earlier in before.get(index, ()):
            # An access has no look between it and us, or the way would have ended there.
            if earlier not in seen and listing[earlier][1] not in ACCESSES:
                seen.add(earlier)
                waiting.append(earlier)
    return after_call, after_call


def _lone_yields(listing: list[Instruction]) -> set[int]:
    """The yields that a generator can come to without an access since it was resumed."""
    lone = set()
    before = _predecessors(listing)
    for index, (start, operation, _, _) in enumerate(listing):
        if operation != YIELD:
            continue
        waiting, seen = list(before.get(index, ())), {index}
        while waiting:
            earlier = waiting.pop()
            _, operation, _, _ = listing[earlier]
            if operation in (RESUME, YIELD):
                lone.add(start)
                break
            if earlier not in seen and operation not in ACCESSES:
                seen.add(earlier)
                waiting.extend(before.get(earlier, ()))
    return lone


def successors(listing: list[Instruction]) -> list[tuple[int, ...]]:
    """For each instruction, the indices of those that can come after it; exceptions left out."""
    begins, begin = {}, 0
    for index, (_, _, _, end) in enumerate(listing):
        begins[begin], begin = index, end  # jumps lead to the prefixes of an instruction
    found: list[tuple[int, ...]] = []
    for index, (_, operation, argument, end) in enumerate(listing):
        ways: tuple[int, ...] = () if operation in LEAVES or index + 1 == len(listing) else (index + 1,)
        if operation in JUMPS:
            target = begins.get(end + (-2 if operation in BACKWARD_JUMPS else 2) * argument)
            ways += () if target is None else (target,)
        found.append(ways)
    return found


def _predecessors(listing: list[Instruction]) -> dict[int, list[int]]:
    """For each instruction, by its index, those after which it can come; exceptions left out."""
    before: dict[int, list[int]] = {}
    for index, ways in enumerate(successors(listing)):
        for way in ways:
            before.setdefault(way, []).append(index)
    return before


def _indices(listing: list[Instruction]) -> dict[int, int]:
    return {start: index for index, (start, _, _, _) in enumerate(listing)}


def _ways_of(code: CodeType) -> tuple[Any, ...]:
    """The instructions of a code object, and how they are reached.

    Apart from their positions: of an operation nobody asks this, and it takes a copy of a process long to find out.
    """
    return _kept(_ways, code, _find_ways)


def _find_ways(code: CodeType) -> tuple[Any, ...]:
    listing = instructions(code)
    return listing, _indices(listing), _predecessors(listing), *_gil_checks(code, listing)


def _positions_of(code: CodeType) -> tuple[Any, ...]:
    return _kept(_positions, code, lambda code: tuple(code.co_positions()))


def _kept(known: _Known, code: CodeType, find: Callable[[CodeType], tuple[Any, ...]]) -> tuple[Any, ...]:
    """What many places of a code object are asked about in a row."""
    kept = known.get(id(code))
    if kept is None:
        before = use_own(True)  # what is kept must not move the program's objects
        if len(known) >= _MOST_KNOWN:
            known.clear()
        kept = known[id(code)] = (code, find(code))
        use_own(before)
    return kept[1]


_ways: _Known = {}
_positions: _Known = {}


def describe(code: CodeType, offset: int) -> tuple[int, int, str]:
    """(line, column, instruction) of an instruction; the column counts from 1, 0 where it is not known."""
    units = code.co_code
    while offset > 0 and units[offset] == CACHE:
        offset -= 2  # an instruction in progress stands at its last cache entry
    positions = _positions_of(code)
    if offset // 2 >= len(positions):
        return code.co_firstlineno, 0, "?"
    line, _, column, _ = positions[offset // 2]
    while units[offset] == EXTENDED_ARG:
        offset += 2
    return line or code.co_firstlineno, 0 if column is None else column + 1, NAMES[operation_at(units, offset)]


def alike(code: CodeType, offset: int) -> list[int]:
    """The offsets in instructions that nothing but their offset tells from this one, which is among them.

    What stands behind ``finally`` is there for each way that leads there, ``with`` begins and ends at one place, and
    both attributes in ``a.b.c`` begin where ``a`` does.
    """
    positions = list(code.co_positions())
    found: dict[tuple[object, ...], list[int]] = {}
    own, inside = [offset], 0
    for start, number, _, end in instructions(code):
        line, _, column, _ = positions[start // 2]
        name = NAMES[number]
        same = found.setdefault((line, column, KINDS.get(name, name)), [])
        same.append(start)
        if start <= offset < end:  # one that is in progress stands at its last cache entry
            own, inside = same, offset - start
    return [start + inside for start in own]
