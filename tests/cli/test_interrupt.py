"""Ctrl-C, and what is left of runs that do their best to leave something."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.bisect.repository import Repository
from tests.cli.tool import RACE, Workshop

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes in /proc")

# Each run says that it has begun, and computes until somebody makes a file.
SLOW = """
    import os, pathlib, threading
    begun = pathlib.Path(os.environ["BEGUN"])
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    begun.touch()
    while not pathlib.Path(os.environ["GO_ON"]).exists():
        pass
"""


@pytest.fixture
def slow(shop: Workshop) -> Workshop:
    shop.variables = {"BEGUN": str(shop.folder / "begun"), "GO_ON": str(shop.folder / "go-on")}
    shop.write(SLOW)
    return shop


@pytest.mark.parametrize(
    "command", [("record", "-o", "a.log"), ("hunt", "--jobs", "1"), ("hunt", "--jobs", "2", "--runs", "9")]
)
def test_ctrl_c_while_the_first_run_goes_on(command: tuple[str, ...], slow: Workshop) -> None:
    process = slow.start(*command, *slow.program())
    slow.wait_for(slow.folder / "begun", process)
    slow.interrupt(process).refused(130, "interrupted")


def test_ctrl_c_in_replay(slow: Workshop) -> None:
    (slow.folder / "go-on").touch()
    assert slow.run("record", "-o", "a.log", *slow.program()).status == 0
    (slow.folder / "go-on").unlink()
    (slow.folder / "begun").unlink()
    process = slow.start("replay", "a.log")
    slow.wait_for(slow.folder / "begun", process)
    slow.interrupt(process).refused(130, "interrupted")


@pytest.mark.parametrize(("jobs", "passing"), [("1", 1), ("1", 4), ("1", 7), ("2", 7)])
def test_ctrl_c_in_the_middle_of_a_hunt(jobs: str, passing: int, shop: Workshop) -> None:
    """Later runs hang; the workers that wait for them must not keep the command from ending."""
    shop.variables = {"PASSING": str(passing), "COUNT": str(shop.folder / "count"), "BEGUN": str(shop.folder / "begun")}
    shop.write(
        """
        import os, pathlib, threading
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
        with open(os.environ["COUNT"], "a") as file:
            file.write("x")
        while os.path.getsize(os.environ["COUNT"]) > int(os.environ["PASSING"]):
            pathlib.Path(os.environ["BEGUN"]).touch()
        """
    )
    process = shop.start("hunt", "--fresh-copy", "--jobs", jobs, "-o", "out", *shop.program())
    shop.wait_for(shop.folder / "begun", process)
    done = shop.interrupt(process)
    assert done.status == 130
    assert "replay-dd: interrupted after" in done.stderr
    assert "Traceback" not in done.stderr
    # The best so far: the first run passed.
    assert (shop.folder / "out" / "pass.log").exists()


# -- in the middle of an isolation -----------------------------------------------------------------------------------

HOLDING = RACE.replace("import threading\n", "import os, pathlib, threading\n").replace(
    "if account.balance",
    """\
with open(os.environ["COUNT"], "a") as file:
    file.write("x")
number = os.path.getsize(os.environ["COUNT"])
while number > int(open(os.environ["FREE"]).read()):
    pathlib.Path(os.environ["BEGUN"]).touch()
if account.balance""",
    1,
)


@pytest.fixture
def holding(shop: Workshop) -> Workshop:
    """Logs of the race in a program whose runs hang after as many as the file ``FREE`` says."""
    outside = shop.folder.parent
    shop.variables = {name: str(outside / name.lower()) for name in ("COUNT", "BEGUN", "FREE")}
    hold_after(shop, 100_000)
    shop.write(HOLDING)
    hunted = shop.run("hunt", "--no-simplify", "--jobs", "2", "-o", "found", *shop.program())
    assert hunted.status == 0, hunted.stderr
    return shop


def runs_of(shop: Workshop) -> int:
    count = Path(shop.variables["COUNT"])
    return count.stat().st_size if count.exists() else 0


def hold_after(shop: Workshop, runs: int) -> None:
    Path(shop.variables["FREE"]).write_text(str(runs_of(shop) + runs))


def test_ctrl_c_while_a_hunt_simplifies(holding: Workshop) -> None:
    """Both runs are found: their logs must not be lost."""
    often = "    for _ in range(9):\n        account.late = 1\n    account.balance = before + 1"
    text = HOLDING.replace("    account.balance = before + 1", often)
    holding.write(text.replace("range(2)", "range(6)").replace("balance != 2", "balance != 6"))
    command = ("hunt", "--strategy", "random", "--jobs", "1", "-o")
    runs = []
    for options in (("whole", "--no-simplify"), ("whole",)):
        before = runs_of(holding)
        assert holding.run(*command, *options, *holding.program()).status == 0
        runs.append(runs_of(holding) - before)
    found, simplified = runs
    for number in (found, (found + simplified) // 2):
        folder = f"stopped-{number}"
        hold_after(holding, number)
        process = holding.start(*command, folder, *holding.program())
        holding.wait_for(holding.folder.parent / "begun", process)
        done = holding.interrupt(process)
        (holding.folder.parent / "begun").unlink()
        hold_after(holding, 100_000)
        assert done.status == 130, done.stderr
        assert "Traceback" not in done.stderr
        assert holding.run("replay", f"{folder}/pass.log").status == 0
        assert holding.run("replay", f"{folder}/fail.log").status == 1
    assert simplified > found, "nothing is tested"


@pytest.mark.once
def test_ctrl_c_while_the_hunt_of_a_bisection_simplifies(holding: Workshop) -> None:
    """The failure is found, and no commit has been tested."""
    often = "    for _ in range(9):\n        account.late = 1\n    account.balance = before + 1"
    text = HOLDING.replace("    account.balance = before + 1", often)
    holding.write(text.replace("range(2)", "range(6)").replace("balance != 2", "balance != 6"))
    repository = Repository(holding.folder)
    for number in range(4):
        repository.git("commit", "--quiet", "--allow-empty", "--message", f"Step {number}")
    runs = []
    for options in (("--no-simplify",), ()):
        before = runs_of(holding)
        hunted = holding.run("hunt", "--runs", "200", "--jobs", "1", "-o", "whole", *options, *holding.program())
        assert hunted.status == 0, hunted.stderr
        runs.append(runs_of(holding) - before)
    hold_after(holding, sum(runs) // 2)
    process = holding.start("bisect", "HEAD~3", "HEAD", "--jobs", "1", "--json", *holding.program())
    holding.wait_for(holding.folder.parent / "begun", process)
    done = holding.interrupt(process)
    assert done.status == 130, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["ended_by"], answer["untested"]) == ("interrupted", ["HEAD", "HEAD~3"])
    assert (len(answer["suspects"]), answer["tested"], answer["log"]) == (3, [], "guilty.log")
    hold_after(holding, 100_000)
    assert holding.run("replay", "guilty.log").status == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_in_the_middle_of_schedules(jobs: str, holding: Workshop) -> None:
    # The first runs replay each log twice; then the search begins.
    hold_after(holding, 4)
    # The limit is far away: workers must not wait for runs that hang.
    limit = ("--time-limit", "3600")
    command = ("schedules", "found/pass.log", "found/fail.log", "--jobs", jobs, *limit, "--json", "-o", "best")
    process = holding.start(*command)
    holding.wait_for(holding.folder.parent / "begun", process)
    done = holding.interrupt(process)
    assert done.status == 130, done.stderr
    assert "Traceback" not in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["complete"], answer["stopped_by"], answer["proof"]["holds"]) == (False, "interrupt", False)
    hold_after(holding, 100_000)
    assert holding.run("replay", "best/minimal-pass.log").status == 0
    assert holding.run("replay", "best/minimal-fail.log").status == 1


@pytest.mark.once
def test_ctrl_c_while_the_logs_are_checked(holding: Workshop) -> None:
    hold_after(holding, 1)
    process = holding.start("schedules", "found/pass.log", "found/fail.log", "-o", "best")
    holding.wait_for(holding.folder.parent / "begun", process)
    holding.interrupt(process).refused(130, "interrupted")
    assert not (holding.folder / "best").exists()


@pytest.mark.once
def test_ctrl_c_when_the_search_is_over(holding: Workshop) -> None:
    """The answer is there, only its proof or its window is not: it must not be lost."""
    before = runs_of(holding)
    command = ("schedules", "found/pass.log", "found/fail.log", "--jobs", "1", "-o")
    whole = holding.run(*command, "whole", "--json")
    assert whole.status == 0, whole.stderr
    runs, searched = runs_of(holding) - before, json.loads(whole.stdout)["tests"]["run"]
    statuses = set()
    # Each of the two logs is replayed once more than it counts as a test. No part of the rest has less than three runs.
    for number in (*range(searched + 2, runs - 1, 3), runs - 1):
        hold_after(holding, number)
        process = holding.start(*command, f"best-{number}")
        holding.wait_for(holding.folder.parent / "begun", process)
        done = holding.interrupt(process)
        (holding.folder.parent / "begun").unlink()
        assert "Traceback" not in done.stderr
        statuses.add((done.status, (holding.folder / f"best-{number}" / "minimal-fail.log").exists()))
    assert statuses == {(130, True)}


@pytest.mark.once
def test_ctrl_c_in_the_middle_of_minimize(holding: Workshop) -> None:
    hold_after(holding, 1)
    process = holding.start("minimize", "found/fail.log", "--jobs", "1", "-o", "best.log")
    holding.wait_for(holding.folder.parent / "begun", process)
    done = holding.interrupt(process)
    assert done.status == 130, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.once
@pytest.mark.parametrize(
    "command, written",
    [
        (("schedules", "found/pass.log", "found/fail.log", "--jobs", "1", "-o", "best"), "best/minimal-fail.log"),
        (("minimize", "found/fail.log", "--jobs", "1", "-o", "best.log"), "best.log"),
    ],
    ids=["schedules", "minimize"],
)
def test_a_second_ctrl_c_does_not_cost_the_best_so_far(
    command: tuple[str, ...], written: str, holding: Workshop
) -> None:
    """It comes while the answer is printed, into a pipe that is full."""
    hold_after(holding, 4)
    reads, writes = os.pipe()
    filled = b"x" * fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writes, filled)
    process = holding.start(*command, stdout=writes)
    os.close(writes)
    holding.wait_for(holding.folder.parent / "begun", process)
    process.send_signal(signal.SIGINT)
    holding.wait_for(holding.folder / written, process)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    # It is written by the handler of the signal.
    while "Ctrl-C once more leaves without it" not in (line := process.stderr.readline()):
        assert line, "the command has ended"
    with open(reads, "rb") as file:
        told = file.read()[len(filled) :].decode()
    _, said = process.communicate(timeout=60)
    holding.check_clean()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "the search was stopped by Ctrl-C; this is the best result so far" in told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_that_end_the_command_leave_nothing(number: int, slow: Workshop) -> None:
    """`timeout 60 replay-dd ...`, or a terminal that is closed."""
    process = slow.start("record", "-o", "a.log", *slow.program(), stdout=subprocess.DEVNULL)
    slow.wait_for(slow.folder / "begun", process)
    process.send_signal(number)
    try:
        process.wait(timeout=60)
        slow.check_clean()
    finally:
        (slow.folder / "go-on").touch()
        process.communicate(timeout=60)


# -- programs that leave something -----------------------------------------------------------------------------------

LEAVING = {
    "a child in the background": "subprocess.Popen(['sleep', '1000'])",
    "a child in a session of its own": "subprocess.Popen(['sleep', '1000'], start_new_session=True)",
    "a daemon": """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        os.execvp("sleep", ["sleep", "1000"])
    os._exit(0)
os.wait()
""",
    "a daemon that ignores signals": """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "1000"])
    os._exit(0)
os.wait()
""",
    "a family": "subprocess.Popen(['sh', '-c', 'sleep 1000 & setsid sleep 1000 & sleep 1000'])",
    "temporary files": "tempfile.mkstemp(); os.makedirs(os.path.join(tempfile.mkdtemp(), 'a', 'b'))",
    "a read-only folder": "f = tempfile.mkdtemp(); open(f + '/x', 'w').close(); os.chmod(f, 0o500)",
    "a pipe": "os.mkfifo(tempfile.mkdtemp() + '/pipe')",
}


ENDINGS = ("os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)")


@pytest.mark.parametrize("name, ending", [*((name, "") for name in LEAVING), *(("a daemon", one) for one in ENDINGS)])
def test_nothing_outlives_a_command(name: str, ending: str, shop: Workshop) -> None:
    imports = "import os, signal, subprocess, tempfile, threading"
    shop.write(f"{imports}\nthreading.Thread(target=int).start()\n{LEAVING[name]}\n{ending}\n")
    # run() checks that no process and no file is left.
    assert shop.run("record", "--no-verify", "-o", "a.log", *shop.program()).status == 0


@pytest.mark.once
def test_programs_that_run_at_the_same_time_do_not_share_a_place_for_files(shop: Workshop) -> None:
    shop.write("""
        import os, sys, tempfile, threading, time
        threading.Thread(target=int).start()
        print(tempfile.gettempdir(), flush=True)
        if sys.argv[1:]:
            open("begun", "w").close()
            while not os.path.exists("go-on"):
                time.sleep(0.01)
    """)
    (shop.folder / "go-on").touch()
    alone = shop.run("record", "--no-verify", "-o", "a.log", *shop.program("wait")).stdout
    (shop.folder / "begun").unlink()
    (shop.folder / "go-on").unlink()
    waiting = shop.start("record", "--no-verify", "--real-clock", "-o", "b.log", *shop.program("wait"))
    try:
        shop.wait_for(shop.folder / "begun", waiting)
        arguments = ["record", "--no-verify", "-o", "c.log", *shop.program()]
        done = shop.start(*arguments)
        beside, _ = done.communicate(timeout=60)
    finally:
        (shop.folder / "go-on").touch()
        first, _ = waiting.communicate(timeout=60)
    assert (first, len(first)) == (alone, len(beside)), "paths of the same length, so that nothing moves in memory"
    assert first != beside
    assert subprocess.run(["test", "-e", first.strip()]).returncode == 1
    shop.check_clean()
