"""A registry makes one session for each user; two requests of one user can get two."""

import threading


class Session:
    def __init__(self, user):
        self.user = user
        self.requests = []


class Registry:
    def __init__(self):
        self._sessions = {}

    def session_of(self, user):
        if user not in self._sessions:
            session = Session(user)
            self._sessions[user] = session
        return self._sessions[user]

    def total(self):
        return sum(len(session.requests) for session in self._sessions.values())


def handle(registry, user, path):
    session = registry.session_of(user)
    session.requests.append(path)


def main():
    registry = Registry()
    requests = [("ada", "/"), ("ada", "/inbox"), ("bob", "/")]
    threads = [threading.Thread(target=handle, args=(registry, *request)) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.total() == 3, registry.total()


main()
