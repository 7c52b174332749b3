"""Random places in a run."""

from __future__ import annotations

from ..splitmix import Generator


def draw_points(random: Generator, amount: int, thread_times: dict[str, int]) -> dict[str, list[int]]:
    """Draw places in a run: for each thread the thread times, the latest first; a thread first, then a time."""
    threads = [(name, time) for name, time in sorted(thread_times.items()) if time > 0]
    points: dict[str, list[int]] = {}
    for _ in range(amount if threads else 0):
        name, time = threads[random.below(len(threads))]
        points.setdefault(name, []).append(1 + random.below(time))
    for times in points.values():
        times.sort(reverse=True)
    return points
