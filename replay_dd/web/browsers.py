"""Several browsers, so that several flows are played at the same time.

Rules of this module:

* Playwright's synchronous interface belongs to the thread that started it. So each browser has a thread of its own, in
  which it is started, used and closed; whoever wants something of it waits meanwhile.
* A flow is played in one browser, alone: processes of pages that hang, or work for long, are those of this flow.
* Ctrl-C reaches only the main thread, and a playback may take a minute. So the browsers are then killed, which ends it.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import WAKE_INTERVAL_S, wait_for_all
from replay_dd.web.browser import WebBrowser

T = TypeVar("T")


class Browsers:
    """Browsers that play at the same time; a context manager.

    Args:
        count: how many.
        executable: the browser to run; by default the first one on the ``PATH``.

    Attributes:
        count: how many there are.
        starts_server: whether the server of the pages is started for each test: browsers that play at the same time
            share it.

    Raises:
        SoftwareMissingError: Playwright for Python is not installed, or there is no browser.
        BrowserFailedError: a browser does not start.
    """

    starts_server = False

    def __init__(self, count: int, executable: Path | None = None) -> None:
        self.count = count
        self._browsers = [WebBrowser(executable) for _ in range(count)]
        self._threads = [ThreadPoolExecutor(1, "replay-dd-browser") for _ in range(count)]
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.callback(self._close)
            started = self._in_each_thread(lambda browser: browser.__enter__())
            wait_for_all(started)
            for number, start in enumerate(started):
                start.result()
                self._free.put(number)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def without_sandbox(self) -> str:
        """Why they run without their sandbox; empty if they have it."""
        return self._browsers[0].without_sandbox

    def use(self, work: Callable[[WebBrowser], T]) -> T:
        """Call a function with a browser that nobody uses, in the browser's thread; wait until there is one.

        Args:
            work: uses the browser.
        """
        number = self._free.get()
        working = self._threads[number].submit(work, self._browsers[number])
        try:
            while wait([working], WAKE_INTERVAL_S).not_done:
                if LIVE.stopped:
                    self._browsers[number].kill()
            return working.result()
        except KeyboardInterrupt:
            self._browsers[number].kill()
            raise
        finally:
            self._free.put(number)

    def _in_each_thread(self, work: Callable[[WebBrowser], object]) -> list[Future[object]]:
        return [thread.submit(work, one) for thread, one in zip(self._threads, self._browsers, strict=True)]

    def _close(self) -> None:
        wait_for_all(self._in_each_thread(lambda browser: browser.__exit__(None, None, None)))
        for thread in self._threads:
            thread.shutdown()
