"""Reads reports of crashes in known forms.

Rules of this module:

* A report tells what failed and where in the program. Several forms may match one output: the first one in the table
  counts. Of several reports in one form, the last one counts, since it ended the program; of a checker that only notes
  errors, the first one, from which others may follow.
* Where the stack overflows is a matter of how deep the input is, so that has no place.
* Words are text of the output, so that a test can look for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replay_dd.experiment.computing_reports import COMPUTING
from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.functional_reports import FUNCTIONAL
from replay_dd.experiment.language_reports import LANGUAGES
from replay_dd.experiment.message_texts import cut, steady, without_addresses
from replay_dd.experiment.native_frames import GCC_FRAME, GDB_FRAME, LLVM_FRAME, native_places
from replay_dd.experiment.python_reports import (
    FATAL,
    GROUP,
    TRACEBACK,
    fatal_report,
    group_report,
    traceback_report,
)
from replay_dd.experiment.sanitizer_reports import (
    RUNTIME_ERROR,
    SUMMARY,
    VALGRIND,
    runtime_error_report,
    sanitizer_report,
    valgrind_report,
)


def _as_it_is(found: re.Match[str]) -> Report:
    return Report(without_addresses(found["text"]), cut(found["text"]))


def _pytest(found: re.Match[str]) -> Report:
    """The summary of a test that failed; it is cut to the width of a terminal, and the whole message stands above."""
    text: str = found["text"]
    begun = text.partition(" - ")[2].removesuffix("...")
    whole = re.findall(rf"^E +({re.escape(begun)}.*)$", found.string, re.MULTILINE) if text.endswith("...") else []
    return Report(steady(text), cut(text), whole=whole[-1] if whole else "", repeats=True)


def _gcc(found: re.Match[str]) -> Report:
    """An internal error of a compiler of the GNU collection; its text may be followed by the place in the compiler."""
    text = without_addresses(found["text"])
    if re.search(r"\bat \S+:\d+$", text):
        return Report(text, cut(found["text"]))
    places = native_places(found.string[found.end() :], GCC_FRAME)
    return Report(f"{text} at {places[0]}" if places else text, cut(found["text"]))


def _llvm(found: re.Match[str]) -> Report:
    places = native_places(found["frames"], LLVM_FRAME)
    return Report(f"crash at {places[0]}" if places else "crash", cut(found["text"]))


def _gdb(found: re.Match[str]) -> Report:
    places = native_places(f"#0  {found['frame']}\n{found.string[found.end() :]}", GDB_FRAME)
    return Report(f"{found['type']} at {places[0]}" if places else found["type"], cut(found[0].partition("\n")[0]))


def _terminate(found: re.Match[str]) -> Report:
    kind = found["type"] or found["class"] or "nothing"
    words = cut(found[0].partition("\n")[0])
    return Report(f"terminated by {kind}", words, found["message"] or found["said"] or "", lacks_place=True)


def _detected(found: re.Match[str]) -> Report:
    """The C library, or code of the compiler, has checked sizes or the stack."""
    return _as_it_is(found)._replace(lacks_place=True)


def _heap(found: re.Match[str]) -> Report:
    """Which check of the C library notices it first depends on how much was allocated before."""
    return Report("corrupted heap", cut(found["text"]))


_FORMS: tuple[tuple[bytes, re.Pattern[str], Callable[[re.Match[str]], Report]], ...] = (
    # Sanitizers of gcc, clang and others.
    (b"SUMMARY: ", SUMMARY, sanitizer_report),
    (b": runtime error: ", RUNTIME_ERROR, runtime_error_report),
    # Compilers of the GNU collection, and old ones of Rust, which tell a panic above.
    (
        b"internal compiler error: ",
        re.compile(r"(?P<text>internal compiler error: (?!unexpected panic).+)$", re.MULTILINE),
        _gcc,
    ),
    # assert() of C, in glibc and musl.
    (b"Assertion ", re.compile(r"(?<![^\s:])(?P<text>[^\s:]+:\d+: .*Assertion [`'].*' failed)"), _as_it_is),
    (b"Assertion failed: ", re.compile(r"(?P<text>Assertion failed: .*)"), _as_it_is),
    # LLVM.
    (b"LLVM ERROR: ", re.compile(r"(?P<text>LLVM ERROR: .+)$", re.MULTILINE), _as_it_is),
    (b"UNREACHABLE executed at ", re.compile(r"(?P<text>UNREACHABLE executed at .+)$", re.MULTILINE), _as_it_is),
    (
        b"Stack dump:",
        re.compile(r"^(?P<text>Stack dump:)\n(?:\d+\.\t.*\n)*(?P<frames>(?: *#\d+ .*\n?)+)", re.MULTILINE),
        _llvm,
    ),
    # The C++ libraries of the GNU collection and of LLVM.
    (
        b"terminat",
        re.compile(
            r"^terminate called (?:after throwing an instance of '(?P<type>[^'\n]+)'|without an active exception)"
            r"(?:\n  what\(\):  (?P<message>.*))?"
            r"|terminating (?:due to|with) uncaught exception of type (?P<class>(?:[^\n:]|::)+)(?:: (?P<said>.*))?",
            re.MULTILINE,
        ),
        _terminate,
    ),
    # glibc.
    (b" detected ***", re.compile(r"(?P<text>\*\*\* [a-z ]+ detected \*\*\*)"), _detected),
    (
        b"",
        re.compile(
            r"^(?P<text>(?:free|[cm]alloc|realloc|munmap_chunk|malloc_consolidate|sysmalloc)\(\): .+|double free or .+"
            r"|corrupted (?:size vs\.|double-linked list).*)$",
            re.MULTILINE,
        ),
        _heap,
    ),
    (b"== ", VALGRIND, valgrind_report),
    # Fortran words signals like gdb.
    *COMPUTING,
    (
        b" signal SIG",
        re.compile(
            r"^(?:Program|Thread .*) (?:received|terminated with) signal (?P<type>SIG\w+).*\n"
            r"(?:\[Switching .*\n)?(?P<frame>.*)",
            re.MULTILINE,
        ),
        _gdb,
    ),
    # pytest, in its summary.
    (
        b".py",
        re.compile(r"^(?P<text>(?:FAILED|ERROR) \S+\.py\S*(?: - .+)?)$", re.MULTILINE),
        _pytest,
    ),
    (b"Fatal Python error: ", FATAL, fatal_report),
    (b"Exception Group Traceback", GROUP, group_report),
    (b"raceback", TRACEBACK, traceback_report),
    *LANGUAGES,
    *FUNCTIONAL,
)
"""What an output must contain to have a report, its form, and how to read it.

Without the first, the search would take long in long lines, such as those of data in an output.
"""


def crash_report(output: bytes) -> Report | None:
    """The crash report in an output, if there is one in a known form."""
    text = output.decode("utf-8", "replace")
    for mark, form, read in _FORMS:
        matches = list(form.finditer(text)) if mark in output else []
        if matches:
            return read(_telling(matches) if form is VALGRIND else matches[-1]).with_place()
    return None


# What Python writes between the traceback of an exception and that of the one which came of it.
_CAME_OF_IT = re.compile(
    r"\s*(?:During handling of the above exception, another exception occurred"
    r"|The above exception was the direct cause of the following exception):\s*"
)


def crash_reports(output: bytes) -> tuple[list[Report], int]:
    """All crash reports in an output that goes on after them, such as that of a server, in order.

    Returns:
        The reports, and how many bytes of the output end with the last one.
    """
    text = output.decode("utf-8", "surrogateescape")  # so that places in the text are places in the output
    found: list[tuple[int, int, Report]] = []
    for mark, form, read in _FORMS:
        for match in form.finditer(text) if mark in output else ():
            start, end = match.span()
            if all(end <= begun or start >= ended for begun, ended, _ in found):
                found.append((start, end, read(match).with_place()))
    if not found:
        return [], 0
    found.sort(key=lambda one: one[:2])
    nexts = [start for start, _, _ in found[1:]]
    ended = [
        report
        for (_, end, report), start in zip(found, [*nexts, len(text)], strict=True)
        if not _CAME_OF_IT.fullmatch(text, end, start)
    ]
    return ended, len(text[: found[-1][1]].encode("utf-8", "surrogateescape"))


def _telling(errors: list[re.Match[str]]) -> re.Match[str]:
    """The error that ended the program, or the first one."""
    last = errors[-1]
    return last if last["text"].startswith("Process terminating") else errors[0]
