"""Failure signatures, which decide whether two failures are the same, from a program's exit and its output.

Rules of this module:

* A signature says what went wrong and where, never when: no addresses, process ids or window ids.
* An exception is where the program's own code was, not where a library that it called noticed it: a library reports all
  misuse at the same few places.
* Different crashes of one program have different signatures, since minimizing tends to slip from one to another. Only
  neighbouring sites (:mod:`replay_dd.events.crash_sites`) are taken for the same crash.
"""

from __future__ import annotations

import re
import signal as signals
from collections.abc import Sequence

from replay_dd.events.crash_sites import are_neighbours
from replay_dd.events.model import Ending, EndingKind
from replay_dd.experiment.complaints import telling_line
from replay_dd.experiment.process import SHELL_SIGNAL
from replay_dd.outcome import Outcome

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s+File "(?P<file>.*)", line (?P<line>\d+), in (?P<function>.+)$')
_EXCEPTION = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?::\s?(?P<text>.*))?$")
# Where Python keeps its standard library, other packages, and the small scripts that start programs.
_STANDARD_LIBRARY = re.compile(r"^<frozen |/lib(64)?/python3?(\.\d+)?t?/(?!(site|dist)-packages/)")
_PACKAGES = re.compile(r"/(site|dist)-packages/")
_STARTED_FROM = re.compile(r"/s?bin/[^/]+$")
_X_ERROR = re.compile(r"X Error of failed request:\s*(?P<error>.+)")
_X_REQUEST = re.compile(r"Major opcode of failed request:\s*(?P<code>\d+)(?:\s*\((?P<name>\S+)\))?")
_KEPT_OUTPUT = 4000


def of_signal(number: int, place: str, frames: Sequence[str], output: str) -> Ending:
    """A program ended by a signal; ``place`` is where it was, empty if unknown."""
    name = _signal_name(number)
    where = f" in {place}" if place else ""
    return Ending(
        *(EndingKind.SIGNAL, f"killed by {name}{where}", f"signal {name}{where}"),
        signal=number,
        frames=tuple(frames),
        output=output[-_KEPT_OUTPUT:],
    )


def of_exit(status: int, output: str) -> Ending:
    """A program that exited."""
    if status == 0:
        return Ending(EndingKind.EXIT, "ended with exit status 0", status=0, output=output[-_KEPT_OUTPUT:])
    error = x_error_in(output) or exception_in(output)
    if error is not None:
        return _with(error, status, output)
    if status > SHELL_SIGNAL and (name := _signal_name(status - SHELL_SIGNAL)).startswith("SIG"):
        return Ending(
            *(EndingKind.SIGNAL, f"killed by {name} (according to its shell)", f"signal {name}"),
            status=status,
            signal=status - SHELL_SIGNAL,
            output=output[-_KEPT_OUTPUT:],
        )
    error = exception_in(_indented_end(output))
    if error is not None:
        return _with(error, status, output)
    return Ending(
        *(EndingKind.EXIT, f"ended with exit status {status}", f"exit status {status}"),
        status=status,
        output=output[-_KEPT_OUTPUT:],
    )


def exception_in(output: str) -> Ending | None:
    """The first complete traceback of an uncaught Python exception in a program's output."""
    lines = output.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.rstrip() != _TRACEBACK:  # where it is indented, the program has logged it
            continue
        frames: list[str] = []
        files: list[str] = []
        for follows in lines[number + 1 :]:
            frame = _FRAME.match(follows)
            if frame:
                frames.insert(0, f"{frame['function']} ({_base(frame['file'])}:{frame['line']})")
                files.insert(0, frame["file"])
            elif not follows.startswith((" ", "\t")) and follows.strip():
                found = _EXCEPTION.match(follows.rstrip("\n"))
                # The program may still be writing this line.
                if found and follows.endswith("\n"):
                    where = f" in {_own_frame(frames, files)}" if frames else ""
                    return Ending(
                        *(EndingKind.EXCEPTION, follows.strip() + where, f"exception {found['type']}{where}"),
                        frames=tuple(frames),
                        output=output[-_KEPT_OUTPUT:],
                    )
                break
    return None


def _own_frame(frames: Sequence[str], files: Sequence[str]) -> str:
    """The innermost frame of the program's own code, among all frames and their files, innermost first.

    A program may itself be an installed package: then all that is not the standard library is its own, but for the
    script that starts it.
    """
    outside = [(frame, file) for frame, file in zip(frames, files, strict=True) if not _STANDARD_LIBRARY.search(file)]
    for frame, file in outside:
        starts = frame.startswith("<module> ") and _STARTED_FROM.search(file)
        if not (_PACKAGES.search(file) or starts):
            return frame
    return outside[0][0] if outside else frames[0]


def _indented_end(output: str) -> str:
    """The traceback at the end of an output, without its indentation: some toolkits (Kivy) print theirs through a log.

    Only for a program that has ended with an error: one that goes on, as it does if it prints more, may have logged
    what it handled.
    """
    lines = output.splitlines(keepends=True)
    for number in range(len(lines) - 1, -1, -1):
        before, found, after = lines[number].partition(_TRACEBACK)
        if found and before.isspace() and not after.strip():
            last = all(line.startswith(before) or not line.strip() for line in lines[number:])
            return "".join(line.removeprefix(before) for line in lines[number:]) if last else ""
    return ""


def x_error_in(output: str) -> Ending | None:
    """The X error that ended a program, from the message that Xlib prints."""
    error = _X_ERROR.search(output)
    if error is None:
        return None
    request = _X_REQUEST.search(output, error.end())
    what = error["error"].split("(")[0].strip().rstrip(",")
    of = f" of {request['name'] or 'request ' + request['code']}" if request else ""
    return Ending(
        *(EndingKind.X_ERROR, f"X error: {error['error'].strip()}{of}", f"X error {what}{of}"),
        output=output[-_KEPT_OUTPUT:],
    )


def of_dialog(title: str, picture: str, output: str) -> Ending:
    """A window that reports an uncaught error (Tcl/Tk); ``picture`` is a hash of what it shows."""
    return Ending(
        *(EndingKind.DIALOG, f'a window "{title}" appeared', f"window {title} {picture}".strip()),
        output=output[-_KEPT_OUTPUT:],
    )


def of_hang(seconds: float, output: str) -> Ending:
    """A program that no longer responds."""
    return Ending(
        *(EndingKind.HANG, f"did not respond for {seconds:g} s", "hang"),
        output=output[-_KEPT_OUTPUT:],
    )


def outcome_of(ending: Ending, wanted: Ending, *, exact_site: bool = False) -> Outcome:
    """FAIL for the failure sought, PASS for none, UNRESOLVED for another one.

    Args:
        ending: how a run ended.
        wanted: the failure sought.
        exact_site: neighbouring crash sites are other failures.
    """
    if not ending.failed:
        return Outcome.PASS
    # If tracing was not permitted, only the signal is known.
    same = ending.signature == wanted.signature or (
        wanted.kind is EndingKind.SIGNAL and ending.signature.startswith(f"{wanted.signature} in ")
    )
    if not same and not exact_site:
        same = ending.signature in wanted.neighbours or are_neighbours(ending, wanted)
    return Outcome.FAIL if same else Outcome.UNRESOLVED


def told_with_output(ending: Ending) -> str:
    """How a program ended, and what it said last: programs that give up at their start say why there."""
    said = telling_line(ending.output.encode(errors="replace")) if ending.kind is EndingKind.EXIT else ""
    return f"{ending.text} ({said})" if said else ending.text


def _with(error: Ending, status: int, output: str) -> Ending:
    return Ending(error.kind, error.text, error.signature, status, None, error.frames, output=output[-_KEPT_OUTPUT:])


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _base(path: str) -> str:
    return path.rpartition("/")[2]
