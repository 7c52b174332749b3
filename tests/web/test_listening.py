"""Which process listens at a port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from replay_dd.web.listening import listens

LISTEN = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); input()"


def test_a_process_and_what_it_has_started_listen(unused_port: int) -> None:
    assert listens(os.getpid(), unused_port) is None
    with socket.create_server(("127.0.0.1", unused_port)):
        assert listens(os.getpid(), unused_port) is True
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            assert listens(other.pid, unused_port) is False
    command = ["/bin/sh", "-c", f'"{sys.executable}" -c "{LISTEN}"; :']
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        assert shell.stdin is not None
        port = int(shell.stdout.readline())
        assert listens(shell.pid, port) is True
        shell.stdin.write(b"\n")
        shell.stdin.flush()
