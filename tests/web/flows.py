"""Flows and pages for tests."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from replay_dd.web.flow import Flow, flow_from

VIEWPORT = {
    "type": "setViewport",
    "width": 600,
    "height": 400,
    "deviceScaleFactor": 1,
    "isMobile": False,
    "hasTouch": False,
    "isLandscape": False,
}


def click(selector: str, **more: Any) -> dict[str, Any]:
    return {"type": "click", "target": "main", "selectors": [[selector]], "offsetX": 4, "offsetY": 4, **more}


def change(selector: str, value: str) -> dict[str, Any]:
    return {"type": "change", "target": "main", "selectors": [[selector]], "value": value}


def key(name: str) -> list[dict[str, Any]]:
    return [{"type": "keyDown", "target": "main", "key": name}, {"type": "keyUp", "target": "main", "key": name}]


def visible(selector: str, **more: Any) -> dict[str, Any]:
    return {"type": "waitForElement", "selectors": [[selector]], "timeout": 400, **more}


def flow(url: str, *steps: dict[str, Any], viewport: bool = True) -> Flow:
    first = [VIEWPORT] if viewport else []
    going = {"type": "navigate", "url": url, "assertedEvents": [{"type": "navigation", "url": url}]}
    return flow_from({"title": "A test", "steps": [*first, going, *steps]})


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serving(folder: Path | None = None, handler: Callable[..., Any] | None = None) -> Iterator[str]:
    """Serve a folder, or with a given handler, on the loopback device; yields the address."""
    answering = handler or functools.partial(_Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
