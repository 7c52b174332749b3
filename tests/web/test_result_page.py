"""The page of a race, in a browser: it is stepped through, asks the network for nothing, and obeys nothing it shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from replay_dd.web.browser import WebBrowser
from tests.cli.tool import make_workshop

pytestmark = pytest.mark.once

# A race whose names, values and message would be more than text if anybody took them for that.
EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e"
RACE = f"""\
import threading

accounts = {{{EVIL!r}: 0, "</td>": 7}}
guard = threading.Lock()


def deposit():  # </script><script>alert(3)</script>
    with guard:
        before = accounts[{EVIL!r}]
    after = before + 1
    with guard:
        accounts[{EVIL!r}] = after


threads = [threading.Thread(target=deposit) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if accounts[{EVIL!r}] != 2:
    raise ValueError({EVIL!r})
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of that race."""
    shop = make_workshop(tmp_path_factory.mktemp("page"))
    shop.write(RACE)
    hunted = shop.run("hunt", "--jobs", "1", *shop.program())
    assert hunted.status == 0, hunted.stderr
    done = shop.run("schedules", "--jobs", "1", "--experiments", "4", "--html", "race.html", "pass.log", "fail.log")
    assert done.status == 0, done.stderr
    return shop.folder / "race.html"


@pytest.fixture
def page(browser: WebBrowser, written: Path) -> Iterator[Page]:
    """The page, open; nothing may have been said to the console or asked from the network at the end."""
    wrong: list[str] = []
    with browser.fresh_context(None) as context:
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: wrong.append(request.url))
        page.goto(written.as_uri())
        yield page
        assert wrong == [written.as_uri()]


def says(page: Page) -> str:
    return page.locator("#says").inner_text()


def test_it_is_stepped_through_by_keys(page: Page) -> None:
    assert page.locator("h1").inner_text().startswith("Race on accounts[")
    assert says(page).startswith("Fails: thread 0.1 stops in line"), "it begins where the runs differ"
    values = page.locator("[data-run=fails] .values tr[data-thing^=accounts]").first
    stale = values.locator("[data-thread='0.1']")
    expect(stale).to_have_text("0")
    while "stores 1" not in says(page).partition(" · ")[0]:
        page.keyboard.press("ArrowRight")
    expect(values.locator(".now")).to_have_text("1")
    expect(stale).to_have_text("0 out of date")
    expect(stale).to_have_class("stale")
    expect(page.locator("[data-run=fails] .pane.runs .line.here code")).to_contain_text("= after")
    page.keyboard.press("End")
    assert page.locator("#count").inner_text().split(" of ")[0] == page.locator("#count").inner_text().split(" of ")[1]
    assert "Passes: exit status 0" in says(page)
    page.keyboard.press("Home")
    assert page.locator("#count").inner_text().startswith("1 of ")
    page.keyboard.press("d")
    assert says(page).startswith("Fails: thread 0.1 stops in line")


def test_what_differs_is_lit_in_both_runs(page: Page) -> None:
    for run, finds in (("fails", "reads 0"), ("passes", "reads 1")):
        lit = page.locator(f"[data-run={run}] tr.differs .does", has_text=finds)
        expect(lit).to_have_count(1)
    expect(page.locator("tr.lit")).to_have_count(2)
    expect(page.locator("[data-run=fails] i.bar").first).to_have_attribute("title", "holds guard")


def test_what_the_program_holds_is_text(page: Page) -> None:
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    shown = page.locator(".verdict").inner_text()
    assert "<img src=x onerror=alert(1)></script><script>alert(2)</script>\\u202e" in shown
    assert "</script><script>alert(3)</script>" in page.locator("[data-run=fails] .panes").inner_text()


def test_light_dark_and_keys(page: Page) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    page.keyboard.press("t")
    dark = background()
    assert light != dark
    page.emulate_media(color_scheme="dark")
    page.keyboard.press("t")
    assert background() == light
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.press("ArrowRight")
    assert says(page).startswith("Fails: thread 0.1 stops in line"), "keys do nothing below it"
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_be_hidden()


@pytest.mark.parametrize("width_px", [400, 900, 1600])
def test_it_fits_each_screen(width_px: int, page: Page) -> None:
    page.set_viewport_size({"width": width_px, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    visible = [run for run in ("fails", "passes") if page.locator(f"[data-run={run}]").is_visible()]
    assert visible == (["fails", "passes"] if width_px > 1000 else ["fails"])
    page.keyboard.press("r")
    assert page.locator("[data-run=passes]").is_visible()


def test_on_paper_there_is_all_of_it(page: Page) -> None:
    page.set_viewport_size({"width": 700, "height": 900})
    page.emulate_media(media="print")
    for run in ("fails", "passes"):
        expect(page.locator(f"[data-run={run}] tr.end")).to_be_visible()
    expect(page.locator(".controls")).to_be_hidden()


def test_without_scripts_it_is_whole(browser: WebBrowser, written: Path) -> None:
    with browser._running().new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(written.as_uri())
        for run in ("fails", "passes"):
            expect(page.locator(f"[data-run={run}] tr.end")).to_be_visible()
        expect(page.locator(".controls")).to_be_hidden()
        expect(page.locator("#story .seen")).to_be_visible()
