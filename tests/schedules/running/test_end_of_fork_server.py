"""A server is closed, or gone, while a run is under way or about to begin."""

from __future__ import annotations

import marshal
import select
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from replay_dd.experiment.forked import CannotForkError, fork
from replay_dd.experiment.process import PrivateFolder
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running import program_files
from replay_dd.schedules.running.fork_server_client import ForkServer
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from tests.schedules.forking import THREAD, write
from tools.test_all_pythons import processes_in


def test_a_run_that_a_search_leaves_behind_is_neither_told_nor_made_again(tmp_path: Path) -> None:
    program = write(tmp_path, THREAD + "import time\ntime.sleep(60)\n")
    told: list[str] = []
    settings = Settings(real_clock=True)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    runner = Runner(described, settings, on_fresh=told.append)
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        left_behind = pool.submit(runner.run, Plan(), 60)
        while not left_behind.running() or not runner._servers._all:
            time.sleep(0.01)
        runner.close()
        with pytest.raises(CannotForkError):
            left_behind.result()
    assert (told, runner.why_fresh) == ([], "")
    while processes_in(tmp_path):  # the last of them is just ending; if it is not, it takes a minute
        assert time.monotonic() < began + 50
        time.sleep(0.01)


def test_a_copy_of_which_the_tool_never_heard_ends_with_its_server(tmp_path: Path) -> None:
    program = write(tmp_path, THREAD + "import time\ntime.sleep(60)\n")
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    server = ForkServer(described, Settings(real_clock=True))
    try:
        server._socket.shutdown(socket.SHUT_RD)  # it can be asked, and not answer
        with pytest.raises(CannotForkError):
            server.run(Plan(), 60)
        select.select([server._started.process.fileno()], [], [])  # it ends by itself
    finally:
        began = time.monotonic()
        server.close()
    while processes_in(tmp_path):  # as above
        assert time.monotonic() < began + 50
        time.sleep(0.01)


def test_a_server_that_is_closed_under_a_run_keeps_what_that_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write(tmp_path, THREAD + "import time\ntime.sleep(60)\n")
    settings = Settings(real_clock=True)
    server = ForkServer(describe_program((sys.executable, program.name), directory=tmp_path), settings)
    closing = threading.Thread(target=server.close)

    def close_first(folder: PrivateFolder) -> None:
        closing.start()
        while closing.is_alive() and not server.closed:
            time.sleep(0.01)
        assert folder.path.is_dir()

    monkeypatch.setattr("replay_dd.schedules.running.fork_server_client.empty_folder", close_first)
    with pytest.raises(CannotForkError):
        server.run(Plan(), 60)
    closing.join()
    with pytest.raises(CannotForkError):
        server.run(Plan(), 60)


def test_no_hashes_of_files_are_kept_when_a_search_is_over(tmp_path: Path) -> None:
    program = write(tmp_path, THREAD)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    run_target(described, Settings(), Plan(), time_limit_s=60)
    assert program_files._hash_of_version.cache_info().currsize == 0
    with Runner(described, Settings()) as runner:
        runner.run(Plan(), 60)
        assert program_files._hash_of_version.cache_info().currsize == 1
    assert program_files._hash_of_version.cache_info().currsize == 0


def test_a_run_whose_server_is_gone_has_not_reached_its_time_limit() -> None:
    """Ctrl-C ends the server: nobody is then to ask the run where its threads are."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    with ours, child:

        def serve() -> None:
            with theirs:
                theirs.recv(65536)
                theirs.send(marshal.dumps(("pid", child.pid), 4))

        server = threading.Thread(target=serve)
        server.start()
        asked: list[int] = []
        with pytest.raises(CannotForkError):
            fork(ours, b"", [], 60, asked.append)
        server.join()
    assert not asked
