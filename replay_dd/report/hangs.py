"""What is told of a run that hung, if it did: most runs do not, and need not load the words for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from replay_dd.schedules.model import Ending, Program


def hang_as_text(ending: Ending, program: Program) -> Iterable[str]:
    """What is known of a run that hung, line by line; nothing if it did not.

    Args:
        ending: how the run ended.
        program: the program, for its source lines.
    """
    if ending.hang is None:
        return ()
    from replay_dd.report import hang

    return hang.hang_as_text(ending.hang, ending, program)


def hang_in_short(ending: Ending) -> Iterable[str]:
    """The same in a few lines, without stacks."""
    if ending.hang is None:
        return ()
    from replay_dd.report import hang

    return hang.hang_in_short(ending.hang, ending)


def hang_as_json(ending: Ending, program: Program) -> dict[str, Any] | None:
    """The member ``hang`` of JSON output; None if the run did not hang."""
    if ending.hang is None:
        return None
    from replay_dd.report import hang

    return hang.hang_as_json(ending.hang, ending, program)
