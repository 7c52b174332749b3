"""TLS under the scheduler: its waits are waits of the schedule, and what came when is part of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import first_or_other
from tests.runtime.programs import (
    assert_same,
    output_of,
    random_walk,
    replayed,
    run_program,
    write_program,
    written_under_every_schedule,
    written_without_us,
)
from tests.runtime.programs_ssl import CERTIFICATE, ONE_READS_WHILE_ANOTHER_WRITES, TLS

SCHEDULES = first_or_other(8, 3)


@pytest.mark.parametrize("name", TLS)
def test_it_writes_what_it_writes_without_us(name: str, tmp_path: Path) -> None:
    written = written_under_every_schedule(tmp_path, TLS[name], SCHEDULES)
    assert written_without_us(tmp_path) == written


def test_one_thread_may_read_while_another_writes(tmp_path: Path) -> None:
    """Under a schedule their calls do not overlap, so the connection holds, unlike in 1 of 50 runs without us."""
    written = written_under_every_schedule(tmp_path, ONE_READS_WHILE_ANOTHER_WRITES, SCHEDULES)
    assert written == f"{b''.join(b'%d' % number * 10 for number in range(9))}\n"


# Answers one client with TLS whose bytes leave in pieces of a size, with a pause after each, and in records of a size.
ANOTHER_PROCESS = f"""
import socket, ssl, sys, time
piece_size, pause_s, record_size = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain({str(CERTIFICATE)!r})
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
sock, _ = listener.accept()
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(incoming, outgoing, server_side=True)
def send():
    data = outgoing.read()
    for begin in range(0, len(data), piece_size):
        sock.sendall(data[begin : begin + piece_size])
        time.sleep(pause_s)
def done(call):
    while True:
        try:
            return call()
        except ssl.SSLWantReadError:
            send()
            if not (data := sock.recv(10000)): sys.exit()
            incoming.write(data)
done(tls.do_handshake)
send()
while data := done(lambda: tls.read(10000)):
    for begin in range(0, len(data), record_size):
        tls.write(data[begin : begin + record_size].upper())
        send()
"""

ITS_CLIENT = f"""
import pathlib, socket, ssl, subprocess, sys, threading
def ask(kind):
    words = pathlib.Path("pace").read_text().split()
    command = [sys.executable, "-I", "-S", "other.py", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        plain = socket.create_connection(("127.0.0.1", int(child.stdout.readline())))
        connection = context.wrap_socket(plain, server_hostname="localhost")
        connection.sendall(b"ab" * 150)
        got, pieces = b"", []
        while len(got) < 300:
            piece = connection.recv(90)
            got += piece
            pieces.append((len(piece), connection.pending()))
        connection.close()
        done.append(kind)
    print(len(got), pieces)
def count():
    global turns
    while not done: turns += 1
context = ssl.create_default_context(cafile={str(CERTIFICATE)!r})
done, turns = [], 0
threads = [threading.Thread(target=ask, args=("one",)), threading.Thread(target=count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(turns)
"""

THAT_DOES_NOT_BLOCK = """
import select
def wait_for(connection, call):
    while True:
        try: return call()
        except ssl.SSLWantReadError: waits.append(select.select([connection], [], [])[0] == [connection])
waits = []
""" + ITS_CLIENT.replace(
    'server_hostname="localhost")',
    'server_hostname="localhost", do_handshake_on_connect=False)\n'
    "        connection.setblocking(False); wait_for(connection, connection.do_handshake)",
).replace("connection.recv(90)", "wait_for(connection, lambda: connection.recv(90))")

PACES = ("100000 0 1000", "150 0.01 1000", "100000 0.002 70", "40 0.001 31")


@pytest.mark.parametrize("client", [ITS_CLIENT, THAT_DOES_NOT_BLOCK], ids=["blocks", "does not block"])
@pytest.mark.parametrize("pace", PACES)
def test_a_replay_takes_as_much_as_was_recorded_in_whatever_pieces_it_comes(
    pace: str, client: str, tmp_path: Path
) -> None:
    write_program(tmp_path, ANOTHER_PROCESS, "other.py")
    (tmp_path / "pace").write_text(pace)
    run = run_program(tmp_path, client, random_walk(PACES.index(pace)))
    assert output_of(run).startswith("300 ")
    for other_pace in PACES:
        (tmp_path / "pace").write_text(other_pace)
        again = replayed(run.log)
        assert_same(run, again)
