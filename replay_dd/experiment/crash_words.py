"""Where a program crashed, in words: in its own code, as far as the stack tells that.

Rules of this module:

* What the C library is asked to do it may do in many ways. The place is the call, in the code of the program.
* A function that does nothing but end the program is no place. It is told by its name, where that is known.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence

from replay_dd.experiment.crash_places import C_LIBRARY, Crash
from replay_dd.experiment.memory_maps import module_and_offset
from replay_dd.experiment.native_frames import is_reporter
from replay_dd.experiment.source_lines import source_of, sources_of

_LIBRARIES = re.compile(rf"{C_LIBRARY.pattern}|^lib(?:c\+\+|c\+\+abi|m|unwind|asan|ubsan|tsan|lsan)[.-]")
_ENDS = re.compile(
    r"(?:.*[_:.])?(?:abort|assert|bail|bug|crash|die|died|fail|failed|failure|fatal|oops|panic|terminate|unreachable)"
    r"(?:\(.*|(?:_?(?:error|fail|failed|with|handler|impl|message|msg))*)(?: \(|$)",
    re.IGNORECASE,
)


def place_in_words(crash: Crash) -> str:
    """The place of a crash: module and offset, then function and line where they are known; empty if it is unknown.

    Where the stack overflows depends on how deep the input is, so that is no place.
    """
    if crash.overflows:
        return "a stack overflow"
    own = [call for call in crash.calls if not is_library(call[0])]
    if not own:
        source = source_of(*crash.code) if crash.code and crash.sure_place else ""
        return with_source(crash.sure_place, source)
    place, source = own[0], source_of(*own[0])
    if crash.signal == signal.SIGABRT:
        place, source = _who_ends(own) or (place, source)
    told = module_and_offset(*place)
    if not crash.frames or "+" not in crash.frames[0]:
        told = f"what {told} calls"  # it went on where there is no code
    return with_source(told, source)


def with_source(place: str, source: str) -> str:
    """A place, and the function and line there if they are known."""
    return f"{place}: {source}" if source else place


def is_library(path: str) -> bool:
    """Whether a file holds the C library, or what compilers add to all programs."""
    return bool(_LIBRARIES.match(os.path.basename(path)))


def _who_ends(calls: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], str] | None:
    """The innermost call in a function that does more than to end the program, and that function."""
    for call in calls:
        for source in sources_of(*call):
            if not (is_reporter(source) or _ENDS.match(source)):
                return None if source == "_start" else (call, source)
    return None
