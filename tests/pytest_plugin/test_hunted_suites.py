"""Whole suites, run by pytest with the plugin, as a user runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

RACY = """
import threading

class Cache:
    def __init__(self, load):
        self.load = load
        self.values = {}

    def get(self, key):
        if key not in self.values:
            self.values[key] = self.load(key)
        return self.values[key]

def in_threads(function, number=2):
    threads = [threading.Thread(target=function, args=("key",)) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def loads():
    made = []
    in_threads(Cache(made.append).get)
    return made
"""


def suite(folder: Path, text: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a suite of one file with these options."""
    (folder / "racy.py").write_text(RACY)
    (folder / "test_it.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    temporary = folder / "temporary"  # pytest leaves folders of its own there
    temporary.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    environment = {**environment, "TMPDIR": str(temporary), "PATH": path, **variables}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options]
    return subprocess.run(
        command, cwd=folder, text=True, capture_output=True, env=environment, check=False, timeout=600
    )


def test_a_race_fails_its_test_and_the_cause_stands_below(tmp_path: Path) -> None:
    text = "import pytest\nfrom racy import in_threads, loads\n"
    text += "def test_loads_once():\n    assert loads() == ['key']\n"
    text += "def test_quiet(tmp_path):\n    in_threads(lambda key: (tmp_path / 'new').touch())\n"
    text += "def test_alone():\n    pass\n"
    text += "@pytest.mark.xfail\ndef test_known():\n    in_threads(print)\n    assert False\n"
    text += "@pytest.mark.replay_dd(runs=0)\ndef test_left_alone():\n    in_threads(print)\n"
    page = tmp_path / "page.md"
    done = suite(
        *(tmp_path, text, "--replay-dd=12", "--junitxml=report.xml"),
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(page),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 3 passed, 1 xfailed" in done.stdout
    assert "E       AssertionError: assert ['key', 'key'] == ['key']" in done.stdout
    assert "RACE on Cache.values['key'] (item of one dict): check-then-act" in done.stdout
    assert "evidence     fresh runs: 3 of 3 fail; without the difference, 0 of 3" in done.stdout
    assert "5 tests, 4 with threads, 2 hunted, 1 race found" in done.stdout
    assert "loaded the suite" not in done.stdout
    assert "::error file=racy.py,line=" in done.stdout
    assert page.read_text().startswith("### replay-dd\n\n5 tests")
    log = Path("replay-dd-logs") / "test_it.py.test_loads_once" / "minimal-fail.log"
    assert f"repeat       replay-dd replay {log}\n" in done.stdout
    again = subprocess.run([sys.executable, "-m", "replay_dd", "replay", str(log)], cwd=tmp_path, capture_output=True)
    assert again.returncode == 1, again.stderr.decode()
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "report.xml").iter("testcase")}
    properties = {one.get("name"): one.get("value") for one in cases["test_loads_once"].iter("property")}
    assert properties["replay_dd.verdict"] == "race"
    assert properties["replay_dd.log"] == str(log)
    assert cases["test_loads_once"].find("failure") is not None
    assert not list(cases["test_alone"].iter("property"))


@pytest.mark.once
def test_a_sleep_that_is_too_short_is_named(tmp_path: Path) -> None:
    text = "import threading\nimport time\ndef test_soon():\n    done = []\n"
    text += "    thread = threading.Thread(target=done.append, args=(1,))\n    thread.start()\n"
    text += "    time.sleep(0.005)\n    assert done\n"
    done = suite(tmp_path, text, "--replay-dd=12", GITHUB_ACTIONS="true")
    assert done.returncode == 1, done.stdout + done.stderr
    early = "the sleep of thread 0 at test_it.py:7 in test_soon ends 5 ms early"
    assert f"RACE test_it.py::test_soon: {early}\n" in done.stdout
    assert "::error file=test_it.py,line=7," in done.stdout
    assert "It ends 5 ms early: on a busy machine, the other may be that late (`--replay-dd-max-delay`)." in done.stdout


@pytest.mark.once
def test_a_sleep_that_is_too_long_to_end_early_is_told_with_what_would_be_enough(tmp_path: Path) -> None:
    text = "import threading\nimport time\ndef test_later():\n    done = []\n"
    text += "    thread = threading.Thread(target=done.append, args=(1,))\n    thread.start()\n"
    text += "    time.sleep(0.08)\n    assert done\n    thread.join(timeout=60)\n"
    done = suite(tmp_path, text, "--replay-dd=12")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "In 1 test, a sleep or time-out ended only when no other thread could run" in done.stdout
    assert "`--replay-dd-max-delay=80ms`" in done.stdout
    shutil.rmtree(tmp_path / "temporary")
    done = suite(tmp_path, text, "--replay-dd=12", "--replay-dd-max-delay=80ms")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "RACE test_it.py::test_later: the sleep of thread 0 at test_it.py:7 in test_later ends 80 ms" in done.stdout


@pytest.mark.once
def test_a_test_with_a_sleep_that_makes_sure_of_its_race_is_explained(tmp_path: Path) -> None:
    """Regression tests are often written so; no schedule passes unless that sleep may end early."""
    text = "import threading\nimport time\nfrom racy import Cache, in_threads\ndef test_loads_once():\n"
    text += "    made = []\n    def load(key):\n        time.sleep(0.05)\n        made.append(key)\n"
    text += "    in_threads(Cache(load).get)\n    assert made == ['key']\n"
    done = suite(tmp_path, text, "--replay-dd-on-failure", "-o", "replay_dd_runs=8")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 test, 1 with threads, 1 hunted, 1 race found" in done.stdout
    assert "it failed under each schedule until threads could be 50ms late" in done.stdout
    assert "evidence     fresh runs: 3 of 3 fail; without the difference, 0 of 3" in done.stdout
    assert "RACE on Cache.values['key']" in done.stdout


@pytest.mark.once
def test_only_what_has_just_failed_is_hunted_if_that_is_asked_for(tmp_path: Path) -> None:
    text = "import pytest, unittest\nfrom racy import in_threads, loads\n"
    text += "@pytest.fixture(scope='module')\ndef shared():\n    return []\n"
    text += "class TestIt(unittest.TestCase):\n    def test_always(self):\n        in_threads(print)\n"
    text += "        self.fail('so')\n"
    text += "@pytest.mark.parametrize('number', [1, 2])\ndef test_passes(shared, number):\n    assert loads()\n"
    done = suite(tmp_path, text, "-o", "replay_dd_runs=5", "--replay-dd-on-failure")
    assert "1 failed, 2 passed" in done.stdout
    assert "3 tests, 3 with threads, 1 hunted, 0 races found, 5 runs" in done.stdout
    assert "test_it.py::TestIt::test_always: fails under each schedule: AssertionError: so (test_it.py:" in done.stdout


@pytest.mark.once
def test_a_marker_that_makes_no_sense_or_names_no_log_is_an_error_of_its_test(tmp_path: Path) -> None:
    text = "import pytest\nfrom racy import in_threads\n"
    text += "@pytest.mark.replay_dd(runs=-1)\ndef test_wrong():\n    pass\n"
    text += "@pytest.mark.replay_dd(known='gone.log')\ndef test_gone():\n    pass\n"
    text += "@pytest.mark.skip\n@pytest.mark.replay_dd(runs=-1)\ndef test_skipped():\n    pass\n"
    text += "@pytest.mark.replay_dd(runs=1, known='racy.py')\ndef test_unreadable():\n    in_threads(len)\n"
    done = suite(tmp_path, text, "--replay-dd")
    assert "1 failed, 1 skipped, 2 errors" in done.stdout, done.stdout + done.stderr
    assert "\n@pytest.mark.replay_dd: runs is a number of runs, or 0 to leave the test alone\n" in done.stdout
    assert f"\n@pytest.mark.replay_dd: there is no log at {tmp_path / 'gone.log'}\n" in done.stdout
    assert "\nCannot check the known race in racy.py: The file " in done.stdout
    assert "1 hunted, 0 races found, 1 run," in done.stdout


@pytest.mark.once
def test_workers_hunt_their_own_tests(tmp_path: Path) -> None:
    text = (
        "from racy import loads\ndef test_one():\n    assert loads() == ['key']\ndef test_two():\n    assert loads()\n"
    )
    page = tmp_path / "page.md"
    github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(page)}
    done = suite(tmp_path, text, "--replay-dd=8", "-n", "2", COLUMNS="200", **github)
    assert page.read_text().count("### replay-dd") == 1
    assert done.stdout.count("::error file=") == 1
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "2 tests, 2 with threads, 2 hunted, 1 race found" in done.stdout
    assert "FAILED test_it.py::test_one - AssertionError: assert ['key'" in done.stdout
    assert "RACE on Cache.values['key']" in done.stdout


@pytest.mark.once
def test_a_suite_that_starts_a_thread_when_it_is_loaded_runs_in_fresh_processes(tmp_path: Path) -> None:
    text = "from racy import in_threads, loads\nin_threads(print)\ndef test_one():\n    assert loads()\n"
    done = suite(tmp_path, text, "--replay-dd=2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "1 test loaded the suite in each run, which is slower: it cannot be loaded once for all: it starts a thread"
        in (done.stdout)
    )


@pytest.mark.once
@pytest.mark.parametrize(
    "options, words",
    [
        (["--replay-dd", "test_it.py"], "--replay-dd takes a number of runs, not `test_it.py`. Write `--replay-dd=100"),
        (["--replay-dd=0"], "--replay-dd takes the maximum number of runs, which is 1 or more, not 0."),
        (["--replay-dd=-1"], "--replay-dd takes the maximum number of runs, which is 1 or more, not -1."),
        (
            ["--replay-dd=1", "--replay-dd-time=soon"],
            "is not a length of time such as 60s, 2m or 1h (--replay-dd-time)\n",
        ),
        (["-o", "replay_dd=true", "-o", "replay_dd_runs=x"], "The setting replay_dd_runs takes a number of runs, not"),
    ],
)
def test_options_that_make_no_sense(options: list[str], words: str, tmp_path: Path) -> None:
    done = suite(tmp_path, "def test_one():\n    pass\n", *options)
    assert done.returncode == 4
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.once
def test_nothing_of_replay_dd_is_loaded_unless_it_is_asked_for(tmp_path: Path) -> None:
    text = "import sys\ndef test_one():\n    loaded = [name for name in sys.modules if name.startswith('replay_dd')]\n"
    text += "    assert sorted(loaded) == ['replay_dd', 'replay_dd.pytest_plugin']\n"
    done = suite(tmp_path, text)
    assert "1 passed" in done.stdout


@pytest.mark.once
def test_what_has_an_event_loop_or_a_server_is_forked_and_no_early_time_out_fails_it(tmp_path: Path) -> None:
    text = "import asyncio, socket, subprocess, threading, pytest\nfrom racy import in_threads\n"
    text += "subprocess.run(['true'])\nopen('written', 'w').close()\n"  # as much is done once in any run of pytest
    text += "def test_loop():\n    asyncio.run(asyncio.to_thread(len, 'x'))\n"
    text += "@pytest.fixture(scope='module')\ndef server():\n"
    text += "    with socket.create_server(('127.0.0.1', 0)) as one:\n        yield one\n"
    text += "def test_server(server):\n    in_threads(lambda key: server.getsockname())\n"
    text += "def test_time_out():\n    event = threading.Event()\n    seen = []\n"
    text += "    def work():\n        seen.append(1)\n        event.set()\n"
    text += "    threading.Thread(target=work).start()\n    assert event.wait(0.1)\n    assert seen\n"
    done = suite(tmp_path, text, "--replay-dd=12")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 tests, 3 with threads, 3 hunted, 0 races found, 36 runs" in done.stdout
    assert "loaded the suite" not in done.stdout


@pytest.mark.once
def test_a_test_that_another_plugin_runs_again_is_hunted_and_counted_once(tmp_path: Path) -> None:
    (tmp_path / "rerunfailures.py").write_text(
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "    runtestprotocol(item, nextitem=nextitem)\n"
        "    return True\n"
    )
    text = "from racy import in_threads\ndef test_it():\n    in_threads(print)\n    assert not 'so'\n"
    done = suite(tmp_path, text, "-p", "rerunfailures", "--replay-dd=2", "--junitxml=report.xml")
    assert "1 failed" in done.stdout
    assert "1 test, 1 with threads, 1 hunted, 0 races found, 2 runs" in done.stdout
    names = [one.get("name") for one in ElementTree.parse(tmp_path / "report.xml").iter("property")]
    assert names == ["replay_dd.verdict", "replay_dd.runs"]


@pytest.mark.once
def test_what_a_fixture_runs_beside_a_test_is_not_taken_for_its_own(tmp_path: Path) -> None:
    text = "import queue, threading, pytest\nfrom racy import in_threads\n"
    text += "@pytest.fixture(scope='session')\ndef server():\n    asked, answers = queue.Queue(), queue.Queue()\n"
    text += "    def serve():\n        while asked.get():\n            answers.put('yes')\n"
    text += "    threading.Thread(target=serve).start()\n"
    text += "    def ask():\n        asked.put(True)\n        return answers.get()\n"
    text += "    yield ask\n    asked.put(False)\n"
    text += "def test_first(server):\n    assert server() == 'yes'\ndef test_beside_it():\n    pass\n"
    text += "def test_beside_it_with_the_fixture(server):\n    pass\n"
    text += "def test_asks(server):\n    assert server() == 'yes'\n"
    text += "def test_skipped():\n    pytest.skip('so')\n"
    text += "def test_always():\n    in_threads(print)\n    assert not 'so'\n"
    done = suite(tmp_path, text, "--replay-dd=2", "--tb=line", "-v")
    assert "6 tests, 3 with threads, 3 hunted, 0 races found, 6 runs" in done.stdout, done.stdout
    assert done.stdout.count(" runs ") == 3, done.stdout  # a line for each hunt, even one that came to nothing
    assert "starts no thread" not in done.stdout


@pytest.mark.once
@pytest.mark.parametrize("only_calls", ["true", "false"])
def test_a_limit_that_is_a_thread_is_none_of_the_test_s(only_calls: str, tmp_path: Path) -> None:
    text = "from racy import in_threads\ndef test_one():\n    pass\ndef test_two():\n    in_threads(print)\n"
    text += "def test_three():\n    pass\n"
    options = ("--timeout=1000", "--timeout-method=thread", "-o", f"timeout_func_only={only_calls}")
    done = suite(tmp_path, text, "--replay-dd=2", "-v", *options)
    assert "==\n3 tests, 1 with threads, 1 hunted, 0 races found, 2 runs" in done.stdout, done.stdout
    assert done.stdout.count(" runs ") == 1, done.stdout


@pytest.mark.once
def test_ctrl_c_in_a_hunt_ends_the_run_and_what_was_found_is_told(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import os\nos.environ.setdefault('OUTER', str(os.getpid()))\n")
    text = "import os, signal, sys\nfrom racy import in_threads\n"
    text += "def test_one():\n    in_threads(print)\n"
    text += "    if '_replay_dd_runtime' in sys.modules and not os.path.exists('sent'):\n"
    text += "        open('sent', 'x').close()\n        os.kill(int(os.environ['OUTER']), signal.SIGINT)\n"
    text += "def test_two():\n    in_threads(print)\n"
    done = suite(tmp_path, text, "--replay-dd=100000", "--replay-dd-time=1h")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "KeyboardInterrupt" in done.stdout
    assert "1 test, 1 with threads" in done.stdout
    assert re.search(r"^test_it.py::test_one: [a-z ]+: interrupted$", done.stdout, re.MULTILINE), done.stdout
    assert " 1 passed in " in done.stdout  # what is known of it is told


KEEPS = """
import pytest
from racy import in_threads

@pytest.fixture(autouse=True)
def entries():
    # In the working folder, so the hunt has the same file.
    yield
    with open("entries") as file:
        assert file.read() == "key"
    os.remove("entries")

def test_keeps():
    assert not os.path.exists("entries"), "somebody else is here"
    def keep(key):
        with open("entries", "w") as file:
            file.write(key)
    in_threads(keep, number=1)
"""


@pytest.mark.once
@pytest.mark.parametrize("idle", [False, True], ids=["alone", "beside a plugin that could run tests"])
def test_a_hunt_and_the_fixtures_of_its_test_do_not_meet_in_a_file(idle: bool, tmp_path: Path) -> None:
    if idle:
        hook = "def pytest_runtest_protocol(item, nextitem):\n    print('asked first')\n"
        (tmp_path / "conftest.py").write_text(hook)
    done = suite(tmp_path, "import os\n" + KEEPS, "--replay-dd=3", "-s")
    assert " 1 passed in " in done.stdout, done.stdout
    assert "1 test, 1 with threads, 1 hunted, 0 races found, 3 runs" in done.stdout, done.stdout
    assert "not when it was replayed" not in done.stdout
    assert "loaded the suite" not in done.stdout
    assert done.stdout.count("asked first") == idle
    assert not (tmp_path / "entries").exists()


@pytest.mark.once
def test_a_failure_that_ends_the_run_ends_all_fixtures_before(tmp_path: Path) -> None:
    text = "import pytest\nfrom racy import in_threads\n@pytest.fixture(scope='module')\ndef shared():\n    yield\n"
    text += "    assert not 'undone'\ndef test_one(shared):\n    in_threads(print)\n    assert not 'so'\n"
    text += "def test_two(shared):\n    pass\n"
    done = suite(tmp_path, text, "--replay-dd=2", "--exitfirst")
    assert done.returncode == 1, done.stdout
    assert "ERROR at teardown of test_one" in done.stdout, done.stdout
    assert "1 failed, 1 error in " in done.stdout
    assert "stopping after" in done.stdout
    assert "test_it.py::test_one: fails under each schedule: AssertionError" in done.stdout


@pytest.mark.once
def test_what_is_known_of_a_test_is_told_if_ctrl_c_comes_while_it_is_torn_down(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.fixture\ndef stopped():\n    yield\n    raise KeyboardInterrupt\n"
    done = suite(tmp_path, text + "def test_one(stopped):\n    assert not 'so'\n", "--replay-dd=2")
    assert done.returncode == 2, done.stdout
    assert " 1 failed in " in done.stdout, done.stdout


@pytest.mark.once
def test_what_a_fixture_puts_in_the_place_of_others_does_not_reach_the_hunt(tmp_path: Path) -> None:
    text = "import os, signal, subprocess, time, pytest\nfrom racy import in_threads\n"
    text += "def fail(*_, **__):\n    raise RuntimeError('patched')\n"
    text += "@pytest.fixture\ndef limit():\n    before = signal.signal(signal.SIGALRM, fail)\n"
    text += "    signal.setitimer(signal.ITIMER_REAL, 0.2)\n    yield\n"
    text += "    signal.setitimer(signal.ITIMER_REAL, 0)\n    signal.signal(signal.SIGALRM, before)\n"
    text += "def test_limit(limit):\n    in_threads(len)\n"
    text += "def test_patched(monkeypatch):\n    in_threads(len)\n    monkeypatch.setattr(os, 'getcwd', fail)\n"
    text += "    monkeypatch.setattr(time, 'monotonic', fail)\n    monkeypatch.setattr(subprocess, 'Popen', fail)\n"
    text += "    monkeypatch.setattr('builtins.open', fail)\n    monkeypatch.delenv('PATH')\n"
    done = suite(tmp_path, text, "--replay-dd=3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 tests, 2 with threads, 2 hunted, 0 races found, 6 runs" in done.stdout


@pytest.mark.once
def test_what_a_test_does_to_its_process_does_not_reach_its_server(tmp_path: Path) -> None:
    text = "import os, signal, subprocess, sys, pytest\nfrom racy import in_threads\n"
    text += "def test_directory(monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)\n"
    text += "    sys.path.insert(0, '')\n    open('new', 'x').close()\n    in_threads(lambda key: os.listdir())\n"
    text += "    assert os.listdir() == ['new']\n"
    text += "def reap(*_):\n    try:\n        os.waitpid(-1, os.WNOHANG)\n    except ChildProcessError:\n        pass\n"
    text += "@pytest.mark.parametrize('handler', [reap, signal.SIG_IGN])\ndef test_children(handler):\n"
    text += "    before = signal.signal(signal.SIGCHLD, handler)\n    in_threads(len)\n"
    text += "    signal.signal(signal.SIGCHLD, before)\n"
    text += "WRITE = 'import os\\nfor one in range(3, 256):\\n try:\\n  os.write(one, b\"x\")\\n except OSError: 0'\n"
    text += "def test_descriptors():\n    subprocess.run([sys.executable, '-c', WRITE], close_fds=False)\n"
    text += "    in_threads(len)\n"
    done = suite(tmp_path, text, "--replay-dd=3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 tests, 4 with threads, 4 hunted, 0 races found, 12 runs" in done.stdout
    assert "loaded the suite" not in done.stdout


@pytest.mark.once
def test_what_cannot_be_run_alone_is_told(tmp_path: Path) -> None:
    text = "from racy import in_threads\nready = []\ndef test_before():\n    ready.append(1)\n"
    text += "def test_after():\n    assert ready\n    in_threads(len)\n"
    done = suite(tmp_path, text, "--replay-dd", "3", "--color", "no", "-r", "f")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 tests, 1 with threads, 0 hunted" in done.stdout
    why = "alone, it fails before it starts a thread: AssertionError: assert [] (test_it.py:6 in test_after)"
    assert f"test_it.py::test_after: not hunted: {why}" in done.stdout
