"""The parts of the proof beside the judging: what is looked for, what is kept, what stays behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.record import record
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.target import describe_program, run_target
from tests.compatibility import note_threads, replays, soak
from tests.compatibility.judge import Case
from tests.compatibility.results import OWN_TESTS, Results, load

TESTS = """
import threading, time
import pytest

@pytest.fixture
def threads():
    thread = threading.Thread(target=time.sleep, args=(0,))
    thread.start()
    thread.join()

def test_alone(): pass
def test_with_a_fixture(threads): pass
def test_that_fails():
    threading.Thread(target=print).start()
    assert False
class TestThings:
    @pytest.mark.parametrize("number", [1, 2])
    def test_parameters(self, number):
        if number == 2:
            threading.Thread(target=print).start()
"""


def test_the_tests_that_start_threads_and_pass_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_threads.py").write_text(TESTS)
    noted = tmp_path / "noted"
    command = [sys.executable, str(Path(note_threads.__file__)), str(noted), "-q", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    assert json.loads(noted.read_text()) == [
        "test_threads.py::test_with_a_fixture",
        "test_threads.py::TestThings::test_parameters[2]",
    ]


def test_results_are_kept_and_read_again(tmp_path: Path) -> None:
    one, other = Case("one", plain="passed", default="passed"), Case("other", plain="skipped")
    tests = f"package==1{OWN_TESTS}"
    results = Results(
        "3.12.1", {"test.test_queue": {"one": one}, tests: {"other": other}}, {"test.test_queue": 2, tests: 1}
    )
    path = tmp_path / "new" / "python-3.12.json"
    assert load(path) == Results("")
    results.save(path)
    assert load(path) == results


def test_a_replay_of_another_log_is_not_exact(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import threading\nseen = []\n"
        "threads = [threading.Thread(target=seen.append, args=(number,)) for number in range(3)]\n"
        "for thread in threads: thread.start()\nfor thread in threads: thread.join()\n"
    )
    program = describe_program((sys.executable, "program.py"), directory=tmp_path)
    one, other = (
        record(program, Settings(), strategy=strategy, seed=3, show_output=False).log
        for strategy in ("default", "random")
    )
    again = run_target(program, Settings(), replay_plan(one.triggers, one.arrivals), time_limit_s=60).log
    assert replays.is_exact(one, again)
    assert not replays.is_exact(other, again)


def test_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = soak.soak(0, ("deadlock", "litter"))
    assert result["wrong"] == []
    first, last = result["seen"][0], result["seen"][-1]
    assert last["runs"] > 0
    assert last["children"] <= first["children"], "other tests of this process may have some of their own"
    assert (last["temporary"], last["displays"]) == (0, 0)
    assert last["descriptors"] <= first["descriptors"]
    assert last["threads"] == first["threads"]
    assert "| child processes |" in soak.table(result)
