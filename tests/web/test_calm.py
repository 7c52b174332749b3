"""A page that talks with its server through a WebSocket is waited for, as long as that is about something."""

from __future__ import annotations

import base64
import hashlib
from http.server import BaseHTTPRequestHandler
from typing import Any

from replay_dd.web.browser import WebBrowser
from replay_dd.web.calm import Sockets
from replay_dd.web.player import Limits
from tests.web.flows import click, flow, serving
from tests.web.test_player import played

PAGE = """<!doctype html><button id="ask">Ask</button><button id="use">Use</button><script>
  window.seen = [];
  const socket = new WebSocket(location.href.replace('http', 'ws') + 'talk');
  socket.onmessage = event => { ask.textContent = event.data; };
  ask.onclick = () => { socket.send('question'); setTimeout(() => socket.send('go on'), 300); };
  use.onclick = () => { seen.push(ask.textContent); };
</script>"""
_ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455


class _Site(BaseHTTPRequestHandler):
    """The page, and a socket on which the second message is answered: the page's own timer says how late."""

    def do_GET(self) -> None:
        if self.path != "/talk":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE.encode())
            return
        accepted = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + _ACCEPT).encode()).digest()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(accepted).decode())
        self.end_headers()
        self.close_connection = True
        for _ in range(2):
            self.rfile.read(4 + (self.rfile.read(2)[1] & 127))
        self.wfile.write(bytes([0x81, 4]) + b"done")
        self.rfile.read(1)  # until it is closed

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_answers_of_a_socket_are_waited_for(browser: WebBrowser) -> None:
    with serving(handler=_Site) as address:
        limits = Limits(settle_s=0, calm_ms=20_000)
        playback, seen = played(browser, flow(f"{address}/", click("#ask"), click("#use")), limits=limits)
    assert playback.left_out == ()
    assert seen == ["done"]


class _Emitter:
    """A context, a page or a socket, of which the events are emitted here."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def on(self, event: str, handler: Any) -> None:
        self.handlers[event] = handler


def test_a_page_that_receives_something_all_the_time_is_not_waited_for_again() -> None:
    context, page, socket = _Emitter(), _Emitter(), _Emitter()
    anything: Any = context
    sockets = Sockets(anything)
    context.handlers["page"](page)
    page.handlers["websocket"](socket)
    socket.handlers["framesent"]("question")
    assert (sockets.sent, sockets.is_answered, sockets.received) == (True, False, 0)
    socket.handlers["framereceived"]("answer")
    assert (sockets.sent, sockets.is_answered, sockets.received) == (True, True, 1)
    sockets.end_step(is_calm=True)
    assert not sockets.sent
    socket.handlers["framesent"]("question")
    sockets.end_step(is_calm=False)
    socket.handlers["framesent"]("question")
    socket.handlers["framereceived"]("answer")
    assert (sockets.sent, sockets.received) == (False, 1)
