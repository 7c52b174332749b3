"""Drops what calls print while they are repeated."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Let ``sys.stdout`` and ``sys.stderr`` lead nowhere; what cannot be encoded still fails."""
    with contextlib.ExitStack() as stack:
        for name, redirect in (("stdout", contextlib.redirect_stdout), ("stderr", contextlib.redirect_stderr)):
            own = getattr(sys, name)
            encoding, errors = getattr(own, "encoding", None), getattr(own, "errors", None)
            nowhere = stack.enter_context(open(os.devnull, "w", encoding=encoding, errors=errors))
            stack.enter_context(redirect(nowhere))
        yield
