"""A log says to which servers its run was connected, and a replay without them says what is missing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.schedules.replaying.replay import find_divergence
from tests.runtime.programs import output_of, replayed, run_program

ASKS = """
    import socket, sys, threading

    def ask():
        with socket.create_connection(("127.0.0.1", {port}), timeout=60) as own:
            own.sendall(b"hi")
            print(own.recv(2))

    for _ in range(2):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    """


class Server:
    """Answers each connection with what it was sent, until it is closed."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                said = connection.recv(2)
                if said == b"":
                    return
                connection.sendall(said)

    def close(self) -> None:
        if self._thread.is_alive():
            socket.create_connection(("127.0.0.1", self.port)).close()
            self._thread.join()
            self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


def test_servers_are_noted_once(tmp_path: Path, server: Server) -> None:
    run = run_program(tmp_path, ASKS.format(port=server.port))
    assert output_of(run) == "b'hi'\nb'hi'\n"
    assert run.log.ending.notes == (f"connected to 127.0.0.1:{server.port}",)
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"


def test_a_server_that_is_gone_explains_the_divergence(tmp_path: Path, server: Server) -> None:
    run = run_program(tmp_path, ASKS.format(port=server.port))
    server.close()
    divergence = str(find_divergence(run.log, replayed(run.log).log))
    assert f"the recorded run connected to 127.0.0.1:{server.port}, which now fails: Connection refused" in divergence


def test_a_server_of_the_program_itself_is_no_outside(tmp_path: Path) -> None:
    text = """
        import socket, threading

        listener = socket.create_server(("127.0.0.1", 0))

        def serve():
            connection, _ = listener.accept()
            connection.sendall(b"hi")
            connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        with socket.create_connection(listener.getsockname()) as own:
            print(own.recv(2))
        thread.join()
        """
    assert run_program(tmp_path, text).log.ending.notes == ()


def test_a_child_may_accept_what_connects_to_a_socket_that_it_was_given(tmp_path: Path) -> None:
    """It takes its time, and nobody in this process can know that it will."""
    text = """
        import socket, subprocess, sys, threading

        CHILD = '''if True:
            import socket, sys, time
            time.sleep(0.3)
            listening = socket.socket(fileno=int(sys.argv[1]))
            for _ in range(3):
                with listening.accept()[0] as own:
                    own.sendall(own.recv(100).upper())
            '''

        def ask(word):
            with socket.create_connection(("127.0.0.1", port)) as own:
                own.sendall(word)
                said.append(own.recv(100))

        with socket.create_server(("127.0.0.1", 0)) as listener:
            port, number = listener.getsockname()[1], listener.fileno()
            child = subprocess.Popen([sys.executable, "-c", CHILD, str(number)], pass_fds=[number])
        said = []
        threads = [threading.Thread(target=ask, args=(word,)) for word in (b"one", b"two")]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        ask(b"end")
        child.wait()
        print(sorted(said))
    """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[b'END', b'ONE', b'TWO']\n"
    assert not [note for note in run.log.ending.notes if note.startswith("connected to")]
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"


def test_pools_of_processes_may_have_a_server_that_forks(tmp_path: Path) -> None:
    """The way that is the default from 3.14 on."""
    text = """
        import concurrent.futures, multiprocessing, threading

        def double(number):
            return 2 * number

        if __name__ == "__main__":
            threading.Thread(target=print, args=("ran",)).start()
            way = multiprocessing.get_context("forkserver")
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=way) as pool:
                print(list(pool.map(double, range(3))))
    """
    run = run_program(tmp_path, text)
    assert output_of(run) == "ran\n[0, 2, 4]\n"
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"
