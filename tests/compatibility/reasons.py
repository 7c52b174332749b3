"""Why a case that passes plain does not pass under control, for each that does not.

The first pattern that is found in a case's name holds. What has no reason here is a defect that nobody has looked at:
the test of the page fails for it.
"""

from __future__ import annotations

import re

from tests.compatibility.judge import Case

SLEEP = "It takes for granted that the others have got somewhere while it sleeps; a legal schedule breaks that."

REASONS: tuple[tuple[str, str], ...] = (
    (r"EventTests\.test_set_and_clear$", SLEEP),
    (r"^diskcache: .*::test_(lock|rlock|semaphore)$", SLEEP),
    (
        r"test_threads_reaped$",
        "It takes for granted that threads of earlier requests have ended; the default schedule lets them wait.",
    ),
    (
        r"test_cancel_futures$",
        "It takes for granted that a worker has begun before the pool ends; the default schedule lets workers wait.",
    ),
    (
        r"test_hang_global_shutdown_lock$",
        "A worker gives itself work without end; the default schedule lets others go on after 1,000,000 yield points "
        "of it at a time, which takes longer than the time limit.",
    ),
    (
        r"SocketWriterTest\.test_write$",
        "How much of 16 MB the system's network takes at once is its own affair, and another amount in each run.",
    ),
    (
        r"^watchdog_polling$",
        "It compares the dates of files, which are real, and which the kernel counts in steps of milliseconds.",
    ),
    (
        r"test_Forking\w+Server$",
        "It asks again and again whether its child processes have ended, and they end in real time.",
    ),
    (
        r"^apscheduler: .*processpool",
        "Its other process sees the real date, and this one the virtual date at which all of these runs begin.",
    ),
    (
        r"^janus: .*(test_sync_join_after_closing|test_close_after_sync_join)$",
        "It gives another thread a tenth of a second; under a legal schedule, or load, that one needs longer.",
    ),
    (
        r"^asgiref: .*test_inner_shield_sync_middleware$",
        "A race of its own: if another thread goes on while `AsyncToSync.main_wrap` ends, the cancellation is passed "
        "on. The interpreter can switch there; `replay-dd schedules` tells the line.",
    ),
    (
        r"test_rollover$",
        "It compares the virtual date with the dates of files, which are real.",
    ),
)


def reason_for(case: Case) -> str:
    """The reason, or nothing where none is known."""
    return next((text for pattern, text in REASONS if re.search(pattern, case.name)), "")
