"""How a run ended, and which endings are the same failure.

Rules of this module:

* A signature says what went wrong and where in the program, never where in its input: the input is what changes from
  run to run. So no addresses or process ids. Of the message of an exception, only words that are not in the input: one
  function may raise all errors of a parser. Its messages tell them apart, but often repeat a piece of the input.
* Where the input is the program that runs, the place is one in the input. Its lines change with that, and do not count.
* Reports of crashes in a known form tell more than the exit status. Of several, the one that comes first in the table
  counts; of several in one form, the last one in the output, since it ended the program.
* Without such a report, what the program complains of is kept beside the signature (see :mod:`.complaints`).
* Where a signature does not tell two failures apart, the user can: with a regular expression, or a script.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from replay_dd.experiment.complaints import complaints, in_short, leads, telling_line
from replay_dd.experiment.process import Finished
from replay_dd.outcome import Outcome

MATCH = "match"
"""The signature of output that a pattern matches."""
TIME_OUT = "time-out"
"""The signature of a run that reached the time limit."""
CANNOT_TELL = 125
_NO_VERDICT = 128  # from here on, `git bisect run` takes an exit status for no verdict
_SHELL_SIGNAL = 128
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended.

    Attributes:
        verdict: PASS; FAIL for any failure; UNRESOLVED if it cannot be told.
        signature: equal for the same failure.
        words: the ending in one line.
        message: what the program said last, without numbers and quoted text; tells whether equal failures say the same.
        is_report: whether it is told by a crash report in a known form.
        complaints: the kinds of complaints in the output, if there is no crash report; in order. Of an exception that
            the reduced program itself raises, what it says.
        leads: whether the first of them is the reason for the others.
        details: what can tell failures apart that are alike otherwise, in this order: what was said, with quoted text,
            and the chain of calls; empty where there is none.
        seconds: how long it ran.
    """

    verdict: Outcome
    signature: str
    words: str
    message: str = ""
    seconds: float = 0.0
    is_report: bool = False
    complaints: tuple[str, ...] = ()
    leads: bool = False
    details: tuple[str, str] = ("", "")

    def is_like(self, other: Ending) -> bool:
        """Whether both show the same failure, by their signatures and what they complain of."""
        if self.signature != other.signature:
            return False
        return not set(self.complaints).isdisjoint(other.complaints) or not (self.complaints or other.complaints)


@dataclass(frozen=True)
class Oracle:
    """What counts as a failure; by default, an exit status other than 0, a signal, and the time limit.

    Attributes:
        pattern: if given, output that it matches is the failure, however the program ends.
        script: the exit status is a verdict, as for `git bisect run`.
        inputs: what messages may repeat; None if messages do not tell failures apart.
        names: how output names the files of the input, by paths.
        sources: what messages of the input may repeat, if it is a program that fails itself.
        rejects: if given, output that it matches is no failure: the program refuses its input, as it should.
    """

    pattern: re.Pattern[bytes] | None = None
    script: bool = False
    inputs: tuple[bytes, ...] | None = None
    names: tuple[str, ...] = ()
    sources: tuple[bytes, ...] = ()
    rejects: re.Pattern[bytes] | None = None

    def named(self, names: Iterable[str], sources: Iterable[bytes] = ()) -> Oracle:
        """The same for an input whose files have these names, and for a program these sources."""
        return replace(self, names=tuple(names), sources=tuple(sources))

    def about(self, *inputs: bytes) -> Oracle:
        """The same for runs on parts of these inputs: messages tell failures apart, except for what they repeat."""
        return self if self.inputs is not None else replace(self, inputs=inputs)

    def ending(self, finished: Finished, part: bytes = b"") -> Ending:
        """How a run ended.

        Args:
            finished: the run.
            part: its input, made from parts of :attr:`inputs`.
        """
        if self.rejects is not None and not finished.timed_out and self.rejects.search(finished.output):
            return replace(self._by_status(finished, part), verdict=Outcome.UNRESOLVED)
        if self.pattern is None:
            return self._by_status(finished, part)
        found = self.pattern.search(finished.output)
        if found is not None:
            line = _line_of(finished.output, found.start())
            # The rest of the line may be what the program repeats of its input.
            matched = found[0].decode("utf-8", "replace").strip()
            return Ending(Outcome.FAIL, MATCH, f"the output has: {_cut(line)}", _steady(matched), finished.seconds)
        ending = self._by_status(finished, part)
        # It may be a failure, but not the one that is looked for.
        return ending if ending.verdict is Outcome.PASS else replace(ending, verdict=Outcome.UNRESOLVED)

    def _by_status(self, finished: Finished, part: bytes) -> Ending:
        message = _steady(_last_line(finished.output))
        if finished.timed_out:
            words = f"still running after {finished.seconds:.1f} s"
            # A script that does not end says nothing; a program that does not end fails.
            verdict = Outcome.UNRESOLVED if self.script else Outcome.FAIL
            return Ending(verdict, TIME_OUT, words, "", finished.seconds)
        if self.script:
            return _of_script(finished)
        number, status = finished.signal, finished.status or 0
        if number is None and status > _SHELL_SIGNAL and _signal_name(status - _SHELL_SIGNAL).startswith("SIG"):
            number = status - _SHELL_SIGNAL  # what a shell says of its program
        how = f"killed by {_signal_name(number)}" if number is not None else f"exit status {status}"
        if number is None and status == 0:
            return Ending(Outcome.PASS, how, how, message, finished.seconds)
        report = _report(finished.output)
        if report is not None:
            placed, words, said = report
            signature = self._without_own_lines(placed, finished.output)
            told = f"{words} ({how})"
            kinds: tuple[str, ...] = ()
            if self.inputs is not None and said:
                signature = f"{signature}: {_own_words(said, (*self.inputs, part))}"
            elif self.sources and signature != placed:
                # Without its line, the place of a program's own failure says little.
                kinds = tuple(filter(None, [_own_words(said, (*self.sources, part))]))
            return Ending(
                *(Outcome.FAIL, f"{how}: {signature}", told, message, finished.seconds),
                is_report=True,
                complaints=kinds,
                details=(_quoting(words), _calls(finished.output)),
            )
        said = _cut(telling_line(finished.output))
        kinds = ()
        if self.inputs is not None and number is None:
            inputs = (*self.inputs, part)
            kinds = tuple(
                dict.fromkeys(filter(None, (_own_words(line, inputs) for line in complaints(finished.output))))
            )
        words = f"{how}: {said}" if said else how
        details = _quoting(said), ""
        return Ending(
            *(Outcome.FAIL, how, words, message, finished.seconds),
            complaints=kinds,
            leads=leads(said),
            details=details,
        )

    def _without_own_lines(self, signature: str, output: bytes) -> str:
        """A signature without lines of the input."""
        text = output.decode("utf-8", "replace") if self.names else ""
        for name in self.names:
            if re.search(rf'(?<![\w./-]){re.escape(name)}(?:", line |:)\d', text):
                own = re.escape(name.rpartition("/")[2])
                signature = re.sub(rf"(?<![\w.-])({own}):\d+(?::\d+)?", r"\1", signature)
        return signature


def _of_script(finished: Finished) -> Ending:
    status = finished.status
    if status is None or status >= _NO_VERDICT or status == CANNOT_TELL:
        told = "cannot tell" if status == CANNOT_TELL else "gave no verdict"
        how = f"exit status {status}" if status is not None else f"killed by {_signal_name(finished.signal or 0)}"
        return Ending(Outcome.UNRESOLVED, told, f"the script {told} ({how})", "", finished.seconds)
    if status == 0:
        return Ending(Outcome.PASS, "good", "the script says good", "", finished.seconds)
    return Ending(Outcome.FAIL, "bad", f"the script says bad (exit status {status})", "", finished.seconds)


Report = tuple[str, str, str]
"""The signature of a crash report, words for it, and the message of an exception."""


def _python(found: re.Match[str]) -> Report:
    name, message = found["type"], found["message"] or ""
    words = f"{name}: {_cut(message)}" if message else name
    # Where the stack overflows is a matter of how deep the input is, and so is what the message says about it.
    if name == "RecursionError":
        return name, words, ""
    frames = _PYTHON_FRAME.findall(found["frames"])
    if not frames:
        return name, words, message
    file, line, function = frames[-1]
    place = f"{file.rpartition('/')[2]}:{line} in {function}"
    # One line may look up several attributes, and which one is missing is said by the program, not by its input.
    told = _ATTRIBUTE.sub(r"\g<1>\g<2>", _BUILT_IN_TYPE.sub(r"' \g<0> '", message))
    return f"{name} at {place}", f"{words} ({place})", told


def _place_only(found: re.Match[str]) -> Report:
    """For reports whose text may repeat the input: what they are, and where."""
    return f"{found['type']} at {found['place']}", _cut(found[0].strip().partition("\n")[0]), ""


def _as_it_is(found: re.Match[str]) -> Report:
    return _without_addresses(found["text"]), _cut(found["text"]), ""


_PYTHON_FRAME = re.compile(r'^\s+File "([^"\n]*)", line (\d+), in (.+)$', re.MULTILINE)
# Forms of crash reports: what an output must contain to have one, its form, and how to read it as signature and words.
# Without the first, the search would take long in long lines, such as those of data in an output.
_REPORTS: tuple[tuple[bytes, re.Pattern[str], Callable[[re.Match[str]], Report]], ...] = (
    # Sanitizers of gcc, clang and others.
    (b"SUMMARY: ", re.compile(r"^SUMMARY: (?P<text>\w+Sanitizer: .+)$", re.MULTILINE), _as_it_is),
    # Compilers of the GNU collection; the text may be followed by the place in the compiler.
    (
        b"internal compiler error: ",
        re.compile(r"(?P<text>internal compiler error: .+)$", re.MULTILINE),
        _as_it_is,
    ),
    # assert() of C, in glibc and musl.
    (b"Assertion ", re.compile(r"(?<![^\s:])(?P<text>[^\s:]+:\d+: .*Assertion [`'].*' failed)"), _as_it_is),
    (b"Assertion failed: ", re.compile(r"(?P<text>Assertion failed: .*)"), _as_it_is),
    # LLVM.
    (b"LLVM ERROR: ", re.compile(r"(?P<text>LLVM ERROR: .+)$", re.MULTILINE), _as_it_is),
    (b"UNREACHABLE executed at ", re.compile(r"(?P<text>UNREACHABLE executed at .+)$", re.MULTILINE), _as_it_is),
    # pytest, in its summary.
    (
        b".py",
        re.compile(r"^(?P<text>(?:FAILED|ERROR) \S+\.py\S*(?: - .+)?)$", re.MULTILINE),
        lambda found: (_steady(found["text"]), _cut(found["text"]), ""),
    ),
    # Python: the last traceback is that of the exception that ended the program. Tools may head it in their own words.
    (
        b"raceback",
        re.compile(
            # While it is printed, the source is parsed once more (3.14), which may warn in between.
            r"^(?:Traceback \(most recent call last\):|[^\n]{0,200}\b[Tt]raceback\b[^\n]{0,200}:(?=\n[ \t]+File \"))"
            r"\n(?P<frames>(?:[ \t].*\n|[^ \t\n].*:\d+: \w*Warning: .*\n)++)"
            r"(?P<type>[A-Za-z_][\w.]*)(?:: ?(?P<message>.*))?$",
            re.MULTILINE,
        ),
        _python,
    ),
    # Java and Kotlin, with the innermost frame.
    (
        b"Exception in thread ",
        re.compile(r'Exception in thread "[^"\n]*" (?P<type>[\w.$]+)(?:: .*)?\n\s+at (?P<place>.+)$', re.MULTILINE),
        _place_only,
    ),
    # JavaScript in V8, with the innermost frame.
    (b"Error", re.compile(r"^(?P<type>\w*Error)(?:: .*)?\n\s+at (?P<place>.+)$", re.MULTILINE), _place_only),
    # Rust, before and since 1.73.
    (
        b" panicked at ",
        re.compile(r"thread '.*' (?P<type>panicked) at (?:'.*', )?(?P<place>\S+:\d+:\d+)"),
        _place_only,
    ),
    # Go.
    (
        b": ",
        re.compile(r"^(?P<text>(?:panic|fatal error): .+)$", re.MULTILINE),
        lambda found: (_steady(found["text"]), _steady(found["text"]), ""),
    ),
)
# What colors a terminal (ECMA-48, control sequences).
_COLORS = re.compile(r"\x1b\[[0-9;:]*m")
# pytest's last line: tests that are left out are missing there.
_TOTALS = re.compile(r"[= ]*\d+ (?:failed|errors?|passed)\b.{0,100} in \d")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b|(?<==)=\d+(?===)")
_WORD = re.compile(r"[^\W\d_]{2,}")
# What newer Pythons add to a message depends on the names that are there, not on the failure.
_SUGGESTION = re.compile(r"(?:\.? (?:Or did|Did) you (?:mean|forget to import)\b[^?\n]*\?)+$")
# `'NoneType' object has no attribute 'x'`: what kind of object it is belongs to the failure.
_BUILT_IN_TYPE = re.compile(
    r"(?<=')(?:NoneType|bool|int|float|complex|str|bytes|bytearray|list|tuple|dict|set|frozenset|range|slice|type|module"
    r"|function|method|builtin_function_or_method|generator|coroutine|async_generator|ellipsis)(?=')"
)
_ATTRIBUTE = re.compile(r"(has no attribute )'(\w+)'(?=$|[.\s])")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^'`\n]*['`]|‘[^’\n]*’|“[^”\n]*”")


def _report(output: bytes) -> Report | None:
    """The crash report in the output."""
    text = output.decode("utf-8", "replace")
    for mark, form, read in _REPORTS:
        matches = list(form.finditer(text)) if mark in output else []
        if matches:
            return read(matches[-1])
    return None


def _without_addresses(text: str) -> str:
    return _ADDRESS.sub("ADDRESS", text).strip()


def _steady(text: str) -> str:
    """A message without what changes with the input: numbers, how wide they are, and quoted text."""
    text = _SUGGESTION.sub("", _without_addresses(in_short(text)))
    # Numbers may be padded.
    return re.sub(r"\s+", " ", re.sub(r"\d+", "N", _QUOTED.sub("TEXT", text)))


def _quoting(text: str) -> str:
    """A message without numbers, except for those in quoted text."""
    text = _SUGGESTION.sub("", _without_addresses(in_short(text)))
    parts = _QUOTED.split(text), [*_QUOTED.findall(text), ""]
    return "".join(re.sub(r"\d+", "N", between) + quoted for between, quoted in zip(*parts, strict=True))


def _calls(output: bytes) -> str:
    """The chain of calls in the traceback of a Python program; of a recursion, each place once."""
    if b"raceback" not in output:
        return ""
    frames = _PYTHON_FRAME.findall(output.decode("utf-8", "replace"))
    return " ".join(dict.fromkeys(f"{file.rpartition('/')[2]}:{line}" for file, line, _ in frames))


def _own_words(message: str, inputs: tuple[bytes, ...]) -> str:
    """The words of a message that are in no input."""
    message = _SUGGESTION.sub("", _without_addresses(in_short(message)))
    words = _WORD.findall(_QUOTED.sub(" ", message))
    own = {word for word in set(words) if not any(word.encode() in data for data in inputs)}
    return " ".join(word for word in words if word in own)


def _last_line(output: bytes) -> str:
    """What a program said last, but for how many of its tests passed and failed."""
    end = output.rstrip()
    last = _line_of(end, len(end))
    if not _TOTALS.match(last):
        return last
    before = end[: end.rfind(b"\n") + 1].rstrip()
    return _line_of(before, len(before))


def _line_of(output: bytes, place: int) -> str:
    start = output.rfind(b"\n", 0, place) + 1
    stop = output.find(b"\n", place)
    return output[start : len(output) if stop < 0 else stop].decode("utf-8", "replace").strip()


def _cut(text: str) -> str:
    text = "".join(character if character.isprintable() else "�" for character in _COLORS.sub("", text))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
