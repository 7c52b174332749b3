"""What the guard removes outside of the workplace: locks, sockets, names in the system."""

from __future__ import annotations

import _posixshmem  # type: ignore[import-not-found]  # of C, without stubs
import os
import socket
import subprocess
from pathlib import Path

import pytest

from replay_dd.experiment import guard_process
from replay_dd.experiment.guard_process import SYSTEM_NAMES, clean, remove_lock, remove_socket


def test_locks_are_removed_if_they_are_of_that_process(tmp_path: Path) -> None:
    for name, text in (("its", "       17\n"), ("other", "18\n"), ("no-number", "seventeen")):
        (tmp_path / name).write_text(text)
        remove_lock(str(tmp_path / name), 17)
    remove_lock(str(tmp_path / "missing"), 17)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["no-number", "other"]


def test_sockets_are_removed_if_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # paths of sockets must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("address")
        server.listen()
        remove_socket("address")
        assert Path("address").exists()
    remove_socket("address")
    assert not Path("address").exists()
    remove_socket("missing")


def test_names_in_the_system_go_with_the_folder_that_tells_of_them(tmp_path: Path) -> None:
    """Only those still registered: one was unregistered, and another is of an unknown kind."""
    folder = tmp_path / "000"
    folder.mkdir()
    gone, given_up, unknown = (shared_memory_named(word) for word in ("gone", "given-up", "unknown"))
    (folder / SYSTEM_NAMES).write_text(
        f"REGISTER:{given_up}:shared_memory\nREGISTER:{gone}:shared_memory\nUNREGISTER:{given_up}:shared_memory\n"
        f"REGISTER:{unknown}:something\nREGISTER:/never-made:semaphore\nREGISTER:"
    )
    clean(tmp_path)
    assert not tmp_path.exists()
    with pytest.raises(FileNotFoundError):
        _posixshmem.shm_unlink(gone)
    for name in (given_up, unknown):
        _posixshmem.shm_unlink(name)


def shared_memory_named(word: str) -> str:
    name = f"/replay-dd-{word}-{os.urandom(4).hex()}"
    os.close(_posixshmem.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600))
    return name


def test_a_socket_that_the_system_leaves_out_at_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        path = f"/tmp/.X11-unix/X{os.getpid()}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        server.bind(path)
        child = subprocess.Popen(["sleep", "60"], pass_fds=[server.fileno()], start_new_session=True)
        complete = guard_process._listed_sockets(child.pid)
        without = {name: listed for name, listed in complete.items() if listed != path}
        listings = iter([without, without, complete])
        monkeypatch.setattr(guard_process, "_listed_sockets", lambda process: next(listings))
        try:
            assert guard_process.halted_sockets(child.pid) == [path]
        finally:
            child.kill()
            child.wait()
            os.unlink(path)
