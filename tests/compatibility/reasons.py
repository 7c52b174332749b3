"""Why a case that passes plain does not pass under control, for each that does not.

The first pattern found in a case's name holds. A case without a reason here is a defect that nobody has looked into:
`make compatibility` fails for it.
"""

from __future__ import annotations

import re

from tests.compatibility.judge import Case

SLEEP = "It assumes that the other threads make progress while it sleeps; a legal schedule need not let them."

REASONS: tuple[tuple[str, str], ...] = (
    (r"EventTests\.test_set_and_clear$", SLEEP),
    (r"^diskcache: .*::test_(lock|rlock|semaphore)$", SLEEP),
    (
        r"test_threads_reaped$",
        "It assumes that the threads of earlier requests have ended; the default schedule lets them wait.",
    ),
    (
        r"test_cancel_futures$",
        "It assumes that a worker has started before the pool shuts down; the default schedule lets workers wait.",
    ),
    (
        r"test_hang_global_shutdown_lock$",
        "A worker submits work to itself for ever; the default schedule lets others run only after each 1,000,000 of "
        "its yield points, which takes longer than the time limit.",
    ),
    (
        r"CSimpleQueueTest\.test_simplequeue_sizeof$",
        "It counts the bytes of a queue in C; replay-dd's own stands there.",
    ),
    (
        r"SocketWriterTest\.test_write$",
        "How much of 16 MB the network stack accepts at once is up to the system, and differs in each run.",
    ),
    (
        r"^watchdog_polling$",
        "It compares file times, which were real when this was judged, and which the kernel counts in steps of "
        "milliseconds.",
    ),
    (
        r"test_Forking\w+Server$",
        "It polls for the end of its child processes, which end in real time.",
    ),
    (
        r"^apscheduler: .*(processpool|::test_broken_pool$)",
        "Its child process sees the real date, and this one the virtual date at which all of these runs start.",
    ),
    (
        r"^janus: .*(test_sync_join_after_closing|test_close_after_sync_join)$",
        "It gives another thread a tenth of a second; under a legal schedule, or under load, that is too short.",
    ),
    (
        r"^asgiref: .*test_inner_shield_sync(_and_async)?_middleware(_sync_task)?$",
        "A race of its own: if another thread runs while `AsyncToSync.main_wrap` ends, the cancellation is passed on. "
        "The interpreter can switch there; `replay-dd schedules` names the line.",
    ),
    (
        r"test_should_not_rollover_named_pipe$",
        "It removes the pipe after a limited wait for the thread that reads it. The thread waits in the system's "
        "`open`, where replay-dd can but notice that it stands still; when it goes on is up to real time.",
    ),
    (
        r"test_PyThreadState_SetAsyncExc_interrupts_sleep$",
        "It sets an exception in a thread by a function in C of CPython's own tests; replay-dd stands in for that of "
        "`ctypes` only.",
    ),
    (
        r"test_rollover$",
        "It compares the virtual date with file times, which were real when this was judged.",
    ),
)


def reason_for(case: Case) -> str:
    """The reason, or nothing where none is known."""
    return next((text for pattern, text in REASONS if re.search(pattern, case.name)), "")
