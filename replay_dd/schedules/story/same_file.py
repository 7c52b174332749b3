"""Whether two threads write one file by one name, which each of them means to be its own.

Who saves in a way that a crash cannot damage writes a temporary file and then gives it the name of the real one. If two
threads do so under one temporary name, the first to rename it takes the file of both, with whatever is in it.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import at_place


def opened_by_other(conflict: Conflict) -> tuple[Access, Access] | None:
    """(where another thread opens the file anew, where it takes it away); None if no two threads write one file.

    Args:
        conflict: what the threads did; the interrupted one has opened the file to write it, and misses it then.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or right.access.thing[0] != "file" or not right.access.old.is_missing:
        return None
    if left.access.thing != right.access.thing or not _opens(left.access):
        return None
    opened: dict[str, Access] = {}
    for other in right.others:
        if _opens(other):
            opened.setdefault(other.thread, other)
        elif other.new.is_missing and other.does != "calls" and other.thread in opened:
            return opened[other.thread], other
    return None


def same_file_in_words(conflict: Conflict) -> str:
    """What happened, in a sentence; empty if no two threads write one file."""
    others, left, right = opened_by_other(conflict), conflict.left, conflict.right
    if others is None or left is None or right is None:
        return ""
    opens, takes = others
    return (
        f"Thread {conflict.thread} writes {right.access.name} ({at_place(left.access.place)}); before it uses that "
        f"({at_place(right.access.place)}), thread {opens.thread} writes the same file ({at_place(opens.place)}) and "
        f"takes it away ({at_place(takes.place)})."
    )


def help_of_same_file(conflict: Conflict) -> str:
    """What would help; empty if no two threads write one file."""
    if opened_by_other(conflict) is None or conflict.right is None:
        return ""
    return (
        f"give each writer a file of its own instead of {conflict.right.access.name}, as `tempfile.mkstemp(dir=...)` "
        "makes it in the same folder: then none renames or removes that of another one"
    )


def _opens(access: Access) -> bool:
    return access.does == "open" and access.writes
