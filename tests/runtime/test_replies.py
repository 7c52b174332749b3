"""A server whose answers are not as long as they were, come in other pieces, or do not come: exact, or told why."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.replay import ReplayResult, replay
from replay_dd.schedules.runtime.accelerator import accelerator
from tests.runtime.programs import output_of, random_walk, run_program

LIMIT_S = 120.0
STOPPED = "stopped, as it waited for what did not come again"

# Each thread asks twice over one connection; its way does not depend on what it is told.
ASKS = """
import socket, threading

def ask():
    with socket.create_connection(("127.0.0.1", PORT)) as own:
        for question in (b"who?", b"how many?"):
            own.sendall(question)
            READ
            answers.append(len(answer))

def count():
    for _ in range(30): turns.append(True)

answers, turns = [], []
threads = [threading.Thread(target=function) for function in (ask, ask, count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
READS = {
    "in one piece": "answer = own.recv(4096)",
    "into a buffer": "answer = bytes(own.recv_into(bytearray(4096)))",
    "without waiting": """
            import select
            own.setblocking(False)
            select.select([own], [], [])
            answer = own.recv(4096)
            own.setblocking(True)""",
    "head and body": "head = own.recv(4); answer = own.recv(4096)",
}

Talk = Callable[[socket.socket], None]


class Server:
    """Talks with each client in a thread of its own, in a way that the test can change."""

    def __init__(self) -> None:
        self.talk: Talk = lambda connection: None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()
        self._ends = False

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._ends:
                connection.close()
                return
            self._threads.append(threading.Thread(target=self._talk, args=(connection,)))
            self._threads[-1].start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            self.talk(connection)

    def close(self) -> None:
        self._ends = True
        socket.create_connection(("127.0.0.1", self.port)).close()
        for thread in self._threads:
            thread.join()
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


def answering(*answers: bytes) -> Talk:
    """Answers the questions of each client with these, then waits until it has gone."""

    def talk(connection: socket.socket) -> None:
        for answer in answers:
            if not connection.recv(100):
                return
            connection.sendall(answer)
        while connection.recv(100):
            pass

    return talk


def again(log: Log) -> ReplayResult:
    return replay(log, time_limit_s=LIMIT_S)


def asks(server: Server, read: str = READS["in one piece"]) -> str:
    return ASKS.replace("PORT", str(server.port)).replace("READ", read)


@pytest.mark.skipif(accelerator is None, reason="without the accelerator, nobody tells how much there is")
@pytest.mark.parametrize("read", READS)
@pytest.mark.once
def test_a_reply_of_another_length_is_still_one_reply(read: str, server: Server, tmp_path: Path) -> None:
    server.talk = answering(b"head you are 9", b"head 12 of them")
    run = run_program(tmp_path, asks(server, READS[read]), random_walk(1))
    output_of(run)
    for others in ((b"head you are 10", b"head 120 of them"), (b"head you are", b"head 12 of them")):
        server.talk = answering(*others)
        assert str(again(run.log).divergence) == "None", others


def test_what_comes_unasked_and_sooner_is_the_next_message(server: Server, tmp_path: Path) -> None:
    """In the recorded run the second message came late; in the replay it is there with the first one."""
    text = """
        import socket, threading
        def listen():
            with socket.create_connection(("127.0.0.1", PORT)) as own:
                for _ in range(2):
                    amounts.append(len(own.recv(100)))
                    own.sendall(b"thanks")
        amounts = []
        thread = threading.Thread(target=listen)
        thread.start()
        thread.join()
        print(amounts)
        """.replace("PORT", str(server.port))

    def pushing(connection: socket.socket) -> None:
        connection.sendall(b"a message")
        connection.recv(6)
        connection.sendall(b"another one")
        connection.recv(6)

    def at_once(connection: socket.socket) -> None:
        connection.sendall(b"a messageanother one")
        connection.recv(6)
        connection.recv(6)

    server.talk = pushing
    run = run_program(tmp_path, text)
    assert output_of(run) == "[9, 11]\n"
    server.talk = at_once
    repeated = again(run.log)
    assert str(repeated.divergence) == "None"
    assert repeated.run.output == run.output


def test_a_program_that_goes_by_the_length_diverges_and_says_of_what(server: Server, tmp_path: Path) -> None:
    server.talk = answering(b"you are 9", b"2 or 3")
    run = run_program(tmp_path, asks(server) + "for _ in range(sum(answers)): turns.append(len(turns))")
    server.talk = answering(b"you are 10", b"2 or 3")
    text = str(again(run.log).divergence)
    on = f"on the connection to 127.0.0.1:{server.port}"
    if accelerator is not None:
        assert f"the recorded run received 9 bytes {on}, where 10 came now" in text


def test_a_server_that_closes_is_told(server: Server, tmp_path: Path) -> None:
    server.talk = answering(b"you are 9", b"2 or 3")
    run = run_program(tmp_path, asks(server) + "for _ in range(sum(answers)): turns.append(len(turns))")
    server.talk = lambda connection: connection.sendall(b"you" if connection.recv(100) else b"")
    text = str(again(run.log).divergence)
    assert f"9 bytes on the connection to 127.0.0.1:{server.port}, where 3 came now, and then its end" in text


@pytest.mark.once
@pytest.mark.parametrize("answer", [b"", b"head"], ids=["nothing", "half of it"])
def test_a_server_that_is_silent_ends_the_replay_long_before_its_limit(
    answer: bytes, server: Server, tmp_path: Path
) -> None:
    server.talk = answering(b"head and body", b"head and body")
    run = run_program(tmp_path, asks(server, READS["head and body"]))
    server.talk = answering(answer)
    began_s = time.monotonic()
    repeated = again(run.log)
    assert time.monotonic() - began_s < LIMIT_S / 2
    assert repeated.run.log.ending.stopped
    assert not repeated.reproduced
    assert f"on the connection to 127.0.0.1:{server.port}" in str(repeated.divergence)


def test_a_replay_on_another_path_waits_for_nothing(server: Server, tmp_path: Path) -> None:
    """A switch shows that it is on another path, before it comes to a wait that the log would let it wait for."""
    (tmp_path / "number").write_text("1")
    server.talk = answering(b"an answer", b"another one")
    first = "def go():\n    for _ in range(int(open('number').read())): turns.append(True)\n"
    first += "first = threading.Thread(target=go)\nfirst.start()\nfirst.join()\n"  # its end is a switch
    text = asks(server).replace("threads = [", first + "threads = [")
    run = run_program(tmp_path, text)
    output_of(run)
    (tmp_path / "number").write_text("2")
    server.talk = answering(b"")
    repeated = again(run.log)
    assert repeated.run.log.ending.stopped
    assert repeated.divergence is not None
    assert "in vain" not in str(repeated.divergence)
