"""Carets below source lines, which tell apart the operations of one line."""

from __future__ import annotations

from replay_dd.report.source import columns_before
from replay_dd.schedules.model import Place, Program

_READS, _SETS, _DELETES = "reads", "sets", "deletes"
_DOES = {"LOAD": _READS, "STORE": _SETS, "DELETE": _DELETES, "BINARY": _READS}
_WHAT = {
    **dict.fromkeys(("ATTR", "METHOD", "SUPER_ATTR"), "an attribute"),
    **dict.fromkeys(("SUBSCR", "SLICE"), "an item"),
    **dict.fromkeys(("GLOBAL", "NAME", "DEREF", "CLASSDEREF"), "a variable"),
    **dict.fromkeys(("FROM_DICT_OR_GLOBALS", "FROM_DICT_OR_DEREF"), "a variable"),
}
_WORDS = {
    "FOR_ITER": "takes the next item",
    "RETURN_VALUE": "returns",
    "CONTAINS_OP": "checks membership",
    "BEFORE_WITH": "enters the with statement",
    "YIELD_VALUE": "yields",
    "RESUME": "begins the function",
    "JUMP_BACKWARD": "repeats the loop",
    **dict.fromkeys(("CALL", "CALL_KW", "CALL_FUNCTION_EX"), "calls"),
}
_OPERATION = "inside, at an operation on a lock, a file or the like"


def on_one_line(place: Place | None, other: Place | None) -> bool:
    """Whether two places are on the same line, so that the line alone is ambiguous."""
    return place is not None and other is not None and (place.path, place.line) == (other.path, other.line)


def mark(place: Place, program: Program, indentation: int, later: int = 0) -> str:
    """A line to print below the source line of a place: a caret, and what the program does next there.

    Args:
        place: the place.
        program: the program in whose log it stands.
        indentation: the number of columns before the source line, which is shown stripped.
        later: how many yield points later this is than another visit of the same place; negative if earlier.
    """
    plural = "" if abs(later) == 1 else "s"
    when = f", {abs(later)} yield point{plural} {'later' if later > 0 else 'earlier'}" if later else ""
    return f"{' ' * (indentation + columns_before(place, program))}^ {words_for(place)}{when}"


def words_for(place: Place) -> str:
    """What the program does next at a place; by default, the name of the instruction."""
    if place.operation:
        return _OPERATION
    does, _, what = place.instruction.partition("_")
    if does in _DOES and what in _WHAT:
        return f"{_DOES[does]} {_WHAT[what]}"
    return _WORDS.get(place.instruction, place.instruction)
