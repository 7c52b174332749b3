"""User flows at the command line: what works without a browser, and what is said where something is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from replay_dd.web.browser import EXECUTABLES
from tests.cli.tool import Workshop
from tests.web.flows import serving

FLOW = {
    "title": "Greeting",
    "steps": [
        {"type": "navigate", "url": "http://127.0.0.1:9/"},
        {"type": "click", "selectors": [["aria/Say hello"]], "offsetX": 1, "offsetY": 1},
    ],
}


def test_show_tells_the_steps(shop: Workshop) -> None:
    shop.write(json.dumps(FLOW), "flow.json")
    done = shop.run("show", "flow.json")
    assert done.status == 0
    assert done.stdout.splitlines()[-2:] == ["   1  go to http://127.0.0.1:9/", '   2  click "Say hello"']


@pytest.mark.once  # the other Pythons lack the package as well
@pytest.mark.parametrize("command", ["web", "events", "replay"])
def test_a_missing_browser_is_named(shop: Workshop, command: str) -> None:
    shop.write(json.dumps(FLOW), "flow.json")
    said = shop.run(command, "--browser", "no-such-browser", "flow.json").refused(
        130 if command == "replay" else 2, "software-missing"
    )
    assert "no-such-browser" in said


def test_a_step_that_is_wrong_is_named_before_anything_is_played(shop: Workshop) -> None:
    shop.write(json.dumps({**FLOW, "steps": [*FLOW["steps"], {"type": "keyDown"}]}), "flow.json")
    assert "Step 3" in shop.run_here("web", "flow.json").refused(5, "flow-step-invalid")


def test_another_file_is_no_flow(shop: Workshop) -> None:
    shop.write("no flow at all", "flow.json")
    assert "Chrome DevTools" in shop.run_here("web", "flow.json").refused(5, "not-a-log")
    shop.run_here("web", "missing.json").refused(5, "log-unreadable")


def test_a_text_that_is_no_expression(shop: Workshop) -> None:
    shop.write(json.dumps(FLOW), "flow.json")
    shop.run_here("web", "--grep", "(", "flow.json").refused(2, "usage")


@pytest.mark.once  # the other Pythons lack Playwright
def test_a_server_is_for_one_browser_and_has_a_folder_of_its_own(shop: Workshop) -> None:
    shop.write(json.dumps(FLOW), "flow.json")
    assert "--jobs" in shop.run_here("web", "--server", "true", "--jobs", "2", "flow.json").refused(2, "usage")
    assert "--server" in shop.run_here("web", "--here", "flow.json").refused(2, "usage")


NEEDS_CHROMIUM = pytest.mark.skipif(not any(map(shutil.which, EXECUTABLES)), reason="NO CHROMIUM: no flow is played")


@pytest.mark.once
@NEEDS_CHROMIUM
def test_replay_watches_the_page_as_long_as_it_is_told(shop: Workshop, tmp_path: Path) -> None:
    late = "setTimeout(() => { throw Error('late') }, 1500)"
    site = tmp_path / "site"
    site.mkdir()
    (site / "late.html").write_text(f'<button onclick="{late}">go</button>', encoding="utf-8")
    with serving(site) as address:
        steps = [
            {"type": "navigate", "url": f"{address}/late.html"},
            {"type": "click", "selectors": [["button"]], "offsetX": 1, "offsetY": 1},
        ]
        shop.write(json.dumps({"title": "Late", "steps": steps}), "flow.json")
        done = shop.run("replay", "--settle", "4", "flow.json")
    assert done.status == 1, done.stdout + done.stderr
    assert "outcome: page error: Error: late" in done.stdout


@pytest.mark.once
@NEEDS_CHROMIUM
def test_a_flow_is_minimized_in_two_browsers(shop: Workshop, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    buttons = "<button id=other>other</button><button id=bad onclick='missing()'>bad</button>"
    (site / "page.html").write_text(buttons, encoding="utf-8")
    chromium = next(filter(None, map(shutil.which, EXECUTABLES)))
    wrapper = tmp_path / "noted-chromium"
    wrapper.write_text(f'#!/bin/sh\necho started >> {tmp_path}/starts\nexec {chromium} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    with serving(site) as address:
        clicks = [{"type": "click", "selectors": [[one]], "offsetX": 1, "offsetY": 1} for one in ("#other", "#bad")]
        steps = [{"type": "navigate", "url": f"{address}/page.html"}, *clicks]
        shop.write(json.dumps({"title": "Two", "steps": steps}), "flow.json")
        done = shop.run("web", "--jobs", "2", "--browser", str(wrapper), "--settle", "0.2", "--json", "flow.json")
    assert done.status == 0, done.stdout + done.stderr
    assert (tmp_path / "starts").read_text() == 2 * "started\n"
    assert json.loads(done.stdout)["deltas"]["left"] == 1
    minimal = json.loads((shop.folder / "flow-minimal.json").read_text())
    assert [step.get("selectors") for step in minimal["steps"]] == [None, [["#bad"]]]
