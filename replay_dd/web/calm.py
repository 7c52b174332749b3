"""Whether a page still builds itself: its elements come and go, or it talks with its server through WebSockets.

What is sent through a socket has no answer that belongs to it. So an answer is whatever comes next, and it is waited
for briefly. A page that receives something all the time is not waited for again.
"""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, WebSocket

CALM_MS = 100
ANSWER_LOOKS = 5
"""For how many looks of :data:`CALM_MS` an answer is waited for."""
_COUNT_CHANGES = """() => {
    const counted = {changes: 0};
    new MutationObserver(records => { counted.changes += records.length; })
        .observe(document, {subtree: true, childList: true});
    return counted;
}"""


def changes_meanwhile(page: Page) -> int:
    """Count the elements that come and go in all frames of a page during a short wait.

    Raises:
        playwright.sync_api.Error: a frame is being replaced, or the page is gone.
    """
    counted = [frame.evaluate_handle(_COUNT_CHANGES) for frame in page.frames]
    page.evaluate("calm_ms => new Promise(done => setTimeout(done, calm_ms))", CALM_MS)
    return sum(handle.evaluate("counted => counted.changes") for handle in counted)


class Sockets:
    """What the pages of a context send and receive through WebSockets.

    Args:
        context: the context, before it has any page.

    Attributes:
        sent: whether something was sent during the present step.
        is_answered: whether something was received since.
        received: how many messages were received.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.sent = False
        self.is_answered = True
        self.received = 0
        self._restless = False
        context.on("page", self._on_page)

    def end_step(self, *, is_calm: bool) -> None:
        """Forget what was sent during a step.

        Args:
            is_calm: whether the pages had become calm.
        """
        self._restless = self._restless or (self.sent and not is_calm)
        self.sent = False

    def _on_page(self, page: Page) -> None:
        page.on("websocket", self._on_socket)

    def _on_socket(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda _: self._on_sent())
        socket.on("framereceived", lambda _: self._on_received())

    def _on_sent(self) -> None:
        if not self._restless:
            self.sent, self.is_answered = True, False

    def _on_received(self) -> None:
        if not self._restless:
            self.received += 1
            self.is_answered = True
