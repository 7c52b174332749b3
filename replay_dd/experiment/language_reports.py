"""Reads what languages other than Python print of errors that nobody handles.

Rules of this module:

* The message of an exception counts as in Python: parsers raise all of their errors in one function.
* A message may have several lines, but not many: the search for its end must not take long in any output.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replay_dd.experiment.crash_report import Report, place_of
from replay_dd.experiment.message_texts import cut, steady

# Java and Kotlin: of what an exception was caused by, the last one is what happened first.
_JAVA_END = (
    r"(?:: (?P<message>.*))?\n(?P<more>(?:(?!\tat |Caused by: ).*\n){0,20}?)(?P<frames>(?:\t(?:at |\.\.\. ).*\n?)+)"
)
JAVA = re.compile(
    r"^(?:Exception in thread \"[^\"\n]*\" (?P<type>[\w.$]+)"
    + _JAVA_END
    # What a program prints itself at its end, before it exits.
    + r"|(?P<printed>(?:[a-z_]\w*\.)+[\w$.]+|[A-Z][\w$]*(?:Exception|Error))"
    r"(?:: (?P<said>.*))?\n(?P<stack>(?:\t(?:at |\.\.\. ).*\n?)+)"
    r"(?=(?:Caused by: .*\n?|\t.*\n?|\s*\n)*\Z))",
    re.MULTILINE,
)
_JAVA_CAUSE = re.compile(r"^Caused by: (?P<type>[\w.$]+)" + _JAVA_END, re.MULTILINE)
_JAVA_FRAME = re.compile(r"^\tat ((.+)\(.*\))$", re.MULTILINE)
_JAVA_LIBRARY = re.compile(r"(?:java\.|javax\.|jdk\.|sun\.|com\.sun\.|kotlin\.|scala\.)")
_JAVA_WITHOUT_PLACE = re.compile(r".*\.(?:StackOverflowError|OutOfMemoryError)$")


def java_report(found: re.Match[str]) -> Report:
    """Read what :data:`JAVA` matches."""
    kind = found["type"] or found["printed"]
    words = cut(found[0].partition("\n")[0])
    if _JAVA_WITHOUT_PLACE.match(kind):
        return Report(kind, words)
    outer = f"{kind} at {_java_place(found['frames'] or found['stack'])}", found["message"] or found["said"] or ""
    # Others may follow on their own lines below the stack.
    causes = list(_JAVA_CAUSE.finditer(found.string, found.end()))
    if not causes:
        return Report(outer[0], words, outer[1])
    root = causes[-1]
    place = "" if _JAVA_WITHOUT_PLACE.match(root["type"]) else f" at {_java_place(root['frames'])}"
    return _caused(words, outer, (f"{root['type']}{place}", root["message"] or ""))


def _caused(words: str, outer: tuple[str, str], root: tuple[str, str]) -> Report:
    """The report of an error and of what caused it first of all: the signature and the message of each.

    Both may be the same one: a thread reports the error that it ends with, and so does who waits for the thread.
    """
    signatures, messages = (dict.fromkeys(each) for each in zip(outer, root, strict=True))
    return Report(", caused by ".join(signatures), words, " ".join(messages))


def _java_place(frames: str) -> str:
    places = [(function, frame) for frame, function in _JAVA_FRAME.findall(frames)]
    return place_of(places, _JAVA_LIBRARY) or frames.strip()


_JAVA_DUMP = re.compile(
    r"^\"[^\n]*\"(?: [^\n]*?\bcpu=(?P<worked_ms>[\d.]+)ms)?[^\n]*\n   java\.lang\.Thread\.State: .*\n"
    r"(?P<frames>(?:\t(?:at |- ).*\n)+)",
    re.MULTILINE,
)


def java_dump_place(text: str) -> str:
    """Where the thread with code of the program is that has worked longest, in what Java prints at SIGQUIT; else empty.

    Args:
        text: what it has printed; with the list of references at its end, it is whole.
    """
    if "JNI global ref" not in text:
        return ""
    found = [(float(one["worked_ms"] or 0), _java_place(one["frames"])) for one in _JAVA_DUMP.finditer(text)]
    own = [(worked_ms, place) for worked_ms, place in found if not _JAVA_LIBRARY.match(place.rpartition(", from ")[2])]
    return max(own, default=(0.0, ""), key=lambda one: one[0])[1]


JVM = re.compile(
    r"^# A fatal error has been detected by the Java Runtime Environment:\n#\n"
    r"#  *(?P<text>.+?)(?: at pc=.*|, pid=.*)?\n"
    r"(?:#.*\n)*?# Problematic frame:\n# (?P<frame>.+)$",
    re.MULTILINE,
)
"""What the virtual machine of Java itself prints when it crashes."""
_JVM_CALLS = re.compile(r"^Java frames: .*\n(?P<frames>(?:[jJv] .*\n)*)", re.MULTILINE)
# Interpreted, or compiled: with a number, how well, and addresses.
_JVM_FRAME = re.compile(r"^(?:j +|J +\d+ (?:c\d )?)(?P<place>(?P<function>\S+?)\(\S*)", re.MULTILINE)


def jvm_report(found: re.Match[str]) -> Report:
    """Read what :data:`JVM` matches; the calls of the program follow if the whole report is printed."""
    words = cut(f"{found['text']} ({found['frame']})")
    calls = _JVM_CALLS.search(found.string, found.end())
    frames = _JVM_FRAME.findall(calls["frames"]) if calls else []
    compiled = _JVM_FRAME.match(found["frame"])
    inner = compiled["place"] if compiled else re.sub(r"\s+", " ", found["frame"])
    own = place_of(
        [("", inner), *((function, place) for place, function in frames)], re.compile(r"$|" + _JAVA_LIBRARY.pattern)
    )
    return Report(f"{found['text']} at {own}", words)


# JavaScript in V8, that is Node.js and Deno.
_V8_FRAMES = r"(?P<{}>(?: {{4}}(?:at |\.\.\. \d).*\n?)+)"
V8 = re.compile(
    r"^(?:Uncaught )?(?P<type>[\w$.]*(?:Error|Exception)(?: \[\w+\])?|[\w$.]+ \[\w+\])(?:: (?P<message>.*))?\n"
    r"(?:(?! {4}at |[\w$.]*Error\b).*\n){0,20}?"
    + _V8_FRAMES.format("frames")
    # A class of errors may have any name.
    + r"|^(?:Uncaught )?(?P<other>[\w$.]+)(?:: (?P<said>.*))?\n"
    + _V8_FRAMES.format("stack"),
    re.MULTILINE,
)
_V8_CALL = re.compile(r"^ {4}at (.*)$", re.MULTILINE)
_V8_LIBRARY = re.compile(r"(?:.*\()?(?:node:|ext:|internal/|<anonymous>\)?$|native\b)")
V8_VALUE = re.compile(
    r"^(?P<place>\S+:\d+)\n.*\n[ \t]*\^+\n\n?(?P<message>.*)\n(?=(?:.*\n){0,40}\n?Node\.js v)", re.MULTILINE
)
"""What Node.js prints of a thrown value that is no error, and has no stack; or an error with a long message."""


def v8_report(found: re.Match[str]) -> Report:
    """Read what :data:`V8` matches."""
    kind, message = found["type"] or found["other"], found["message"] or found["said"] or ""
    words = cut(found[0].partition("\n")[0])
    if "call stack size exceeded" in message:
        return Report(f"{kind} of the stack", words)
    calls = _V8_CALL.findall(found["frames"] or found["stack"])
    places = [(call, call.removeprefix("async ")) for call in calls]
    return Report(f"{kind} at {place_of(places, _V8_LIBRARY)}", words, message)


def v8_value_report(found: re.Match[str]) -> Report:
    """Read what :data:`V8_VALUE` matches."""
    return Report(f"uncaught at {found['place']}", cut(found["message"]), found["message"])


RUST = re.compile(
    # Before 1.73, the message came first; since 1.91, there is the id of the thread.
    r"^thread '[^'\n]*' (?:\(\d+\) )?panicked at (?:'(?P<old>.*)', )?(?P<place>\S+:\d+:\d+)(?::\n(?P<message>.*))?"
    r"(?P<rest>(?:\n(?!thread ').*){0,200})",
    re.MULTILINE,
)
_RUST_LIBRARY = re.compile(r"(?:/rustc/|library/|.*/rustlib/)")
_RUST_FRAME = re.compile(r"^ +at (\S+:\d+(?::\d+)?)$", re.MULTILINE)


def rust_report(found: re.Match[str]) -> Report:
    """Read what :data:`RUST` matches."""
    place = found["place"]
    places = [(where, where) for where in (place, *_RUST_FRAME.findall(found["rest"]))]
    message = found["message"] or found["old"] or ""
    words = cut(message or f"panicked at {place}")
    return Report(f"panicked at {place_of(places, _RUST_LIBRARY)}", words, message)


GO = re.compile(
    r"^(?P<kind>panic|fatal error): (?P<message>.+)\n"
    r"(?:(?!goroutine |panic: ).*\n){0,40}?goroutine \d+ .*\[.*\]:\n(?P<frames>(?:.+\n\t.+\n?)+)"
    r"|^(?P<bare>panic): (?P<said>.+)$",
    re.MULTILINE,
)
_GO_FRAME = re.compile(r"^(?P<function>.+?)(?:\(.*)?\n\t(?P<place>\S+)", re.MULTILINE)
_GO_LIBRARY = re.compile(r"(?:runtime[./]|panic$|.*:/(?:.*/)?go[-\d.]*/src/(?![^/]*\.))")


def go_report(found: re.Match[str]) -> Report:
    """Read what :data:`GO` matches."""
    kind, message = found["kind"] or found["bare"], found["message"] or found["said"]
    words = cut(f"{kind}: {message}")
    if kind == "fatal error" or message.startswith("runtime error: "):
        # The runtime's own words say what is wrong, not what was given.
        kind, message = f"{kind}: {steady(message)}", ""
    if "stack overflow" in kind or not found["frames"]:
        return Report(kind, words, message)
    frames = [
        (f"{function}:{place}", f"{place} in {function}")
        for function, place in _GO_FRAME.findall(found["frames"])
        if not re.match(r"runtime\.|panic$", function)
    ]
    return Report(f"{kind} at {place_of(frames, _GO_LIBRARY)}", words, message)


_RUBY_PLACE = r"(?:<internal:[^>\n]*>|[^\s:]+):\d+"
_RUBY_HEAD = rf"^(?P<place>{_RUBY_PLACE}):in [`'][^'\n]*': (?P<message>.*?) \((?P<type>[A-Z][\w:]*)\)$"
_RUBY_MORE = rf"(?:\n(?!\tfrom |{_RUBY_PLACE}:in ).*){{0,20}}?"  # lines of the message
RUBY = re.compile(
    rf"{_RUBY_HEAD}"
    # The calls; then what it was caused by, in the same form.
    rf"(?:{_RUBY_MORE}(?:\n\tfrom .*)*\n{_RUBY_PLACE}:in [`'][^'\n]*': .* \([A-Z][\w:]*\)$)*"
    rf"(?:{_RUBY_MORE}(?:\n\tfrom .*)+)?",
    re.MULTILINE,
)
_RUBY_ERROR = re.compile(rf"{_RUBY_HEAD}(?P<frames>(?:\n(?:\tfrom .*|(?!\S+:\d+:in ).*))*)", re.MULTILINE)
_RUBY_FRAME = re.compile(rf"^\tfrom ({_RUBY_PLACE}):in ", re.MULTILINE)
_RUBY_LIBRARY = re.compile(r"<internal:|.*/lib/ruby/(?:\d[\d.]*|vendor_ruby)/")


def ruby_report(found: re.Match[str]) -> Report:
    """Read what :data:`RUBY` matches: an error, and then what it was caused by."""
    chain = []
    for error in _RUBY_ERROR.finditer(found[0]):
        frames = [error["place"], *_RUBY_FRAME.findall(error["frames"])]
        place = place_of([(frame, frame) for frame in frames], _RUBY_LIBRARY)
        # Where the stack overflows depends on the input.
        signature = error["type"] if error["type"] == "SystemStackError" else f"{error['type']} at {place}"
        chain.append((signature, error["message"]))
    return _caused(cut(found[0].partition("\n")[0]), chain[0], chain[-1])


_PHP_ERROR = (
    r"(?P<type>[\w\\]+)(?:: (?P<message>.*?(?:\n.*?){0,20}?))? in (?P<place>(?:/.+|\S+|Command line code):\d+)$"
)
PHP = re.compile(rf"^(?:PHP )?Fatal error:\s+Uncaught {_PHP_ERROR}", re.MULTILINE)
_PHP_NEXT = re.compile(rf"^Next {_PHP_ERROR}", re.MULTILINE)


def php_report(found: re.Match[str]) -> Report:
    """Read what :data:`PHP` matches: what happened first, and then the errors that it caused."""
    outer = [*_PHP_NEXT.finditer(found.string, found.end()), found]
    last = outer[-2] if len(outer) > 1 else found
    told = [(f"{error['type']} at {error['place']}", error["message"] or "") for error in (last, found)]
    return _caused(cut(found[0].partition("\n")[0]), *told)


LUA = re.compile(
    r"^lua[\w.]*: (?:(?P<place>[^\s:]+:\d+): )?(?P<message>.*)\n"
    r"(?:(?!stack traceback:|lua[\w.]*: ).*\n){0,40}?stack traceback:(?P<frames>(?:\n\t.*)*)",
    re.MULTILINE,
)
_LUA_FRAME = re.compile(r"^\t([^\s:\[]+:\d+): ", re.MULTILINE)


def lua_report(found: re.Match[str]) -> Report:
    """Read what :data:`LUA` matches; a message need not tell its place, but then the calls do."""
    words = cut(found[0].partition("\n")[0])
    if found["message"].startswith("stack overflow"):
        return Report("stack overflow", words)
    own = _LUA_FRAME.search(found["frames"])
    place = found["place"] or (own[1] if own else "")
    return Report(f"error at {place}" if place else "error", words, found["message"])


DOT_NET = re.compile(
    r"^Unhandled exception\. (?P<type>[\w.`+]+)(?:: (?P<message>.*))?\n"
    r"(?:(?! {3}at ).*\n){0,40}?(?: {3}at .*\n){0,40}? {3}at .* in (?P<place>.*:line \d+)$",
    re.MULTILINE,
)
MONO = re.compile(
    r"^\[ERROR\] FATAL UNHANDLED EXCEPTION: (?P<type>[\w.`+]+)(?:: (?P<message>.*))?\n"
    r"(?P<frames>(?: +(?:at|---) .*\n?)+)",
    re.MULTILINE,
)
_MONO_CAUSE = re.compile(r" ---> ([\w.`+]+)(?:: )?")
# With debug information the place is a line, otherwise an offset in the function.
_MONO_FRAME = re.compile(r"^ +at (\S+) .*?(\[0x\w+\]) in (?:<.*|.*/)?(.*):(\d+)", re.MULTILINE)
_MONO_LIBRARY = re.compile(r"(?:\(wrapper|System|Mono|Microsoft)\b")


def mono_report(found: re.Match[str]) -> Report:
    """Read what :data:`MONO` matches; the stack begins with that of the innermost cause."""
    message = found["message"] or ""
    kinds = ", caused by ".join([found["type"], *_MONO_CAUSE.findall(message)])
    words = cut(f"{found['type']}: {message}" if message else found["type"])
    if "StackOverflow" in kinds:
        return Report(kinds, words)
    frames = [
        (name, f"{file}:{line} in {name}" if file else f"{name} {offset}")
        for name, offset, file, line in _MONO_FRAME.findall(found["frames"])
    ]
    return Report(f"{kinds} at {place_of(frames, _MONO_LIBRARY)}", words, _MONO_CAUSE.sub(" ", message))


PERL = re.compile(
    r"^(?P<message>.*) at (?P<place>(?:-e|\S+\.(?:pl|pm|t)|/\S+) line \d+)(?:, <\w*> (?:line|chunk) \d+)?\.$"
    r"(?=(?:\n\t.*)*\s*\Z)",
    re.MULTILINE,
)
"""What ``die`` prints at the end; where the program has read something, that says which line of it, which is data."""


def placed_report(found: re.Match[str]) -> Report:
    """Read a form that has a place, and perhaps a type and a message."""
    parts = found.groupdict()
    kind = parts.get("type") or "error"
    place = re.sub(r":? ?\bline (?=\d+$)", ":", found["place"])
    words = cut(found[0].partition("\n")[0])
    return Report(f"{kind} at {place}", words, parts["message"] or "")


LANGUAGES: tuple[tuple[bytes, re.Pattern[str], Callable[[re.Match[str]], Report]], ...] = (
    (b"Java Runtime Environment:", JVM, jvm_report),
    (b"\tat ", JAVA, java_report),
    (b"    at ", V8, v8_report),
    (b"\nNode.js v", V8_VALUE, v8_value_report),
    (b"panicked at ", RUST, rust_report),
    (b": ", GO, go_report),
    (b":in ", RUBY, ruby_report),
    (b"Uncaught ", PHP, php_report),
    (b"stack traceback:", LUA, lua_report),
    (b"Unhandled exception. ", DOT_NET, placed_report),
    (b"FATAL UNHANDLED EXCEPTION: ", MONO, mono_report),
    (b" line ", PERL, placed_report),
)
"""What an output must contain to have a report, its form, and how to read it."""
