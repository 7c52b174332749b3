"""The workplace of a process, and its cleanup. The tests of the commands check that they leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.experiment.guard_process import (
    MARKER,
    MARKER_TEXT,
    clean,
    remove_tree,
)
from replay_dd.experiment.process import no_leftovers, private_folder

LIMIT_S = 60


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place for temporary files, of this process and of those that it starts."""
    path = tmp_path / "place"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    monkeypatch.setattr("tempfile.tempdir", str(path))
    return path


class Others:
    """Other processes of Python that can use all of :mod:`replay_dd.experiment.process`."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []

    def start(self, text: str) -> subprocess.Popen[str]:
        head = (
            "import os, sys\nfrom replay_dd.experiment.process import *\nfrom replay_dd.experiment.guard import GUARD\n"
        )
        tail = "\nprint('done', flush=True)\nsys.stdin.read()\n"
        process = subprocess.Popen(
            [sys.executable, "-c", head + textwrap.dedent(text) + tail],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process


@pytest.fixture
def others() -> Iterator[Others]:
    made = Others()
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> list[str]:
    """What it says until it is done."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        if line == "done\n":
            return lines
        lines.append(line.strip())
    raise AssertionError(f"it ended after it said {lines}")


def wait_until_empty(folder: Path) -> None:
    until = time.monotonic() + LIMIT_S
    while list(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.01)
    assert list(folder.iterdir()) == []


def test_paths_are_as_long_as_those_of_other_temporary_folders(place: Path) -> None:
    """Paths of another length would move the memory of programs that older logs are of."""
    other = tempfile.mkdtemp(prefix="replay-dd-")
    with private_folder() as first, private_folder() as second:
        assert {len(str(first.path)), len(str(second.path))} == {len(other)}
        assert first.path != second.path
        assert first.path.parent == second.path.parent
    os.rmdir(other)


def test_the_workplace_goes_with_its_last_folder(place: Path) -> None:
    with private_folder():
        with private_folder():
            pass
        assert len(list(place.iterdir())) == 1
    assert list(place.iterdir()) == []


def test_a_command_keeps_its_workplace(place: Path) -> None:
    with no_leftovers():
        with private_folder() as first:
            pass
        with private_folder() as second:
            assert first.path.parent == second.path.parent
    assert list(place.iterdir()) == []


def test_a_workplace_that_somebody_removed_is_made_anew(place: Path) -> None:
    with no_leftovers(), private_folder() as first:
        remove_tree(first.path.parent)
        with private_folder() as second:
            assert second.path.is_dir()
    assert list(place.iterdir()) == []


def test_folders_that_are_left_do_not_use_up_the_names(place: Path) -> None:
    with private_folder() as first:
        number = int(first.path.name)
        (first.path.parent / f"{number + 1:03d}").mkdir()
        with private_folder() as second:
            assert second.path.name == f"{number + 2:03d}"


def test_low_descriptors_stay_free(place: Path, others: Others) -> None:
    """A program that is given a descriptor gets it under the number that it has here."""
    process = others.start("""
        before = os.dup(0)
        os.close(before)
        with private_folder():
            print(before, os.dup(0))
    """)
    (line,) = said(process)
    before, after = line.split()
    assert before == after


@pytest.mark.parametrize("guard", ["the first guard", "a second guard, as somebody ended the first"])
def test_killed_with_folders(guard: str, place: Path, others: Others) -> None:
    process = others.start(f"""
        first = private_folder()
        (first.__enter__().temporary / "file").touch()
        if {guard != "the first guard"}:
            (pid,) = GUARD.processes()
            os.kill(pid, signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        second = private_folder()
        second.__enter__()
    """)
    said(process)
    assert len(list(place.iterdir())) == 1
    process.kill()
    process.wait()
    wait_until_empty(place)


def test_a_forked_copy_neither_removes_nor_keeps_anything(place: Path, others: Others) -> None:
    process = others.start("""
        folder = private_folder()
        path = folder.__enter__().path
        copy = os.fork()
        if copy == 0:
            with private_folder() as other:
                print(other.path.parent != path.parent, flush=True)
            sys.exit(0)
        os.waitpid(copy, 0)
        print(path.is_dir(), flush=True)
        if os.fork() == 0:
            sys.stdin.read()  # lives on until the test is over
            os._exit(0)
    """)
    assert said(process) == ["True", "True"]
    process.kill()
    process.wait()
    wait_until_empty(place)


def test_the_guard_takes_no_signals_that_end_a_command(place: Path, others: Others) -> None:
    process = others.start("""
        folder = private_folder()
        folder.__enter__()
        for pid in GUARD.processes():
            print(pid)
    """)
    (pid,) = map(int, said(process))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        wait_until_ignored(pid, number)
        os.kill(pid, number)
    process.kill()
    process.wait()
    wait_until_empty(place)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_ignored(pid: int, number: int) -> None:
    """Whether it has started, and already ignores this signal."""
    while True:
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        if int(status["SigIgn"], 16) & 1 << number - 1:
            return
        time.sleep(0.01)


def test_a_killed_process_that_ends_later_than_its_parent_is_waited_for(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine. Only its parent identifies it: it has no environment."""
    workplace = place / "replay-dd-0123"
    workplace.mkdir()
    program = subprocess.Popen(
        ["sh", "-c", "env -i sleep 1000 & echo $!; wait"],
        env=os.environ | {"TMPDIR": str(workplace / "000")},
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        child = int(program.stdout.readline())
        kill, killed = os.kill, []

        def kill_slowly(process: int, number: int) -> None:
            if process != child or number != signal.SIGKILL:
                kill(process, number)
            elif not killed:
                killed.append(process)
                threading.Timer(0.3, kill, (process, number)).start()

        monkeypatch.setattr(os, "kill", kill_slowly)
        clean(workplace)
        # The end of what it writes to, which its child has open too, would be waited for below.
        assert not is_running(child)
    assert program.returncode == -signal.SIGKILL
    assert not workplace.exists()


def test_a_child_that_starts_while_we_search_is_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its parent identifies it: it has no environment, and leaves the session."""
    workplace = place / "replay-dd-0123"
    workplace.mkdir()
    text = """
        import signal, subprocess, sys
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        print("ready", flush=True)
        while signal.sigwait({signal.SIGUSR1}):
            print(subprocess.Popen(["env", "-i", "sleep", "1000"], start_new_session=True).pid, flush=True)
    """
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        env=os.environ | {"TMPDIR": str(workplace / "000")},
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        kill, children = os.kill, []

        def kill_after_a_start(process: int, number: int) -> None:
            if process == program.pid and not children:
                kill(process, signal.SIGUSR1)
                children.append(int(program.stdout.readline()))
                while Path(f"/proc/{children[0]}/environ").read_bytes() or not is_named(children[0], "sleep"):
                    time.sleep(0.001)
            kill(process, number)

        monkeypatch.setattr(os, "kill", kill_after_a_start)
        clean(workplace)
        monkeypatch.undo()
        left = is_running(children[0])
        if left:
            os.kill(children[0], signal.SIGKILL)
        assert not left


def is_named(process: int, name: str) -> bool:
    return Path(f"/proc/{process}/comm").read_text().strip() == name


# -- what others left behind -----------------------------------------------------------------------------------------


def test_what_a_process_left_that_ended_with_its_guard_goes_when_the_next_starts(place: Path, others: Others) -> None:
    process = others.start("""
        folder = private_folder()
        folder.__enter__()
        for pid in GUARD.processes():
            os.kill(pid, signal.SIGKILL)
    """)
    said(process)
    (left,) = place.iterdir()
    with private_folder():
        assert left.is_dir(), "its owner lives"
    process.kill()
    process.wait()
    assert left.is_dir()
    with private_folder() as mine:
        assert list(place.iterdir()) == [mine.path.parent]


def test_what_only_looks_like_a_workplace_is_spared(place: Path) -> None:
    (place / "replay-dd-0123").mkdir()
    (place / "replay-dd-4567").mkdir()
    (place / "replay-dd-4567" / MARKER).write_text("my place of work")
    (place / "replay-dd-longer").mkdir()
    (place / "replay-dd-longer" / MARKER).write_text(MARKER_TEXT)
    (place / "replay-dd-89ab").symlink_to("replay-dd-longer")
    (place / "replay-dd-cdef").touch()
    before = {path: path.is_dir() and sorted(path.iterdir()) for path in place.iterdir()}
    with private_folder():
        pass
    assert {path: path.is_dir() and sorted(path.iterdir()) for path in place.iterdir()} == before


# -- removing --------------------------------------------------------------------------------------------------------


def test_read_only_folders_are_removed(tmp_path: Path) -> None:
    """By a user who may not do everything."""
    tree = tmp_path / "tree"
    (tree / "inner" / "most").mkdir(parents=True)
    (tree / "inner" / "most" / "file").touch()
    (tree / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "kept").mkdir(mode=0o500)
    for folder, mode in ((tree / "inner" / "most", 0o500), (tree / "inner", 0), (tree, 0o500)):
        folder.chmod(mode)
    remove = "import sys; from replay_dd.experiment.guard_process import remove_tree; remove_tree(sys.argv[1])"
    command = [sys.executable, "-c", remove, str(tree)]
    if os.geteuid() == 0:
        # Root may remove everything; without that capability it is a user like any other.
        if (setpriv := shutil.which("setpriv")) is None:
            pytest.skip("setpriv (of util-linux) is not installed")
        command = [setpriv, "--inh-caps=-all", "--bounding-set=-all", *command]
    subprocess.run(command, check=True)
    assert not tree.exists()
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500
