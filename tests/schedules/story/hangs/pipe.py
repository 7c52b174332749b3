"""Two sides of a socket pair speak by turns, but both may believe that the other one begins."""

import socket
import threading

begins = None


class Side:
    def __init__(self, name, end):
        self.name = name
        self.end = end
        self.heard = b""

    def choose(self):
        global begins
        if begins is None:
            begins = self.name
        return begins == self.name

    def talk(self):
        if self.choose():
            self.end.sendall(b"hello")
            self.heard = self.end.recv(5)
        else:
            self.heard = self.end.recv(5)
            self.end.sendall(b"there")


def reset():
    global begins
    begins = "nobody"


def main():
    left, right = socket.socketpair()
    sides = [Side("left", left), Side("right", right)]
    threads = [threading.Thread(target=side.talk, name=side.name) for side in sides]
    threads.append(threading.Thread(target=reset, name="reset"))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print([side.heard for side in sides])


main()
