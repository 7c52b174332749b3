"""What playbacks of a flow learn about its pages, and later ones need not find out again."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Learnt:
    """What is known of the pages.

    Attributes:
        background: requests that are not waited for, as they are told in :mod:`replay_dd.web.requests`.
        differing_ids: ids of the recording that differ with each load of a page.
        differing_windows: addresses of windows in the recording that differ each time.
    """

    background: set[str] = field(default_factory=set)
    differing_ids: set[str] = field(default_factory=set)
    differing_windows: set[str] = field(default_factory=set)
