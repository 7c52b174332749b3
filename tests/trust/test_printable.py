"""What a terminal or a browser obeys is escaped; what people read is not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.trust.printable import html_text, printable


@pytest.mark.parametrize(
    "text, shown",
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\bc\x7f\0", r"a\rb\x08c\x7f\x00"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("in\u200bvisible\ufeff", r"in\u200bvisible\ufeff"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("half \ud83d and \udcff", r"half \ud83d and \udcff"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_what_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("text", ["", "plain", "día, 日本, שלום", "┃ ● ×", "e\u0301", "a\xa0b", "🐍", r"back\slash"])
def test_what_stays(text: str) -> None:
    assert printable(text) == text


def test_what_the_caller_keeps() -> None:
    assert printable("a\n\tb\r", keep="\n\t") == "a\n\tb\\r"


@given(st.text())
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    shown = printable(text)
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    shown.encode()
    assert printable(shown) == shown


@given(st.text())
def test_nothing_is_left_that_a_browser_obeys(text: str) -> None:
    shown = html_text(text)
    assert not set(shown) & set("<>\"'")
    shown.encode()
