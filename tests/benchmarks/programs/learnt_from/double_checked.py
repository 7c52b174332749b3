"""A client made on first use, seen by others before it is logged in."""

import threading


class Client:
    def __init__(self):
        self.token = None

    def log_in(self):
        self.token = "secret"

    def ask(self):
        if self.token is None:
            raise RuntimeError("not logged in")
        return self.token


class Api:
    def __init__(self):
        self.lock = threading.Lock()
        self.client = None
        self.answers = []

    def connect(self):
        if self.client is None:
            with self.lock:
                if self.client is None:
                    self.client = Client()
                    self.client.log_in()
        return self.client


def make():
    return Api()


def call(api):
    api.answers.append(api.connect().ask())


WORKERS = (call, call, call)


def holds(api):
    return len(api.answers) == 3


def tell(api):
    return f"{len(api.answers)} answers"


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
