"""The film strip is one well-formed page that says what happened, whatever the texts contain."""

from __future__ import annotations

import base64
import html.parser
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.events.x11.pictures import as_png
from replay_dd.outcome import Outcome
from replay_dd.report.filmstrip import Box, CourseStep, End, FilmStrip, Frame, Script, filmstrip_html, png_size

PICTURE = as_png(bytes(40 * 30 * 4), 40, 30)
VOID = {"meta", "image", "rect", "circle", "path", "polyline"}


class Outline(html.parser.HTMLParser):
    """Collects text and tags, and checks that every open tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str, kind: str | None = None) -> list[dict[str, str | None]]:
        return [found for name, found in self.tags if name == tag and kind in (None, found.get("class"))]


def test_what_is_on_the_page() -> None:
    frames = [
        Frame("click", PICTURE, pointer=(10, 5), pressed=True, target=Box(2, 3, 20, 10), target_name="Main", number=17),
        Frame("drag", PICTURE, path=((1, 1), (5, 9), (30, 20))),
        Frame("press Return", None),
    ]
    end = End("killed by SIGSEGV", "main (a.c:3)\n<unknown>", PICTURE)
    course = [CourseStep(2, Outcome.PASS), CourseStep(4, Outcome.FAIL), CourseStep(1, Outcome.UNRESOLVED)]
    script = Script("Shell", "replay.sh", "xdotool click 1 && echo '<done>'\n")
    outline = Outline(filmstrip_html(FilmStrip("xcalc & co", frames, end, [("actions", "9 → 3")], course, [script])))
    for words in ("xcalc & co", "killed by SIGSEGV", "<unknown>", "9 → 3", "action 17 of the recording", "in Main"):
        assert words in outline.text
    assert len(outline.of("image")) == 3
    assert outline.of("rect", "target") == [
        {"class": "target", "x": "2", "y": "3", "width": "20", "height": "10"},
    ]
    assert [mark["cx"] for mark in outline.of("circle", "press")] == ["10"]
    assert [mark["points"] for mark in outline.of("polyline", "way")] == ["1,1 5,9 30,20"]
    assert [len(outline.of("rect", name)) for name in ("passes", "fails", "unresolved")] == [1, 1, 1]
    assert "test 2: 4 actions, fails" in outline.text
    saved = next(link["href"] for link in outline.of("a"))
    assert base64.b64decode(str(saved).partition("base64,")[2]).decode() == script.text


def test_the_page_needs_nothing_else() -> None:
    page = filmstrip_html(FilmStrip("t", [Frame("click", PICTURE)], End("e", "", PICTURE)))
    addresses = re.findall(r'(?:src|href)="([^"]{0,30})', page)
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert "url(" not in page
    assert "<script" not in page


@given(st.text(min_size=1), st.text(min_size=1))
def test_no_words_can_break_the_page(words: str, details: str) -> None:
    frame = Frame(words, None, target_name=details)
    script = Script(words, details, words + details)
    strip = FilmStrip(words, [frame], End(words, details), [(words, details)], (), [script], [details])
    plain = FilmStrip(
        "x", [Frame("x", None, target_name="x")], End("x", "x"), [("x", "x")], (), [Script("x", "x", "x")], ["x"]
    )
    assert [tag for tag, _ in Outline(filmstrip_html(strip)).tags if tag != "pre"] == [
        tag for tag, _ in Outline(filmstrip_html(plain)).tags if tag != "pre"
    ]


def test_the_size_of_a_picture() -> None:
    assert png_size(PICTURE) == (40, 30)
    with pytest.raises(ValueError, match="not a PNG"):
        png_size(b"GIF89a and more that is long enough")
