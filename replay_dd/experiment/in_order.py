"""Makes runs in parallel and returns them in order, so that what follows does not depend on the number of jobs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of

Plan = TypeVar("Plan")
Run = TypeVar("Run")


def runs_in_order(
    run: Callable[[Plan], Run], plans: Iterable[Plan], jobs: int
) -> Generator[tuple[Plan, Run], None, None]:
    """The runs of some plans, in order, some of them made ahead.

    Whoever does not take all of them closes this generator, as ``contextlib.closing`` does: it then waits for those
    that were made ahead. Who drops it instead lets its destructor wait, where the interpreter ignores Ctrl-C.

    Args:
        run: makes the run of a plan; called in several threads.
        plans: what to run; taken one by one, as runs are asked for.
        jobs: the number of parallel runs.
    """
    pool = ThreadPoolExecutor(jobs)
    waiting: list[tuple[Plan, Future[Run]]] = []
    try:
        for plan in plans:
            waiting.append((plan, pool.submit(run, plan)))
            if len(waiting) >= jobs:
                done, future = waiting.pop(0)
                yield done, result_of(future)
        for done, future in waiting:
            yield done, result_of(future)
    except KeyboardInterrupt:
        LIVE.kill_all()
        raise
    finally:
        for _, future in waiting:
            future.cancel()
        try:
            pool.shutdown()
        except KeyboardInterrupt:
            LIVE.kill_all()
            pool.shutdown()
            raise
