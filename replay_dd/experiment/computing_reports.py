"""Reads what R, Octave, Fortran and Tcl print of errors that nobody handles.

Rules of this module:

* R names functions, and no lines. Octave and Tcl name functions and lines in them, but no files of functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replay_dd.experiment.crash_report import Report, place_of
from replay_dd.experiment.message_texts import cut

R = re.compile(
    r"^Error(?: in (?P<call>.*?) ?)?:(?P<message>.*\n(?:(?!Calls: |Execution halted).*\n){0,40}?)"
    r"(?:Calls: (?P<calls>.*\n(?:(?!Execution halted).*\n){0,9}?))?Execution halted$",
    re.MULTILINE,
)
_R_NAME = re.compile(r"[\w.:]+")
_R_OVERFLOW = re.compile(r"C stack usage|infinite recursion|stack overflow|nested too deeply")


def r_report(found: re.Match[str]) -> Report:
    """Read what :data:`R` matches."""
    message = found["message"].strip()
    words = cut(re.sub(r"\s+", " ", found[0].removesuffix("Execution halted").strip()))
    if _R_OVERFLOW.search(message):
        return Report("stack overflow", words)
    call = _R_NAME.search(found["call"] or "")
    calls = re.split(r"\s+->\s+|\s+\.\.\.\s+", (found["calls"] or "").strip())
    places = [name for name in (call and call[0], calls[-1]) if name]
    return Report(" from ".join(["error", *dict.fromkeys(places)]), words, message)


OCTAVE = re.compile(
    r"^error: (?P<message>.*\n(?:(?!error: ).*\n){0,20}?)error: called from\n"
    r"(?P<frames>(?:    \S.* at line \d+ column \d+\n?)+)",
    re.MULTILINE,
)
_OCTAVE_FRAME = re.compile(r"^    (\S.*) at line (\d+)", re.MULTILINE)
_OCTAVE_LIBRARY = re.compile(
    r"(?:print_usage|validate\w+|narginchk|nargoutchk|inputname|inputParser|subs(?:ref|asgn))$"
)


def octave_report(found: re.Match[str]) -> Report:
    """Read what :data:`OCTAVE` matches."""
    frames = [(name, f"{name}:{line}") for name, line in _OCTAVE_FRAME.findall(found["frames"])]
    words = cut(found[0].partition("\n")[0])
    if "max_recursion_depth" in found["message"]:
        return Report("stack overflow", words)
    return Report(f"error at {place_of(frames, _OCTAVE_LIBRARY)}", words, found["message"])


FORTRAN = re.compile(
    r"^(?:At line (?P<line>\d+) of file (?P<file>.+?)(?: \(unit = .*\))?\nFortran runtime error: (?P<message>.*)"
    r"|(?P<kind>ERROR STOP|Program received signal SIG\w+:)(?P<said>.*)\n\n(?:Error termination\. Backtrace:|Backtrace "
    r"for this error:)\n(?P<frames>(?:#\d+  0x.*\n(?:\tat .*\n?)?)+))",
    re.MULTILINE,
)
_FORTRAN_FRAME = re.compile(r"^#\d+  0x[0-9a-f]+ in (\S+)\n\tat (\S+)", re.MULTILINE)


def fortran_report(found: re.Match[str]) -> Report:
    """Read what :data:`FORTRAN` matches."""
    if found["file"]:
        place = f"{found['file']}:{found['line']}"
        return Report(f"runtime error at {place}", cut(f"Fortran runtime error: {found['message']}"), found["message"])
    frames = _FORTRAN_FRAME.findall(found["frames"])
    own = next((f" at {place} in {name}" for name, place in frames if not place.startswith("./")), "")
    return Report(f"{found['kind'].rstrip(':')}{own}", cut(found[0].partition("\n")[0]), found["said"])


TCL = re.compile(
    r"^(?P<message>\S.*)\n {4}(?:while (?:executing|compiling)|invoked from within)$",
    re.MULTILINE,
)
_TCL_FRAME = re.compile(
    r"^ {4}\((?:procedure \"(?P<name>[^\"\n]+)\"|file \"(?P<file>[^\"\n]+)\") line (?P<line>\d+)\)", re.MULTILINE
)


def tcl_report(found: re.Match[str]) -> Report:
    """Read what :data:`TCL` matches."""
    words, frame = cut(found["message"]), _TCL_FRAME.search(found.string, found.end())
    if "too many nested evaluations" in found["message"]:
        return Report("stack overflow", words)
    place = f" at {frame['name'] or frame['file']}:{frame['line']}" if frame else ""
    return Report(f"error{place}", words, found["message"])


COMPUTING: tuple[tuple[bytes, re.Pattern[str], Callable[[re.Match[str]], Report]], ...] = (
    (b"Execution halted", R, r_report),
    (b"error: called from", OCTAVE, octave_report),
    (b"Fortran runtime error: ", FORTRAN, fortran_report),
    (b"Error termination. Backtrace:", FORTRAN, fortran_report),
    (b"Backtrace for this error:", FORTRAN, fortran_report),
    (b"\n    while ", TCL, tcl_report),
)
"""What an output must contain to have a report, its form, and how to read it."""
