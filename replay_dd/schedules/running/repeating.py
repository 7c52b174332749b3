"""Recognises that a run goes round in a circle: what its threads did last, over and over."""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.model import Place

_TIMES = 3  # so often the circle must have been seen


def repeated(trace: Sequence[tuple[str, Place | None]]) -> tuple[tuple[str, str, int], ...]:
    """The circle that the end of a trace goes round in: (thread, file, line), in order, without lines said twice.

    Empty if the last yield points are not the same ones, in the same order, at least three times.

    Args:
        trace: the threads and places of the last yield points of a run.
    """
    points = [(thread, place) for thread, place in trace if place is not None]
    length = _period(points)
    circle: list[tuple[str, str, int]] = []
    for thread, place in points[len(points) - length :]:
        row = (thread, place.file, place.line)
        if row not in circle[-1:]:
            circle.append(row)
    if len(circle) > 1 and circle[0] == circle[-1]:
        circle.pop()
    return tuple(circle)


def _period(points: Sequence[object]) -> int:
    """The length of what the end repeats; 0 if it repeats nothing."""
    numbers: dict[object, int] = {}
    row = [numbers.setdefault(point, len(numbers)) for point in points]
    for length in range(1, len(row) // _TIMES + 1):
        last = row[-length:]
        if all(row[-(time + 1) * length : -time * length] == last for time in range(1, _TIMES)):
            return length
    return 0
