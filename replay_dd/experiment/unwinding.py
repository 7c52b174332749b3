"""Who called whom in a program that stands still: from its registers to the callers, by their call frames.

The rules are those of DWARF 5, section 6.4.4 ("Call Frame Calling Address"); the numbers of registers are those of the
psABI supplements of the machines.

Rules of this module:

* Only what is certain is told: where a function has no call frame information, the stack ends.
* A program may handle the signal of its own mistake, report it, and only then die. The place is that of the mistake.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from replay_dd.experiment.frame_tables import Frame, Reader, Rule, table_of

_MOST_CALLS = 128
_WORD = 8  # bytes
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Machine:
    """A kind of processor.

    Attributes:
        counter: which of its registers (struct user_regs_struct), in words, is the program counter.
        stack: which is the stack pointer.
        numbered: which of them have the numbers 0, 1, ... in call frame information.
        stack_number: the number of the stack pointer there.
        size: bytes of all of them.
        system_call: the instruction that calls the system.
        to_exit: what must be in which of them, in words, when it does so to end the process with status 0.
    """

    counter: int
    stack: int
    numbered: tuple[int, ...]
    stack_number: int
    size: int
    system_call: bytes
    to_exit: Mapping[int, int]


MACHINES = {
    "x86_64": Machine(
        16,
        19,
        (10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0),
        7,
        27 * 8,
        b"\x0f\x05",
        {10: 231, 14: 0, 15: _MASK},
    ),
    "aarch64": Machine(32, 31, tuple(range(32)), 31, 34 * 8, b"\x01\0\0\xd4", {8: 94, 0: 0}),
}

Read = Callable[[int, int], bytes]
"""Reads so many bytes at an address of the program; raises OSError or ValueError where there are none."""
CodeAt = Callable[[int], "tuple[str, int] | None"]
"""The file that holds the code at an address, and the offset in it."""


def calls_of(
    machine: Machine, words: tuple[int, ...], read: Read, code_at: CodeAt, *, is_handling: bool = False
) -> list[tuple[str, int]]:
    """Where a program is, innermost first: files, and offsets in them of the instructions that made the calls.

    Args:
        machine: what it runs on.
        words: its registers.
        read: reads its memory.
        code_at: tells what code is where.
        is_handling: it handles the signal of a mistake of its own, if it handles any.
    """
    registers = {number: words[index] for number, index in enumerate(machine.numbered)}
    address, is_exact = words[machine.counter], True
    calls: list[tuple[str, int]] = []
    try:
        if code_at(address) is None:  # it has called an address that holds no code
            address, is_exact = _returned(machine, registers, read), False
        while len(calls) < _MOST_CALLS:
            # A call returns to the instruction after it, which may belong to another function.
            code = code_at(address if is_exact else address - 1)
            if code is None:
                break
            calls.append(code)
            table = table_of(code[0])
            frame = None if table is None else table.frame(code[1])
            if frame is None:
                break
            if frame.is_signal and is_handling:
                calls.clear()
            registers = _callers(machine, frame, registers, read)
            is_exact, before = frame.is_signal, address
            address = registers[frame.return_register]
            if address in (0, before) and registers[machine.stack_number] == 0:
                break
    except (KeyError, IndexError, OSError, ValueError, struct.error):
        pass
    return calls


def _returned(machine: Machine, registers: dict[int, int], read: Read) -> int:
    """Where a function returns to that has just been called."""
    if machine.stack_number == 31:  # a register holds it
        return registers[30]
    stack = registers[machine.stack_number]
    registers[machine.stack_number] = stack + _WORD
    return _word(read, stack)


def _callers(machine: Machine, frame: Frame, registers: dict[int, int], read: Read) -> dict[int, int]:
    """The registers of the caller."""
    if isinstance(frame.base, bytes):
        base = _computed(frame.base, registers, read, [])
    else:
        base = registers[frame.base[0]] + frame.base[1] & _MASK
    found = {**registers, machine.stack_number: base}
    for number, rule in frame.rules.items():
        if rule is None:
            found.pop(number, None)
        else:
            found[number] = _value(rule, base, registers, read)
    return found


def _value(rule: Rule, base: int, registers: dict[int, int], read: Read) -> int:
    kind, what = rule
    if isinstance(what, bytes):
        place = _computed(what, registers, read, [base])
        return _word(read, place) if kind == "at expression" else place
    if kind == "in":
        return registers[what]
    return _word(read, base + what) if kind == "at" else base + what & _MASK


def _word(read: Read, address: int) -> int:
    return int.from_bytes(read(address, _WORD), "little")


def _computed(expression: bytes, registers: dict[int, int], read: Read, stack: list[int]) -> int:
    """What an expression computes (DWARF 5, section 2.5): what linkers and the C library write.

    Raises:
        ValueError: it has another operation, or is cut off.
    """
    reader = Reader(expression)
    while reader.place < len(expression):
        code = reader.number(1)
        if 0x30 <= code <= 0x4F:  # lit
            stack.append(code - 0x30)
        elif 0x70 <= code <= 0x8F:  # breg
            stack.append(registers[code - 0x70] + reader.leb(signed=True) & _MASK)
        elif code in (0x08, 0x09):  # const1
            stack.append(reader.number(1, signed=code == 0x09))
        elif code in (0x10, 0x11):  # const
            stack.append(reader.leb(signed=code == 0x11))
        elif code == 0x06:  # deref
            stack.append(_word(read, stack.pop()))
        elif code == 0x23:  # plus_uconst
            stack.append(stack.pop() + reader.leb() & _MASK)
        elif code in _OPERATIONS:
            second, first = stack.pop(), stack.pop()
            stack.append(_OPERATIONS[code](first, second) & _MASK)
        else:
            raise ValueError(f"operation {code:#x} is not known")
    return stack.pop()


_OPERATIONS: dict[int, Callable[[int, int], int]] = {
    0x1A: lambda first, second: first & second,
    0x1C: lambda first, second: first - second,
    0x21: lambda first, second: first | second,
    0x22: lambda first, second: first + second,
    0x24: lambda first, second: first << second,
    0x25: lambda first, second: first >> second,
    0x2A: lambda first, second: first >= second,
}
