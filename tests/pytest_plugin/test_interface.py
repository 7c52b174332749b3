"""Logs, markers and the fixture, as a user meets them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.pytest_plugin.test_hunted_suites import RACY, suite

REPAIRED = RACY.replace("        if key not in", "        with LOCK:\n          if key not in").replace(
    "            self.values[key] =", "              self.values[key] ="
)


def pytest_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder of a suite."""
    elsewhere = ("PYTEST_", "GITHUB_", "CI", "BUILD_NUMBER")  # which change what pytest prints
    environment = {name: value for name, value in os.environ.items() if not name.startswith(elsewhere)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    environment["TMPDIR"] = str(folder.parent / "temporary")
    Path(environment["TMPDIR"]).mkdir(exist_ok=True)
    command = ["pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, env=environment, check=False)


@pytest.mark.once
def test_a_race_found_is_repeated_where_pytest_was_started_and_known_from_then_on(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "racy.py").write_text(RACY)
    (tests / "pytest.ini").write_text("[pytest]\naddopts = --never\n")  # not the one that this run has
    text = "import pytest\nfrom racy import loads\ndef test_other():\n    pass\n"
    text += "{}def test_it():\n    assert loads() == ['key']\n"
    (tests / "test_it.py").write_text(text.format(""))

    done = pytest_in(tests, "-c", "../pytest.ini", "-v", "--color=no", "--replay-dd=12", "--junitxml=report.xml")
    assert done.returncode == 1, done.stdout + done.stderr
    header = (
        "replay-dd: hunts tests that start threads, each under up to 12 schedules for up to 60 s, and isolates what"
    )
    assert f"\n{header} it finds\n" in done.stdout
    assert re.search(r"^race +\d+ runs +\d+\.\d s  tests/test_it.py::test_it$", done.stdout, re.MULTILINE)
    case = next(
        case for case in ElementTree.parse(tests / "report.xml").iter("testcase") if case.find("failure") is not None
    )
    flaky = case.find("flakyFailure")
    assert flaky is not None
    assert flaky.get("type") == "AssertionError"
    assert "RACE on Cache.values['key']" in (flaky.findtext("system-out") or "")

    repeat = re.search(r"^repeat +(.*)$", done.stdout, re.MULTILINE)
    assert repeat is not None
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    again = subprocess.run(repeat[1], shell=True, cwd=tests, capture_output=True, env={**os.environ, "PATH": path})
    assert again.returncode == 1, again.stdout + again.stderr

    log = repeat[1].split()[-1]
    (tests / "test_broken.py").write_text("raise RuntimeError('loaded')\n")  # not the file of the log
    broken = tests / "broken" / "conftest.py"
    broken.parent.mkdir()
    broken.write_text("raise RuntimeError('loaded, too')\n")
    replayed = pytest_in(tests, "-c", "../pytest.ini", f"--replay-dd-log={log}")
    assert "1 failed, 1 deselected, 1 error" in replayed.stdout, replayed.stdout + replayed.stderr
    assert "RuntimeError: loaded\n" not in replayed.stdout
    (tests / "test_broken.py").unlink()
    broken.unlink()
    assert "E       AssertionError: assert ['key', 'key'] == ['key']" in replayed.stdout
    assert "thread 0.1 gives way to thread 0.2 at " in replayed.stdout

    marker = f"@pytest.mark.replay_dd(known='tests/{log}', runs=2)\n"
    (tests / "test_it.py").write_text(text.format(marker))
    known = pytest_in(tmp_path, "-c", "pytest.ini", "--replay-dd-on-failure")  # it passes, and is tried
    assert f"The known race in tests/{log} is back: thread 0.1 gives way to thread 0.2 at racy.py:" in known.stdout

    (tmp_path / "racy.py").write_text("import threading\nLOCK = threading.RLock()\n" + REPAIRED)
    other = f"from racy import in_threads\n{marker}def test_other():\n    in_threads(len)"
    (tests / "test_it.py").write_text(text.format(marker).replace("def test_other():\n    pass", other))
    repaired = pytest_in(tmp_path, "-c", "pytest.ini", "--replay-dd")
    assert "1 failed, 1 passed" in repaired.stdout, repaired.stdout
    assert "2 hunted, 0 races found, 4 runs" in repaired.stdout
    # Once as its failure, and once in the summary.
    assert repaired.stdout.count("; it is a log of test_it.py::test_it\n") == 2
    assert "FAILED tests/test_it.py::test_other - Cannot check the known race in " in repaired.stdout


@pytest.mark.once
def test_calls_are_hunted_one_by_one(tmp_path: Path) -> None:
    text = "from racy import in_threads\n"
    text += "def fails(key):\n    raise ValueError(key)\n"
    text += "def fails_in_threads():\n    in_threads(lambda key: None)\n    fails('always')\n"
    text += "def test_it(replay_dd, tmp_path):\n"
    text += "    quiet = replay_dd.hunt(in_threads, (tmp_path / 'new').mkdir, number=1, runs=3)\n"
    # This also holds while the next call is hunted.
    text += "    assert (quiet.verdict, quiet.failure, quiet.runs) == ('no failure', '', 3)\n"
    text += "    replay_dd.check(fails_in_threads, runs=2, granularity='line')\n"
    text += "def test_wrong(replay_dd):\n    replay_dd.hunt(print, strategy='luck')\n"
    done = suite(tmp_path, text.replace("(tmp_path / 'new').mkdir", "lambda key: (tmp_path / key).mkdir()"))
    assert "2 failed" in done.stdout
    assert "fails under each schedule: ValueError: always (test_it.py:3 in fails)" in done.stdout
    assert ">       replay_dd.hunt(print, strategy='luck')\nE       ValueError: strategy is one of " in done.stdout


@pytest.mark.once
def test_what_would_hide_failures_or_warn_is_left_out_of_runs(tmp_path: Path) -> None:
    (tmp_path / "rerunfailures.py").write_text(
        "import gc\n"
        "def pytest_addoption(parser):\n    parser.addoption('--reruns')\n"
        "def pytest_configure(config):\n    raise RuntimeError('begins to work')\n"
    )
    text = "import atexit, gc, pytest\n"
    text += "@pytest.mark.flaky(reruns=3)\ndef test_it():\n"
    text += "    before = gc.get_stats()[2]['collections']\n"
    text += "    atexit.register(lambda: print('collected', gc.get_stats()[2]['collections'] - before))\n"
    options = ("-p", "rerunfailures", "--reruns=3", "--strict-markers")
    done = suite(tmp_path, text, *options, "-p", "replay_dd.pytest_plugin.one_run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "collected 0" in done.stdout


@pytest.mark.once
def test_what_plugins_report_of_all_tests_makes_no_difference(tmp_path: Path) -> None:
    """Else runs in a suite that was loaded once differ from fresh ones, and nothing can be forked."""
    (tmp_path / "counting.py").write_text(
        "found = []\n"
        "def pytest_collection_modifyitems(items):\n    found[:] = [item.nodeid for item in items]\n"
        "def pytest_sessionfinish():\n    print([name.split(':') for name in found])\n"
    )
    text = "from racy import loads\ndef test_it():\n    assert loads() == ['key']\ndef test_other():\n    pass\n"
    done = suite(tmp_path, text, "-p", "counting", "--replay-dd=12")
    assert "1 race found" in done.stdout, done.stdout + done.stderr
    assert "loaded the suite" not in done.stdout


@pytest.mark.once
def test_reports_that_settings_ask_for_are_of_the_users_own_run(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --junitxml=report.xml\nlog_file = tests.log\n")
    done = suite(tmp_path, "def test_it():\n    pass\n", "-p", "replay_dd.pytest_plugin.one_run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "report.xml").exists()
    assert not (tmp_path / "tests.log").exists()


@pytest.mark.once
def test_what_was_asked_of_the_users_own_run_is_not_done_in_others(tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "file"
    kept.parent.mkdir()
    kept.touch()
    asked = "--basetemp=kept --pastebin=all --lf --ff --nf --sw --sw-skip --cache-clear -x --pdb --trace"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {asked} -k other -m other\n")
    post = "import urllib.request\nurllib.request.urlopen = lambda *_, **__: open('posted', 'x')\n"
    (tmp_path / "conftest.py").write_text(post)
    note = tmp_path / ".pytest_cache" / "v" / "cache" / "lastfailed"
    note.parent.mkdir(parents=True)
    last_failed = '{"test_it.py::test_other": true}'
    note.write_text(last_failed)
    text = "def test_it(tmp_path):\n    assert not 'so'\ndef test_other():\n    pass\n"
    one_run = ("-p", "replay_dd.pytest_plugin.one_run")
    done = suite(tmp_path, text, "-p", "cacheprovider", "-p", "stepwise", *one_run)
    assert " 1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert kept.exists()
    assert not (tmp_path / "posted").exists()
    assert note.read_text() == last_failed


@pytest.mark.once
def test_runs_have_an_empty_cache_of_their_own(tmp_path: Path) -> None:
    text = "from racy import in_threads\ndef test_it(cache):\n    assert cache.get('a/key', 0) == 0\n"
    text += "    in_threads(lambda key: cache.set(f'a/{key}', 1), number=1)\n"
    done = suite(tmp_path, text, "-p", "cacheprovider", "--nf", "--strict-config", "--replay-dd=2")
    assert "1 test, 1 with threads, 1 hunted, 0 races found, 2 runs" in done.stdout, done.stdout + done.stderr
    assert "loaded the suite" not in done.stdout


@pytest.mark.once
def test_a_test_that_is_marked_as_failing_may_hunt_a_call(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.mark.xfail\ndef test_marked():\n    assert not 'so'\n"
    text += "@pytest.mark.xfail(strict=True)\ndef test_ends_with_the_call():\n    pytest.skip('made')\n"
    text += "def test_says_so_itself():\n    pytest.xfail('so')\n"
    done = suite(tmp_path, text, "-p", "replay_dd.pytest_plugin.one_run", REPLAY_DD_HUNTED_CALL="1")
    assert " 1 failed, 1 skipped, 1 xfailed in " in done.stdout, done.stdout + done.stderr


@pytest.mark.once
def test_a_suite_is_hunted_without_plugins_of_pytest_that_have_options(tmp_path: Path) -> None:
    text = "from racy import in_threads\ndef test_it():\n    in_threads(len)\n"
    without = ("-p", "no:terminal", "-p", "no:capture")
    done = suite(tmp_path, text, *without, "--replay-dd=2", "--junitxml=report.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    found = [one.get("value") for one in ElementTree.parse(tmp_path / "report.xml").iter("property")]
    assert found == ["no failure", "2"]


@pytest.mark.once
def test_examples_do_not_depend_on_which_modules_are_loaded(tmp_path: Path) -> None:
    text = "from hypothesis import given, settings, strategies\n"
    text += "from prices import LARGE\nDRAWN = []\n"
    text += "@settings(max_examples=1000, derandomize=True, database=None)\n"
    text += "@given(strategies.integers())\ndef test_draws(number):\n    DRAWN.append(number)\n"
    text += "def test_drawn():\n    assert DRAWN\n    assert LARGE not in DRAWN\n"
    usual, hunted = tmp_path / "usual", tmp_path / "hunted"
    for folder in (usual, hunted):
        folder.mkdir()
        (folder / "prices.py").write_text("LARGE = 987_654_321_987\n")
    assert suite(usual, text).returncode == 1  # Hypothesis draws what stands in modules of the project
    done = suite(hunted, text, "-p", "replay_dd.pytest_plugin.one_run")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.once
def test_failing_examples_are_not_made_smaller(tmp_path: Path) -> None:
    text = "import unittest\nfrom hypothesis import given, settings, stateful, strategies\nRUNS = []\n"
    text += "def fail(number):\n    RUNS.append(number)\n    assert number < 1000\n"
    text += "NUMBERS = strategies.integers(0, 10**9)\n"
    text += "class Test(unittest.TestCase):\n"
    text += "    @settings(derandomize=True, database=None)\n"
    text += "    @given(NUMBERS)\n    def test_it(self, number):\n        fail(number)\n"
    text += "class Machine(stateful.RuleBasedStateMachine):\n"
    text += "    @stateful.rule(number=NUMBERS)\n    def go(self, number):\n        fail(number)\n"
    text += "TestMachine = Machine.TestCase\n"
    text += "TestMachine.settings = settings(derandomize=True, database=None)\n"
    # Each of them fails once more, to be told.
    text += "def test_failed_once():\n    assert [number >= 1000 for number in RUNS].count(True) == 4\n"
    done = suite(tmp_path, text, "-p", "replay_dd.pytest_plugin.one_run")
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.once
def test_failing_examples_are_not_kept_for_the_next_run(tmp_path: Path) -> None:
    text = "from hypothesis import given, settings, strategies\n"
    text += "settings.load_profile('default')\n"  # that of CI keeps none
    text += "@given(strategies.integers(0, 100))\ndef test_it(number):\n    assert number < 10\n"
    done = suite(tmp_path, text, "-p", "replay_dd.pytest_plugin.one_run")
    assert done.returncode == 1
    assert (tmp_path / "temporary" / "hypothesis" / "examples").is_dir()
    assert not (tmp_path / ".hypothesis").exists()


@pytest.mark.once
@pytest.mark.parametrize(
    "options, words",
    [
        (["--replay-dd-log=nothing.log"], "--replay-dd-log: "),
        (["--replay-dd=1", "--replay-dd-strategy=luck"], "strategy is one of "),
        (["--replay-dd=1", "--replay-dd-folder=racy.py/logs"], "racy.py is not a folder that can be written to"),
    ],
)
def test_interface_options_that_make_no_sense(options: list[str], words: str, tmp_path: Path) -> None:
    done = suite(tmp_path, "def test_one():\n    pass\n", *options)
    assert done.returncode == 4
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.once
def test_a_known_call_that_is_made_no_more_and_options_without_effect_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("damaged")
    test = tmp_path / "test_it.py"
    test.write_text("import pytest\n@pytest.mark.replay_dd(known='a.log')\ndef test_it(replay_dd):\n    pass\n")
    done = pytest_in(tmp_path, "--replay-dd-time=5s")
    assert "\nCannot check the known race in a.log: " in done.stdout, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    assert "no effect" not in done.stdout
    test.write_text("def test_it():\n    pass\n")
    done = pytest_in(tmp_path, "--replay-dd-time=5s", "--replay-dd-folder=logs")
    assert "`--replay-dd-time`, `--replay-dd-folder` have no effect without `--replay-dd` or " in done.stdout


@pytest.mark.once
def test_parts_of_a_test_are_not_counted_as_tests(tmp_path: Path) -> None:
    text = "import unittest\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
    text += "        for number in (1, 2):\n            with self.subTest(number=number):\n                pass\n"
    done = suite(tmp_path, text, "-o", "replay_dd=true")
    assert "1 test, 0 with threads, 0 hunted" in done.stdout, done.stdout


@pytest.mark.once
def test_what_is_told_of_a_race_is_as_verbose_as_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "BUILD_NUMBER"):  # there, pytest tells everything at once
        monkeypatch.delenv(name, raising=False)
    text = "import threading\nfound = []\n"
    text += "def work():\n    if not found:\n        found.append('key' * len('x'))\n"
    text += "def test_it():\n    threads = [threading.Thread(target=work) for _ in range(2)]\n"
    text += "    for one in threads: one.start()\n    for one in threads: one.join()\n"
    text += "    assert found == ['key']\n"
    (tmp_path / "test_it.py").write_text(text)
    quiet = pytest_in(tmp_path, "--replay-dd=20").stdout
    assert "1 race found" in quiet
    assert quiet.count("Use -v") == 1
    log = "replay-dd-logs/test_it.py.test_it/minimal-fail.log"
    for options in (["--replay-dd=20"], [f"--replay-dd-log={log}"]):
        verbose = pytest_in(tmp_path, "-v", *options).stdout
        assert "Use -v" not in verbose
        assert "Full diff" in verbose


@pytest.mark.once
def test_a_plugin_that_runs_every_test_runs_those_again_that_ask_for_it(tmp_path: Path) -> None:
    (tmp_path / "flaky.py").write_text(
        "def pytest_configure(config):\n    config.pluginmanager.register(Plugin())\n"
        "class Plugin:\n"
        "    def pytest_runtest_protocol(self, item, nextitem):\n"
        "        print('<run by it:', item.name + '>')\n"
        "        runner = item.config.pluginmanager.getplugin('runner')\n"
        "        return runner.pytest_runtest_protocol(item, nextitem)\n"
    )
    text = "import pytest\ndef mark(test):\n    test._flaky_max_runs = 2\n    return test\n"
    text += "def test_plain():\n    pass\n"
    text += "@pytest.mark.flaky\ndef test_marked():\n    pass\n"
    text += "@mark\ndef test_decorated():\n    pass\n"
    text += "@mark\nclass TestIt:\n    def test_method(self):\n        pass\n"
    done = suite(tmp_path, text, "-s", "-p", "flaky", "--replay-dd=1", "-W", "ignore::pytest.PytestUnknownMarkWarning")
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    assert re.findall("<run by it: (.*)>", done.stdout) == ["test_marked", "test_decorated", "test_method"]
