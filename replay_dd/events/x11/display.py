"""Private displays: an X server without a screen (Xvfb) and a window manager, fresh for each test.

Rules of this module:

* The window manager is ready, and has nothing left to do, before the program starts; else it decides by luck where
  windows stand.
* Everything ends with the display: processes, the socket (and lock file) of the server, the folder with HOME. A display
  that was killed is cleaned up as well, and if we are killed, the guard does it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from replay_dd.errors.machine import DisplayLostError, NoDisplayError, WindowManagerError
from replay_dd.events.model import Screen
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.idle import IdleRule
from replay_dd.events.x11.keys import use_keyboard
from replay_dd.events.x11.processes import ProcessTree
from replay_dd.events.x11.server import START_LIMIT_S, start_server
from replay_dd.events.x11.windows import has_window_manager
from replay_dd.experiment.guard_process import GROUP
from replay_dd.experiment.process import LIVE, PrivateFolder, kill_group, private_folder

# In the order of preference: small, quick to start, and the same in each run.
WINDOW_MANAGERS = ("openbox", "matchbox-window-manager", "jwm", "icewm", "fluxbox", "twm", "metacity", "xfwm4")
NO_WINDOW_MANAGER = "none"
# What belongs to the user's own desktop, and would lead a program back to it.
_LEFT_OUT = (
    *("WAYLAND_DISPLAY", "XAUTHORITY", "SESSION_MANAGER", "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN", "WINDOWID"),
    *("DESKTOP_SESSION", "XDG_CURRENT_DESKTOP", "XMODIFIERS", "GTK_IM_MODULE", "QT_IM_MODULE", "SSH_AUTH_SOCK"),
    # Files in the user's own HOME.
    *("HISTFILE", "ICEAUTHORITY", "LESSHISTFILE", "PYTHONHISTORY", "PYTHON_HISTORY"),
)
_CONFIGURATION = Path(__file__).with_name("openbox.xml")


def choose_window_manager(wanted: str | None) -> str:
    """The window manager to use: the one wanted, or the first one that is installed; empty for none.

    Raises:
        WindowManagerError: the one wanted is not installed.
    """
    if wanted in (NO_WINDOW_MANAGER, ""):
        return ""
    if wanted is not None:
        if shutil.which(wanted) is None:
            raise WindowManagerError(f"The window manager `{wanted}` is not installed.")
        return wanted
    return next((name for name in WINDOW_MANAGERS if shutil.which(name)), "")


def window_manager_like(name: str) -> str:
    """The window manager of a session where it is installed, else another one; empty where the session had none."""
    return name if name == "" or shutil.which(name) else choose_window_manager(None)


def environment_on(
    display: str, folder: PrivateFolder, given: Mapping[str, str], *, keep: Sequence[str] = ()
) -> dict[str, str]:
    """The environment of a program on a display: with its own HOME, and no way back to the user's desktop.

    Args:
        display: name of the display.
        folder: where HOME and its like are made.
        given: variables that are set as they were recorded.
        keep: variables of the user's desktop that are needed all the same.
    """
    home = folder.path / "home"
    places = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_RUNTIME_DIR": folder.path / "run",
    }
    for place in places.values():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = {name: value for name, value in {**os.environ, **given}.items() if name in keep or name not in _LEFT_OUT}
    return {
        **kept,
        **{name: str(place) for name, place in places.items()},
        "DISPLAY": display,
        "TMPDIR": str(folder.temporary),
        "XDG_SESSION_TYPE": "x11",
        "GDK_BACKEND": "x11",
        "QT_QPA_PLATFORM": "xcb",
        "SDL_VIDEODRIVER": "x11",
        # No services of the desktop: they would be shared between tests, or be started and stay.
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        "NO_AT_BRIDGE": "1",
        "GSETTINGS_BACKEND": "memory",
    }


class PrivateDisplay:
    """A display with nothing on it.

    Args:
        screen: size and depth of its screen.
        window_manager: the name of its program; empty for none.

    Raises:
        SoftwareMissingError: Xvfb cannot be started.
        WindowManagerError: the window manager cannot be started.
    """

    def __init__(self, screen: Screen, window_manager: str) -> None:
        self._stack = contextlib.ExitStack()
        try:
            self.folder = self._stack.enter_context(private_folder())
            self._stack.callback(_remove_with_patience, self.folder.path)
            server = start_server(screen, self.folder, self._stack)
            self.server, self.number, self.name = server.process, server.number, server.name
            self.authority = server.authority
            self.environment = self.environment_for({})
            self.connection = self._connect()
            self._stack.callback(self.connection.close)
            if screen.keyboard:
                use_keyboard(self.connection, self.environment, screen.keyboard)
            self.window_manager = window_manager
            self.manager: subprocess.Popen[bytes] | None = None
            if window_manager:
                self._start_window_manager(window_manager)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all that is on the display, and the display."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def environment_for(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment of a program on this display."""
        made = environment_on(self.name, self.folder, given)
        # There is no graphics card, and GTK 4 takes four seconds to find out what it can draw with instead.
        return {"GSK_RENDERER": "cairo", **made, "XAUTHORITY": str(self.authority)}

    def trees(self) -> list[ProcessTree]:
        """The processes of the display: the server, and the window manager if there is one."""
        processes = [self.server] if self.manager is None else [self.server, self.manager]
        return [ProcessTree(process.pid, waits_for_anything=False) for process in processes]

    @property
    def alive(self) -> bool:
        """Whether the server is running and answers: one that is being killed closes its connections before it ends."""
        return self.server.poll() is None and _answers(self.connection)

    # -- start and end -------------------------------------------------------------------------------------------------

    def _connect(self) -> Connection:
        until = time.monotonic() + START_LIMIT_S
        while True:
            try:
                return Connection(self.name)
            except NoDisplayError:
                if self.server.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _start_window_manager(self, name: str) -> None:
        arguments = [name]
        if Path(name).name == "openbox":
            arguments += ["--config-file", str(_CONFIGURATION), "--sm-disable"]
        try:
            self.manager = process = subprocess.Popen(
                arguments,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        except OSError as error:
            raise WindowManagerError(f"The window manager `{name}` cannot be started: {error.strerror}.") from error
        LIVE.add(process)
        self.folder.note(GROUP, process.pid)
        self._stack.callback(_end_group, process)
        until = time.monotonic() + START_LIMIT_S
        while not self._is_managed():
            if process.poll() is not None:
                raise WindowManagerError(
                    f"The window manager `{name}` ended at once, with status {process.returncode}."
                )
            if time.monotonic() > until:
                raise WindowManagerError(f"The window manager `{name}` did not take over the display.")
            time.sleep(0.001)
        IdleRule(self.connection, self.trees(), lambda: not self.alive).wait(5)

    def _is_managed(self) -> bool:
        with self.connection.watched():
            return has_window_manager(self.connection)


class BorrowedDisplay:
    """The user's own display: what it has, and what runs there, stays as it is.

    Args:
        name: such as ``":0"``; None for the one that DISPLAY names.

    Raises:
        NoDisplayError: it cannot be reached.
    """

    authority: Path | None = None
    server: subprocess.Popen[bytes] | None = None
    manager: subprocess.Popen[bytes] | None = None

    def __init__(self, name: str | None) -> None:
        self._stack = contextlib.ExitStack()
        self.connection = Connection(name)
        self._stack.callback(self.connection.close)
        self.name = self.connection.name
        self.folder = self._stack.enter_context(private_folder())
        self._stack.callback(_remove_with_patience, self.folder.path)
        self.environment = self.environment_for({})

    def environment_for(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment of a program on this display."""
        environment = environment_on(self.name, self.folder, given, keep=("XAUTHORITY",))
        # Looked for in HOME where nothing else is said, and the program's HOME is another one.
        cookies = Path.home() / ".Xauthority"
        if cookies.is_file():
            environment.setdefault("XAUTHORITY", str(cookies))
        return environment

    @property
    def alive(self) -> bool:
        """Whether it answers."""
        return _answers(self.connection)

    def trees(self) -> list[ProcessTree]:
        """None: what the desktop's own processes do is not ours to wait for."""
        return []

    def close(self) -> None:
        """Leave it."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


Display = PrivateDisplay | BorrowedDisplay


def _answers(connection: Connection) -> bool:
    try:
        connection.sync()
    except DisplayLostError:
        return False
    return True


def _end_group(process: subprocess.Popen[bytes]) -> None:
    kill_group(process)
    process.wait()
    LIVE.remove(process)


def _remove_with_patience(path: Path) -> None:
    """Remove a folder in which a program that is just being killed may still write."""
    for _ in range(20):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.01)


def check_alive(display: PrivateDisplay) -> None:
    """Check that the server of a display is still there.

    Raises:
        DisplayLostError: it is not.
    """
    if not display.alive:
        raise DisplayLostError(f"The X server of the private display {display.name} has ended.")
