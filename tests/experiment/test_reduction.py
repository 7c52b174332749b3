from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy
import pytest

from replay_dd import Outcome, Reduction, ddmin, deltas_between, isolate
from tests.dd.support import F, P


def has_tag(text: str) -> Outcome:
    return F if "<b>" in text else P


class WellFormed(HTMLParser):
    """Every tag is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)  # type: ignore[attr-defined]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def shown(result: Reduction[object, object]) -> WellFormed:
    parser = WellFormed()
    parser.feed(result._repr_html_())
    parser.close()
    assert parser.open == []
    return parser


def test_the_representation_is_one_short_line() -> None:
    result = ddmin(has_tag, "x" * 3000 + "<b>")
    assert repr(result) == (
        f"Reduction(difference='<b>', failing='<b>', passing='', executed={result.executed}, complete=True)"
    )
    long = isolate(has_tag, None, "xyz\n" * 3000 + "<b>", max_tests=1)
    assert len(repr(long)) < 350
    assert "\n" not in repr(long)
    assert "complete=False" in repr(long)
    assert "\n" not in repr(ddmin(lambda rows: F if 3 in rows else P, numpy.arange(100).reshape(50, 2)))
    assert "Step" not in repr(result.search)


def test_what_a_notebook_shows() -> None:
    result = ddmin(has_tag, "some <b>bold</b> text")
    page = shown(result)
    text = " ".join("".join(page.text).split())
    assert page.text[page.text.index("difference") + 1] == "'<b>'"
    assert re.search(
        rf"3 deltas left after {result.executed} tests\. {result.requested} questions of the algorithm", text
    )
    assert page.tags.count("tr") == 3 + 1 + result.requested
    assert "<b>" not in result._repr_html_(), "what comes from the caller is escaped"
    first = result.search.statistics[0]
    assert f"<td>1</td><td>{first.size}</td><td>{first.outcome.value}</td><td>test</td>" in result._repr_html_()


def test_long_searches_are_cut_off_in_notebooks() -> None:
    text = "".join(f"{number} <b " for number in range(400))

    def test(some: str) -> Outcome:
        return F if sum(some.count(str(digit)) for digit in range(10)) > 60 else P

    result = ddmin(test, text)
    assert result.requested > 300
    page = shown(result)
    assert page.tags.count("tr") == 3 + 1 + 200
    assert f"{result.requested - 200} more are in" in "".join(page.text)
    long = shown(isolate(lambda some: F if some else P, None, ["x" * 5000]))
    assert max(map(len, long.text)) == 2000 + len(" ... ")


@pytest.mark.parametrize(
    ("limits", "told"), [({"max_tests": 0}, "the limit on tests"), ({"time_limit_s": 0}, "the time limit")]
)
def test_an_incomplete_answer_says_what_stopped_it(limits: dict[str, int], told: str) -> None:
    result = ddmin(has_tag, "a<b>b", **limits)  # type: ignore[call-overload]
    assert f"; stopped early by {told}." in "".join(shown(result).text)
    assert "details" not in shown(result).tags, "there is nothing to unfold"


def test_ctrl_c_is_told() -> None:
    def test(text: str) -> Outcome:
        if text not in ("", "a<b>b"):
            raise KeyboardInterrupt
        return has_tag(text)

    assert "stopped early by Ctrl-C" in "".join(shown(ddmin(test, "a<b>b")).text)


def test_one_of_a_kind() -> None:
    result = isolate(has_tag, deltas_between("<i>", "<b>"))
    text = "".join(shown(result).text)
    assert "1 delta left after 0 tests" in text
    assert "Change(position=1, removed='i', inserted='b')" in text
    result = ddmin(lambda text: F if "a" in text else P, "ab")
    assert "1 delta left after 1 test." in "".join(shown(result).text)
    assert "1 question of" in "".join(shown(result).text)
