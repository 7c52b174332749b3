"""How a run ended, and which endings are the same failure.

Rules of this module:

* A signature says what went wrong and where in the program, never where in its input: the input is what changes from
  run to run. So no addresses or process ids. Of the message of an exception, only words that are not in the input: one
  function may raise all errors of a parser. Its messages tell them apart, but often repeat a piece of the input.
* Where the input is the program that runs, the place is one in the input. Its lines change with that, and do not count.
* Reports of crashes in a known form tell more than the exit status (see :mod:`.crash_reports`).
* Without such a report, what the program complains of is kept beside the signature (see :mod:`.complaints`).
* Where a signature does not tell two failures apart, the user can: with a regular expression, or a script.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass, replace

from replay_dd.experiment.complaints import SILENCE, leads, telling_line, tellings
from replay_dd.experiment.crash_reports import crash_report
from replay_dd.experiment.message_texts import cut, own_words, quoting, steady, without_words_of
from replay_dd.experiment.process import SHELL_SIGNAL, Finished
from replay_dd.experiment.python_reports import calls
from replay_dd.outcome import Outcome

MATCH = "match"
"""The signature of output that a pattern matches."""
TIME_OUT = "time-out"
"""The signature of a run that reached the time limit."""
CANNOT_TELL = 125
_NO_VERDICT = 128  # from here on, `git bisect run` takes an exit status for no verdict
# No signal, and what `abort()` and traps of compilers send: a program that does so has often said why.
_OF_ITS_OWN_ACCORD = (None, signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)


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
            the reduced program itself raises, what it says. Of lost memory, where it was allocated.
        leads: whether the first of them is the reason for the others.
        details: what can tell failures apart that are alike otherwise, in this order: what was said, with quoted text,
            and the chain of calls; empty where there is none.
        seconds: how long it ran.
        said: the words of a crash report: text of the output.
        place: where it was at the time limit, if that was seen; tells no failures apart.
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
    said: str = ""
    place: str = ""

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
            return Ending(Outcome.FAIL, MATCH, f"the output has: {cut(line)}", steady(matched), finished.seconds)
        ending = self._by_status(finished, part)
        # It may be a failure, but not the one that is looked for.
        return ending if ending.verdict is Outcome.PASS else replace(ending, verdict=Outcome.UNRESOLVED)

    def _by_status(self, finished: Finished, part: bytes) -> Ending:
        message = steady(_last_line(finished.output))
        if finished.timed_out:
            words = still_running(f"{finished.seconds:.1f}", finished.place)
            # A script that does not end says nothing; a program that does not end fails.
            verdict = Outcome.UNRESOLVED if self.script else Outcome.FAIL
            return Ending(verdict, TIME_OUT, words, "", finished.seconds, place=finished.place)
        if self.script:
            return _of_script(finished)
        number, status = finished.signal, finished.status or 0
        if number is None and status > SHELL_SIGNAL and _signal_name(status - SHELL_SIGNAL).startswith("SIG"):
            number = status - SHELL_SIGNAL  # what a shell says of its program
        how = f"killed by {_signal_name(number)}" if number is not None else f"exit status {status}"
        if number is None and status == 0:
            return Ending(Outcome.PASS, how, how, message, finished.seconds)
        report = crash_report(finished.output)
        if report is not None:
            placed, words, said, kinds = report.signature, report.words, report.message, report.kinds
            signature = self._without_own_lines(placed, finished.output)
            if finished.place:
                signature = f"{signature} in {finished.place}"
                report = report._replace(place=finished.place)
            told = f"{report.told} ({how})"
            if self.inputs is not None and report.repeats:
                signature = without_words_of((*self.inputs, part), signature)
            elif self.inputs is not None and said:
                signature = f"{signature}: {own_words(said, (*self.inputs, part))}"
            elif self.sources and signature != placed:
                # Without its line, the place of a program's own failure says little.
                kinds = tuple(filter(None, [own_words(said, (*self.sources, part))]))
            return Ending(
                *(Outcome.FAIL, f"{how}: {signature}", told, message, finished.seconds),
                is_report=True,
                complaints=kinds,
                details=(quoting(report.whole or words), calls(finished.output)),
                said=words,
            )
        placed = f"{how}{' in ' if number is not None else ': '}{finished.place}" if finished.place else how
        said = cut(telling_line(finished.output))
        kinds = ()
        if self.inputs is not None and number in _OF_ITS_OWN_ACCORD:
            inputs = (*self.inputs, part)
            kinds = tuple(dict.fromkeys(filter(None, (own_words(line, inputs) for line in tellings(finished.output)))))
            if not said:
                kinds = (SILENCE,)
        words = f"{placed}: {said}" if said else placed
        details = quoting(said), ""
        return Ending(
            *(Outcome.FAIL, placed, words, message, finished.seconds),
            complaints=kinds,
            leads=leads(said),
            details=details,
        )

    def _without_own_lines(self, signature: str, output: bytes) -> str:
        """A signature without lines of the input."""
        text = output.decode("utf-8", "replace") if self.names else ""
        for name in self.names:
            if re.search(rf'(?<![\w./-]){re.escape(name)}(?:", line | line |:)\d', text):
                own = re.escape(name.rpartition("/")[2])
                signature = re.sub(rf"(?<![\w.-])({own}):\d+(?::\d+)?", r"\1", signature)
        return signature


def still_running(seconds: str, place: str) -> str:
    """That a program was still running after so many seconds, and where, if that is known."""
    words = f"still running after {seconds} s"
    return f"{words} in {place}" if place else words


def _of_script(finished: Finished) -> Ending:
    status = finished.status
    if status is None or status >= _NO_VERDICT or status == CANNOT_TELL:
        told = "cannot tell" if status == CANNOT_TELL else "gave no verdict"
        how = f"exit status {status}" if status is not None else f"killed by {_signal_name(finished.signal or 0)}"
        return Ending(Outcome.UNRESOLVED, told, f"the script {told} ({how})", "", finished.seconds)
    if status == 0:
        return Ending(Outcome.PASS, "good", "the script says good", "", finished.seconds)
    return Ending(Outcome.FAIL, "bad", f"the script says bad (exit status {status})", "", finished.seconds)


# pytest's last line: tests that are left out are missing there.
_TOTALS = re.compile(r"[= ]*\d+ (?:failed|errors?|passed)\b.{0,100} in \d")


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


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
