"""How long each test may be hunted, so that all of them get their share of the whole time."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, field

from replay_dd import durations

_MOST_AT_ONCE = 10  # of what is left of the whole time, a test gets no more than this part


def seconds_of(text: str) -> float:
    """The seconds that ``90``, ``60s``, ``2m`` or ``1h`` stand for.

    Raises:
        ValueError: it is no length of time, or none at all.
    """
    with contextlib.suppress(ValueError):
        seconds = durations.seconds_of(text.strip())
        if 0 < seconds < math.inf:
            return seconds
    raise ValueError(f"`{text}` is not a length of time such as 60s, 2m or 1h")


@dataclass
class Budget:
    """The time for a whole run of the suite.

    Attributes:
        test_s: seconds for each test.
        total_s: seconds for all hunts together; None for no limit.
        spent_s: seconds that hunts took so far.
    """

    test_s: float
    total_s: float | None
    spent_s: float = 0.0
    _started: float = field(default=0.0, repr=False)

    def share_s(self, left: int, expected: float, test_s: float | None = None) -> float:
        """Seconds for the next hunt.

        Args:
            left: how many tests there still are, with this one.
            expected: how many of them are expected to start threads, with this one.
            test_s: seconds that were asked for this test.
        """
        wanted = self.test_s if test_s is None else test_s
        if self.total_s is None:
            return wanted
        # Tests that start threads often stand together: the first of them must not use up what many others will need.
        others = max(1, min(left, _MOST_AT_ONCE), math.ceil(expected))
        return max(0.0, min(wanted, (self.total_s - self.spent_s) / others))

    @property
    def until(self) -> float | None:
        """When the whole time is over, as ``time.monotonic()`` tells it during a hunt; None if there is no limit."""
        return None if self.total_s is None else self._started + self.total_s - self.spent_s

    def __enter__(self) -> Budget:
        self._started = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.spent_s += time.monotonic() - self._started
