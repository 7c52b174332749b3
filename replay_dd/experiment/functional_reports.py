"""Reads what OCaml, Haskell, Guile, SBCL, Erlang and Elixir print of errors that nobody handles.

Rules of this module:

* What an exception of these languages carries is printed as their values are, so its text stands in quotes. It is the
  message all the same.
* Arguments in a stack are data, so functions are named without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replay_dd.experiment.crash_report import Report, place_of
from replay_dd.experiment.message_texts import cut

_OCAML_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OCAML = re.compile(
    r"^Fatal error: exception (?:File \"(?P<file>[^\"\n]+)\", lines? (?P<line>\d+)[^:\n]*: (?P<failed>[A-Z].*)"
    r"|(?P<type>[A-Z][\w.']*)(?P<carried>.*))"
    # The toplevel.
    r"|^Exception:\s+(?P<raised>[A-Z][\w.']*)(?:\s+(?P<with>\(.*\)|\"(?:[^\"\\\n]|\\.)*\"|-?\d+))?\.$",
    re.MULTILINE,
)
_OCAML_FRAME = re.compile(
    r"^(?:Raised (?:at|by primitive operation at)|Called from|Re-raised at) (\S+) in file \"([^\"\n]+)\""
    r"(?: \(inlined\))?, lines? (\d+).*",
    re.MULTILINE,
)
_OCAML_LIBRARY = re.compile(r"Stdlib|Camlinternal|Topeval|Toploop")


def ocaml_report(found: re.Match[str]) -> Report:
    """Read what :data:`OCAML` matches: with a stack if `OCAMLRUNPARAM` asks for it."""
    words = cut(found[0])
    if found["failed"]:
        return Report(f"{found['failed']} at {found['file']}:{found['line']}", words)
    kind = found["type"] or found["raised"]
    if kind == "Stack_overflow":
        return Report(kind, words)
    message = _OCAML_STRING.sub(r"\1", found["carried"] or found["with"] or "")
    frames = _OCAML_FRAME.findall(found.string[found.end() :])
    place = place_of([(name, f"{file}:{line} in {name}") for name, file, line in frames], _OCAML_LIBRARY)
    return Report(f"{kind} at {place}" if place else kind, words, message)


HASKELL = re.compile(
    r"^[^\s:]+: (?P<message>.*\n(?:(?!CallStack ).*\n){0,20}?)CallStack \(from HasCallStack\):\n"
    r"(?P<frames>(?:  .*\n?)+)",
    re.MULTILINE,
)
_HASKELL_FRAME = re.compile(r"^  (\S+), called at (\S+) in ([^\s:]+):", re.MULTILINE)
_HASKELL_LIBRARY = re.compile(
    r"(?:array|base|bytestring|containers|ghc|mtl|text|transformers|unordered-containers|vector)(?:$|-)"
)


def haskell_report(found: re.Match[str]) -> Report:
    """Read what :data:`HASKELL` matches: an error that GHC places by its calls."""
    frames = [(package, f"{place} in {name}") for name, place, package in _HASKELL_FRAME.findall(found["frames"])]
    words = cut(re.sub(r"\s+", " ", found["message"].strip()))
    return Report(f"error at {place_of(frames, _HASKELL_LIBRARY)}", words, found["message"])


GUILE = re.compile(
    r"^Backtrace:\n(?P<frames>(?:In .*:\n|[ ]+.*\n)+)\n"
    r"(?:(?P<place>\S.*?:\d+:\d+)|ERROR): (?P<message>.*(?:(?<=:)\n.*)?)",
    re.MULTILINE,
)
_GUILE_FRAMES = re.compile(r"^In (?P<file>.*):$|^ +(?:(?P<line>\d+):\d+)? +\d+ \((?P<name>[^\s()]+)", re.MULTILINE)
_GUILE_LIBRARY = re.compile(r"(?:ice-9|srfi|rnrs|oop|system|language|scripts|web|sxml|texinfo)/|unknown file")
_GUILE_KEY = re.compile(r"Throw to key `([^'\n]*)'")


def guile_report(found: re.Match[str]) -> Report:
    """Read what :data:`GUILE` matches; its stack has the innermost frame last."""
    words, message = cut(found["message"].replace("\n", " ")), found["message"]
    key = _GUILE_KEY.match(message)
    kind = key[1] if key else "error"
    if "tack overflow" in message or kind == "stack-overflow":
        return Report("stack overflow", words)
    frames, file = [], ""
    for frame in _GUILE_FRAMES.finditer(found["frames"]):
        file = frame["file"] or file
        if frame["name"]:
            frames.append((file, f"{file}:{frame['line'] or ''} in {frame['name']}"))
    place = place_of(frames[::-1], _GUILE_LIBRARY) or found["place"] or ""
    return Report(f"{kind} at {place}", words, message)


SBCL = re.compile(
    r"^Unhandled (?P<type>[^\s]+) in thread [^\n]*\n?[^\n]*>:\n"
    r"(?P<message>(?:(?!Backtrace for: ).*\n){1,40}?)Backtrace for: .*\n(?P<frames>(?:\d+: .*\n?)+)",
    re.MULTILINE,
)
_SBCL_FRAME = re.compile(r"^\d+: \((?:\((?P<local>[^()\n]*)\)|(?P<name>[^\s()]+))", re.MULTILINE)
# What reports an error, and functions of the language that often raise one.
_SBCL_REPORTERS = re.compile(r"SB-DEBUG:|INVOKE-DEBUGGER$|C?ERROR$|SIGNAL$")
_SBCL_LIBRARY = re.compile(
    r"SB-|(?:C?ERROR|SIGNAL|WARN|BREAK|OPEN|CLOSE|ELT|NTH|NTHCDR|AREF|SVREF|SUBSEQ|GETHASH|SORT|REDUCE|MAP\w*|APPLY"
    r"|FUNCALL|COERCE|CONCATENATE|LOAD|INTERN|PARSE-[A-Z]+|READ[-A-Z]*|MAKE-[A-Z]+|PROBE-FILE|DELETE-FILE|CHANGE-CLASS)$"
)


def sbcl_report(found: re.Match[str]) -> Report:
    """Read what :data:`SBCL` matches."""
    message = found["message"].strip()
    words = cut(re.sub(r"\s+", " ", f"Unhandled {found['type']}: {message}"))
    if "EXHAUSTED" in found["type"]:
        return Report(found["type"], words)
    names = [frame["local"] or frame["name"] for frame in _SBCL_FRAME.finditer(found["frames"])]
    frames = [(name, name) for name in names if not _SBCL_REPORTERS.match(name)]
    return Report(f"{found['type']} at {place_of(frames, _SBCL_LIBRARY)}", words, message)


ERLANG = re.compile(
    r"^(?:escript: |\*\* )?exception (?P<class>error|exit|throw): (?P<message>.*(?:\n {9,}.*)*)"
    r"(?P<frames>(?:\n  .*)*)",
    re.MULTILINE,
)
_ERLANG_FRAME = re.compile(r"^  in (?:function|call from) +(\S+)(?: \((\S+), line (\d+)\))?", re.MULTILINE)
_ERLANG_LIBRARY = re.compile(
    r"(?:[a-z]\w*/|(?:erlang|erl_eval|escript|init|lists|maps|proc_lib|gen\w*|io|io_lib|string|binary|file|ets|dict|re"
    r"|orddict|proplists|queue|sets|timer|unicode|supervisor):)"
)


def erlang_report(found: re.Match[str]) -> Report:
    """Read what :data:`ERLANG` matches."""
    frames = [
        (name, f"{file}:{line} in {name}" if file else name)
        for name, file, line in _ERLANG_FRAME.findall(found["frames"])
    ]
    place = place_of(frames, _ERLANG_LIBRARY)
    words = cut(re.sub(r"\s+", " ", f"exception {found['class']}: {found['message']}"))
    # Below a function are the values that it was called with, and what is wrong about them.
    wrong = re.findall(r"^ +\*\*\* argument \d+: (.*)", found["frames"], re.MULTILINE)
    return Report(
        f"{found['class']} at {place}" if place else found["class"], words, " ".join([found["message"], *wrong])
    )


ELIXIR = re.compile(
    r"^\*\* \((?P<type>[\w.]+|EXIT from #PID<[\d.]+>)\) (?P<message>.*\n(?:(?: .*)?\n){0,40}?)"
    r"(?P<frames>(?:    (?:\(\w+ [^)\n]*\) )?(?:\S+\.(?:exs?|erl):\d+: |:?[\w.]+\().*(?:\n|\Z))+)(?!    \S)",
    re.MULTILINE,
)
_ELIXIR_FRAME = re.compile(
    r"^    (?:\((?P<app>\w+) [^)\n]*\) )?(?:(?P<file>\S+\.(?:exs?|erl)):(?P<line>\d+): )?(?P<name>[^(\n]+|\(\w+\))",
    re.MULTILINE,
)
_ELIXIR_LIBRARY = re.compile(r"(?:elixir|stdlib|kernel|erts|compiler|mix|ex_unit|iex|logger)$|:")


def elixir_report(found: re.Match[str]) -> Report:
    """Read what :data:`ELIXIR` matches."""
    kind = re.sub(r" #PID<.*", "", found["type"])
    frames = []
    for frame in _ELIXIR_FRAME.finditer(found["frames"]):
        place = f"{frame['file']}:{frame['line']} in {frame['name']}" if frame["file"] else frame["name"]
        frames.append((frame["app"] or frame["name"], place))
    words = cut(found[0].partition("\n")[0])
    return Report(f"{kind} at {place_of(frames, _ELIXIR_LIBRARY)}", words, found["message"])


FUNCTIONAL: tuple[tuple[bytes, re.Pattern[str], Callable[[re.Match[str]], Report]], ...] = (
    (b"xception", OCAML, ocaml_report),
    (b"CallStack (from HasCallStack):", HASKELL, haskell_report),
    (b"Backtrace:\n", GUILE, guile_report),
    (b"Unhandled ", SBCL, sbcl_report),
    (b"exception ", ERLANG, erlang_report),
    (b"** (", ELIXIR, elixir_report),
)
"""What an output must contain to have a report, its form, and how to read it."""
