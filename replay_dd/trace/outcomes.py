"""What a part of a trace must still bring about: an output, one line of it, a final value, or an exception.

Rules of this module:

* An outcome is compared with that of the whole program, never with what anybody expects of it.
* A run that left the trace, was killed, or ended by another exception has no outcome.
* An exception is the same if the same execution of the same statement raises it, with the same class and message; its
  message counts without addresses.
"""

from __future__ import annotations

import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass

from replay_dd.circumstance import Judgement
from replay_dd.errors.program import NoOutcomeError, NotDeterministicError
from replay_dd.outcome import Outcome
from replay_dd.trace.forks import Told
from replay_dd.trace.model import Trace

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_SHOWN = 120
_NUMBER = re.compile(r"-?\d+|True|False")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a part of a trace.

    Attributes:
        told: what it left behind.
        trouble: why it has no outcome; empty if it has one.
    """

    told: Told
    trouble: str

    @property
    def output(self) -> bytes:
        """What it wrote to standard output."""
        return self.told.output

    @property
    def exception(self) -> tuple[str, str] | None:
        """The class and the message of the exception that ended it."""
        report = self.told.report
        found = None if report is None else report.get("exception")
        return None if found is None else (found[0], _ADDRESS.sub("ADDRESS", found[1]))

    @property
    def event(self) -> int:
        """The event that raised it; -1 if that is unknown."""
        return -1 if self.told.report is None else int(self.told.report.get("event", -1))

    @property
    def stands_in(self) -> bool:
        """Whether it ended where an exception did, but what raises that was left out."""
        return self.told.report is not None and bool(self.told.report.get("stands_in"))

    @property
    def variable(self) -> str | None:
        """The final value that was asked for."""
        return None if self.told.report is None else self.told.report.get("variable")

    @property
    def untold(self) -> str | None:
        """The type of the final value that was asked for, if such values cannot be told apart."""
        return None if self.told.report is None else self.told.report.get("untold")


class Sought(ABC):
    """An outcome of the whole program.

    Attributes:
        name: for machines.
        words: the outcome in one line.
        variable: the variable whose final value is needed; None for none.
    """

    name = ""
    words = ""
    variable: str | None = None

    @abstractmethod
    def shows(self, run: Run) -> bool:
        """Whether a run has it."""

    @abstractmethod
    def seen(self, run: Run) -> Hashable:
        """What a run has in its place."""

    def judge(self, run: Run) -> Judgement:
        """What a run means: FAIL if the outcome still shows."""
        if run.trouble:
            return Judgement(Outcome.UNRESOLVED, run.trouble, run.trouble)
        if self.shows(run):
            return Judgement(Outcome.FAIL, self.words, self.words, failed=True)
        return Judgement(Outcome.PASS, "the outcome is another one", "another outcome")


class Output(Sought):
    """All that the program prints."""

    name = "output"

    def __init__(self, whole: Run) -> None:
        self._output = whole.output
        lines = self._output.count(b"\n") + (not self._output.endswith(b"\n"))
        self.words = f"the whole output ({lines:,} line{'' if lines == 1 else 's'})"

    def shows(self, run: Run) -> bool:
        """Whether it printed the same, and did not fail."""
        return (run.stands_in or not run.told.status) and run.output == self._output

    def seen(self, run: Run) -> Hashable:
        """What it printed."""
        return run.output


class OutputLine(Sought):
    """One line of what the program prints."""

    name = "output-line"

    def __init__(self, line: bytes) -> None:
        self._line = line
        self.words = f"the output line `{_cut(line.decode('utf-8', 'replace'))}`"

    def shows(self, run: Run) -> bool:
        """Whether it printed that line."""
        return self._line in run.output.splitlines()

    def seen(self, run: Run) -> Hashable:
        """Whether it printed it."""
        return self._line in run.output.splitlines()


class Variable(Sought):
    """The final value of a variable."""

    name = "variable"

    def __init__(self, variable: str, value: str) -> None:
        self.variable = variable
        self._value = value
        self.words = f"{variable} = {_cut(value)}"

    def shows(self, run: Run) -> bool:
        """Whether the variable has the same value at the end."""
        return run.variable == self._value

    def seen(self, run: Run) -> Hashable:
        """Its value."""
        return run.variable


class Raised(Sought):
    """The exception that ends the program."""

    name = "exception"

    def __init__(self, whole: Run) -> None:
        assert whole.exception is not None
        self._exception, self._event = whole.exception, whole.event
        kind, message = self._exception
        self.words = f"{kind}: {_cut(message)}" if message else kind
        if kind == "SystemExit":
            said = "" if _NUMBER.fullmatch(message) else message
            self.words = f"exit status {whole.told.status}" + (f": {_cut(said)}" if said else "")

    def shows(self, run: Run) -> bool:
        """Whether the same statement raised it, at the same time."""
        return not run.stands_in and run.exception == self._exception and run.event == self._event

    def seen(self, run: Run) -> Hashable:
        """The exception, and where it comes from."""
        return run.exception, run.event


def run_from(told: Told, trace: Trace | None = None) -> Run:
    """What a run means, whatever is looked for."""
    report = told.report
    if told.timed_out:
        trouble = "it does not end in time"
    elif told.signal is not None:
        trouble = f"it is killed by {_signal_name(told.signal)}"
    elif report is None:
        trouble = "it ends itself with `os._exit`"
    elif "waits" in report:
        trouble = "its event loop waits for ever"
    elif "left" in report:
        trouble = "it leaves the trace"
    elif "unexpected" in report:
        where = "" if trace is None else f" in line {trace.statement(report['unexpected']).line}"
        trouble = f"{report['exception'][0]}{where}"
    elif "refused" in report:
        trouble = f"it starts {report['refused']}"
    else:
        trouble = ""
    return Run(told, trouble)


def sought_in(whole: Run, again: Run, line: str | None, variable: str | None) -> Sought:
    """The outcome to look for.

    Args:
        whole: a run of the whole program.
        again: another one.
        line: the number of an output line, or a text in it.
        variable: the name of a variable.

    Raises:
        NoOutcomeError: there is no such outcome.
        NotDeterministicError: it is not the same in both runs.
    """
    if variable is not None:
        if whole.untold is not None:
            raise NoOutcomeError(
                f"The value of `{variable}`, a {whole.untold}, cannot be compared.",
                "Name a variable that holds numbers, texts, containers or plain objects.",
            )
        if whole.variable is None:
            raise NoOutcomeError(
                f"There is no variable `{variable}` when the program ends.",
                "Name a variable of the script, MODULE.NAME, or one of the function that raises the exception.",
            )
        sought: Sought = Variable(variable, whole.variable)
    elif line is not None:
        sought = OutputLine(_line_of(whole.output, line))
    elif whole.exception is not None and whole.told.status:
        if whole.exception[0] == "RecursionError":
            raise NoOutcomeError(
                "The program ends with RecursionError: where that happens depends on the depth of the stack, which is "
                "not the same in a traced run."
            )
        sought = Raised(whole)
    elif whole.output.strip():
        sought = Output(whole)
    else:
        raise NoOutcomeError("The program prints nothing.", "Name a variable: `--variable NAME`.")
    if not sought.shows(again):
        raise NotDeterministicError(
            f"Two runs of the whole program differ in {sought.words}: {_difference(sought, whole, again)}.",
            "Choose something that is the same each time with `--output-line` or `--variable`.",
        )
    return sought


def _line_of(output: bytes, wanted: str) -> bytes:
    lines = output.splitlines()
    if wanted.isdigit():
        if 1 <= int(wanted) <= len(lines):
            return lines[int(wanted) - 1]
        lines_there = f"{len(lines):,} line{'' if len(lines) == 1 else 's'}"
        raise NoOutcomeError(f"The output has {lines_there}, no line {wanted}.")
    for line in lines:
        if wanted.encode() in line:
            return line
    raise NoOutcomeError(f"No line of the output contains `{wanted}`.")


def _difference(sought: Sought, whole: Run, again: Run) -> str:
    if again.trouble:
        return again.trouble
    if not isinstance(sought, Output):
        return f"{_cut(str(sought.seen(whole)))} and {_cut(str(sought.seen(again)))}"
    one, other = whole.output.splitlines(), again.output.splitlines()
    for number, (here, there) in enumerate(zip(one, other, strict=False), 1):
        if here != there:
            texts = [_cut(line.decode("utf-8", "replace")) for line in (here, there)]
            return f"line {number} is `{texts[0]}` and `{texts[1]}`"
    return f"they have {len(one):,} and {len(other):,} lines"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
