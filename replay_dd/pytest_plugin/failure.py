"""A failure that pytest did not see itself, in the form in which it shows its own.

That form is not public, but reports of pytest-xdist's workers arrive whole in it alone.
"""

from __future__ import annotations

from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback


def told_failure(text: str, path: str, line: int, message: str) -> ReprExceptionInfo:
    """What stands below the heading of a failed test.

    Args:
        text: all of it.
        path: the file of the failure, for summaries.
        line: the line, counted from 1.
        message: what failed, in one line.
    """
    lines = [f"{one}\n" for one in text.splitlines()]
    return ReprExceptionInfo(
        reprcrash=ReprFileLocation(path, line, message),
        reprtraceback=ReprTraceback([ReprEntryNative(lines)], None, style="native"),
    )
