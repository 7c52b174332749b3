"""What a page sends to its server is counted."""

from __future__ import annotations

from pathlib import Path

from replay_dd.web.browser import WebBrowser
from tests.web.flows import click, flow
from tests.web.test_player import played


def test_what_is_sent_to_the_host_of_the_first_page_is_counted(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    elsewhere = site.replace("127.0.0.1", "localhost")
    script = f"fetch('/add/1', {{method: 'POST'}}); fetch('/get'); fetch('{elsewhere}/log', {{method: 'POST'}})"
    (tmp_path / "page.html").write_text(f'<button onclick="{script}">send', encoding="utf-8")
    playback, _ = played(browser, flow(f"{site}/page.html", click("button"), click("button")))
    assert playback.sent == ("POST /add/…",) * 2
