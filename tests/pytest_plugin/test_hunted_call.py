"""The fixture ``replay_dd``, where the call leaves its test without passing or failing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.test_hunted_suites import suite

pytestmark = pytest.mark.once

STARTS = """
import threading, unittest
import pytest

def run(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread
"""


def test_a_call_that_skips_its_test_does_not_pass_for_one_that_was_hunted(tmp_path: Path) -> None:
    text = STARTS + "def test_before(replay_dd):\n"
    text += "    replay_dd.check(lambda: pytest.skip('no server (in here)'), runs=2)\n"
    text += "def test_after(replay_dd):\n    def call():\n"
    text += "        run(int).join()\n        raise unittest.SkipTest('none of its kind')\n"
    text += "    replay_dd.check(call, runs=2)\n"
    done = suite(tmp_path, text, "-rs")
    assert "2 skipped" in done.stdout, done.stdout + done.stderr
    assert "no server (in here)\n" in done.stdout
    assert ": none of its kind\n" in done.stdout


def test_a_call_that_skips_under_some_schedules_is_no_race(tmp_path: Path) -> None:
    text = STARTS + "def test_some(replay_dd):\n    def call():\n        found = []\n"
    text += "        thread = run(lambda: found.append(1))\n        early = not found\n        thread.join()\n"
    text += "        if early:\n            pytest.skip('too early')\n"
    text += "    replay_dd.check(call, runs=20)\n"
    done = suite(tmp_path, text, "-rs")
    assert "1 skipped" in done.stdout, done.stdout + done.stderr
    assert ": too early\n" in done.stdout


def test_a_call_that_is_expected_to_fail_is_told_so(tmp_path: Path) -> None:
    text = STARTS + "def test_it(replay_dd):\n    found = []\n    def call():\n"
    text += "        pytest.xfail('known')\n"
    text += "    found.append(replay_dd.hunt(call, runs=2))\n"
    text += "    assert 'CallLeft: xfail: known' in found[0].why\n"
    text += "    replay_dd.check(call, runs=2)\n"
    done = suite(tmp_path, text, "-rx")
    assert "1 xfailed" in done.stdout, done.stdout + done.stderr
    assert "- known\n" in done.stdout
