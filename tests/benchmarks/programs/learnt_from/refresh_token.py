"""Requests that renew an expired login with a token that is good for one renewal."""

import threading


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.number = 1
        self.renewal = "renew-1"

    def renew(self, token):
        with self.lock:
            if token != self.renewal:
                raise PermissionError(f"{token} was used before")
            self.number += 1
            self.renewal = f"renew-{self.number}"
            return f"access-{self.number}", self.renewal

    def answer(self, access):
        with self.lock:
            return access == f"access-{self.number}"


class Client:
    def __init__(self, server):
        self.server = server
        self.access = "access-0"
        self.renewal = "renew-1"
        self.answers = []

    def request(self, path):
        if not self.server.answer(self.access):
            access, renewal = self.server.renew(self.renewal)
            self.renewal = renewal
            self.access = access
        self.answers.append(path)


def make():
    return Client(Server())


def requester(path):
    def run(client):
        client.request(path)

    return run


WORKERS = (requester("/me"), requester("/mail"))


def holds(client):
    return len(client.answers) == 2


def tell(client):
    return f"answers {client.answers}"


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
