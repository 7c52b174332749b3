"""The browser: one Chromium, driven through Playwright, that gives each test its own context.

A context has its own cookies, storage, cache and pages, and takes a fraction of a second to make; a browser would take
several. If the browser dies, it is restarted for the next test. Its profile, its HOME and its temporary files are in a
private folder: it neither reads nor changes files of the user.

It has its sandbox, unless it cannot have it: it refuses root, and needs namespaces that some systems and containers
keep from users. Then it runs without, and :attr:`WebBrowser.without_sandbox` says why.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from replay_dd.errors.machine import BrowserFailedError, SoftwareMissingError
from replay_dd.experiment.process import private_folder
from replay_dd.experiment.process_tree import children_of
from replay_dd.web.features import without_unused_features
from replay_dd.web.renderers import RendererKiller
from replay_dd.web.server import RunningServer, Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession, Playwright

    from replay_dd.web.flow import Flow, Step

T = TypeVar("T")

_INSTALL_BROWSER = "Install Chromium (on Debian: `apt install chromium`), or name it with `--browser`."
EXECUTABLES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
# Most keep the browser from background activity.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_LIMIT_MS = 60_000
STOP_LIMIT_S = 60.0
# What Chromium or Playwright say if there is none (`zygote_host_impl_linux.cc`, `namespace_sandbox.cc`).
_NO_SANDBOX = ("no usable sandbox", "sandboxing failed", "new namespace", "setuid sandbox")
# Whose driver is whose, and what TMPDIR it is given, is only known while one starts at a time.
_STARTING = threading.Lock()
# Chromium creates `.org.chromium.Chromium.XXXXXX/SingletonSocket` in it; socket paths are limited to 107 bytes.
_LONGEST_FOLDER_BYTES = 60


def find_browser(named: Path | None = None) -> Path:
    """The browser's executable file.

    Args:
        named: the user's choice; by default the first one on the ``PATH``.

    Raises:
        SoftwareMissingError: there is none.
    """
    if named is not None:
        found = shutil.which(named)
        if found is None:
            raise SoftwareMissingError(f"There is no program {named}.", _INSTALL_BROWSER)
        return Path(found)
    for name in EXECUTABLES:
        if found := shutil.which(name):
            return Path(found)
    raise SoftwareMissingError("There is no Chromium on the PATH.", _INSTALL_BROWSER)


def require_playwright() -> None:
    """Check that Playwright for Python is installed: it is an extra that other modules of this package import eagerly.

    Raises:
        SoftwareMissingError: it is not installed.
    """
    if importlib.util.find_spec("playwright") is None:
        raise SoftwareMissingError(
            "User flows need Playwright for Python.", "Install it: `pip install 'replay-dd[web]'`."
        )


class WebBrowser:
    """A headless Chromium; a context manager, for use only by the thread that entered it (but for :meth:`kill`).

    Args:
        executable: the browser to run; by default the first one on the ``PATH``.
        server: the server of the pages, to be started for each test; by default it is running.

    Attributes:
        count: how many browsers it is, as those that play at the same time (:mod:`~replay_dd.web.browsers`) are more.
        without_sandbox: why it runs without its sandbox; empty if it has it.

    Raises:
        SoftwareMissingError: Playwright for Python is not installed.
        SoftwareMissingError: there is no browser.
        BrowserFailedError: the browser does not start.
    """

    count = 1

    def __init__(self, executable: Path | None = None, server: Server | None = None) -> None:
        self.executable = find_browser(executable)
        self._server = server
        self._stack = contextlib.ExitStack()
        self._browser: Browser | None = None
        self._processes: CDPSession | None = None
        self._drivers: set[int] = set()
        self.without_sandbox = "it has none when it is run by root" if os.geteuid() == 0 else ""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            temporary = stack.enter_context(_folder())
            self._home = temporary / "home"
            with _STARTING:
                before = _drivers()
                self._playwright = stack.enter_context(_started_playwright(temporary))
                self._drivers = _drivers() - before
            self._arguments = [*ARGUMENTS, *without_unused_features(self._playwright)]
            self._start()
            stack.callback(self._close)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        hangs = threading.Timer(STOP_LIMIT_S, self.kill)
        hangs.daemon = True
        hangs.start()
        try:
            self._stack.close()
        finally:
            hangs.cancel()

    def worked_s(self) -> float:
        """For how long the processes that run pages have worked so far, in seconds of processor time."""
        assert self._processes is not None, "it was not started"
        told = self._processes.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(process["cpuTime"] for process in told if process["type"] == "renderer"))

    def killer(self) -> RendererKiller:
        """What ends calls that a page never answers."""
        return RendererKiller(self._drivers)

    def use(self, work: Callable[[WebBrowser], T]) -> T:
        """Call a function with this browser."""
        return work(self)

    def kill(self) -> None:
        """End Playwright's driver, in whatever thread; then calls of it fail, and the browser ends by itself."""
        for process in self._drivers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    @property
    def starts_server(self) -> bool:
        """Whether it starts the server of the pages for each test."""
        return self._server is not None

    @property
    def version(self) -> str:
        """The version that the browser reports."""
        return self._running().version

    def served(self, flow: Flow) -> contextlib.AbstractContextManager[RunningServer | None]:
        """The server of the flow's pages during one test, if this browser is to start it."""
        return contextlib.nullcontext() if self._server is None else self._server.running(flow)

    @contextlib.contextmanager
    def fresh_context(self, viewport: Step | None) -> Iterator[BrowserContext]:
        """A context for one test, closed afterwards.

        Args:
            viewport: the first ``setViewport`` step; some of its settings cannot be changed later.
        """
        browser = self._running()
        if viewport is None:
            context = browser.new_context()
        else:
            data = viewport.data
            context = browser.new_context(
                viewport={"width": data["width"], "height": data["height"]},
                device_scale_factor=data["deviceScaleFactor"] or 1,
                is_mobile=data["isMobile"],
                has_touch=data["hasTouch"],
            )
        try:
            yield context
        finally:
            # The browser may be gone; then that was the outcome of the test.
            with contextlib.suppress(Exception):
                context.close()

    def _running(self) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            self._start()
        assert self._browser is not None
        return self._browser

    def _start(self) -> None:
        try:
            self._browser = self._playwright.chromium.launch(
                executable_path=self.executable,
                args=self._arguments,
                timeout=START_LIMIT_MS,
                chromium_sandbox=not self.without_sandbox,
                env=_environment(self._home),
            )
            self._processes = self._browser.new_browser_cdp_session()
        except Exception as error:  # Playwright's errors, and whatever its driver raises for a broken browser
            if not self.without_sandbox and any(words in str(error).lower() for words in _NO_SANDBOX):
                self.without_sandbox = "this system does not let users make namespaces"
                self._start()
                return
            last = next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), "no reason given")
            raise BrowserFailedError(f"{self.executable} does not start: {last}.") from error

    def _close(self) -> None:
        if self._browser is not None:
            with contextlib.suppress(Exception):
                self._browser.close()


def _drivers() -> set[int]:
    """The processes of Playwright's drivers that this process has started (none, where the system has no /proc)."""
    found: set[int] = set()
    for child in children_of(os.getpid()):
        with contextlib.suppress(OSError):
            if b"playwright" in Path("/proc", str(child), "cmdline").read_bytes():
                found.add(child)
    return found


def _environment(home: Path) -> dict[str, str | float | bool]:
    """Our environment with another HOME."""
    places = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
    }
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    # The temporary folder is in the private one, and its path is short enough.
    return {**os.environ, **{name: str(place) for name, place in places.items()}, "TMPDIR": str(home.parent)}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder for temporary files, with a path short enough for the browser."""
    with private_folder() as folder:
        if len(os.fsencode(folder.temporary)) <= _LONGEST_FOLDER_BYTES:
            yield folder.temporary
            return
    with private_folder(beside=Path("/tmp")) as folder:
        yield folder.temporary


@contextlib.contextmanager
def _started_playwright(temporary: Path) -> Iterator[Playwright]:
    require_playwright()
    from playwright.sync_api import sync_playwright

    # The driver passes on its environment: profiles are created in TMPDIR, and removed with our folder if it is killed.
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(temporary)
    try:
        manager = sync_playwright()
        playwright = manager.start()
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
    try:
        yield playwright
    finally:
        playwright.stop()
