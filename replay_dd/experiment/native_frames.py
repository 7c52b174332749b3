"""Finds the program's own frames in stacks of machine code, as sanitizers, debuggers and compilers print them.

Rules of this module:

* What reports a crash, the C library, and headers of C++ are no frames of the program: the same error is found there
  for all of their callers.
* Arguments are data, so functions are named without them.
"""

from __future__ import annotations

import re

# How sanitizers, valgrind and gdb write frames: an address, a function, and a place in a file or a module.
SANITIZER_FRAME = re.compile(
    r"^ *#\d+ 0x[0-9a-f]+ (?:in (?P<function>.*?)[ \t]+)?(?P<place>\(\S+\+0x[0-9a-f]+\)|\S+)(?: \(BuildId: \w+\))?$",
    re.MULTILINE,
)
THREAD_SANITIZER_FRAME = re.compile(
    r"^ *#\d+ (?!0x)(?P<function>.*?) (?P<place>\S+) \(\S+\+0x[0-9a-f]+\)(?: \(BuildId: \w+\))?$", re.MULTILINE
)
VALGRIND_FRAME = re.compile(r"^==\d+== +(?:at|by) 0x[0-9A-F]+: (?P<function>.*) \((?P<place>[^()]*)\)$", re.MULTILINE)
GDB_FRAME = re.compile(
    r"^#\d+ +(?:0x[0-9a-f]+ in )?(?P<function>[^(\n]*?) \(.*\)(?: (?:at|from) (?P<place>\S+))?$", re.MULTILINE
)
LLVM_FRAME = re.compile(
    r"^ *#\d+ 0x[0-9a-f]+ (?P<function>[^\n]*?) ?(?P<place>\(?/\S+\+0x[0-9a-f]+\)?|/\S+:\d+:\d+)$", re.MULTILINE
)
GCC_FRAME = re.compile(r"^0x[0-9a-f]+ (?P<function>.*)\n\t(?P<place>\S+)$", re.MULTILINE)
# The functions and files of what reports a crash, of the C library, and of headers of C++.
_REPORTERS = re.compile(
    r"(?:_*interceptor_|_interceptor|__asan|__hwasan|__lsan|__msan|__tsan|__ubsan|__sanitizer|operator (?:new|delete)"
    r"|(?:m|c|re|aligned_)alloc\b|posix_memalign|free\b|v?[fs]?n?w?(?:printf|scanf)\b|mem(?:cpy|move|set|cmp|chr)\b"
    r"|str(?:n?len|n?cpy|n?cat|n?cmp|n?casecmp|n?dup|r?chr|str|to[a-z]+)\b|__(?:mem|str)\w+_(?:avx|sse|evex)"
    r"|__GI_|__restore_rt|__pthread_kill|pthread_kill|raise\b|gsignal|abort\b|__assert|__libc|__fortify|__chk_fail"
    r"|__stack_chk|std::|__gnu_|_Unwind|__cxa|__cxx|llvm::sys::|llvm::report_|llvm::llvm_unreachable|SignalHandler"
    r"|PrintStackTrace|CrashRecovery|crash_signal|internal_error|fancy_abort|diagnostic_|\?\?\?| )"
)
_REPORTERS_FILES = re.compile(
    r"\(?(?:\./|.*(?:libsanitizer|compiler-rt|sanitizer_common|/sysdeps/|/include/c\+\+/|vgpreload|/libc\.so|/libpthread"
    r"|/libasan|/libubsan|/libtsan|/libstdc\+\+|linux-gnu/ld-))"
)


def native_places(report: str, form: re.Pattern[str]) -> list[str]:
    """The frames of the program in a stack of machine code, innermost first.

    Args:
        report: the text with the stack.
        form: one of the forms of this module.
    """
    places = []
    for found in form.finditer(report):
        function, place = found["function"] or "", (found["place"] or "").strip("()")
        if _REPORTERS.match(function or "(") or _REPORTERS_FILES.match(place) or not (function or place):
            continue
        # What a call was given is data.
        name = re.sub(r"\(.*", "", function)
        places.append(f"{place} in {name}" if name and place else name or place)
    return places


def is_reporter(function: str) -> bool:
    """Whether a function belongs to what reports a crash or ends a program, rather than to the program."""
    return bool(_REPORTERS.match(function))
