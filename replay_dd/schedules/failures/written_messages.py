"""The messages of exceptions as the interpreter wrote them.

Where the text of an exception is made by code of the program (its ``__str__``), the runtime does not run that code once
more: it might have effects. The interpreter has run it to write the traceback, so it is in the output.

A program that exits with a number has mostly written before what is wrong: lines of the output that complain.
"""

from __future__ import annotations

import re
from dataclasses import replace

from replay_dd.experiment.complaints import complaints
from replay_dd.schedules.failures.message import without_data
from replay_dd.schedules.model import Ending

_MOST_COMPLAINTS = 10
_LONGEST_COMPLAINT = 200  # characters


class WrittenMessages:
    """Finds messages in what a run has written.

    Args:
        output: what it has written to standard output and error; may be empty.
    """

    def __init__(self, output: bytes) -> None:
        self._output = output
        self._position = 0  # exceptions are told in the order in which they were written

    def message(self, name: str, told: str | None) -> str:
        """The message of the next exception.

        Args:
            name: its type, as tracebacks write it.
            told: the message if the runtime could tell it; otherwise its first line is looked for in the output.
        """
        pattern = re.compile(rb"^" + re.escape(name.encode()) + rb"(?:: (.*))?$", re.MULTILINE)
        found = pattern.search(self._output, self._position)
        if found is not None:
            self._position = found.end()
        if told is not None:
            return told
        return "" if found is None else (found[1] or b"").decode(errors="replace")


def complaints_in(output: bytes) -> tuple[str, ...]:
    """The last lines of an output that complain, each kind of them once, in order."""
    kinds = {without_data(line): line for line in complaints(output)}  # the last one of each
    return tuple(line[:_LONGEST_COMPLAINT] for line in kinds.values())[-_MOST_COMPLAINTS:]


def with_unread_messages(ending: Ending, other: Ending) -> Ending:
    """The ending of a run whose output was shown, and so not read; messages that it lacks are those of another run.

    Args:
        ending: of the run.
        other: of a run that should have ended in the same way.
    """
    exceptions = tuple(
        replace(one, text=same.text) if not one.text and (one.where, one.type) == (same.where, same.type) else one
        for one, same in zip(ending.exceptions, other.exceptions, strict=False)
    )
    said = ending.complaints or (other.complaints if ending.status == other.status else ())
    return replace(ending, exceptions=(*exceptions, *ending.exceptions[len(exceptions) :]), complaints=said)
