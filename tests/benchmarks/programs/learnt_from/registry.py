"""A registry made by whoever needs it first."""

import threading


class Registry:
    def __init__(self):
        self.names = []
        self.lock = threading.Lock()

    def add(self, name):
        with self.lock:
            self.names.append(name)


class Application:
    def __init__(self):
        self._registry = None

    @property
    def registry(self):
        if self._registry is None:
            self._registry = Registry()
        return self._registry


def make():
    return Application()


def plugin(name):
    def run(application):
        checksum = 0
        for letter in name * 30:
            checksum = (checksum * 31 + ord(letter)) % 65521
        application.registry.add(f"{name}-{checksum}")

    return run


WORKERS = (plugin("pdf"), plugin("csv"), plugin("xml"))


def holds(application):
    return len(application.registry.names) == 3


def tell(application):
    return f"registered {application.registry.names}"


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
