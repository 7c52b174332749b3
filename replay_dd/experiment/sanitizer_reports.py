"""Reads what sanitizers and valgrind print of errors in memory, undefined behavior, races and leaks."""

from __future__ import annotations

import re

from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.message_texts import cut, steady, without_addresses
from replay_dd.experiment.native_frames import (
    SANITIZER_FRAME,
    THREAD_SANITIZER_FRAME,
    VALGRIND_FRAME,
    native_places,
)

SUMMARY = re.compile(r"^SUMMARY: (?P<text>\w+Sanitizer: .+)$", re.MULTILINE)
"""The line at the end of a sanitizer's report."""
RUNTIME_ERROR = re.compile(r"^(?P<place>[^\s:]+:\d+(?::\d+)?): runtime error: (?P<message>.+)$", re.MULTILINE)
"""What the sanitizer for undefined behavior prints; its summary, if there is one, does not tell what was undefined."""
VALGRIND = re.compile(
    # Of a thread, that it is the next one, or that it was created.
    r"^==\d+== (?P<text>(?!Thread (?:\d.*:|#\d+ was created)$)\S.*)\n"
    # Before the stack: why it was killed, which locks are held, in which order locks were taken.
    r"(?:(?:(?<=violated\n)==\d+== *\n)?==\d+== *(?!(?:at|by) )\S.*\n){0,2}?"
    r"(?P<stack>(?:==\d+== +(?:at|by) .*\n)+)",
    re.MULTILINE,
)
"""An error that valgrind has found, and its stack."""

_BEGINNING = re.compile(r"^(?:==\d+==)?(?:ERROR|WARNING): \w+Sanitizer: ", re.MULTILINE)
_LEAK = re.compile(r"^(?:Direct|Indirect) leak of .*\n(?P<stack>(?: +#.*\n)*)", re.MULTILINE)
# The kind of an error ends where the place begins, which has a path or a number of a line.
_KIND = re.compile(r"(?P<kind>\w+Sanitizer: .*?)(?: (?=\S*[/:]|\(\S*\+0x).*)?$")


def sanitizer_report(found: re.Match[str]) -> Report:
    """Read a :data:`SUMMARY` with the report above it."""
    text, output = found["text"], found.string
    beginnings = [one.start() for one in _BEGINNING.finditer(output, 0, found.start())]
    report = output[beginnings[-1] if beginnings else found.start() : found.start()]
    if " leaked in " in text:
        places = [
            place for leak in _LEAK.finditer(report) for place in native_places(leak["stack"], SANITIZER_FRAME)[:1]
        ]
        return Report("leaked memory", cut(text), kinds=tuple(dict.fromkeys(places)))
    if "undefined-behavior" in text and (errors := list(RUNTIME_ERROR.finditer(output, 0, found.start()))):
        return runtime_error_report(errors[-1])
    kind = _KIND.match(text)
    assert kind is not None
    if kind["kind"].endswith("stack-overflow"):
        return Report(kind["kind"], cut(text))
    # Below the stack are those of where memory was allocated and freed.
    stack = report.partition("\n\n")[0]
    places = native_places(stack, SANITIZER_FRAME) or native_places(stack, THREAD_SANITIZER_FRAME)
    return Report(f"{kind['kind']} {places[0]}" if places else without_addresses(text), cut(text))


def runtime_error_report(found: re.Match[str]) -> Report:
    """Read a :data:`RUNTIME_ERROR`."""
    return Report(f"runtime error: {steady(found['message'])} at {found['place']}", cut(found[0]))


def valgrind_report(found: re.Match[str]) -> Report:
    """Read what :data:`VALGRIND` matches."""
    places = native_places(found["stack"], VALGRIND_FRAME)
    text = re.sub(r"^[\d,() a-z]* blocks? are ", "blocks are ", found["text"].partition(" in loss record")[0])
    if not places:
        return Report(steady(text), cut(text))
    return Report(f"{steady(text)} at {places[0]}", cut(text))
