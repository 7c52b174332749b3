"""Something on this machine is missing, shadowed, or has gone away."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_FLAKY, ReplayDDError


class MachineError(ReplayDDError):
    """Base of the errors that are fixed by installing or starting something."""


class SoftwareMissingError(MachineError):
    """A required package or program is not installed, or does not start."""

    slug = "software-missing"
    default_hint = "Install it; `replay-dd doctor` shows what else is missing."


class PackageShadowedError(MachineError):
    """Another package of the same name, or a very old version, is found first."""

    slug = "package-shadowed"
    default_hint = "Run the command in another folder, rename that file, or remove it from PYTHONPATH."


class NoDisplayError(MachineError):
    """There is no X display, or it cannot be reached."""

    slug = "no-display"
    default_hint = "Set DISPLAY, or record on a private display with `--display new`."


class ExtensionMissingError(MachineError):
    """The display lacks a required extension."""

    slug = "no-x-extension"
    default_hint = "Record on a private display with `--display new`: Xvfb has RECORD and XTEST."


class WindowManagerError(MachineError):
    """The window manager is not installed, or does not start."""

    slug = "window-manager"
    default_hint = "Install it, choose another one with `--wm NAME`, or use none with `--wm none`."


class DisplayLostError(MachineError):
    """The display went away during a run."""

    slug = "display-lost"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = "Run it again. If it happens again, the program may be crashing the X server."


class BrowserFailedError(MachineError):
    """The browser did not start, or did not stay up."""

    slug = "browser-failed"
    default_hint = "Check that the browser starts on its own, with `--headless`."


class WorkingCopyError(MachineError):
    """A copy of a version, in which the program is to run, cannot be written."""

    slug = "working-copy-unwritable"
    default_hint = "Make room on the disk, or name another one for temporary files with the variable TMPDIR."


class NoRoomError(MachineError):
    """Temporary files cannot be written."""

    slug = "no-room"
    default_hint = (
        "Make room on the disk, or name another one for temporary files with the variable TMPDIR. "
        "If it has room, see what `ulimit -f` and quotas allow."
    )
