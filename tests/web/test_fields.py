"""Fields of a page get another value as a person would give it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.web.browser import WebBrowser
from replay_dd.web.fields import MOST_TYPED
from tests.web.flows import change, flow
from tests.web.test_player import played

PAGE = """<!doctype html><meta charset="utf-8">
<input id="plain"><input id="full" type="search" value="ab"><input id="amount" type="number">
<textarea id="lines"></textarea><div id="rich" contenteditable>Hello <b>you</b></div>
<input id="day" type="date"><input id="off" disabled><input id="late" disabled>
<script>
  window.seen = [];
  for (const type of ['keydown', 'input', 'keyup'])
    document.addEventListener(type, event => {
      const at = event.target;
      seen.push(`${type} ${event.key || ('value' in at ? at.value : at.innerHTML)}`);
    });
  setTimeout(() => { late.disabled = false; }, 400);
</script>"""


@pytest.fixture
def page(tmp_path: Path, site: str) -> str:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return f"{site}/page.html"


@pytest.mark.parametrize(
    "selector, value, events",
    [
        ("#plain", "ab", ["keydown a", "input a", "keyup a", "keydown b", "input ab", "keyup b"]),
        ("#full", "abc", ["keydown c", "input abc", "keyup c"]),
        ("#full", "x", ["keydown x", "input x", "keyup x"]),  # never empty, as after Ctrl+A
        ("#full", "", ["keydown Delete", "input ", "keyup Delete"]),
        ("#amount", "7", ["keydown 7", "input 7", "keyup 7"]),
        ("#rich", "Hello you!", ["keydown !", "input Hello <b>you!</b>", "keyup !"]),
        ("#day", "2026-03-04", ["input 2026-03-04"]),
        ("#late", "x", ["keydown x", "input x", "keyup x"]),
    ],
)
def test_keys_are_pressed_where_a_person_presses_them(
    browser: WebBrowser, page: str, selector: str, value: str, events: list[str]
) -> None:
    playback, seen = played(browser, flow(page, change(selector, value)))
    assert playback.left_out == ()
    assert seen == events


def test_a_line_break_is_no_key_and_a_long_text_is_not_all_typed(browser: WebBrowser, page: str) -> None:
    _, seen = played(browser, flow(page, change("#lines", "one\ntwo\nx")))
    assert [event for event in seen if event.startswith("key")] == ["keydown x", "keyup x"]
    assert seen[-2] == "input one\ntwo\nx"
    _, seen = played(browser, flow(page, change("#lines", "one\rx")))
    assert [event for event in seen if event.startswith("key")] == ["keydown x", "keyup x"]
    long = "y" * (MOST_TYPED + 50)
    _, seen = played(browser, flow(page, change("#lines", long)))
    assert seen.count("keydown y") == MOST_TYPED
    assert seen[-2] == f"input {long}"


def test_a_field_that_cannot_be_used_is_told_in_words(browser: WebBrowser, page: str) -> None:
    playback, seen = played(browser, flow(page, {**change("#off", "x"), "timeout": 600}))
    assert [why for _, why in playback.left_out] == ["its element is disabled"]
    assert seen == []
