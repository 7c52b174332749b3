"""Steps find their window by its address, or by one like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from replay_dd.web.windows import Windows


@dataclass(eq=False)
class _Window:
    url: str


@dataclass
class _Context:
    pages: list[_Window]


def _windows(*pages: _Window, differing: set[str] | None = None) -> Windows:
    context: Any = _Context(list(pages))
    return Windows(context, context.pages[0], set() if differing is None else differing)


def test_addresses_with_other_numbers_stand_for_windows_in_their_order() -> None:
    main, one, two = _Window("http://x/?0"), _Window("http://x/note?id=17"), _Window("http://x/note?id=18")
    windows = _windows(main, one, two)
    assert windows.find("main") is main
    assert windows.find("http://x/note?id=5", in_time=False) is one
    assert windows.find("http://x/note?id=6", in_time=False) is two
    assert windows.find("http://x/note?id=5") is one
    one.url = "http://x/elsewhere"
    assert windows.find("http://x/note?id=5") is one  # it went to another page
    assert windows.find("http://x/note?id=7", in_time=False) is None
    assert windows.find("http://x/?9", in_time=False) is None  # the first window has a name of its own


def test_the_very_address_comes_first() -> None:
    main, one, two = _Window("http://x/"), _Window("http://x/note?id=17"), _Window("http://x/note?id=5")
    windows = _windows(main, one, two)
    assert windows.find("http://x/note?id=5") is two
    assert windows.find("http://x/note?id=6", in_time=False) is one


def test_the_very_address_may_still_come() -> None:
    main, one, two = _Window("http://x/"), _Window("http://x/note?id=17"), _Window("about:blank")
    differing: set[str] = set()
    windows = _windows(main, one, two, differing=differing)
    assert windows.find("http://x/note?id=5") is None
    two.url = "http://x/note?id=5"
    assert windows.find("http://x/note?id=5") is two
    assert differing == set()


def test_an_address_that_is_known_to_differ_is_not_waited_for_again() -> None:
    differing: set[str] = set()
    main, one = _Window("http://x/"), _Window("http://x/note?id=17")
    assert _windows(main, one, differing=differing).find("http://x/note?id=5", in_time=False) is one
    assert _windows(main, one, differing=differing).find("http://x/note?id=5") is one
