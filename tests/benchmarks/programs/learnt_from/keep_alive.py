"""Connections on which a timer sends a sign of life, unless they are closed before."""

import threading


class Connection:
    def __init__(self, name):
        self.name = name
        self.timer = None
        self.signs = 0
        self.sent = []

    def open(self):
        timer = threading.Timer(0.002, self.sign_of_life)
        self.timer = timer
        timer.start()

    def sign_of_life(self):
        self.signs += 1
        self.timer = None

    def send(self, text):
        self.sent.append(text)

    def close(self):
        if self.timer is not None:
            self.timer.cancel()
        self.sent.append("bye")


class Switchboard:
    def __init__(self):
        self.lock = threading.Lock()
        self.closed = []

    def call(self, name, *texts):
        connection = Connection(name)
        connection.open()
        for text in texts:
            connection.send(text)
        connection.close()
        with self.lock:
            self.closed.append((connection.name, len(connection.sent)))


def make():
    return Switchboard()


def caller(name, *texts):
    def run(switchboard):
        switchboard.call(name, *texts)

    return run


WORKERS = (caller("lisa", "hello", "how are you"), caller("paul", "good morning"))


def holds(switchboard):
    return sorted(switchboard.closed) == [("lisa", 3), ("paul", 2)]


def tell(switchboard):
    return f"closed {switchboard.closed}"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
