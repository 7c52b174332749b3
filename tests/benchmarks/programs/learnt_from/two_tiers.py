"""A store of web sessions in two tiers: a session that is used moves from the cold tier to the small hot one."""

import threading
from collections import OrderedDict

HOT_SIZE = 2
USERS = ("ann", "bob", "cleo", "dan", "eve")


class Tier:
    def __init__(self):
        self.lock = threading.Lock()
        self.sessions = OrderedDict()

    def get(self, user):
        with self.lock:
            return self.sessions.get(user)

    def take(self, user):
        with self.lock:
            return self.sessions.pop(user, None)

    def put(self, user, session):
        with self.lock:
            self.sessions[user] = session

    def pop_oldest(self, most):
        with self.lock:
            if len(self.sessions) <= most:
                return None
            return self.sessions.popitem(last=False)


class SessionStore:
    def __init__(self):
        self.hot = Tier()
        self.cold = Tier()
        self.lost = []

    def find(self, user):
        session = self.hot.get(user)
        if session is not None:
            return session
        session = self.cold.take(user)
        if session is None:
            return None
        self.hot.put(user, session)
        oldest = self.hot.pop_oldest(HOT_SIZE)
        if oldest is not None:
            self.cold.put(*oldest)
        return session


def make():
    store = SessionStore()
    for user in USERS:
        store.cold.put(user, {"user": user})
    return store


def requests(*users):
    def run(store):
        for user in users:
            if store.find(user) is None:
                store.lost.append(user)

    return run


WORKERS = (requests("ann", "bob"), requests("cleo", "ann", "dan"), requests("eve", "bob"))


def holds(store):
    return not store.lost


def tell(store):
    return f"asked to log in again: {store.lost}"


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
