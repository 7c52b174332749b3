"""User flows at the command line: what works without a browser, and what is said where something is missing."""

from __future__ import annotations

import json

import pytest

from tests.cli.tool import Workshop

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


@pytest.mark.parametrize("command", ["web", "events", "replay"])
def test_a_missing_browser_is_named(shop: Workshop, command: str) -> None:
    shop.write(json.dumps(FLOW), "flow.json")
    said = shop.run(command, "--browser", "no-such-browser", "flow.json").refused(
        130 if command == "replay" else 2, "browser-missing"
    )
    assert "no-such-browser" in said


def test_a_step_that_is_wrong_is_named_before_anything_is_played(shop: Workshop) -> None:
    shop.write(json.dumps({**FLOW, "steps": [*FLOW["steps"], {"type": "keyDown"}]}), "flow.json")
    assert "Step 3" in shop.run("web", "flow.json").refused(5, "flow-step-invalid")


def test_another_file_is_no_flow(shop: Workshop) -> None:
    shop.write("no flow at all", "flow.json")
    shop.run("web", "flow.json").refused(5, "not-a-flow")
    shop.run("web", "missing.json").refused(5, "not-a-flow")


def test_a_text_that_is_no_expression(shop: Workshop) -> None:
    shop.write(json.dumps(FLOW), "flow.json")
    shop.run("web", "--text", "(", "flow.json").refused(2, "usage")
