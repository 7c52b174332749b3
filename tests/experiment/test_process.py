"""One run of a program: its folder, its time limit, its ending, and its leftovers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.experiment.process import Command, Finished, no_leftovers, private_folder, run


def run_python(
    folder: Path, text: str, *, stdin: bytes = b"", fresh_copy: bool = False, time_limit_s: float | None = 60
) -> Finished:
    command = Command((sys.executable, "-c", text), folder, dict(os.environ), stdin, fresh_copy)
    with private_folder() as private:
        return run(command, private, time_limit_s=time_limit_s, show_output=False)


@pytest.mark.parametrize(
    "text, status, number",
    [
        ("", 0, None),
        ("raise SystemExit(9)", 9, None),
        ("import os; os._exit(255)", 255, None),
        ("import os; os.kill(os.getpid(), 9)", None, signal.SIGKILL),
        ("import os; os.kill(os.getpid(), 11)", None, signal.SIGSEGV),
    ],
)
def test_status_and_signal(text: str, status: int | None, number: int | None, tmp_path: Path) -> None:
    done = run_python(tmp_path, text)
    assert (done.status, done.signal, done.timed_out) == (status, number, False)


def test_output_and_input(tmp_path: Path) -> None:
    done = run_python(tmp_path, "import sys; print(sys.stdin.read()); print(2, file=sys.stderr)", stdin="grüß".encode())
    assert sorted(done.output.decode().split()) == ["2", "grüß"]


@pytest.mark.parametrize("text", ["while True: pass", "import time; time.sleep(1000)"])
def test_the_time_limit_ends_it(text: str, tmp_path: Path) -> None:
    done = run_python(tmp_path, f"print('begun', flush=True)\n{text}", time_limit_s=1)
    assert (done.status, done.signal, done.timed_out) == (None, None, True)
    assert done.output == b"begun\n"


def test_children_in_its_group_end_with_it(tmp_path: Path) -> None:
    done = run_python(tmp_path, "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid)")
    status = Path(f"/proc/{int(done.output)}/status")
    # It may take a moment to die, and then to be reaped; otherwise this test would never end.
    with contextlib.suppress(OSError):
        while "zombie" not in status.read_text():
            time.sleep(0.01)


def test_children_that_leave_the_group_end_with_the_command(tmp_path: Path) -> None:
    text = "import subprocess; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)"
    with no_leftovers():
        done = run_python(tmp_path, text)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.output), 0)
    assert run_python(tmp_path, "print('on')").output == b"on\n", "others can be started after it"


def test_children_from_before_a_command_are_spared(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "1000"])
    try:
        with no_leftovers():
            run_python(tmp_path, "pass")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_children_are_found_while_threads_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that has ended is still listed, as when it ended between the listing and the look at its children."""
    listdir, listings = os.listdir, []

    def list_an_ended_thread_first(path: str | Path = ".") -> list[str]:
        names = listdir(path)
        if str(path).endswith("/task"):
            listings.append(names)
            names = names if len(listings) % 2 else ["0", *names]
        return names

    text = "import subprocess; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)"
    monkeypatch.setattr(os, "listdir", list_an_ended_thread_first)
    with no_leftovers():
        done = run_python(tmp_path, text)
    monkeypatch.undo()
    assert listings
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.output), 0)


def test_temporary_files_are_its_own_and_go_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"  # elsewhere, other processes may take a name between the runs
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    text = "import tempfile; print(tempfile.mkdtemp())"
    first, second = (Path(run_python(tmp_path, text).output.decode().strip()) for _ in range(2))
    assert first != second
    assert first.parent == second.parent, "one after the other: the same place, so that nothing moves in memory"
    assert not list(place.iterdir())


def test_the_folder_goes_when_an_error_comes_through() -> None:
    folders = []

    def fail() -> None:
        with private_folder() as private:
            (private.temporary / "file").touch()
            folders.append(private.path)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [folder.exists() for folder in folders] == [False]


def test_a_fresh_copy_of_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("original")
    (tmp_path / "link").symlink_to("data")
    text = "import os; print(open('link').read(), os.path.islink('link')); open('data', 'w').write('changed')"
    for _ in range(2):
        assert run_python(tmp_path, text, fresh_copy=True).output == b"original True\n"
    assert (tmp_path / "data").read_text() == "original"


def test_addresses_are_the_same_each_time(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("addresses are fixed under Linux only")
    text = "print(id(object()), hash('text'))"
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    outputs = set()
    for _ in range(3):
        command = Command((sys.executable, "-c", text), tmp_path, environment)
        with private_folder() as private:
            outputs.add(run(command, private, time_limit_s=60, show_output=False).output)
    assert len(outputs) == 1


def test_programs_are_found_as_the_shell_finds_them(tmp_path: Path) -> None:
    script = tmp_path / "folder" / "tool"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho found\n")
    script.chmod(0o755)
    for argument, path in (("tool", str(script.parent)), ("./folder/tool", ""), (str(script), "")):
        command = Command((argument,), tmp_path, {"PATH": path})
        with private_folder() as private:
            assert run(command, private, time_limit_s=60, show_output=False).output == b"found\n"


@pytest.mark.parametrize("name", ["no-such", "./no-such", "folder", "./folder", "./text"])
def test_what_is_no_program(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no program")
    command = Command((name,), tmp_path, {"PATH": str(tmp_path)})
    with pytest.raises(ProgramNotFoundError) as error, private_folder() as private:
        run(command, private, time_limit_s=60, show_output=False)
    assert f"`{name}`" in error.value.message
    assert not private.path.exists()


def test_a_folder_that_is_just_being_removed_keeps_its_name() -> None:
    with private_folder():
        with private_folder() as first:
            # Something else removes it first, as a display does while its programs end.
            shutil.rmtree(first.path)
            second = private_folder()
            path = second.__enter__().path
            assert path != first.path
        assert path.is_dir()
        second.__exit__(None, None, None)
        assert not path.exists()
