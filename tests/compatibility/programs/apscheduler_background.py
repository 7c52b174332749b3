"""A background scheduler runs jobs in a pool, at intervals and at dates, until it is shut down."""

import datetime
import threading

from apscheduler.events import EVENT_JOB_EXECUTED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler


def main() -> None:
    ticks, once, executed = [], threading.Event(), threading.Semaphore(0)
    scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(3)}, timezone=datetime.UTC)
    scheduler.add_listener(lambda event: executed.release(), EVENT_JOB_EXECUTED)
    scheduler.add_job(lambda: ticks.append("fast"), "interval", seconds=1, id="fast")
    scheduler.add_job(lambda: ticks.append("slow"), "interval", seconds=2)
    scheduler.add_job(once.set, "date")
    scheduler.start()
    assert once.wait(60)
    for _ in range(6):
        assert executed.acquire(timeout=60)
    scheduler.pause_job("fast")
    scheduler.remove_job("fast")
    scheduler.shutdown(wait=True)
    assert {"fast", "slow"} <= set(ticks) or ticks.count("fast") >= 3, ticks


main()
