"""Reading and writing user flows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.errors.user import FlowStepError, NotALogError, OutputError
from replay_dd.web.describe import describe
from replay_dd.web.flow import flow_from, looks_like_a_flow, read_flow, write_flow
from tests.web.flows import VIEWPORT, change, click, flow, key, visible

GOING: dict[str, Any] = {"type": "navigate", "url": "http://127.0.0.1/"}


def test_what_was_read_is_written_again_with_members_that_are_not_known(tmp_path: Path) -> None:
    whole = {
        "title": "Österreich",
        "timeout": 4000,
        "selectorAttribute": "data-test",
        "steps": [VIEWPORT, GOING, {**click("#a"), "x-own": [1, {"b": None}]}, *key("Enter")],
    }
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    first.write_text(json.dumps(whole), encoding="utf-8")
    write_flow(read_flow(first), second)
    assert json.loads(second.read_text(encoding="utf-8")) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "two.json"]


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps({"title": "t", "steps": [GOING]}), encoding="utf-8-sig")
    assert looks_like_a_flow(path)
    assert read_flow(path).title == "t"


def test_some_of_the_steps_make_another_flow() -> None:
    whole = flow("http://127.0.0.1/", click("#a"), click("#b"))
    assert [describe(step) for step in whole.only([1, 3]).steps] == ["go to http://127.0.0.1/", "click #b"]
    assert whole.only([1, 3]).title == whole.title


@pytest.mark.parametrize(
    "step, complaint",
    [
        ({}, "no type"),
        ({"type": "dance"}, "unknown type: 'dance'"),
        ({"type": "navigate"}, "`url`"),
        ({"type": "click", "selectors": [["#a"]], "offsetX": 1}, "`offsetY`"),
        ({**click("#a"), "selectors": []}, "`selectors`"),
        ({**click("#a"), "selectors": [[]]}, "`selectors`"),
        ({**click("#a"), "selectors": [[3]]}, "`selectors`"),
        ({**click("#a"), "button": "third"}, "`button`"),
        ({**click("#a"), "timeout": 30_001}, "`timeout`"),
        ({**click("#a"), "timeout": "1"}, "`timeout`"),
        ({**click("#a"), "frame": ["0"]}, "`frame`"),
        ({**click("#a"), "assertedEvents": [{"type": "rain"}]}, "`assertedEvents`"),
        ({**change("#a", "x"), "value": 3}, "`value`"),
        ({**visible("#a"), "operator": "!="}, "`operator`"),
        ({**VIEWPORT, "width": 0}, "`width`"),
        ({**VIEWPORT, "width": 16_385}, "`width`"),
        ({**VIEWPORT, "height": 2**31 - 1}, "`height`"),
        ({**VIEWPORT, "deviceScaleFactor": 1000}, "`deviceScaleFactor`"),
        ({**click("#a"), "duration": 10**9}, "`duration`"),
        ({"type": "scroll", "x": "far"}, "`x`"),
        (["click"], "no type"),
    ],
)
def test_a_step_that_does_not_keep_to_the_schema_is_named(step: Any, complaint: str) -> None:
    with pytest.raises(FlowStepError) as caught:
        flow_from({"title": "t", "steps": [GOING, step]})
    assert caught.value.message.startswith("Step 2 ")
    assert complaint in caught.value.message


@pytest.mark.parametrize(
    "data",
    [[], {}, {"steps": []}, {"title": "t", "steps": {}}, {"title": "t", "steps": []}, {"title": 1, "steps": [GOING]}],
)
def test_other_values_are_no_flows(data: Any) -> None:
    with pytest.raises(NotALogError):
        flow_from(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "url", "steps"]), inner),
    max_leaves=8,
)


@given(JSON)
def test_any_json_is_a_flow_or_refused(data: Any) -> None:
    for tried in (data, {"title": "t", "steps": data}, {"title": "t", "steps": [GOING, data]}):
        try:
            flow_from(tried)
        except (NotALogError, FlowStepError):
            continue
        assert isinstance(tried, dict)


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", "{}", "not json", '{"format": "replay-dd schedule log"}', "[" * 99_999]
)
def test_other_files_do_not_look_like_flows(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert not looks_like_a_flow(path)
    with pytest.raises(NotALogError):
        read_flow(path)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    assert not looks_like_a_flow(tmp_path / "missing")
    with pytest.raises(NotALogError, match="cannot be read"):
        read_flow(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        write_flow(flow("http://127.0.0.1/"), tmp_path / "file" / "flow.json")


@pytest.mark.parametrize(
    "step, words",
    [
        (VIEWPORT, "make the page 600 × 400 px"),
        ({**click("#a"), "selectors": [["#a"], ["aria/Save all"]]}, 'click "Save all"'),
        ({**click('aria/Go[role="button"]'), "button": "secondary"}, 'click "Go" (secondary button)'),
        ({**click("xpath///p"), "type": "doubleClick"}, "double click //p"),
        ({**click("#a"), "selectors": [["aria/Zero", 'aria/[role="generic"]'], ["#a"]]}, 'click "Zero"'),
        ({**click("#a"), "selectors": [["#host", "button"]]}, "click #host button"),
        (click("#a", frame=[0, 2]), "click #a in frame 1.3"),
        (click("#a", target="http://127.0.0.1/help", frame=[1]), "click #a in frame 2 in http://127.0.0.1/help"),
        (visible("#a", target="http://127.0.0.1/help"), "wait until #a in http://127.0.0.1/help is there"),
        (change("#a", "two\nlines " + "x" * 99), 'set #a to "two lines ' + "x" * 49 + '…"'),
        (key("Enter")[0], "press Enter"),
        (key("Enter")[1], "release Enter"),
        ({"type": "scroll", "y": 30}, "scroll the page to 0, 30 px"),
        ({"type": "close"}, "close the page"),
        (visible("#a"), "wait until #a is there"),
        (visible("#a", visible=False), "wait until #a is gone"),
        (visible("#a", operator="==", count=2), "wait until #a is there == 2 times"),
        ({"type": "waitForExpression", "expression": "1 < 2"}, 'wait until "1 < 2"'),
        ({"type": "customStep", "name": "own", "parameters": {}}, "custom step own"),
    ],
)
def test_steps_in_words(step: dict[str, Any], words: str) -> None:
    assert describe(flow_from({"title": "t", "steps": [GOING, step]}).steps[1]) == words
