"""A client that waits for the login with the lock held that the login needs."""

import threading


class Session:
    def __init__(self):
        self.lock = threading.Lock()
        self.logged_in = threading.Event()
        self.token = None
        self.sent = []

    def login(self, name):
        token = 0
        for letter in name:
            token = token * 31 + ord(letter)
        with self.lock:
            self.token = token
        self.logged_in.set()

    def send(self, text):
        with self.lock:
            if not self.logged_in.is_set():
                self.logged_in.wait()
            self.sent.append((self.token, text))


def make():
    return Session()


def login(session):
    session.login("ann")


def send(session):
    for text in ("hello", "bye"):
        session.send(text)


WORKERS = (login, send)


def holds(session):
    return len(session.sent) == 2


def tell(session):
    return f"sent {session.sent}"


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
