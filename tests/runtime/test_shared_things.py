"""What runs at the same time would fight over is told: files outside their private folder, and ports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Ending
from replay_dd.schedules.running.parallel_runs import usable_jobs, why_one_at_a_time
from tests.runtime.programs import output_of, run_command, run_program

THREAD = "import threading\nt = threading.Thread(target=work)\nt.start()\nt.join()\n"


def ending_of(folder: Path, statement: str, before: str = "") -> Ending:
    (folder / "prog.py").write_text(f"import os\n{before}\ndef work():\n    {statement}\n{THREAD}")
    run = run_command(folder, (sys.executable, "prog.py"))
    assert run.log.ending.status == 0, run.log.ending
    return run.log.ending


@pytest.mark.parametrize(
    "statement",
    [
        "open('old', 'a').close()",
        "open(b'old', 'ab').close()",
        "os.remove('old')",
        "os.rename('old', 'new')",
        "os.mkdir('new')",
        "__import__('pathlib').Path('new').touch()",
        "__import__('shutil').copy('prog.py', 'new')",
        "__import__('sqlite3').connect('new').close()",
        "__import__('sqlite3').connect(__import__('pathlib').Path('new')).close()",
        "__import__('sqlite3').connect('file:new?cache=shared', uri=True).close()",
        "__import__('dbm.dumb').dumb.open('new', 'c').close()",
        "os.remove('old', dir_fd=os.open('.', os.O_RDONLY))",
    ],
)
def test_changes_in_the_working_directory(statement: str, tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    ending = ending_of(tmp_path, statement)
    assert (ending.writes_files, ending.exclusive) == (True, "")


@pytest.mark.parametrize(
    "statement",
    [
        "open('old').close()",
        "open(os.devnull, 'w').close()",
        "os.listdir()",
        "__import__('tempfile').TemporaryFile().close()",
        # Which removes a file by its name in an open folder.
        "import shutil, tempfile; place = tempfile.mkdtemp(); open(place + '/x', 'w').close(); shutil.rmtree(place)",
        "__import__('sqlite3').connect(':memory:').close()",
        "__import__('sqlite3').connect('file:x?mode=memory', uri=True).close()",
        "__import__('sqlite3').connect('').close()",
        "__import__('socket').create_server(('127.0.0.1', 0)).close()",
        "__import__('other')",
    ],
)
def test_what_disturbs_nobody(statement: str, tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    (tmp_path / "other.py").touch()
    ending = ending_of(tmp_path, statement, "import sys; sys.dont_write_bytecode = False")
    assert (ending.writes_files, ending.exclusive) == (False, "")


@pytest.mark.parametrize("what", ["open({path!r}, 'w').close()", "__import__('sqlite3').connect({path!r}).close()"])
def test_a_file_elsewhere(what: str, tmp_path: Path) -> None:
    path = str(tmp_path / "elsewhere")
    (tmp_path / "here").mkdir()
    ending = ending_of(tmp_path / "here", what.format(path=path))
    assert (ending.writes_files, ending.exclusive) == (False, path)


def test_a_port_of_its_own_choice(tmp_path: Path, unused_port: int) -> None:
    ending = ending_of(tmp_path, f"__import__('socket').create_server(('127.0.0.1', {unused_port})).close()")
    assert (ending.writes_files, ending.exclusive) == (False, f"port {unused_port}")


def test_a_port_is_free_again_at_once(tmp_path: Path, unused_port: int) -> None:
    """The side that closes first keeps it for a minute, unless it asks not to."""
    text = f"""
        import socket, threading
        listener = socket.socket()
        listener.bind(("127.0.0.1", {unused_port}))
        listener.listen()
        def ask():
            with socket.create_connection(listener.getsockname()) as connection:
                connection.recv(1)
        thread = threading.Thread(target=ask)
        thread.start()
        listener.accept()[0].close()
        thread.join()
        print("served")
        """
    for _ in range(2):
        assert output_of(run_program(tmp_path, text)) == "served\n"


def test_runs_that_would_fight_are_made_one_at_a_time(tmp_path: Path) -> None:
    for statement, reason in (
        ("open('new', 'w').close()", "the program writes files in its working directory"),
        (f"open({str(tmp_path / 'new')!r}, 'w').close()", f"the program uses {tmp_path / 'new'}"),
    ):
        folder = tmp_path / reason[-3:]
        folder.mkdir()
        (folder / "prog.py").write_text(f"def work():\n    {statement}\n{THREAD}")
        log = run_command(folder, (sys.executable, "prog.py")).log
        assert why_one_at_a_time(log).startswith(reason)
        assert usable_jobs(log, 4) == 1
