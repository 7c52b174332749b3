"""What is left when the command is killed at once (SIGKILL): nothing, after a moment."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from replay_dd.web.browser import EXECUTABLES
from tests.cli.tool import RACE, Workshop
from tests.web.flows import serving

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes in /proc"),
]

# Does all it can to stay: ignores what may be ignored, and has children that have left it or its environment.
STAYING = """
    import os, pathlib, signal, subprocess, threading
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    if not os.path.exists(os.environ["GO_ON"]):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        stay = ["sh", "-c", "trap '' TERM HUP INT; sleep 1000; true"]
        children = [
            subprocess.Popen(stay),
            subprocess.Popen(stay, start_new_session=True),
            subprocess.Popen(["env", "-i", "sleep", "1000"], start_new_session=True),
        ]
        with open(os.environ["CHILDREN"], "a") as file:
            file.write("".join(f"{child.pid}\\n" for child in children))
        pathlib.Path(os.environ["BEGUN"]).touch()
        WAIT
    print("all there")
"""
WAITS = {"computes": "while True: pass", "sleeps": "children[0].wait()"}
LIMIT_S = 120


@pytest.fixture
def staying(shop: Workshop) -> Workshop:
    shop.variables = {name: str(shop.folder.parent / name.lower()) for name in ("BEGUN", "GO_ON", "CHILDREN")}
    shop.write(STAYING.replace("WAIT", WAITS["computes"]))
    return shop


def kill(shop: Workshop, *command: str | Path) -> None:
    """Kill a command when its program has begun; nothing may be left."""
    process = shop.start(*command)
    try:
        shop.wait_for(Path(shop.variables["BEGUN"]), process)
        assert shop.processes()
        process.kill()
        process.wait()
        wait_until_clean(shop)
        assert not [child for child in children_of(shop) if is_running(child)]
    finally:
        process.kill()
        end_children(shop)
        process.communicate()


def children_of(shop: Workshop) -> list[str]:
    noted = Path(shop.variables["CHILDREN"])
    return noted.read_text().split() if noted.exists() else []


def end_children(shop: Workshop) -> None:
    """Where a test fails, they must not live on with what we read from."""
    for child in children_of(shop):
        with contextlib.suppress(OSError):
            os.kill(int(child), signal.SIGKILL)


def wait_until_clean(shop: Workshop) -> None:
    until = time.monotonic() + LIMIT_S
    while (shop.processes() or list(shop.temporary.iterdir())) and time.monotonic() < until:
        time.sleep(0.02)
    shop.check_clean()


def is_running(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("wait", WAITS)
def test_a_fresh_run(staying: Workshop, wait: str) -> None:
    staying.write(STAYING.replace("WAIT", WAITS[wait]))
    kill(staying, "record", "-o", "a.log", *staying.program())
    assert not (staying.folder / "a.log").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_fork_server_and_its_copy(staying: Workshop, jobs: str) -> None:
    kill(staying, "hunt", "--jobs", jobs, *staying.program())


def test_tests_of_pytest(staying: Workshop) -> None:
    text = STAYING.replace("WAIT", WAITS["computes"]).replace("\n", "\n    ")
    staying.write("def test_it():" + text, "test_it.py")
    kill(staying, "record", "--fresh-copy", "-o", "a.log", "--", "pytest", "-p", "no:cacheprovider", "test_it.py")


def test_a_replay(staying: Workshop) -> None:
    go_on = Path(staying.variables["GO_ON"])
    go_on.touch()
    assert staying.run("record", "-o", "a.log", *staying.program()).status == 0
    go_on.unlink()
    kill(staying, "replay", "a.log")


@pytest.mark.parametrize("command", [("schedules", "found/pass.log", "found/fail.log"), ("minimize", "found/fail.log")])
def test_a_search(staying: Workshop, command: tuple[str, ...]) -> None:
    Path(staying.variables["GO_ON"]).touch()
    text = STAYING.replace("WAIT", WAITS["computes"]).replace('print("all there")', RACE.replace("\n", "\n    "))
    staying.write(text)
    assert staying.run("hunt", "--no-simplify", "-o", "found", *staying.program()).status == 0
    Path(staying.variables["GO_ON"]).unlink()
    kill(staying, *command, "--jobs", "2", "-o", "best")


def test_a_command_that_starts_later_cleans_up_where_the_guard_was_killed_too(staying: Workshop) -> None:
    """As when the power goes, but that a program even lives on."""
    process = staying.start("record", "-o", "a.log", *staying.program())
    try:
        staying.wait_for(Path(staying.variables["BEGUN"]), process)
        (guard,) = (
            int(found.name)
            for found in Path("/proc").iterdir()
            if found.name.isdigit() and is_guard_of(found, staying.temporary)
        )
        os.kill(guard, signal.SIGKILL)
        process.kill()
        process.wait()
        assert staying.processes()
        (left,) = staying.temporary.iterdir()
        staying.write("import threading\nthreading.Thread(target=int).start()\n", "other.py")
        # run() checks that nothing is left.
        assert staying.run("record", "-o", "b.log", *staying.program(name="other.py")).status == 0
        assert not left.exists()
    finally:
        process.kill()
        end_children(staying)
        process.communicate()


def is_guard_of(process: Path, temporary: Path) -> bool:
    try:
        line = (process / "cmdline").read_bytes()
    except OSError:
        return False
    return b"guard_process.py\0" + os.fsencode(temporary) in line


@pytest.mark.skipif(not any(map(shutil.which, EXECUTABLES)), reason="NO CHROMIUM: no flow is played")
@pytest.mark.parametrize("depth", [0, 5])
def test_a_browser(shop: Workshop, tmp_path: Path, depth: int) -> None:
    # Where the path is too long for the browser, its folder lies elsewhere.
    shop.temporary = shop.temporary.joinpath(*["a-long-name-of-a-folder"] * depth)
    shop.temporary.mkdir(parents=True, exist_ok=True)
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text("<button>go</button>", encoding="utf-8")
    with serving(site) as address:
        steps = [
            {"type": "navigate", "url": f"{address}/page.html"},
            {"type": "waitForElement", "selectors": [["#never"]], "timeout": 30_000},
        ]
        shop.write(json.dumps({"title": "Waiting", "steps": steps}), "flow.json")
        process = shop.start("replay", "flow.json")
        try:
            while not (folders := folders_of_browser(processes := descendants(process.pid))):
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
        finally:
            process.kill()
            process.communicate()
        until = time.monotonic() + LIMIT_S
        while any(map(is_running, processes)) and time.monotonic() < until:
            time.sleep(0.02)
        assert not [one for one in processes if is_running(one)]
        wait_until_clean(shop)
        while any(map(os.path.exists, folders)) and time.monotonic() < until:
            time.sleep(0.02)
        assert not [folder for folder in folders if os.path.exists(folder)]


def descendants(process: int | str) -> list[str]:
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [child, *descendants(child)]
    return found


def folders_of_browser(processes: list[str]) -> set[str]:
    """The folders for temporary files of these processes, when one of them shows a page."""
    found, shows = set(), False
    for process in processes:
        with contextlib.suppress(OSError):
            # Processes that show pages write over what they were given.
            shows |= b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes()
            for variable in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                if variable.startswith(b"TMPDIR="):
                    found.add(os.fsdecode(variable.removeprefix(b"TMPDIR=")))
    return found if shows else set()
