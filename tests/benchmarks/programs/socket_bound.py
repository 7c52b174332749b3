"""I/O-bound on sockets: each thread asks a server process of its own, which answers each question after 1 ms.

The servers are started with `python -I -S`, so that the runtime, whose clock does not wait, is not in them.

Arguments: questions of each thread, threads (1 by default).
"""

import socket
import subprocess
import sys
import threading

SERVER = """
import socket, sys, time
connection = socket.socket(fileno=int(sys.argv[1]))
while question := connection.recv(64):
    time.sleep(0.001)
    connection.send(question)
"""


def start_server():
    own, other = socket.socketpair()
    with other:
        number = other.fileno()
        command = [sys.executable, "-I", "-S", "-c", SERVER, str(number)]
        server = subprocess.Popen(command, pass_fds=[number])
    own.send(b"hello")
    assert own.recv(64) == b"hello"
    return own, server


def ask(connection, rounds):
    right = 0
    for number in range(rounds):
        question = b"%d" % number
        connection.send(question)
        if connection.recv(64) == question:
            right += 1
    assert right == rounds


threads = []
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
    own, server = start_server()
    threads.append((threading.Thread(target=ask, args=(own, int(sys.argv[1]))), own, server))
for thread, _, _ in threads:
    thread.start()
for thread, own, server in threads:
    thread.join()
    own.close()
    assert server.wait() == 0
