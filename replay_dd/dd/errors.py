"""Errors that the caller of a search can cause: wrong end points, wrong containment, a wrong split."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_BASELINE, EXIT_USAGE, ReplayDDError


class BaselineDoesNotFailError(ReplayDDError):
    """The configuration that was said to fail does not fail when it is tested."""

    slug: ClassVar[str] = "baseline-does-not-fail"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint: ClassVar[str] = (
        "Run the failing case by itself, several times: it must fail in the same way each time before its cause can "
        "be isolated."
    )


class BaselineDoesNotPassError(ReplayDDError):
    """The configuration that was said to pass does not pass when it is tested."""

    slug: ClassVar[str] = "baseline-does-not-pass"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint: ClassVar[str] = (
        "Run the passing case by itself: it must pass each time. Where it fails too, the failure does not come from "
        "the difference between the two cases."
    )


class PassNotContainedError(ReplayDDError):
    """The passing case holds elements that the failing case lacks, or in another order."""

    slug: ClassVar[str] = "pass-not-contained"
    exit_code: ClassVar[int] = EXIT_USAGE
    default_hint: ClassVar[str] = (
        "Delta debugging adds parts of the failing case to the passing one: what passes must be contained, in the same "
        "order, in what fails. An empty passing case always is."
    )


class NotAPartitionError(ReplayDDError):
    """A split function of the caller lost, doubled or invented deltas."""

    slug: ClassVar[str] = "not-a-partition"
    exit_code: ClassVar[int] = EXIT_USAGE
    default_hint: ClassVar[str] = (
        "A split function must return parts that are not empty, do not overlap, and together hold every delta it was "
        "given."
    )
