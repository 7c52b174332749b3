"""In which order the parts of arguments are searched.

Rules of this module:

* Coarse first: whole arguments, then their elements, then what is inside; of texts, lines and what brackets enclose
  before characters. Places of sequences of one length are left out together at first if these are long, and at last.
  Levels of nesting go when little is left.
* When a round over all levels has left nothing out, no single part of the arguments can be left out, at any depth. Then
  what is left is made simpler; if that finds something, there is another round.
"""

from __future__ import annotations

from collections.abc import Collection, Generator

from replay_dd.call.aligned import aligned
from replay_dd.call.blocks import blocks
from replay_dd.call.hoists import hoists, nesting_of
from replay_dd.call.simpler import intricacy_of, simpler
from replay_dd.call.spaces import DEEPEST, Arguments, Level, Space, Whole, size_of

Course = Generator[Space, Arguments, None]


def course(
    arguments: Arguments, names: Collection[str], spread: Collection[str] = (), optional: Collection[str] = ()
) -> Course:
    """The searches to make, one after the other: a generator that is sent what the last one has left.

    Args:
        arguments: the arguments of the failing call.
        names: those that may be reduced.
        spread: those that hold several arguments, as ``*args`` does.
        optional: those that have defaults.
    """
    left: Arguments = arguments
    whole = Whole(left, names)
    if whole.all:
        left = yield whole
    for places in aligned(lambda: left, names, large=True):  # noqa: B023 - as below
        left = yield places
    while True:
        before = size_of(left, names), nesting_of(left, names)
        for depth in range(DEEPEST):
            for found in blocks(lambda: left, depth, names):  # noqa: B023 - what is left by then is meant
                left = yield found
            level = Level(left, depth, names)
            if level.all:
                left = yield level
            elif not level.has_containers:
                break
        for outer in hoists(lambda: left, names, spread):  # noqa: B023 - as above
            left = yield outer
        for places in aligned(lambda: left, names):  # noqa: B023 - as above
            left = yield places
        if (size_of(left, names), nesting_of(left, names)) != before:
            continue
        intricacy = intricacy_of(left, names)
        for simple in simpler(lambda: left, names, optional, numbers=True):  # noqa: B023 - as above
            left = yield simple
        if intricacy_of(left, names) == intricacy:
            return
