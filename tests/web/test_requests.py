"""Which requests are waited for. The browser is simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from replay_dd.web.requests import OpenRequests


@dataclass(eq=False)
class Request:
    """A request, as far as it is looked at."""

    method: str
    url: str
    post_data_buffer: bytes | None
    resource_type: str

    def is_navigation_request(self) -> bool:
        return self.resource_type == "document"


class Context:
    """A browser context without a browser."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def on(self, event: str, handler: Any) -> None:
        self.handlers[event] = handler

    def ask(self, url: str, method: str = "GET", body: bytes | None = None, kind: str = "fetch") -> Any:
        request = Request(method, url, body, kind)
        self.handlers["request"](request)
        return request


def opened(background: set[str] | None = None) -> tuple[Context, OpenRequests]:
    context = Context()
    return context, OpenRequests(cast(Any, context), set() if background is None else background)


@pytest.mark.parametrize("ending", ["requestfinished", "requestfailed"])
def test_a_request_is_open_until_it_ends(ending: str) -> None:
    context, requests = opened()
    assert not requests
    request = context.ask("http://a/page", kind="document")
    assert requests
    context.handlers[ending](request)
    assert not requests
    assert (requests.asked, requests.navigated) == (1, 1)


@pytest.mark.parametrize(
    ("again", "waits"),
    [
        (("http://a/news?since=43&kind=all",), False),
        (("http://a/news?since=x7Gz&kind=all",), False),
        (("http://a/news?since=42&kind=mine",), True),
        (("http://a/news?since=42&kind=all", "POST", b""), True),
        (("http://a/save",), True),
    ],
)
def test_what_was_never_answered_is_not_waited_for_again(again: tuple[Any, ...], waits: bool) -> None:
    background: set[str] = set()
    context, requests = opened(background)
    context.ask("http://a/news?since=42&kind=all")
    requests.give_up()
    assert not requests
    # Neither in this context, nor in those of later tests.
    for now, waited_for in [(context, requests), opened(background)]:
        before = waited_for.asked
        now.ask(*again)
        assert (bool(waited_for), waited_for.asked - before) == (waits, waits)


def test_calls_to_one_address_are_told_apart_by_what_they_send() -> None:
    context, requests = opened()
    context.ask("http://a/api", "POST", b'{"do": "subscribe", "number": 1}')
    requests.give_up()
    context.ask("http://a/api", "POST", b'{"do": "subscribe", "number": 20}')
    assert not requests
    context.ask("http://a/api", "POST", b'{"do": "save", "number": 21}')
    assert requests


def test_a_stream_of_events_is_never_waited_for() -> None:
    context, requests = opened()
    context.ask("http://a/events", kind="eventsource")
    assert not requests
