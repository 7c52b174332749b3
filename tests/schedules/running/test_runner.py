"""Forked runs equal fresh ones; if forking is unsound, runs are fresh."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, run_target
from tests.schedules.forking import THREAD, forked_output, write

COUNTERS = """
import os, random, sys, tempfile, threading, time
data = [random.random() for _ in range(3)]
print("set up", data)

def work():
    global total
    for _ in range(5):
        before = total
        total = before + int(random.random() * 10)
        with lock:
            seen.append(time.monotonic())

total, lock, seen = 0, threading.Lock(), []
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with tempfile.NamedTemporaryFile("w") as file:
    file.write(sys.stdin.read())
print(total, len(seen), os.environ["TMPDIR"] != "/tmp")
sys.exit(total % 7)
"""

PLANS = [
    Plan(),
    Plan("random", {"seed": 3}),
    Plan("pct", {"seed": 2, "depth": 4}, {"0": 60, "0.1": 90, "0.2": 90, "0.3": 90}),
    Plan("replay", triggers=(Trigger("0.1", 7, "0.3"), Trigger("0.3", 9, "0.2"), Trigger("0.2", 9999, "0"))),
]


def without_seconds(run: TargetRun) -> Log:
    return dataclasses.replace(run.log, ending=dataclasses.replace(run.log.ending, seconds=0.0))


@pytest.mark.parametrize("granularity", ["sync", "line", "access"])
def test_a_forked_run_is_the_same_run(granularity: str, tmp_path: Path) -> None:
    program = write(tmp_path, COUNTERS)
    described = describe_program((sys.executable, program.name), directory=tmp_path, standard_input=b"some input")
    settings = Settings(granularity=granularity)
    with Runner(described, settings) as runner:
        for plan in PLANS * 2:
            forked = runner.run(plan, 60)
            fresh = run_target(described, settings, plan, time_limit_s=60)
            assert without_seconds(forked) == without_seconds(fresh)
            assert forked.output.endswith(fresh.output.splitlines()[-1] + b"\n")
        assert runner.why_fresh == ""


def test_a_program_that_closes_all_descriptors_goes_on_telling(tmp_path: Path) -> None:
    program = write(tmp_path, THREAD + "import os\nos.closerange(3, 1000)\n" + THREAD)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    fresh = run_target(described, Settings(), Plan(), time_limit_s=60)
    with Runner(described, Settings()) as runner:
        for _ in range(2):
            run = runner.run(Plan(), 60)
            assert (run.log.ending.complete, run.log.ending.digest) == (True, fresh.log.ending.digest)
            assert len(run.log.ending.thread_times) == 3
        assert runner.why_fresh == ""


def test_each_copy_writes_to_its_own_output_through_other_descriptors_of_it(tmp_path: Path) -> None:
    # As pytest does, which keeps a second descriptor of standard error.
    text = "import os, sys\nsecond = os.dup(sys.stderr.fileno())\nnothing = open(os.devnull)\n"
    program = write(tmp_path, text + THREAD + "os.write(second, b'second\\n')\nassert not os.get_inheritable(second)\n")
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        for _ in range(2):
            run = runner.run(Plan(), 60)
            assert (run.log.ending.status, sorted(run.output.split())) == (0, [b"ran", b"second"])
        assert runner.why_fresh == ""


def test_a_signal_that_the_program_sends_to_the_number_it_noted(tmp_path: Path) -> None:
    text = "import os, signal\nnumber = os.getpid()\nsignal.signal(signal.SIGUSR1, lambda *_: print('came'))\n"
    program = write(tmp_path, text + THREAD + "os.kill(number, signal.SIGUSR1)\n")
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        for _ in range(2):
            assert runner.run(Plan(), 60).output == b"ran\ncame\n"


def test_a_copy_goes_on_under_the_number_that_the_program_noted(tmp_path: Path) -> None:
    text = "import os\nnumber = os.getpid()\n" + THREAD + "print(number == os.getpid(), os.getpgid(number) != number)\n"
    text += "child = os.fork()\nif child == 0:\n    os._exit(number == os.getpid())\nprint(os.waitpid(child, 0)[1])\n"
    assert forked_output(tmp_path, text) == [["ran", "True", "True", "0"]] * 2


def test_each_copy_finds_the_files_without_a_name_as_the_program_left_them(tmp_path: Path) -> None:
    text = "import tempfile\nfile = tempfile.TemporaryFile('w+')\nfile.write('before ')\nfile.flush()\n" + THREAD
    text += "file.write('after ')\nfile.seek(0)\nprint(file.read())\nfile.truncate(3)\n"
    assert forked_output(tmp_path, text) == [["ran", "before", "after"]] * 2


def test_each_copy_finds_the_temporary_files_as_the_program_left_them(tmp_path: Path) -> None:
    text = (
        "import os, pathlib, tempfile\nfolder = pathlib.Path(tempfile.mkdtemp())\n(folder / 'kept').write_text('a')\n"
    )
    text += (
        "(folder / 'link').symlink_to('kept')\n"
        + THREAD
        + "print(*sorted(os.listdir(folder)), (folder / 'link').read_text())\n"
    )
    text += "(folder / 'kept').unlink()\n(folder / 'other').mkdir()\n"
    assert forked_output(tmp_path, text) == [["ran", "kept", "link", "a"]] * 2


def test_streams_that_the_program_moved_lead_to_the_output_of_each_run(tmp_path: Path) -> None:
    # As pytest does to catch output: the streams live on under other numbers, and a temporary file takes their place.
    text = "import os, tempfile\nout, null = os.dup(1), os.open(os.devnull, os.O_RDWR)\n"
    text += (
        "caught = tempfile.TemporaryFile()\nos.dup2(null, 0)\nos.dup2(caught.fileno(), 1)\n"
        + THREAD
        + "import sys\nsys.stdout.flush()\n"
    )
    text += "caught.seek(0)\nos.write(out, b'caught ' + caught.read())\nassert os.read(0, 1) == b''\n"
    assert forked_output(tmp_path, text) == [["caught", "ran"]] * 2


def test_a_test_whose_output_pytest_catches_is_forked(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        "def test_one(tmp_path):\n    (tmp_path / 'new').touch(exist_ok=False)\n    " + THREAD.replace("\n", "\n    "),
    )
    described = describe_program(
        (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", program.name), directory=tmp_path
    )
    with Runner(described, Settings()) as runner:
        for _ in range(2):
            assert runner.run(Plan(), 60).log.ending.status == 0
        assert runner.why_fresh == ""


@pytest.mark.parametrize("prefix", ["", "compiled"])
def test_a_program_whose_modules_are_compiled_first_is_forked(prefix: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").touch()
    program = write(tmp_path, "import helper\n" + THREAD)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    variables = {**described.environment, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": prefix}
    with Runner(dataclasses.replace(described, environment=variables), Settings()) as runner:
        assert runner.run(Plan(), 60).log.ending.status == 0
        assert runner.why_fresh == ""
    assert any((tmp_path / (prefix or "__pycache__")).rglob("helper.*"))


def test_a_program_without_threads_runs_fresh(tmp_path: Path) -> None:
    program = write(tmp_path, "import sys\nprint('alone')\nsys.exit(3)\n")
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        run = runner.run(Plan(), 60)
        assert (run.log.ending.status, run.output) == (3, b"alone\n")
        assert runner.why_fresh == "it starts no thread"


def test_forked_runs_that_kill_themselves_or_never_end(tmp_path: Path) -> None:
    text = "import ctypes, os, signal, sys, threading\nlock = threading.Lock()\n" + THREAD
    text += (
        "if os.environ.get('LANG') == 'wait':\n    ctypes.CDLL(None).pause()\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    program = write(tmp_path, text)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        assert runner.run(Plan(), 60).log.ending.signal == 9
        assert runner.run(Plan(), 60).log.ending.signal == 9
        assert runner.why_fresh == ""
    waiting = dataclasses.replace(described, environment={**described.environment, "LANG": "wait"})
    with Runner(waiting, Settings()) as runner:
        assert runner.run(Plan(), 1).log.ending.timed_out
        assert runner.run(Plan(), 1).log.ending.timed_out
        assert runner.why_fresh == ""


def test_handlers_for_a_fork_do_not_run(tmp_path: Path) -> None:
    text = "import os\nos.register_at_fork(before=lambda: print('before'), after_in_child=lambda: print('child'))\n"
    program = write(tmp_path, text + THREAD)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        assert runner.run(Plan(), 60).output == b"ran\n"
        assert runner.why_fresh == ""


def test_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    program = write(tmp_path, THREAD)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        runner.run(Plan(), 60)
        assert os.listdir(temporary) != []
    assert os.listdir(temporary) == []
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    assert all(b"program.py" not in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children)


TEARDOWN = """\
import threading


class Told:
    def __del__(self):
        print("gone")


def work():
    global told
    told = Told()
    {effect}


thread = threading.Thread(target=work)
thread.start()
thread.join()
print("end", flush=True)
{end}
"""


@pytest.mark.parametrize(
    ("end", "status"), [("", 0), ("raise SystemExit(3)", 3), ("int('x')", 1), ("import os; os._exit(4)", 4)]
)
def test_a_forked_run_ends_with_the_status_of_the_program(end: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(TEARDOWN.format(effect="pass", end=end))
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        run = runner.run(Plan(), 60)
        assert runner.why_fresh == ""
    assert run.log.ending.status == status
    assert run.output.startswith(b"end\n")


def test_a_forked_run_with_effects_is_taken_apart_as_usual(tmp_path: Path) -> None:
    """What a file still has in its buffer is written when the interpreter takes the file apart."""
    write = "global file; file = open('data', 'w'); file.write('buffered')"
    (tmp_path / "prog.py").write_text(TEARDOWN.format(effect=write, end=""))
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        run = runner.run(Plan(), 60)
        assert runner.why_fresh == ""
    assert (tmp_path / "data").read_text() == "buffered"
    assert run.output == b"end\ngone\n"


def test_runs_of_one_server_find_nothing_of_each_other(tmp_path: Path) -> None:
    text = """\
import os, tempfile, threading

def work():
    print(os.listdir(tempfile.gettempdir()), tempfile.gettempdir())
    tempfile.mkstemp()
    os.mkdir(tempfile.gettempdir() + "/more")

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    (tmp_path / "prog.py").write_text(text)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        outputs = {runner.run(Plan(), 60).output for _ in range(3)}
        assert runner.why_fresh == ""
    assert len(outputs) == 1
    assert outputs.pop().startswith(b"[] ")


def test_a_plan_too_long_for_a_message(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(TEARDOWN.format(effect="pass", end=""))
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    many = tuple(Trigger("0.1", time, "0") for time in range(1000, 9000))
    with Runner(program, Settings()) as runner:
        run = runner.run(Plan("replay", triggers=many), 60)
        assert runner.why_fresh == ""
    assert run.log.ending.status == 0


def test_preloaded_modules_are_there_before_the_program(tmp_path: Path) -> None:
    text = """\
import sys, threading

print("this" not in sys.modules, "antigravity" in sys.modules, "tomllib" in sys.modules)

def work():
    import tomllib

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    (tmp_path / "prog.py").write_text(text)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    settings = Settings(preload=("tomllib", "no_such_module"))
    with Runner(program, settings) as runner:
        forked = runner.run(Plan(), 60)
        assert runner.why_fresh == ""
    fresh = run_target(program, settings, Plan(), time_limit_s=60)
    assert without_seconds(forked) == without_seconds(fresh)
    assert fresh.output == b"True False True\n"
    assert any("no_such_module could not be loaded" in note for note in fresh.log.ending.notes)
    assert run_target(program, Settings(), Plan(), time_limit_s=60).output == b"True False False\n"


@pytest.mark.parametrize(
    "ending",
    [
        "pass",
        "sys.exit()",
        "sys.exit(3)",
        "sys.exit(-1)",
        "sys.exit(True)",
        "sys.exit(2**40 + 7)",
        "sys.exit('told')",
        "raise type('Own', (SystemExit,), {})(4)",
        "raise LookupError('lost')",
        "raise KeyboardInterrupt",
        "os._exit(5)",
        "os.kill(os.getpid(), 9)",
        "error = SystemExit(6); print(error.code)",
        "error = SystemExit(6); error.code = 7; raise error",
        "sys.last_value = LookupError('kept')",
        "atexit.register(print, 'at exit'); print('before', end='')",
        "atexit.register(sys.exit, 8)",
        "print('unwritten', end=''); sys.stdout.close()",
        "sys.stdout = None",
        "sys.stdout.flush = lambda: 1 / 0",
        "class Late:\n    def __del__(self): print('late')\nlate = Late(); late.itself = late; del late",
        "ctypes.CDLL(None).printf(b'kept in C')",
    ],
)
@pytest.mark.parametrize("granularity", [pytest.param("sync", marks=pytest.mark.once), "access"])
def test_a_forked_run_ends_as_a_fresh_one(granularity: str, ending: str, tmp_path: Path) -> None:
    program = write(tmp_path, f"import atexit, ctypes, os, sys\n{THREAD}{ending}\n")
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    settings = Settings(granularity=granularity)
    with Runner(described, settings) as runner:
        forked = runner.run(Plan(), 60)
        assert runner.why_fresh == ""
    fresh = run_target(described, settings, Plan(), time_limit_s=60)
    assert without_seconds(forked) == without_seconds(fresh)
    if "__del__" not in ending:  # what objects do as the last of all is not done
        assert forked.output == fresh.output


@pytest.mark.parametrize(
    "where, finalized", [("os.environ['TMPDIR']", False), ("'.'", True)], ids=["temporary", "its directory"]
)
def test_only_a_run_that_leaves_something_behind_is_finalized(where: str, finalized: bool, tmp_path: Path) -> None:
    late = "class Late:\n    def __del__(self): print('late')\nlate = Late(); late.itself = late; del late\n"
    program = write(tmp_path, f"import os\n{THREAD}open(os.path.join({where}, 'new'), 'w').close()\n{late}")
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        assert (b"late" in runner.run(Plan(), 60).output) == finalized
        assert runner.why_fresh == ""
