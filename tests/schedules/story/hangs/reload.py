"""A server that reloads its settings on a signal, under the lock that it serves requests with."""

import os
import signal
import threading


class Server:
    def __init__(self):
        self.guard = threading.Lock()
        self.level = 1
        self.served = 0

    def reload(self, number, frame):
        with self.guard:
            self.level += 1

    def serve(self):
        with self.guard:
            self.served += self.level


server = Server()
signal.signal(signal.SIGHUP, server.reload)
operator = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGHUP))
operator.start()
for _ in range(3):
    server.serve()
operator.join()
