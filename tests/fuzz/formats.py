"""The three formats: how a log of each is damaged, and what is done with it then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.fuzz import samples
from tests.fuzz.mutations import Mutate, event_mutator, flow_mutator, schedule_mutator
from tests.fuzz.readers import use_flow, use_schedule, use_session


class Format(NamedTuple):
    """A format: its sound sample, what damages it, and what uses it."""

    sample: Callable[[Path], bytes]
    mutator: Callable[[bytes], Mutate]
    use: Callable[[Path], None]


FORMATS = {
    "schedule logs": Format(samples.schedule_log, schedule_mutator, partial(use_schedule, sound=samples.PASSING)),
    "event logs": Format(samples.event_log, event_mutator, use_session),
    "user flows": Format(samples.flow, flow_mutator, use_flow),
}
