"""Environment variables between ``verify-test``, the tests of :mod:`replay_dd.testing`, and their programs."""

from __future__ import annotations

INSIDE = "REPLAY_DD_CHECKS_ORDER"
"""Set in a program whose order is checked, so that a test runner does not check the order inside of itself."""
VERDICTS = "REPLAY_DD_VERDICTS"
"""Names a file to which each verdict is appended, as a line of JSON."""
