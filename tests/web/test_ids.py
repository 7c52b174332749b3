"""Elements are found again though their ids are drawn anew with each load of the page."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Error as PlaywrightError

from replay_dd.web.browser import WebBrowser
from replay_dd.web.flow import Step
from replay_dd.web.ids import Ids
from replay_dd.web.learnt import Learnt
from replay_dd.web.steps import ElementMissingError
from tests.web.flows import click, flow
from tests.web.test_player import played

# Rows with other ids each time, and one row and a host of which the ids stay.
PAGE = """<!doctype html><ul id="list"></ul><div id="host-1"></div><script>
  window.seen = [];
  const note = text => () => { seen.push(text); };
  const row = (id, text) => {
    const made = document.createElement('li');
    made.id = id;
    made.innerHTML = '<button>' + text + '</button>';
    made.onclick = note(text);
    list.append(made);
  };
  row(DRAWN(), 'first');
  row('row-2', 'fixed');
  row(DRAWN(), 'second');
  const inner = document.createElement('button');
  inner.id = 'p' + Math.floor(Math.random() * 1e6);
  inner.textContent = 'in the shadow';
  inner.onclick = note('shadow');
  document.getElementById('host-1').attachShadow({mode: 'open'}).append(inner);
</script>"""
UUIDS = "crypto.randomUUID"
ENTRIES = "(() => 'f' + Math.floor(Math.random() * 1e6) + '_' + list.children.length / 2)"
NUMBERS = "(() => 'item:' + Math.floor(Math.random() * 1e6))"


@pytest.mark.parametrize(
    "drawn, one, other",
    [
        (UUIDS, r"#\39 b8c8ffb-e058-4976-87bc-c5b72ebbf6f0", "#abcdefab-cafe-4bad-8bad-feedfacebeef"),
        (NUMBERS, r"#item\:17", r"#item\:4"),
        (ENTRIES, "#f9_0", "#f9_1"),
        (ENTRIES, "#f9_1", "#f9_0"),
    ],
    ids=["UUIDs", "numbers", "entries in order", "entries in another order"],
)
def test_ids_like_the_recorded_ones_stand_for_them_in_their_order(
    browser: WebBrowser, tmp_path: Path, site: str, drawn: str, one: str, other: str
) -> None:
    (tmp_path / "page.html").write_text(PAGE.replace("DRAWN", drawn), encoding="utf-8")
    steps = [
        click(f"{one} > button", timeout=1000),
        click(f"{other} > button", timeout=1000),
        click("#row-2 > button"),
        click(f"{one} > button", timeout=1000),
        {**click("#host-1"), "selectors": [["#host-1", "#p123"]], "timeout": 1000},
    ]
    learnt = Learnt()
    playback, seen = played(browser, flow(f"{site}/page.html", *steps), learnt=learnt)
    assert playback.left_out == ()
    first, second = ("first", "second") if one != "#f9_1" else ("second", "first")
    assert seen == [first, second, "fixed", first, "shadow"]
    assert len(learnt.differing_ids) == 4  # the host's id is in the selector, too
    # What stands for others is not waited for again.
    _, seen = played(
        browser, flow(f"{site}/page.html", *({**step, "timeout": 30_000} for step in steps)), learnt=learnt
    )
    assert seen == [first, second, "fixed", first, "shadow"]


def test_an_element_that_is_not_there_stays_missing(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    (tmp_path / "page.html").write_text(PAGE.replace("DRAWN", UUIDS), encoding="utf-8")
    # The last one only looks as if it had an id.
    missing = ["#plain", "#row-3 > i", "#col-3", 'a[href="#row-3"]']
    steps = [click(selector, timeout=100) for selector in missing]
    playback, seen = played(browser, flow(f"{site}/page.html", *steps, click("#row-2 > button")))
    assert [why for _, why in playback.left_out] == ["its element is not on the page"] * 4
    assert seen == ["fixed"]


@dataclass
class _Frame:
    """A frame of which the ids are known."""

    ids: tuple[str, ...] = ()
    error: str = ""

    def evaluate(self, script: str) -> list[str]:
        """The ids on the page."""
        if self.error:
            raise PlaywrightError(self.error)
        return list(self.ids)


def _never_found(monkeypatch: pytest.MonkeyPatch, error: str = "", seconds: float = 0.0) -> list[Step]:
    """Let no element be found; returns the steps for which one is looked for."""
    looked: list[Step] = []

    def find(step: Step, frame: object) -> None:
        looked.append(step)
        time.sleep(seconds)
        if error:
            raise PlaywrightError(error)

    def do(*_: object) -> None:
        raise ElementMissingError("its element is not on the page")

    monkeypatch.setattr("replay_dd.web.ids.elements.find", find)
    monkeypatch.setattr("replay_dd.web.ids.do", do)
    return looked


def _done(frame: _Frame, limit_ms: float = 10_000) -> None:
    step, page, where = Step(click("#row-7")), cast(Any, None), cast(Any, frame)
    Ids(set()).do(step, page, where, limit_ms)


@pytest.mark.parametrize("seconds, least, most", [(0.0, 21, 21), (0.05, 2, 5)])
def test_few_ids_are_tried_and_not_for_long(
    monkeypatch: pytest.MonkeyPatch, seconds: float, least: int, most: int
) -> None:
    looked = _never_found(monkeypatch, seconds=seconds)
    with pytest.raises(ElementMissingError):
        _done(_Frame(tuple(f"row-{number}" for number in range(100, 200))), limit_ms=100 if seconds else 10_000)
    assert least <= len(looked) <= most


@pytest.mark.parametrize("finding, asking", [("Target crashed", ""), ("", "Page crashed")])
def test_a_crash_is_no_missing_element(monkeypatch: pytest.MonkeyPatch, finding: str, asking: str) -> None:
    _never_found(monkeypatch, error=finding)
    with pytest.raises(PlaywrightError, match="crashed"):
        _done(_Frame(error=asking))


def test_a_frame_that_is_being_replaced_has_no_element(monkeypatch: pytest.MonkeyPatch) -> None:
    _never_found(monkeypatch, error="the frame was detached")
    with pytest.raises(ElementMissingError):
        _done(_Frame(error="the frame was detached"))
