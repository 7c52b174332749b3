"""Reads what Python prints of exceptions that nobody handles, and of crashes."""

from __future__ import annotations

import re

from replay_dd.experiment.crash_report import Report, place_of
from replay_dd.experiment.message_texts import cut, steady

_FRAME = re.compile(r'^\s+File "([^"\n]*)", line (\d+), in (.+)$', re.MULTILINE)
_FATAL_FRAME = re.compile(r'^  File "([^"\n]*)", line (\d+) in (.+)$', re.MULTILINE)
_STANDARD_LIBRARY = re.compile(r"<frozen |.*/lib(?:64)?/python\d[.\d]*t?/(?!(?:site|dist)-packages/)")

TRACEBACK = re.compile(
    # While it is printed, the source is parsed once more (3.14), which may warn in between.
    r"^(?:Traceback \(most recent call last\):|[^\n]{0,200}\b[Tt]raceback\b[^\n]{0,200}:(?=\n[ \t]+File \"))"
    r"\n(?P<frames>(?:[ \t].*\n|[^ \t\n].*:\d+: \w*Warning: .*\n)++)"
    r"(?P<type>[A-Za-z_][\w.]*)(?:: ?(?P<message>.*))?$",
    re.MULTILINE,
)
"""A traceback: that of the exception which ended the program is the last one. Tools may head it in their own words."""

GROUP = re.compile(r"^  \+ Exception Group Traceback \(most recent call last\):\n(?:  .*\n?)+", re.MULTILINE)
"""The tracebacks of an exception group, with lines drawn at their left."""
_MARGIN = re.compile(r"^ +(?:\| ?|\+[-+ .\d]*(?=[+-]\n|-$|- *$)|\+ Exception Group (?=Traceback))", re.MULTILINE)

FATAL = re.compile(
    r"^Fatal Python error: (?P<type>.+)\n(?:.*\n){0,9}?(?:Current t|T)hread 0x[0-9a-f]+ .*\(most recent call first\):"
    r"\n(?P<frames>(?:  File .*\n?)*)",
    re.MULTILINE,
)
"""What `faulthandler` prints, and the interpreter itself before it aborts."""

# `'NoneType' object has no attribute 'x'`: what kind of object it is belongs to the failure.
_BUILT_IN_TYPE = re.compile(
    r"(?<=')(?:NoneType|bool|int|float|complex|str|bytes|bytearray|list|tuple|dict|set|frozenset|range|slice|type|module"
    r"|function|method|builtin_function_or_method|generator|coroutine|async_generator|ellipsis)(?=')"
)
_ATTRIBUTE = re.compile(r"(has no attribute )'(\w+)'(?=$|[.\s])")


def traceback_report(found: re.Match[str]) -> Report:
    """Read a :data:`TRACEBACK`."""
    name, message = found["type"], found["message"] or ""
    words = f"{name}: {cut(message)}" if message else name
    # Where the stack overflows is a matter of how deep the input is, and so is what the message says about it.
    if name == "RecursionError":
        return Report(name, words)
    frames = _FRAME.findall(found["frames"])
    if not frames:
        return Report(name, words, message)
    places = [(file, _place(file, line, function)) for file, line, function in reversed(frames)]
    # One line may look up several attributes, and which one is missing is said by the program, not by its input.
    told = _ATTRIBUTE.sub(r"\g<1>\g<2>", _BUILT_IN_TYPE.sub(r"' \g<0> '", message))
    return Report(f"{name} at {place_of(places, _STANDARD_LIBRARY)}", words, told, place=places[0][1])


def group_report(found: re.Match[str]) -> Report:
    """Read a :data:`GROUP`: of its exceptions, the first one tells what went wrong.

    What raises the group, an event loop for instance, does so for any exception.
    """
    tracebacks = list(TRACEBACK.finditer(_MARGIN.sub("", found[0])))
    groups, inner = tracebacks[:1], tracebacks[1:]
    first = next((one for one in inner if not one["type"].endswith("Group")), None)
    if first is None:
        return traceback_report(groups[0]) if groups else Report("Exception Group", "Exception Group")
    report = traceback_report(first)
    return report._replace(signature=f"{groups[0]['type']}: {report.signature}")


def fatal_report(found: re.Match[str]) -> Report:
    """Read a :data:`FATAL`."""
    said = f"Fatal Python error: {found['type']}"
    frames = _FATAL_FRAME.findall(found["frames"])
    if not frames:
        return Report(steady(said), cut(said))
    places = [(file, _place(file, line, function)) for file, line, function in frames]
    return Report(f"{steady(said)} at {place_of(places, _STANDARD_LIBRARY)}", cut(said), place=places[0][1])


def calls(output: bytes) -> str:
    """The chain of calls in the traceback of a Python program; of a recursion, each place once."""
    if b"raceback" not in output:
        return ""
    frames = _FRAME.findall(output.decode("utf-8", "replace"))
    return " ".join(dict.fromkeys(f"{file.rpartition('/')[2]}:{line}" for file, line, _ in frames))


def _place(file: str, line: str, function: str) -> str:
    return f"{file.rpartition('/')[2]}:{line} in {function}"
