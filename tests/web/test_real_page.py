"""A defect that nobody planted, on a page that nobody here wrote: EditArea 0.8.2 from Debian."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from replay_dd.experiment.baseline import Rate
from replay_dd.web.browser import WebBrowser
from replay_dd.web.describe import describe
from replay_dd.web.flow import flow_from
from replay_dd.web.minimize import minimize
from tests.web.flows import serving


@pytest.mark.once
@pytest.mark.timeout(600)  # a whole search in a real browser: minutes where the machine is busy
def test_thirty_steps_become_two(browser: WebBrowser, project: Path) -> None:
    folder = project / "demos" / "editarea"
    spec = importlib.util.spec_from_file_location("editarea_serve", folder / "serve.py")
    assert spec is not None
    assert spec.loader is not None
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    if not serve.is_installed():
        pytest.skip("NO EDITAREA: no real page is minimised (on Debian: apt install libjs-edit-area)")
    with serving(handler=serve.Handler) as address:
        text = (folder / "session.json").read_text(encoding="utf-8")
        whole = flow_from(json.loads(text.replace(f"http://127.0.0.1:{serve.PORT}", address)))
        assert len(whole.steps) == 30
        found = minimize(whole, browser, settle_s=0.1)
    assert [describe(step) for step in found.flow.steps[2:]] == ['click "Toggle editor"', 'click "setSelectionRange"']
    assert found.failure.summary.startswith("page error: TypeError")
    assert found.isolation.proof.failing == Rate(3, 3)
