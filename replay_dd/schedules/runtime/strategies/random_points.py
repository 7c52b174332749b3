"""Random places in a run."""

from __future__ import annotations

from ..splitmix import Generator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def draw_points(
    random: Generator, amount: int, thread_times: Mapping[str, int], points: Mapping[str, Sequence[int]]
) -> dict[str, list[int]]:
    """Draw places in a run: for each thread the thread times, the latest first; a thread first, then a time.

    Args:
        random: what draws.
        amount: how many.
        thread_times: the yield points of each thread.
        points: the thread times to draw from; if empty, any.
    """
    choices: list[tuple[str, Sequence[int]]] = [(name, times) for name, times in sorted(points.items()) if times]
    if not choices:
        choices = [(name, range(1, time + 1)) for name, time in sorted(thread_times.items()) if time > 0]
    drawn: dict[str, list[int]] = {}
    for _ in range(amount if choices else 0):
        name, times = choices[random.below(len(choices))]
        drawn.setdefault(name, []).append(times[random.below(len(times))])
    for times in drawn.values():
        times.sort(reverse=True)
    return drawn
