"""What can go wrong with web sessions, by somebody's doing."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_BASELINE, EXIT_FLAKY, EXIT_LOG, ReplayDDError


class NotAFlowError(ReplayDDError):
    """The file holds no user flow."""

    slug = "not-a-flow"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = "Give a file that the Recorder of Chrome DevTools exported as JSON."


class FlowStepError(ReplayDDError):
    """A step of the flow does not keep to the schema."""

    slug = "flow-step-invalid"
    exit_code: ClassVar[int] = EXIT_LOG
    default_hint = "Export the flow again, or correct this step."


class FlowUnwritableError(ReplayDDError):
    """A flow, or what belongs to it, cannot be written."""

    slug = "flow-unwritable"
    default_hint = "Name another file with `-o`."


class PlaywrightMissingError(ReplayDDError):
    """Playwright for Python is not installed."""

    slug = "playwright-missing"
    default_hint = "Install it with `pip install 'replay-dd[web]'`."


class BrowserMissingError(ReplayDDError):
    """There is no Chromium."""

    slug = "browser-missing"
    default_hint = "Install Chromium (on Debian: `apt install chromium`), or name it with `--browser`."


class BrowserFailedError(ReplayDDError):
    """The browser did not start, or did not stay."""

    slug = "browser-failed"
    default_hint = "Try whether the browser starts by itself, with `--headless`."


class PageUnreachableError(ReplayDDError):
    """The first page of the flow cannot be loaded."""

    slug = "page-unreachable"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Start the server of the page first."


class FlowDoesNotFailError(ReplayDDError):
    """The whole flow runs without a failure."""

    slug = "flow-does-not-fail"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = (
        "A failure is an uncaught error of the page, a failed console.assert, a crash, or an assertion step that "
        "fails. If it shows as text on the page, name the text with `--text`."
    )


class AssertionFailsAtOnceError(ReplayDDError):
    """The failing assertion fails without any action, so that no step can be called a cause."""

    slug = "assertion-fails-at-once"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Assert what holds before the failing action, for instance that an error box is not visible."


class FlowNotReproducedError(ReplayDDError):
    """The same flow ended differently each time."""

    slug = "flow-not-reproduced"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = "If the page needs more time after the last step, give it more with `--settle`."
