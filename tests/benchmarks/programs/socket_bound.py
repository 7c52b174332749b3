"""I/O-bound on sockets: each thread asks a server process of its own, which answers each question after 1 ms.

Arguments: questions of each thread, threads (1 by default).
"""

import os
import select
import socket
import sys
import threading


def serve(connection):
    """Runs in a child: answers 1 ms later."""
    while question := connection.recv(64):
        select.select([], [], [], 0.001)
        connection.send(question)


def start_server():
    own, other = socket.socketpair()
    child = os.fork()
    if child == 0:
        own.close()
        serve(other)
        os._exit(0)
    other.close()
    return own, child


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
    own, child = start_server()
    threads.append((threading.Thread(target=ask, args=(own, int(sys.argv[1]))), own, child))
for thread, _, _ in threads:
    thread.start()
for thread, own, child in threads:
    thread.join()
    own.shutdown(socket.SHUT_WR)
    os.waitpid(child, 0)
