"""Simplifies pointer paths."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[int, int]

TOLERANCE_PX = 2.0
LONGEST_STEP_PX = 32.0


def simplified(
    path: Sequence[Point], tolerance_px: float = TOLERANCE_PX, step_px: float = LONGEST_STEP_PX
) -> list[Point]:
    """The relevant points of a path: its ends, its corners, and at least one every ``step_px`` pixels.

    Programs react to what the pointer passes (menus, highlighted buttons), so straight lines keep some points.

    Source: Ramer, 1972; Douglas and Peucker, 1973.
    """
    if len(path) <= 2:
        return list(path)
    kept = [False] * len(path)
    kept[0] = kept[-1] = True
    waiting = [(0, len(path) - 1)]
    while waiting:
        first, last = waiting.pop()
        farthest, distance = first, tolerance_px
        for number in range(first + 1, last):
            away = _distance(path[number], path[first], path[last])
            if away > distance:
                farthest, distance = number, away
        if farthest != first:
            kept[farthest] = True
            waiting += [(first, farthest), (farthest, last)]
    points = [path[0]]
    for number in range(1, len(path)):
        following = path[min(number + 1, len(path) - 1)]
        if kept[number] or _length(points[-1], following) > step_px:
            points.append(path[number])
    return points


def farthest_px(path: Sequence[Point]) -> float:
    """The greatest distance of a path from its first point."""
    return max((_length(path[0], point) for point in path), default=0.0)


def _length(one: Point, other: Point) -> float:
    return float(((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5)


def _distance(point: Point, start: Point, end: Point) -> float:
    """The distance of a point from a line segment."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    square = along_x**2 + along_y**2
    if square == 0:
        return _length(point, start)
    share = ((point[0] - start[0]) * along_x + (point[1] - start[1]) * along_y) / square
    share = min(max(share, 0.0), 1.0)
    nearest_x, nearest_y = start[0] + share * along_x, start[1] + share * along_y
    return float(((point[0] - nearest_x) ** 2 + (point[1] - nearest_y) ** 2) ** 0.5)
