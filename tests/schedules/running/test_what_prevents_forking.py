"""A program is not copied with what copies would share or miss; what is over or never changes does not matter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.fork_server_client import ForkServer
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program
from tests.schedules.forking import THREAD, forked_output, write

PORT = 20_000 + os.getpid() % 10_000  # other Pythons may be tested at the same time


@pytest.mark.parametrize(
    "before, reason",
    [
        (
            "import tempfile\nfile = tempfile.NamedTemporaryFile('w')\nfile.write('x')\n",
            "open before its first thread",
        ),
        ("open('written', 'w').close()\n", "it wrote"),
        ("import os, sys\nos.mkdir(sys.path[0] + f'/{os.getpid()}')\n", "it did os.mkdir"),
        ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''], input=b'')\n", " -c ` before its first"),
        ("import subprocess\nsubprocess.run(['git', '-C', '.', 'init', '-q', 'log'])\n", "it started `git -C . init"),
        ("import os\nos.system('ls > written')\n", "it started `ls > written` before"),
        (
            "import subprocess\nsubprocess.run('true; touch written', shell=True)\n",
            "it started `/bin/sh -c true; touch",
        ),
        ("import subprocess\nsubprocess.run(['mkdir', '-p', 'version'])\n", "it started `mkdir -p version"),
        ("import subprocess\nsubprocess.run(['touch', 'version'])\n", "it started `touch version"),
        (
            "import subprocess\nsubprocess.run(['git', 'diff', '--no-index', '--output=x', '.', '.'])\n",
            "it started `git diff --no-index --output=x",
        ),
        ("import subprocess\nsubprocess.run(['cat', 'x'], executable='touch')\n", "it started `cat x`"),
        (
            "import atexit, subprocess\nasked = subprocess.Popen(['tail', '-f', '/dev/null'])\n"
            "atexit.register(lambda: (asked.kill(), asked.wait()))\n",
            "a process that it started before its first thread has not been waited for",
        ),
        ("import socket\ns = socket.socket()\n", "open before its first thread"),
        (f"import socket\nsocket.socket().bind(('127.0.0.1', {PORT}))\n", f"it took port {PORT} before"),
        ("import multiprocessing\nlock = multiprocessing.get_context('fork').Lock()\n", "it shares memory"),
        ("import mmap\nmemory = mmap.mmap(-1, 10)\n", "it shares memory"),
        (
            "import mmap, os\nfile = os.memfd_create('libffi')\nos.write(file, b' ' * 10)\n"
            "memory = mmap.mmap(file, 10)\n",
            "it shares memory",
        ),
    ],
    ids=[
        *(
            "temporary file",
            "written file",
            "made directory",
            "child process",
            "repository made",
            "shell",
            "more than a question",
            "directory called version",
            "file called version",
            "answer in a file",
            "another name",
            "process not waited for",
            "socket",
        ),
        *("port", "semaphore", "memory", "memory of libffi"),
    ],
)
def test_what_copies_would_share_or_miss_is_done_by_each_copy(before: str, reason: str, tmp_path: Path) -> None:
    program = write(tmp_path, before + THREAD)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    server = ForkServer(described, Settings())
    try:
        assert reason in server.refusal
        server.run_itself(Plan(), 60)
    finally:
        server.close()
    with Runner(described, Settings()) as runner:
        for _ in range(3):
            run = runner.run(Plan(), 60)
            assert run.log.ending.status == 0
            assert run.output == b"ran\n"
        assert not runner.why_fresh


@pytest.mark.parametrize(
    "before",
    [
        "file = open('program.py')\n",
        "import socket\nwith socket.socket() as s: s.bind(('127.0.0.1', 0))\n",
        "import socket\nwith socket.socket(type=socket.SOCK_DGRAM) as s: s.connect(('127.0.0.1', 9))\n",
        "import mmap, os\nfile = os.memfd_create('libffi')\nos.write(file, b'code')\n"
        "code = mmap.mmap(file, 4, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)\n",
        "import ctypes.util\nctypes.util.find_library('pthread')\n",  # asks another program
        "import subprocess, sys\nsubprocess.run(['git', '-C', '.', '--no-pager', 'rev-parse', '--git-dir'])\n"
        "subprocess.run([sys.executable, '--version'], capture_output=True)\n"
        "subprocess.check_output('uname')\n",
        "import os\nos.makedirs('.', exist_ok=True)\nif os.path.exists('nowhere'): os.remove('nowhere')\n"
        "try:\n    os.remove('nowhere')\nexcept OSError:\n    pass\n",
        "import sqlite3\ndatabase = sqlite3.connect(':memory:')\ndatabase.execute('CREATE TABLE told (word TEXT)')\n",
        "import sqlite3, tempfile\nsqlite3.connect(tempfile.mkdtemp() + '/kept').close()\n",
    ],
    ids=[
        "file to be read",
        *("probe of IPv6, as in urllib3", "probe of the own address", "code of libffi", "look-up of a library"),
        *("questions to programs", "what is there, and what is not"),
        *("database in memory", "temporary database"),
    ],
)
def test_what_is_over_or_never_changes_does_not_prevent_forking(before: str, tmp_path: Path) -> None:
    assert forked_output(tmp_path, before + THREAD) == [["ran"]] * 2


def test_words_of_a_command_that_the_program_tells_are_not_asked_for(tmp_path: Path) -> None:
    """Observing never runs the program's code."""
    text = """
import subprocess
class Words:
    told = 0
    def __fspath__(self):
        Words.told += 1
        return "true"
subprocess.run([Words(), "x"])
"""
    told = subprocess.run(
        [sys.executable, "-c", text + "print(Words.told)"], capture_output=True, text=True, check=True
    ).stdout
    program = write(tmp_path, text + THREAD.replace("'ran'", "Words.told"))
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        assert runner.run(Plan(), 60).output.decode() == told


@pytest.mark.parametrize("ends", ["", "listener.shutdown(socket.SHUT_RDWR)", "listener.setblocking(False)"])
def test_each_copy_finds_a_listening_socket_as_new(ends: str, tmp_path: Path) -> None:
    """The second connection is never accepted; the next copy must not meet it."""
    text = f"""
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
connections = []
def connect():
    for text in (b"first", b"second"):
        connections.append(socket.create_connection(listener.getsockname()))
        connections[-1].sendall(text)
thread = threading.Thread(target=connect)
thread.start()
accepted, _ = listener.accept()
print(accepted.recv(100).decode(), listener.getblocking())
thread.join()
{ends}
"""
    assert forked_output(tmp_path, text) == [["first", "True"]] * 2


@pytest.mark.parametrize("again", ["", "socket.create_server(address).close()"])
def test_nobody_listens_at_a_socket_that_a_copy_has_closed(again: str, tmp_path: Path) -> None:
    """Its address, which the program keeps, is the same for the next copy."""
    text = f"""
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
address = listener.getsockname()
def connect():
    socket.create_connection(address, timeout=60).close()
thread = threading.Thread(target=connect)
thread.start()
thread.join()
kept = listener.dup()
listener.close()
connect()
kept.close()
try:
    connect()
except ConnectionRefusedError:
    print("refused")
{again}
"""
    assert forked_output(tmp_path, text) == [["refused"]] * 2


def test_a_server_needs_no_more_descriptors_for_more_runs(tmp_path: Path) -> None:
    """Where so few are allowed that those of the runtime cannot have high numbers."""
    (tmp_path / "program.py").write_text(THREAD)
    script = """
import resource, sys
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import Plan, describe_program

resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
with Runner(describe_program((sys.executable, "program.py")), Settings()) as runner:
    for _ in range(40):
        assert runner.run(Plan(), 60.0).log.ending.status == 0
    assert not runner.why_fresh, runner.why_fresh
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, timeout=120)
