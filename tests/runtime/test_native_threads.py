"""Threads that a library starts, and calls in which it waits, are told by the name of the library."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from replay_dd.schedules.running.time_limit import parse_stacks
from replay_dd.schedules.runtime.process import native_threads
from replay_dd.schedules.runtime.process.native_threads import NativeThread, library_name
from tests.runtime.programs import output_of, run_program

COMPILER = shutil.which("cc")
LIBRARY = """
    #include <pthread.h>
    #include <time.h>
    int nap_for(int seconds) {
        struct timespec a_while = {0, 5000000};
        for (int i = 0; i < seconds * 200; i++) nanosleep(&a_while, NULL);
        return seconds;
    }
    static void *work(void *nothing) { nap_for(1000); return nothing; }
    int begin(void) { pthread_t thread; return pthread_create(&thread, NULL, work, NULL); }
"""


def build_library(folder: Path, name: str = "libnap.so") -> None:
    (folder / "nap.c").write_text(LIBRARY)
    command = [str(COMPILER), "-shared", "-fPIC", "-O0", "-pthread", "-o", name, "nap.c"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    build_library(tmp_path)
    return tmp_path


def test_a_library_with_threads_of_its_own_is_named(folder: Path) -> None:
    text = """
        import ctypes, threading
        nap = ctypes.CDLL("./libnap.so")
        thread = threading.Thread(target=nap.begin)
        thread.start()
        thread.join()
        """
    run = run_program(folder, text)
    assert output_of(run) == ""
    assert run.log.ending.notes == ("threads of libnap.so ran outside replay-dd's control, on the real clock",)


def test_without_such_a_library_nothing_is_said(folder: Path) -> None:
    text = """
        import ctypes, threading
        nap = ctypes.CDLL("./libnap.so")
        threads = [threading.Thread(target=threading.Event().wait, args=(number,), daemon=True) for number in range(3)]
        for thread in threads:
            thread.start()
        nap.nap_for(0)
        """
    assert run_program(folder, text).log.ending.notes == ()


@pytest.mark.parametrize("who", ["main", "thread"])
def test_at_the_time_limit_the_library_that_waits_is_named(folder: Path, who: str) -> None:
    text = f"""
        import ctypes, threading
        nap = ctypes.CDLL("./libnap.so")

        def work():
            nap.nap_for(1000)

        if "{who}" == "main":
            threading.Thread(target=print, args=("ran",)).start()
            work()
        else:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        """
    run = run_program(folder, text, time_limit_s=6)
    (note,) = (note for note in run.log.ending.notes if note.startswith("at the time limit"))
    name = "the main thread" if who == "main" else "another thread"
    assert f"{name} at prog.py:6 in work" in note or f"{name} was at prog.py:6 in work" in note
    assert "in a call of libnap.so" in note
    assert "local variables" not in note


@pytest.mark.once
@pytest.mark.parametrize(
    ("libraries", "stop"),
    [
        (["numpy (libscipy_openblas64_-32a4b2a6.so)"] * 3, True),
        (["libopenblas.so.0", ""], False),
        (["libopenblas.so.0", "grpc (cygrpc.so)"], False),
        ([], False),
    ],
)
def test_threads_that_stop_for_a_fork_are_known(
    libraries: list[str], stop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = [NativeThread(os.getpid())]
    for number, library in enumerate(libraries):
        threads.append(NativeThread(os.getpid() + 1 + number))
        threads[-1].belongs_to = library
    monkeypatch.setattr(native_threads, "threads_of", lambda process, pause: threads)
    assert native_threads.all_stop_for_forks(lambda seconds: None) is stop


def test_the_names_of_libraries() -> None:
    assert library_name("/usr/lib/x86_64-linux-gnu/libzmq.so.5") == "libzmq.so.5"
    assert library_name("/venv/lib/python3.11/site-packages/grpc/_cython/cygrpc.so") == "grpc (cygrpc.so)"
    assert library_name("/venv/lib/python3.11/site-packages/pyzmq.libs/libzmq-1.so.5") == "pyzmq (libzmq-1.so.5)"


def test_stacks_are_read() -> None:
    text = (
        "Thread 0x00007f01 (most recent call first):\n"
        '  File "/a b/one.py", line 3 in work\n'
        '  File "/a b/one.py", line 9 in <module>\n'
        "\n"
        "Current thread 0x00007f02 (most recent call first):\n"
        '  File "<frozen x>", line 1 in y\n'
    )
    first, second = parse_stacks(text)
    assert (first.identity, second.identity) == (0x7F01, 0x7F02)
    assert first.frames == (("/a b/one.py", 3, "work"), ("/a b/one.py", 9, "<module>"))
    assert parse_stacks("") == []
