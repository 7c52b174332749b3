"""Numbers that Python and C have in common. ``accelerator/constants.h`` has the same; a test compares them."""

from __future__ import annotations

DIGEST_PRIME = 0x100000001B3  # the prime of the 64-bit FNV-1a hash
SPLITMIX_STEP = 0x9E3779B97F4A7C15  # of SplitMix64: 2**64 divided by the golden ratio; spreads neighbouring numbers
SPLITMIX_FIRST, SPLITMIX_SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # its two factors
LOOKED_THROUGH = -1  # in the place of a position: all of a code object of the library
LIBRARY_FILES = 1  # the kind of files of the library; see points/places.py
BUSY_PERCENT = 2  # of the time between two looks: a thread in a loop that waits uses less processor time
STILL_LOOKS = 2  # so many looks in a row find that a thread stands still
EARLIEST_LOOK_NS_PER_S = 900_000_000  # of the time from one look to the next, as several threads may look
ROOM_FRAMES = 17  # how deep the runtime's own calls go, with some to spare: strategies, waiting, the log
# A thread that runs only library code, whose operations are not yield points, yields after this many of them. A prime,
# so that a loop does not yield at the same step every time while holding the lock that others wait for.
LIBRARY_SPIN_LIMIT = 10_007
NOTED_VISITS = 3  # of each place by each thread: the first ones; later those that double their number
# Which visits of places are notable: those, of each thread or of all together, or all visits of certain places.
BY_THREAD, BY_PLACE, AT_PLACES = 1, 2, 3
