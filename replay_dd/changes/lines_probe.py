"""Notes which lines of a version of a program are executed, and which files are opened; copied as `sitecustomize`.

Rules of this module:

* It runs inside the program: it imports nothing but the standard library, and little of that.
* Each line is written once, at once, so that a program that crashes or is killed leaves what it did.
* It never makes a program fail: what cannot be noted is not noted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

VERSION = "REPLAY_DD_CHANGES_VERSION"
EXECUTED = "executed"


def _start(folder: str, root: str) -> None:
    try:
        output = os.open(os.path.join(folder, EXECUTED), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    inside = os.path.join(root, "")
    known: set[tuple[str, int]] = set()

    def note(path: str, line: int) -> None:
        if (path, line) not in known:
            known.add((path, line))
            with contextlib.suppress(OSError, ValueError):
                os.write(output, f"{line} {path[len(inside) :]}\n".encode("utf-8", "surrogateescape"))

    def on_audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and arguments:
            path = arguments[0]
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if isinstance(path, str):
                path = os.path.normpath(os.path.join(os.getcwd(), path))
                if path.startswith(inside):
                    note(path, 0)

    sys.addaudithook(on_audit)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        _monitor(monitoring, inside, note)
    else:
        _trace(inside, note)


def _monitor(monitoring: Any, inside: str, note: Any) -> None:
    def on_line(code: CodeType, line: int) -> object:
        if code.co_filename.startswith(inside):
            note(code.co_filename, line)
        return monitoring.DISABLE

    for tool in (4, 3):
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "replay-dd changes")
            monitoring.register_callback(tool, monitoring.events.LINE, on_line)
            monitoring.set_events(tool, monitoring.events.LINE)
            return


def _trace(inside: str, note: Any) -> None:
    import threading

    def on_call(frame: FrameType, event: str, argument: object) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(inside):
            return None
        note(path, frame.f_lineno)

        def on_event(frame: FrameType, event: str, argument: object) -> Any:
            note(path, frame.f_lineno)
            return on_event

        return on_event

    threading.settrace(on_call)
    sys.settrace(on_call)


def take_place(start: Callable[[str, str], None]) -> None:
    """Start a probe, and give way to the `sitecustomize` that it hides."""
    folder = os.path.dirname(os.path.abspath(__file__))
    root = os.environ.get(VERSION)
    sys.path[:] = [path for path in sys.path if path != folder]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  # for what it does
    except ImportError:
        if ours is not None:
            sys.modules["sitecustomize"] = ours
    if root:
        start(folder, root)


if __name__ == "sitecustomize":
    take_place(_start)
