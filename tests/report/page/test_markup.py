"""Whatever is put into an element is text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.report.page.markup import Markup, cut, data_island, tag
from replay_dd.trust.printable import printable
from tests.report.observed import Elements

# What ends elements, attributes and scripts, what reorders text, what terminals obey, and what no codec takes.
NASTY = (
    "<script>alert(1)</script>",
    "</script>",
    "<!--",
    "]]>",
    "\"'`=",
    "&lt;",
    "\u202e",
    "\x1b[2J\0",
    "\ud800",
    "\u2028",
)
TEXTS = st.one_of(st.text(), st.sampled_from(NASTY), st.lists(st.sampled_from(NASTY)).map("".join))


@given(TEXTS, TEXTS)
def test_texts_are_neither_elements_nor_attributes(text: str, title: str) -> None:
    found = Elements(tag("p", text, [text, None], title=title))
    assert found.elements == [("p", {"title": printable(title, keep="\n\t")})]
    assert "".join(found.text) == printable(text, keep="\n\t") * 2


@given(TEXTS, TEXTS)
def test_data_is_data(name: str, text: str) -> None:
    island = data_island("data", {name: [text, {"in": text}, 3, None]})
    found = Elements(island)
    assert found.names == {"script"}
    (read,) = found.scripts
    shown = printable(text, keep="\t")
    assert json.loads(read) == {printable(name): [shown, {"in": shown}, 3, None]}
    island.encode()


def test_markup_stays_markup() -> None:
    assert tag("p", tag("b", "a<b"), 3, hidden=True, class_="x", data_step=1, title=None) == Markup(
        '<p hidden class="x" data-step="1"><b>a&lt;b</b>3</p>'
    )
    assert tag("br") == "<br>"


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="object cannot be put into a page"):
        tag("p", object())


def test_a_text_that_is_cut_says_so() -> None:
    assert cut("x" * 10, 10) == "x" * 10
    assert cut("x" * 1_011, 10) == "x" * 10 + "… (1,001 more characters)"
