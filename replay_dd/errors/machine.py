"""Something on this machine is missing, shadowed, or went away."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_FLAKY, ReplayDDError


class MachineError(ReplayDDError):
    """Base of the errors that installing or starting something mends."""


class SoftwareMissingError(MachineError):
    """A package or program that this needs is not installed, or does not start."""

    slug = "software-missing"
    default_hint = "Install it; `replay-dd doctor` tells what else is missing."


class PackageShadowedError(MachineError):
    """Another package of the same name is found first, or a very old one."""

    slug = "package-shadowed"
    default_hint = "Run the command in another folder, rename that file, or take it off PYTHONPATH."


class NoDisplayError(MachineError):
    """There is no X display, or it cannot be reached."""

    slug = "no-display"
    default_hint = "Set DISPLAY, or record on a private display with `--display new`."


class ExtensionMissingError(MachineError):
    """The display lacks an extension that is needed."""

    slug = "no-x-extension"
    default_hint = "Record on a private display with `--display new`: Xvfb has RECORD and XTEST."


class WindowManagerError(MachineError):
    """The window manager is not there, or does not start."""

    slug = "window-manager"
    default_hint = "Install it, or choose another one with `--wm NAME`, or none with `--wm none`."


class DisplayLostError(MachineError):
    """The display went away in the middle."""

    slug = "display-lost"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = "Run it again. If it happens again, the program may take the X server down with it."


class BrowserFailedError(MachineError):
    """The browser did not start, or did not stay."""

    slug = "browser-failed"
    default_hint = "Check that the browser starts by itself, with `--headless`."
