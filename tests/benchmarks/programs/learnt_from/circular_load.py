"""Plugins that load the plugins they need; a plugin that another thread loads is waited for."""

import threading

NEEDS = {
    "web": ("log", "auth"),
    "auth": ("users",),
    "users": ("mail", "log"),
    "mail": ("log", "auth"),
    "log": (),
}


class Loader:
    def __init__(self):
        self.lock = threading.Lock()
        self.ready = {}
        self.loaded = []

    def load(self, name, chain=()):
        if name in chain:
            return
        with self.lock:
            ready = self.ready.get(name)
            first = ready is None
            if first:
                ready = self.ready[name] = threading.Event()
        if not first:
            ready.wait()
            return
        for needed in NEEDS[name]:
            self.load(needed, (*chain, name))
        self.loaded.append(name)
        ready.set()


def make():
    return Loader()


def loads(*names):
    def run(loader):
        for name in names:
            loader.load(name)

    return run


WORKERS = (loads("log", "web"), loads("log", "mail"), loads("users"))


def holds(loader):
    return sorted(loader.loaded) == sorted(NEEDS)


def tell(loader):
    return f"loaded {loader.loaded}"


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
