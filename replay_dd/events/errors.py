"""What can be wrong with displays, programs with windows, and their sessions."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_BASELINE, EXIT_FLAKY, ReplayDDError


class XlibMissingError(ReplayDDError):
    """python-xlib is not installed."""

    slug = "xlib-missing"
    default_hint = "Install it: `pip install 'replay-dd[gui]'`."


class XlibShadowedError(ReplayDDError):
    """Another package called ``Xlib`` is found, or a very old one."""

    slug = "xlib-shadowed"
    default_hint = "Put the right one in its place: `pip install --force-reinstall --no-deps 'python-xlib>=0.33'`."


class NoDisplayError(ReplayDDError):
    """There is no X display, or it cannot be reached."""

    slug = "no-display"
    default_hint = "Set DISPLAY, or record on a private display with `--display new`."


class DisplayServerMissingError(ReplayDDError):
    """Xvfb is not installed or does not start."""

    slug = "no-xvfb"
    default_hint = "Install it: `apt-get install xvfb`."


class WindowManagerError(ReplayDDError):
    """The window manager is not there, or does not start."""

    slug = "window-manager"
    default_hint = "Install it, or choose another one with `--wm NAME`, or none with `--wm none`."


class ExtensionMissingError(ReplayDDError):
    """The display lacks an extension that is needed."""

    slug = "no-x-extension"
    default_hint = "Record on a private display with `--display new`: Xvfb has RECORD and XTEST."


class DisplayLostError(ReplayDDError):
    """The display went away in the middle."""

    slug = "display-lost"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = "Run it again. If it happens again, the program may take the X server down with it."


class NoWindowError(ReplayDDError):
    """The program never opened a window."""

    slug = "no-window"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give it more time with `--start-limit SECONDS`, and look whether it is a program with windows."


class NothingDoneError(ReplayDDError):
    """The session holds no action."""

    slug = "no-actions"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Record again, and do something in the program."


class SessionDoesNotFailError(ReplayDDError):
    """The session that should fail does not."""

    slug = "session-does-not-fail"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give the log of a session that failed; `replay-dd monkey` looks for one."


class SessionDoesNotPassError(ReplayDDError):
    """The session that should pass does not."""

    slug = "session-does-not-pass"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give the log of a session that did not fail."


class SessionNotReproducedError(ReplayDDError):
    """The failure of the session did not show in a replay."""

    slug = "session-not-reproduced"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = "Play it at the pace of the person with `--pace recorded`, and more often with `--repeat N`."


class TwoSessionsError(ReplayDDError):
    """Two logs cannot be compared."""

    slug = "two-sessions"
    default_hint = "Give two sessions of the same command on screens of the same size."


class SessionChangedError(ReplayDDError):
    """The program is not the one that was recorded."""

    slug = "session-program-changed"
    default_hint = "Record again, or accept the log all the same with `--accept-changes`."


class PlayerMissingError(ReplayDDError):
    """The player asked for cannot be used."""

    slug = "player-missing"
    default_hint = "Install it (`pip install 'replay-dd[pyautogui]'`), and see `replay-dd doctor`."
